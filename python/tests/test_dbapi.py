import datetime
import decimal
import math
import uuid

import numpy
import pytest

import bonnetdb
import bonnetdb.connection


def test_the_module_has_what_pep_249_asks():
    assert (bonnetdb.apilevel, bonnetdb.threadsafety, bonnetdb.paramstyle) == ("2.0", 2, "qmark")
    for name in ("Date", "Time", "Timestamp", "DateFromTicks", "TimeFromTicks", "TimestampFromTicks", "Binary"):
        assert callable(getattr(bonnetdb, name))
    assert bonnetdb.DateFromTicks(0).year in (1969, 1970)
    assert issubclass(bonnetdb.Warning, Exception) and issubclass(bonnetdb.Error, Exception)
    for name in ("InterfaceError", "DatabaseError"):
        assert issubclass(getattr(bonnetdb, name), bonnetdb.Error)
    for name in ("DataError", "OperationalError", "IntegrityError", "InternalError", "ProgrammingError", "NotSupportedError"):
        error = getattr(bonnetdb, name)
        assert issubclass(error, bonnetdb.DatabaseError) and getattr(bonnetdb.Connection, name) is error


def test_a_cursor_describes_and_counts(con):
    cursor = con.cursor()
    assert cursor.description is None and cursor.rowcount == -1 and cursor.arraysize == 1
    assert cursor.execute("CREATE TABLE t(i BIGINT, d DECIMAL(8, 3), s VARCHAR, b BYTEA, at TIMESTAMP)") is cursor
    assert cursor.description is None
    cursor.execute("INSERT INTO t VALUES (1, 1.5, 'a', X'00', TIMESTAMP '2026-01-01'), (2, 2.5, 'b', X'01', NULL)")
    assert cursor.rowcount == 2
    cursor.execute("SELECT * FROM t ORDER BY i")
    assert [column[0] for column in cursor.description] == ["i", "d", "s", "b", "at"]
    assert all(len(column) == 7 for column in cursor.description)
    codes = [column[1] for column in cursor.description]
    assert codes[0] == bonnetdb.NUMBER and codes[1] == bonnetdb.NUMBER and codes[2] == bonnetdb.STRING
    assert codes[3] == bonnetdb.BINARY and codes[4] == bonnetdb.DATETIME and codes[2] != bonnetdb.NUMBER
    assert cursor.description[1][4:6] == (8, 3)
    assert cursor.rownumber == 0 and cursor.fetchone()[0] == 1 and cursor.rownumber == 1
    assert cursor.fetchmany(5)[0][0] == 2 and cursor.rowcount == 2
    assert cursor.fetchone() is None and cursor.fetchall() == [] and cursor.nextset() is None
    cursor.setinputsizes([1])
    cursor.setoutputsize(1)
    assert [row[0] for row in cursor.execute("SELECT i FROM t ORDER BY i")] == [1, 2]


def test_parameters_by_position_and_by_name(con):
    assert con.execute("SELECT ? + ?", [1, -2]).fetchone() == (-1,)
    assert con.execute("SELECT 5-?", (-2,)).fetchone() == (7,)
    assert con.execute("SELECT $2, $1", (1, "a")).fetchone() == ("a", 1)
    assert con.execute("SELECT :a, $b, ':a', 3::INT", {"a": 1, "b": "it's"}).fetchone() == (1, "it's", ":a", 3)
    assert con.sql("SELECT ? AS x", ["?; DROP"]).fetchall() == [("?; DROP",)]
    # As options of functions in FROM, too.
    assert con.execute("SELECT count(*) FROM erdos_renyi(?, 1.0, seed => ?)", [5, 3]).fetchone() == (10,)
    for text, values, part in [
        ("SELECT ?", [], "more parameters"),
        ("SELECT ?", [1, 2], "2 values"),
        ("SELECT :a", {"b": 1}, "no value for the parameter a"),
        ("SELECT 1; SELECT ?", [1], "several statements"),
        ("SELECT ?", "a", "not a text"),
        ("SELECT ?", [object()], "no value that a parameter takes"),
    ]:
        with pytest.raises(bonnetdb.ProgrammingError, match=part):
            con.execute(text, values)


def test_a_parameter_comes_back_as_the_same_value(con):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    values = [
        None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 0.1, -1.5e300, 5e-324, math.inf, -math.inf, "", "'", "\\n",
        "\n--;/*", "snow \N{SNOWMAN}", b"", b"\x00'\xff", decimal.Decimal("-12.340"), decimal.Decimal("1e5"),
        datetime.date(1900, 2, 28), datetime.time(1, 2, 3, 4), datetime.datetime(2026, 1, 2, 3, 4, 5, 6),
        datetime.datetime(2026, 1, 2, 3, 4, 5, 6, zone), datetime.timedelta(days=-3, microseconds=7), [1, 2], ["a", None],
        [[1.5], [2.5]], {"a": 1, "b": "x"},
    ]  # fmt: skip
    for value in values:
        (back,) = con.execute("SELECT ?", [value]).fetchone()
        assert back == value and (type(back) is type(value)), (value, back)
    assert math.isnan(con.execute("SELECT ?", [math.nan]).fetchone()[0])
    key = uuid.UUID(int=5)
    assert con.execute("SELECT ?, ?, ?", [key, numpy.int32(3), numpy.array([1.0, 2.0])]).fetchone() == (str(key), 3, [1.0, 2.0])
    for value in [2**64, decimal.Decimal("NaN"), decimal.Decimal("1e40"), "\0"]:
        with pytest.raises(bonnetdb.DataError):
            con.execute("SELECT ?", [value])


