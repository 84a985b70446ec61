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

with psycopg.connect(address) as connection:
    # A failed block within a transaction goes back to its savepoint.
    try:
        with connection.transaction():
            connection.execute("SELECT nothing FROM p")
    except psycopg.errors.UndefinedColumn:
        pass
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.commit()
    # A transaction of one change.
    connection.execute("INSERT INTO p (a) VALUES (100)")
    connection.commit()
    connection.execute("INSERT INTO p (a) VALUES (101)")
    try:
        connection.execute("INSERT INTO p (a) VALUES (102)")
        raise AssertionError("two changes in a transaction")
    except psycopg.errors.FeatureNotSupported as error:
        assert "a transaction of several changes is not supported" in str(error), error
    try:
        connection.rollback()
        raise AssertionError("a change was undone")
    except psycopg.errors.FeatureNotSupported as error:
        assert "cannot undo" in str(error), error

print("all is well")
