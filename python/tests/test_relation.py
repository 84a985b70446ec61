import datetime
import decimal
import subprocess
import sys

import numpy
import pandas
import polars
import pyarrow
import pytest

import bonnetdb


def test_a_relation_is_planned_at_once_and_runs_when_it_is_read(con):
    with pytest.raises(bonnetdb.ProgrammingError, match="missing_column"):
        con.sql("SELECT missing_column FROM (SELECT 1 AS x)")
    # Its rows fail, its plan does not.
    failing = con.sql("SELECT 1 / (x - 1) AS y FROM (VALUES (1), (2)) AS t(x)")
    assert failing.columns == ["y"] and failing.types == ["BIGINT"]
    with pytest.raises(bonnetdb.DatabaseError, match="(?i)zero"):
        failing.fetchall()


def test_rows_come_in_every_form(con):
    def query():
        return con.sql("SELECT value AS x, value / 2.0 AS y, 'n' || value AS s FROM generate_series(1, 3) ORDER BY 1")

    expected = [(1, 0.5, "n1"), (2, 1.0, "n2"), (3, 1.5, "n3")]
    assert query().fetchall() == expected
    assert query().arrow().to_pylist() == [{"x": x, "y": y, "s": s} for x, y, s in expected]
    assert list(query().df().itertuples(index=False, name=None)) == expected
    assert query().pl().rows() == expected
    assert pyarrow.table(query()).num_rows == 3
    assert polars.DataFrame(query()).rows() == expected
    assert pandas.DataFrame.from_arrow(query()).shape == (3, 3) if hasattr(pandas.DataFrame, "from_arrow") else True
    columns = query().fetchnumpy()
    assert columns["x"].dtype == numpy.int64 and columns["x"].tolist() == [1, 2, 3]
    assert columns["s"].tolist() == ["n1", "n2", "n3"]


def test_a_relation_runs_once_and_keeps_its_rows(con):
    con.sql("CREATE TABLE t AS SELECT 1 AS x")
    relation = con.sql("SELECT x FROM t")
    assert len(relation) == 1
    con.sql("INSERT INTO t VALUES (2)")
    assert list(relation) == [(1,)] and relation.arrow().num_rows == 1 and relation.fetchall() == [(1,)]
    assert relation.fetchall() == [] and relation.fetchone() is None
    assert len(con.sql("SELECT x FROM t")) == 2


def test_rows_of_a_query_that_fails_are_never_a_part_of_them():
    # In one thread: batches that are right come first.
    with bonnetdb.connect(threads=1) as con:
        query = "SELECT 1 / (value - 20000) AS x FROM generate_series(1, 50000)"
        relation = con.sql(query)
        assert len(relation.fetchmany(5)) == 5
        for read in (relation.df, relation.fetchall, relation.pl, relation.execute, lambda: list(relation), lambda: len(relation)):
            for _ in range(2):
                with pytest.raises(bonnetdb.DataError, match="zero"):
                    read()
        with pytest.raises(bonnetdb.DatabaseError, match="zero"):
            con.sql("SELECT count(*) FROM relation")
        cursor = con.execute(query)
        assert len(cursor.fetchmany(5)) == 5
        for _ in range(3):
            with pytest.raises(bonnetdb.DataError, match="zero"):
                cursor.fetchall()
        with pytest.raises(bonnetdb.DataError, match="the rows end early"):
            pyarrow.table(cursor)


def test_reading_on_after_another_reader_failed_is_refused():
    with bonnetdb.connect(threads=1) as con:
        relation = con.sql("SELECT 1 / (value - 20000) AS x FROM generate_series(1, 50000)")
        rows = iter(relation)
        assert next(rows) == (0,)
        with pytest.raises(bonnetdb.DataError, match="zero"):
            relation.execute()
        with pytest.raises(bonnetdb.OperationalError, match="from the first on"):
            list(rows)


def test_rows_that_python_has_no_objects_for_are_not_skipped(con):
    query = "SELECT arrow_cast(day::INT, 'Date32') AS day FROM (VALUES (0), (4000000)) AS t(day) ORDER BY day"
    for rows in (con.sql(query), con.execute(query)):
        with pytest.raises(ValueError):
            rows.fetchall()
        assert rows.fetchone() == (datetime.date(1970, 1, 1),)
        for _ in range(2):
            with pytest.raises(ValueError):
                rows.fetchall()


def test_fetching_goes_on_where_it_ended(con):
    relation = con.sql("SELECT value FROM generate_series(1, 20000) ORDER BY 1")
    assert relation.fetchone() == (1,)
    assert relation.fetchmany(2) == [(2,), (3,)]
    assert [row[0] for row in relation.fetchall()] == list(range(4, 20001))
    assert [row[0] for row in relation] == list(range(1, 20001))


