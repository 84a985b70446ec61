import io
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import bonnetdb
from bonnetdb.progress import Line

LONG = "SELECT count(*) FROM generate_series(1, 100000) AS a(x) CROSS JOIN generate_series(1, 10000000) AS b(y) WHERE x * y % 7 = 3"


@pytest.fixture
def heard():
    """SIGINT, which a shell has ignored by what it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_query_and_the_connection_goes_on(con, heard):
    def interrupt():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        con.sql(LONG).fetchall()
    thread.join()
    assert con.sql("SELECT 1").fetchall() == [(1,)]


def seconds_until_it_ends(work):
    """How long work runs on after Ctrl-C, which comes from another process: a thread of this one would have to wait for the
    interpreter while objects are made."""
    began = time.monotonic()
    with subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -INT {os.getpid()}"]):
        with pytest.raises(KeyboardInterrupt):
            work()
    return time.monotonic() - began - 0.5


def test_ctrl_c_ends_a_query_whose_batches_come_quickly(con, heard):
    """Each of its batches is there before anybody would look for a signal; the whole takes a minute."""
    rows = con.sql("SELECT (value % 100)::TINYINT AS x FROM generate_series(1, 1500000000)")
    assert seconds_until_it_ends(rows.execute) < 10
    assert con.sql("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("column", "read"),
    [("value", lambda rows: rows.fetchall()), ("value::DECIMAL(18, 2)", lambda rows: rows.fetchnumpy())],
)
def test_ctrl_c_ends_the_making_of_objects(con, heard, column, read):
    """Of rows that are there already: some twenty seconds of tuples, or of decimals."""
    rows = con.sql(f"SELECT {column} AS x FROM generate_series(1, 20000000)").execute()
    assert seconds_until_it_ends(lambda: read(rows)) < 6


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
