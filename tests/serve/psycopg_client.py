"""What a program with psycopg does: parameters, types, prepared statements, transactions, errors, cancellation."""

import datetime
import decimal
import sys
import threading

import psycopg

address = sys.argv[1]

with psycopg.connect(address, autocommit=True) as connection:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE p (a BIGINT, b VARCHAR, c DOUBLE, d DATE, e TIMESTAMP, f DECIMAL(9, 2), g BOOLEAN)")
    row = (
        7,
        "it's",
        0.25,
        datetime.date(2026, 1, 31),
        datetime.datetime(2026, 1, 31, 12, 30, 0, 500),
        decimal.Decimal("12.50"),
        True,
    )
    cursor.execute("INSERT INTO p VALUES (%s, %s, %s, %s, %s, %s, %s)", row)
    assert cursor.rowcount == 1, cursor.rowcount
    for binary in (False, True):
        found = connection.cursor(binary=binary).execute("SELECT * FROM p WHERE a = %s AND b = %s", (7, "it's"))
        assert found.fetchall() == [row], (binary, found)
        assert [column.name for column in found.description] == list("abcdefg")
        found = connection.cursor(binary=binary).execute("SELECT [1, NULL, 3], ['x', 'y z'], NULL, {'k': [1, 2]}")
        assert found.fetchone() == ([1, None, 3], ["x", "y z"], None, {"k": [1, 2]}), binary
    cursor.execute("SELECT array_length(%s), %s", ([1, 2, 3], None))
    assert cursor.fetchone() == (3, None)
    # The server prepares a statement that is sent often.
    for value in range(12):
        cursor.execute("SELECT %s + 1 AS next", (value,))
        assert cursor.fetchone() == (value + 1,)
    cursor.executemany("INSERT INTO p (a) VALUES (%s)", [(i,) for i in range(5)])
    assert cursor.execute("SELECT count(*) FROM p").fetchone() == (6,)
    # Row by row, without the whole answer in memory.
    assert sum(row[0] for row in cursor.stream("SELECT value FROM generate_series(1, 20000)")) == 200010000
    for statement, error in [
        ("SELECT nothing FROM p", psycopg.errors.UndefinedColumn),
        ("SELECT * FROM nowhere", psycopg.errors.UndefinedTable),
        ("SELEC 1", psycopg.errors.SyntaxError),
        ("SELECT 1 / 0", psycopg.errors.DivisionByZero),
        ("COPY p TO 'x.csv'", psycopg.errors.InsufficientPrivilege),
        ("DECLARE c CURSOR FOR SELECT 1", psycopg.errors.NoActiveSqlTransaction),
    ]:
        try:
            cursor.execute(statement)
        except error:
            continue
        raise AssertionError(statement)
    # Another thread cancels what would take hours.
    timer = threading.Timer(0.2, connection.cancel)
    timer.start()
    try:
        cursor.execute("SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b WHERE a.value % 7 = b.value % 11")
        raise AssertionError("it was not cancelled")
    except psycopg.errors.QueryCanceled:
        pass
    assert cursor.execute("SELECT 1").fetchone() == (1,)

with psycopg.connect(address, autocommit=True) as connection, connection.pipeline():
    cursors = [connection.execute("SELECT %s", (i,)) for i in range(5)]
    assert [cursor.fetchone()[0] for cursor in cursors] == list(range(5))

with psycopg.connect(address, autocommit=True) as connection:
    # Rows over the connection, in and out, as text and in binary.
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE copied (a BIGINT NOT NULL, b VARCHAR, c DOUBLE, d TIMESTAMP)")
    rows = [(i, f"row {i}\t'\"\\" if i % 3 else None, i / 4, datetime.datetime(2026, 1, 31, 12, 30, 0, i)) for i in range(5000)]
    with cursor.copy("COPY copied FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    assert cursor.rowcount == 5000, cursor.rowcount
    with cursor.copy("COPY copied (a, b, c, d) FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["int8", "text", "float8", "timestamp"])
        for a, *rest in rows:
            copy.write_row((a + 5000, *rest))
    assert cursor.execute("SELECT count(*), count(b), sum(a) FROM copied").fetchone() == (10000, 6666, 49995000)
    with cursor.copy("COPY (SELECT * FROM copied WHERE a < 5000 ORDER BY a) TO STDOUT") as copy:
        copy.set_types(["int8", "text", "float8", "timestamp"])
        assert list(copy.rows()) == rows
    with cursor.copy("COPY (SELECT a FROM copied WHERE a < 3 ORDER BY a) TO STDOUT (FORMAT csv, HEADER)") as copy:
        assert b"".join(bytes(part) for part in copy) == b"a\n0\n1\n2\n"
    try:
        with cursor.copy("COPY copied FROM STDIN (FORMAT csv)") as copy:
            copy.write("1,a,2,2026-01-31\n2,b,two,2026-01-31\n")
        raise AssertionError("a bad line was taken")
    except psycopg.errors.InvalidTextRepresentation as error:
        assert "line 2, column c: 'two' is no double precision" in str(error), error
    try:
        with cursor.copy("COPY copied (a) FROM STDIN") as copy:
            copy.write("7\n")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert cursor.execute("SELECT count(*) FROM copied").fetchone() == (10000,)

with psycopg.connect(address) as connection:
    # A cursor of the server, in both formats, with parameters.
    for binary in (False, True):
        with connection.cursor("by and by", binary=binary) as cursor:
            cursor.itersize = 700
            cursor.execute("SELECT a, b FROM copied WHERE a >= %s ORDER BY a", (4000,))
            assert [column.name for column in cursor.description] == ["a", "b"]
            assert cursor.fetchone() == (4000, "row 4000\t'\"\\")
            assert cursor.fetchmany(2)[1][0] == 4002
            assert len(list(cursor)) == 5997
    connection.rollback()
    # A table that is made in a transaction takes rows, and goes with it.
    connection.execute("CREATE TABLE made (a BIGINT)")
    connection.cursor().executemany("INSERT INTO made VALUES (%s)", [(i,) for i in range(3)])
    with connection.cursor().copy("COPY made FROM STDIN") as copy:
        copy.write("3\n4\n")
    assert connection.execute("SELECT sum(a) FROM made").fetchone() == (10,)
    connection.rollback()
    try:
        connection.execute("SELECT * FROM made")
        raise AssertionError("the table is still there")
    except psycopg.errors.UndefinedTable:
        connection.rollback()

with psycopg.connect(address) as connection:
    # A failed block within a transaction goes back to its savepoint.
    try:
        with connection.transaction():
            connection.execute("SELECT nothing FROM p")
    except psycopg.errors.UndefinedColumn:
        pass
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.commit()
    # Changes of a transaction are kept together, or put back.
    before = connection.execute("SELECT count(*) FROM p").fetchone()
    connection.execute("INSERT INTO p (a) VALUES (100)")
    connection.execute("INSERT INTO p (a) VALUES (101)")
    connection.rollback()
    assert connection.execute("SELECT count(*) FROM p").fetchone() == before
    connection.execute("INSERT INTO p (a) VALUES (100)")
    connection.execute("INSERT INTO p (a) VALUES (101)")
    connection.commit()
    assert connection.execute("SELECT count(*) FROM p").fetchone() == (before[0] + 2,)

print("all is well")
