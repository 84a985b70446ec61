import io
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import pandas
import polars
import pyarrow
import pyarrow.dataset
import pytest

import bonnetdb
from bonnetdb.progress import Line

LONG = "SELECT count(*) FROM generate_series(1, 100000) AS a(x) CROSS JOIN generate_series(1, 10000000) AS b(y) WHERE x * y % 7 = 3"
QUICK = "SELECT (value % 100)::TINYINT AS x FROM generate_series(1, 1500000000)"
"""Each of its batches is there before anybody would look for a signal; the whole takes a minute."""

BOUND = 3
"""Seconds within which Ctrl-C is heard: one, and two more for a loaded machine."""


def write_dataset(rows, folder):
    pyarrow.dataset.write_dataset(pyarrow.RecordBatchReader.from_stream(rows), folder / "out", format="parquet")


READERS = {
    "pyarrow": lambda rows, folder: pyarrow.table(rows),
    "polars": lambda rows, folder: polars.DataFrame(rows),
    "pandas": lambda rows, folder: pandas.DataFrame.from_arrow(rows),
    "write_dataset": write_dataset,
}
"""Libraries that read Arrow's streams: the last one in threads of its own, the others in that which calls them."""


@pytest.fixture
def heard():
    """SIGINT, which a shell has ignored by what it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def seconds_until_it_ends(work):
    """How long work runs on after Ctrl-C, which comes from another process: a thread of this one would have to wait for the
    interpreter while objects are made."""
    began = time.monotonic()
    with subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -INT {os.getpid()}"]):
        with pytest.raises(KeyboardInterrupt):
            work()
    return time.monotonic() - began - 0.5


@pytest.mark.parametrize("query", [LONG, QUICK])
def test_ctrl_c_ends_a_query_and_the_connection_goes_on(con, heard, query):
    assert seconds_until_it_ends(con.sql(query).execute) < BOUND
    assert con.sql("SELECT 1").fetchall() == [(1,)]


def test_a_relation_that_was_interrupted_runs_again(con, heard):
    """It has neither no rows then, nor those that had come."""
    rows = con.sql("SELECT value AS x FROM generate_series(1, 150000000) WHERE value % 1000000 = 0")
    assert seconds_until_it_ends(rows.df) < BOUND
    assert sorted(rows.fetchall()) == [(1_000_000 * x,) for x in range(1, 151)]


def test_a_cursor_that_was_interrupted_says_so(con, heard):
    cursor = con.execute(QUICK)
    assert len(cursor.fetchmany(5)) == 5
    assert seconds_until_it_ends(cursor.fetchall) < BOUND
    for read in (cursor.fetchone, cursor.fetchall, lambda: pyarrow.table(cursor)):
        with pytest.raises(bonnetdb.OperationalError, match="the query was interrupted"):
            read()
    assert cursor.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("reader", READERS)
def test_ctrl_c_ends_a_library_that_reads_a_relation(con, heard, tmp_path, reader):
    rows = con.sql(QUICK)
    assert seconds_until_it_ends(lambda: READERS[reader](rows, tmp_path)) < BOUND
    assert con.sql("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("reader", ["pyarrow", "polars", "pandas"])
@pytest.mark.parametrize("query", [LONG, QUICK])
def test_ctrl_c_ends_a_library_that_reads_a_cursor(con, heard, tmp_path, reader, query):
    cursor = con.execute(query)

    def read():
        try:
            READERS[reader](cursor, tmp_path)
        finally:
            # KeyboardInterrupt comes with the next call after that of the library: here, and not in the test's machinery.
            len("")

    assert seconds_until_it_ends(read) < BOUND
    assert con.sql("SELECT 1").fetchall() == [(1,)]


def test_ctrl_c_below_a_library_has_its_exception_as_context(con, heard):
    cursor = con.execute(LONG)
    with subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -INT {os.getpid()}"]):
        with pytest.raises(KeyboardInterrupt) as raised:
            try:
                pyarrow.table(cursor)
            except Exception:
                # A program that handles every exception does not take Ctrl-C for one.
                len("")
    library = raised.value.__context__
    assert isinstance(library, pyarrow.ArrowException) and "the query was interrupted" in str(library)


def test_ctrl_c_ends_a_query_that_another_reads(con, heard):
    relation = con.sql(LONG)

    def read(inner):
        return con.sql('SELECT count(*) FROM "inner"')

    assert seconds_until_it_ends(lambda: read(relation)) < BOUND
    # The inner one, which a thread of the engine had asked for, ends as well.
    deadline = time.monotonic() + BOUND
    while True:
        before = time.process_time()
        time.sleep(0.3)
        if time.process_time() - before < 0.1:
            break
        assert time.monotonic() < deadline, "the inner query runs on"
    # Nor does that thread hold the relation any more.
    assert len(relation.columns) == 1 and con.sql("SELECT 1").fetchall() == [(1,)]


def test_ctrl_c_ends_the_reading_of_a_foreign_stream(con, heard):
    """No code of Python runs between its batches, which would hear the signal."""
    batch = pyarrow.record_batch({"x": [1]})
    stream = pyarrow.RecordBatchReader.from_batches(batch.schema, itertools.repeat(batch, 3_000_000))
    assert seconds_until_it_ends(lambda: con.register("frame", stream)) < BOUND
    with pytest.raises(bonnetdb.ProgrammingError, match="no frame is registered"):
        con.unregister("frame")


@pytest.mark.parametrize(
    ("column", "read"),
    [("value", lambda rows: rows.fetchall()), ("value::DECIMAL(18, 2)", lambda rows: rows.fetchnumpy())],
)
def test_ctrl_c_ends_the_making_of_objects(con, heard, column, read):
    """Of rows that are there already: some twenty seconds of tuples, or of decimals."""
    rows = con.sql(f"SELECT {column} AS x FROM generate_series(1, 20000000)").execute()
    assert seconds_until_it_ends(lambda: read(rows)) < BOUND
    # Those whose tuples were not made are fetched the next time.
    assert len(rows.fetchmany(2)) == 2


def test_progress_is_reported_while_batches_come_quickly():
    told = []
    with bonnetdb.connect(progress=lambda *progress: told.append(progress)) as con:
        con.sql("ATTACH 'builtin:karate' AS karate")
        cursor = con.cursor()
        cursor.execute(
            "SELECT b.value FROM betweenness_centrality(karate.edges) AS a CROSS JOIN generate_series(1, 100000000) AS b"
        )
        began = time.monotonic()
        while not told and time.monotonic() - began < 20:
            cursor.fetchmany(8192)
    label, done, total = told[0]
    assert label == "betweenness_centrality" and 0 <= done <= total and total > 0


def test_a_line_of_progress_is_not_repeated():
    stream = io.StringIO()
    line = Line(stream)
    for done in (1, 2, 4, 4, 4, 1, 4):
        line("train", done, 4)
    # Two statements: each ends its line once.
    assert stream.getvalue().count("\n") == 2 and stream.getvalue().count("train: 25%") == 2


def test_other_threads_run_while_a_query_does(con):
    """Without the interpreter's lock: else the count stands still."""
    counts, stop = [], threading.Event()

    def count():
        n = 0
        while not stop.is_set():
            n += 1
            time.sleep(0.001)
        counts.append(n)

    thread = threading.Thread(target=count)
    thread.start()
    con.sql("SET bonnet.statement_timeout = '500ms'")
    with pytest.raises(Exception, match="statement_timeout"):
        con.sql(LONG).fetchall()
    stop.set()
    thread.join()
    assert counts[0] > 20


def test_a_program_ends_while_rows_are_left_unread():
    script = """
import bonnetdb, threading
con = bonnetdb.connect()
rows = con.sql("SELECT * FROM generate_series(1, 100000000)")
rows.fetchone()
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
