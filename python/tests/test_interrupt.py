import os
import signal
import subprocess
import sys
import threading
import time

import pytest

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