def test_values_are_objects_of_python(con):
    utc = datetime.timezone.utc
    cases = [
        ("NULL", None),
        ("TRUE", True),
        ("7::TINYINT", 7),
        ("-9223372036854775807 - 1", -(2**63)),
        ("1.5", 1.5),
        ("0.25::FLOAT", 0.25),
        ("1.50::DECIMAL(10, 2)", decimal.Decimal("1.50")),
        ("'a''b'", "a'b"),
        ("X'00ff'", b"\x00\xff"),
        ("DATE '2026-11-23'", datetime.date(2026, 11, 23)),
        ("DATE '0001-01-01'", datetime.date(1, 1, 1)),
        ("TIME '23:59:58.5'", datetime.time(23, 59, 58, 500_000)),
        ("TIMESTAMP '1969-12-31 23:59:59.999999'", datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
        ("arrow_cast('2026-11-23T10:00:00Z', 'Timestamp(Second, Some(\"+00:00\"))')", datetime.datetime(2026, 11, 23, 10, tzinfo=utc)),
        ("INTERVAL '36 hours'", datetime.timedelta(hours=36)),
        ("INTERVAL '2 months'", {"months": 2, "days": 0, "nanoseconds": 0}),
        ("[1, NULL, 3]", [1, None, 3]),
        ("[[1], []]", [[1], []]),
        ("{'a': 1, 'b': 'x'}", {"a": 1, "b": "x"}),
        ("MAP {'k': 2}", {"k": 2}),
    ]
    for text, value in cases:
        assert con.sql(f"SELECT {text} AS v").fetchone() == (value,), text


def test_an_empty_result_has_its_columns(con):
    empty = con.sql("SELECT 1 AS x, 'a' AS s WHERE FALSE")
    assert empty.arrow().column_names == ["x", "s"]
    assert list(empty.df().columns) == ["x", "s"] and len(empty.df()) == 0
    assert empty.pl().shape == (0, 2)
    assert empty.fetchall() == []


def test_tables_are_shown_as_text_and_as_html(con):
    relation = con.sql("SELECT 1 AS n, '<b>' AS s UNION ALL SELECT 22, NULL ORDER BY 1")
    assert repr(relation) == " n  | s\n----+-----\n  1 | <b>\n 22 |\n(2 rows)"
    html = relation._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html and "<i>NULL</i>" in html and "2 rows" in html
    many = con.sql("SELECT value FROM generate_series(1, 1000)")
    assert "first 40 rows; more follow" in repr(many) and len(many) == 1000


def test_statements_that_answer_no_rows(con):
    made = con.sql("CREATE TABLE t(x INT)")
    assert made.columns == [] and made.types == [] and made.description == [] and len(made) == 0 and not made
    assert made.fetchall() == [] and made.fetchone() is None and list(made) == [] and made.fetchnumpy() == {}
    assert made.df().shape == (0, 0) and made.pl().shape == (0, 0) and made.arrow().shape == (0, 0)
    assert made.execute() is made and repr(made) == made.status and made.status in made._repr_html_()
    assert con.sql("INSERT INTO t VALUES (7)").status == "INSERT 1"
    assert con.sql("DELETE FROM t").status == "DELETE 1" and con.sql("SELECT x FROM t").status is None
    with pytest.raises(bonnetdb.ProgrammingError, match="made.*answers no rows"):
        con.sql("SELECT * FROM made")
    assert con.sql("INSERT INTO t VALUES (1), (2); SELECT sum(x) FROM t").fetchall() == [(3,)]
    assert con.sql("SHOW bonnet.threads").fetchall()
    with pytest.raises(bonnetdb.ProgrammingError, match="no statement"):
        con.sql(" -- nothing\n")


def test_a_frame_of_pandas_without_pyarrow(tmp_path):
    """What the package answers where pyarrow cannot be imported."""
    script = """
import sys
sys.modules["pyarrow"] = None
import bonnetdb
con = bonnetdb.connect()
rows = con.sql('''SELECT * FROM (VALUES (1, 0.5, 'a', TRUE, TIMESTAMP '2026-01-02', [1.0, 2.0]), (NULL, NULL, NULL, NULL, NULL, [3.0, 4.0]))
    AS t(i, f, s, b, d, l) ORDER BY f''')
frame = rows.df()
assert frame["i"][0] == 1 and frame["i"].isna()[1], frame
assert frame["f"].tolist()[0] == 0.5 and frame["s"].tolist()[0] == "a" and frame["b"].tolist() == [True, None], frame
assert str(frame["d"][0]) == "2026-01-02 00:00:00" and frame["d"].isna()[1], frame
assert [list(row) for row in frame["l"]] == [[1.0, 2.0], [3.0, 4.0]], frame
assert rows.fetchnumpy()["l"].shape == (2, 2)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