def test_executemany_counts_the_rows_of_all(con):
    cursor = con.cursor()
    cursor.execute("CREATE TABLE t(x INT, s VARCHAR)")
    cursor.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b"), (3, None)])
    assert cursor.rowcount == 3
    assert con.sql("SELECT x, s FROM t ORDER BY x").fetchall() == [(1, "a"), (2, "b"), (3, None)]
    with pytest.raises(bonnetdb.ProgrammingError, match="not for queries"):
        cursor.executemany("SELECT ?", [(1,)])


def test_errors_have_their_class_and_the_engines_words(con):
    con.sql("CREATE TABLE k(x INT PRIMARY KEY, y INT NOT NULL)")
    con.sql("INSERT INTO k VALUES (1, 2)")
    for error, text, part in [
        (bonnetdb.ProgrammingError, "SELEC 1", "SELEC"),
        (bonnetdb.ProgrammingError, "SELECT * FROM nowhere", "nowhere"),
        (bonnetdb.ProgrammingError, "SET bonnet.device = 'abacus'", "abacus"),
        (bonnetdb.DataError, "SELECT 'x'::INT FROM (VALUES (1))", "x"),
        (bonnetdb.DataError, "SELECT sum(x) FROM (VALUES (9223372036854775807), (1)) AS t(x)", "(?i)overflow|range|BIGINT"),
        (bonnetdb.DataError, "SELECT x / 0 FROM k", "zero"),
        (bonnetdb.IntegrityError, "INSERT INTO k VALUES (1, 2)", "PRIMARY KEY"),
        (bonnetdb.IntegrityError, "INSERT INTO k VALUES (NULL, 2)", "NULL"),
        (bonnetdb.IntegrityError, "INSERT INTO k VALUES (2, NULL)", "column y is NOT NULL"),
        (bonnetdb.DatabaseError, "SELECT * FROM 'missing.parquet'", "missing.parquet"),
    ]:
        with pytest.raises(error, match=part):
            con.execute(text).fetchall()


def test_what_is_closed_refuses(con):
    cursor = con.cursor()
    cursor.execute("SELECT 1")
    cursor.close()
    with pytest.raises(bonnetdb.InterfaceError, match="cursor is closed"):
        cursor.fetchall()
    other = bonnetdb.connect()
    relation = other.sql("SELECT 1")
    assert other.commit() is None
    with pytest.raises(bonnetdb.NotSupportedError):
        other.rollback()
    other.close()
    other.close()
    for call in (other.cursor, other.commit, lambda: other.sql("SELECT 1"), lambda: other.register("x", relation)):
        with pytest.raises(bonnetdb.InterfaceError, match="connection is closed"):
            call()
    with pytest.raises(bonnetdb.ProgrammingError, match="no rows to fetch"):
        con.cursor().fetchall()
    with pytest.raises(bonnetdb.ProgrammingError, match="no rows to fetch"):
        con.execute("CREATE TABLE u(x INT)").fetchall()


def test_a_lasting_database_lasts_and_can_be_opened_for_reading_alone(tmp_path):
    with bonnetdb.connect(tmp_path / "lab.bonnet") as con:
        con.sql("CREATE TABLE t AS SELECT 1 AS x")
    with bonnetdb.connect(str(tmp_path / "lab.bonnet"), read_only=True) as con:
        assert con.sql("SELECT x FROM t").fetchall() == [(1,)]
        with pytest.raises(bonnetdb.DatabaseError, match="(?i)read"):
            con.execute("INSERT INTO t VALUES (2)")
    with pytest.raises(bonnetdb.DatabaseError):
        bonnetdb.connect(tmp_path / "missing" / "nowhere.bonnet", read_only=True)
    with pytest.raises(bonnetdb.ProgrammingError, match="not a size"):
        bonnetdb.connect(memory_limit="much")


def test_sizes_are_read_as_the_command_reads_them():
    read = bonnetdb.connection._bytes
    sizes = {"4GB": 4 * 10**9, "4GiB": 4 << 30, "1.5 kb": 1500, "1g": 1 << 30, "7B": 7}
    assert {text: read(text) for text in sizes} == sizes
    assert (read(None), read(4096)) == (None, 4096)
    with pytest.raises(bonnetdb.ProgrammingError, match="unit of size"):
        bonnetdb.connect(memory_limit="4 parsecs")
