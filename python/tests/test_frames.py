import datetime
import gc
import threading

import networkx
import numpy
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse

import bonnetdb

MODULE_FRAME = pyarrow.table({"m": [4, 5]})


def test_frames_of_every_library_are_tables(con):
    columns = {"src": [1, 2], "dst": [2, 3]}
    reader = pyarrow.RecordBatchReader.from_batches
    frames = [
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        pyarrow.table(columns),
        pyarrow.table(columns).to_batches()[0],
        con.sql("SELECT 1 AS src, 2 AS dst UNION ALL SELECT 2, 3"),
    ]
    for frame in frames:
        assert con.sql("SELECT sum(src), sum(dst) FROM frame").fetchall() == [(3, 5)], type(frame)
        assert con.sql("SELECT count(*) FROM pagerank(frame)").fetchall() == [(3,)], type(frame)
    # What can be read once alone is read by one statement.
    stream = reader(pyarrow.table(columns).schema, pyarrow.table(columns).to_batches())
    assert con.sql("SELECT count(*), sum(a.src) FROM stream AS a JOIN stream AS b USING (src)").fetchall() == [(2, 3)]


def test_names_are_looked_up_as_variables_and_a_table_wins(con):
    Local = polars.DataFrame({"x": [1]})
    assert con.sql("SELECT x FROM Local").fetchall() == [(1,)]
    assert con.sql('SELECT x FROM "Local"').fetchall() == [(1,)]
    assert con.execute("SELECT sum(m) FROM MODULE_FRAME").fetchall() == [(9,)]
    con.sql("CREATE TABLE local AS SELECT 2 AS x")
    assert con.sql("SELECT x FROM Local").fetchall() == [(2,)]
    local_a = Local_A = LOCAL_B = Local_B = Local
    assert con.sql("SELECT x FROM LOCAL_A").fetchall() == [(1,)]
    assert con.sql('SELECT x FROM "Local_B"').fetchall() == [(1,)]
    with pytest.raises(bonnetdb.ProgrammingError, match="but for case"):
        con.sql("SELECT x FROM Local_b")
    # A variable that holds no rows is none.
    number = 5
    with pytest.raises(bonnetdb.ProgrammingError, match="number"):
        con.sql("SELECT * FROM number")
    # A schema's tables are not looked up among variables.
    with pytest.raises(bonnetdb.ProgrammingError):
        con.sql("SELECT * FROM other.Local")
    closed = bonnetdb.connect(replacement_scans=False)
    with pytest.raises(bonnetdb.ProgrammingError):
        closed.sql("SELECT * FROM local_a")


def test_a_relation_reads_its_frames_when_it_is_made(con):
    frame = pandas.DataFrame({"x": [1.0, 2.0]})
    relation = con.sql("SELECT sum(x) FROM frame")
    frame.loc[0, "x"] = 100.0
    assert relation.fetchall() == [(3.0,)]
    assert con.sql("SELECT sum(x) FROM frame").fetchall() == [(102.0,)]


def test_a_frame_that_changes_while_it_is_read_ends_nothing(con):
    values = numpy.zeros((200_000, 1))
    frame = pandas.DataFrame(values, columns=["x"], copy=False)
    assert numpy.shares_memory(values, frame["x"].to_numpy())
    stop, versions = threading.Event(), []

    def change():
        version = 0.0
        while not stop.is_set():
            version += 1
            values[:] = version
        versions.append(version)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        last = 0.0
        for _ in range(30):
            relation = con.sql("SELECT count(*), min(x), max(x) FROM frame")
            count, low, high = relation.fetchone()
            # Each row is as it was at some time, and the rows of a planned query are read once.
            assert count == 200_000 and last <= low <= high and low.is_integer() and high.is_integer()
            assert list(relation) == [(count, low, high)]
            last = low
    finally:
        stop.set()
        thread.join()
    assert 0 < last <= versions[0]


def test_an_unsupported_dtype_names_its_column(con):
    for values in (numpy.zeros(2, "complex128"), numpy.array([object(), None])):
        with pytest.raises(bonnetdb.DataError, match="column weight, row 0: a (complex|object)"):
            con.from_edges(bonnetdb._bonnetdb.Table({"src": [0, 1], "dst": [1, 0], "weight": values}), "g")
    odd = pandas.DataFrame({"fine": [1, 2], "odd": numpy.zeros(2, "complex128")})
    with pytest.raises(bonnetdb.ProgrammingError, match="(?s)variable odd.*(odd|complex)"):
        con.sql("SELECT * FROM odd")


def test_registered_frames_stay_until_they_are_forgotten(con):
    frame = pandas.DataFrame({"x": [1, 2]})
    assert con.register("Kept", frame) is con
    frame.loc[0, "x"] = 7
    del frame
    gc.collect()
    assert con.sql("SELECT sum(x) FROM kept").fetchall() == [(3,)]
    con.register("kept", polars.DataFrame({"x": [5]}))
    assert con.sql("SELECT x FROM Kept").fetchall() == [(5,)]
    assert con.duplicate().sql("SELECT x FROM kept").fetchall() == [(5,)]
    con.sql("CREATE TABLE lasting AS SELECT x + 1 AS x FROM kept")
    con.unregister("kept")
    with pytest.raises(bonnetdb.ProgrammingError, match="no frame is registered"):
        con.unregister("kept")
    with pytest.raises(bonnetdb.ProgrammingError, match="already"):
        con.register("lasting", MODULE_FRAME)
    with pytest.raises(bonnetdb.InterfaceError, match="a int gives no rows"):
        con.register("five", 5)


def test_types_and_nulls_go_both_ways(con):
    table = pyarrow.table({
        "i": pyarrow.array([1, None], "int32"),
        "f": pyarrow.array([None, 0.5], "float32"),
        "s": pyarrow.array(["a", None]),
        "d": pyarrow.array(["x", "x"]).dictionary_encode(),
        "l": pyarrow.array([[1.0], None], pyarrow.list_(pyarrow.float32())),
        "t": pyarrow.array([0, None], pyarrow.timestamp("us", "UTC")),
    })  # fmt: skip
    back = con.register("rows", table).sql("SELECT * FROM rows").arrow()
    assert back.to_pylist() == table.to_pylist()
    assert back.schema.field("i").type == pyarrow.int32() and back.schema.field("l").type == table.schema.field("l").type


def test_a_query_reads_a_query_of_the_same_engine_with_one_thread():
    con = bonnetdb.connect(threads=1)
    inner = con.sql("SELECT value AS x FROM generate_series(1, 50000)")
    outer = con.sql('SELECT x * 2 AS y FROM "inner"')
    assert con.sql('SELECT sum(y) FROM "outer"').fetchall() == [(50_000 * 50_001,)]


def test_long_frames_are_read_whole(con):
    rows = polars.DataFrame({"x": numpy.arange(100_000)})
    assert con.sql("SELECT x FROM rows ORDER BY x").fetchnumpy()["x"].tolist() == list(range(100_000))


def test_a_frame_that_cannot_be_read_is_an_error_that_names_column_and_variable(con):
    mixed = pandas.DataFrame({"fine": [1, 2], "odd": [object(), "x"]})
    with pytest.raises(bonnetdb.ProgrammingError, match="(?s)mixed.*odd"):
        con.sql("SELECT * FROM mixed")
    with pytest.raises(bonnetdb.DataError, match="odd") as error:
        con.register("mixed", mixed)
    assert isinstance(error.value.__cause__, pyarrow.ArrowException), "the library's own error is its cause"


def test_a_column_of_a_type_that_is_none_of_ours_is_named(con):
    objects = polars.DataFrame({"fine": [1, 2], "odd": polars.Series([object(), None], dtype=polars.Object)})
    wide = polars.DataFrame({"fine": [1, 2], "odd": polars.Series([1, 2], dtype=polars.Int128)})
    for frame, text in ((objects, "column odd: objects of Python"), (wide, "column odd: a type")):
        with pytest.raises(bonnetdb.Error, match=f"variable frame.*{text}"):
            con.sql("SELECT * FROM frame")
        with pytest.raises(bonnetdb.DataError, match=text):
            con.register("frame", frame)


def test_values_that_python_has_no_object_for_are_named(con):
    values = [pyarrow.array([1]), pyarrow.array(["x"])]
    union = pyarrow.UnionArray.from_dense(pyarrow.array([0, 1], "int8"), pyarrow.array([0, 0], "int32"), values)
    table = pyarrow.table({"fine": [1, 2], "odd": union})
    for read in (lambda rows: rows.fetchall(), lambda rows: rows.fetchnumpy()):
        with pytest.raises(bonnetdb.NotSupportedError, match="column odd: Python has no object"):
            read(con.register("unions", table).sql("SELECT * FROM unions"))


def test_rows_are_appended_by_name(con):
    con.sql("CREATE TABLE t(x BIGINT, s VARCHAR)")
    assert con.append("t", pandas.DataFrame({"s": ["a", "b"], "x": [1, 2]})) == 2
    assert con.sql("SELECT x, s FROM t ORDER BY x").fetchall() == [(1, "a"), (2, "b")]
    with pytest.raises(bonnetdb.ProgrammingError, match="no column y"):
        con.append("t", pyarrow.table({"y": [1]}))


def test_threads_share_a_connection(con):
    frame = polars.DataFrame({"x": range(1000)})
    failures = []

    def work(number):
        try:
            mine = polars.DataFrame({"n": [number]})
            for _ in range(20):
                assert con.sql("SELECT n FROM mine").fetchall() == [(number,)]
                assert con.execute("SELECT sum(x) + ? FROM frame", [number]).fetchone() == (499_500 + number,)
        except BaseException as error:
            failures.append(error)

    con.register("frame", frame)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_series_lazy_frames_dicts_and_arrays_are_tables(con):
    named, bare = pandas.Series([1, 2], name="x"), pandas.Series([1.5, None])
    of_polars, lazy = polars.Series("x", [3, 4]), polars.LazyFrame({"x": [5, 6]}).with_columns(y=polars.col("x") * 2)
    assert con.sql("SELECT sum(x) FROM named").fetchall() == [(3,)]
    assert con.sql("SELECT sum(bare), count(*) FROM bare").fetchall() == [(1.5, 2)]
    assert con.sql("SELECT sum(x) FROM of_polars").fetchall() == [(7,)]
    assert con.sql("SELECT sum(y) FROM lazy").fetchall() == [(22,)]
    columns = {"src": [0, 1], "dst": numpy.array([1, 2]), "name": ["a", None], "at": pandas.Series([0.5, 1.5])}
    assert con.sql("SELECT src, dst, name, at FROM columns ORDER BY src").fetchall() == [(0, 1, "a", 0.5), (1, 2, None, 1.5)]
    days = {"day": [datetime.date(2026, 11, 27), None]}
    assert con.sql("SELECT max(day), count(*) FROM days").fetchall() == [(datetime.date(2026, 11, 27), 2)]
    values, pairs = pyarrow.array([1, 2, None]), numpy.array([[0, 1], [1, 2], [2, 0]])
    assert con.sql("SELECT sum(values), count(*) FROM \"values\"").fetchall() == [(3, 3)]
    assert con.sql("SELECT column_1, column_2 FROM pairs ORDER BY 1").fetchall() == [(0, 1), (1, 2), (2, 0)]
    line, fields = numpy.array([0.5, 1.5]), numpy.array([(1, 2.0)], dtype=[("a", "int64"), ("b", "float64")])
    assert con.sql("SELECT sum(column_1) FROM line").fetchall() == [(2.0,)]
    assert con.sql("SELECT a, b FROM fields").fetchall() == [(1, 2.0)]
    masked = numpy.ma.masked_array([1, 2], mask=[True, False])
    assert con.sql("SELECT count(*), count(column_1), sum(column_1) FROM masked").fetchall() == [(2, 1, 2)]
    none = numpy.zeros((0, 2))
    assert con.sql("SELECT count(*), sum(column_2) FROM none").fetchall() == [(0, None)]
    # And by name.
    assert con.register("kept", pairs).sql("SELECT sum(column_2) FROM kept").fetchall() == [(3,)]
    con.sql("CREATE TABLE t(x BIGINT)")
    assert con.append("t", {"x": [1, 2]}) == 2 and con.append("t", named) == 2


def test_a_variable_that_is_no_table_says_what_it_is(con):
    club, matrix = networkx.path_graph(3), scipy.sparse.eye_array(3)
    cube, rows, number, ragged = numpy.zeros((2, 2, 2)), [(1, 2)], 5, {"a": [1], "b": 2}
    graph = con.from_networkx(club, "stored")
    for name, text in {
        "club": "variable club is a Graph, .*con.from_networkx\\(club, 'g'\\)",
        "graph": "variable graph is a Graph, .*stored.edges",
        "matrix": "variable matrix is a .*con.from_scipy",
        "cube": "variable cube is an array of shape \\(2, 2, 2\\): a table has two dimensions",
        "rows": "variable rows is a list, .*dict of columns",
        "number": "variable number is an int, .*frame of pandas",
        "ragged": "variable ragged is a dict, but not one of columns",
    }.items():
        for run in (con.sql, con.execute):
            with pytest.raises(bonnetdb.ProgrammingError, match=f"(?s){name}.*{text}"):
                run(f"SELECT * FROM {name}")
    # Modules, classes and functions stand under a name by chance; and a table of another name is none of the variable's.
    for name in ("pytest", "test_long_frames_are_read_whole", "missing"):
        with pytest.raises(bonnetdb.ProgrammingError) as error:
            con.sql(f"SELECT * FROM {name} WHERE number > 1")
        assert "variable" not in str(error.value)
    uneven = {"a": [1], "b": [1, 2]}
    with pytest.raises(bonnetdb.Error, match="(?s)variable uneven"):
        con.sql("SELECT * FROM uneven")
    # A graph, a CTE and a table come before a variable of their name.
    stored = 7
    assert con.sql("SELECT nodes FROM graph_profile(stored)").fetchall() == [(3,)]
    assert con.sql("WITH number AS (SELECT 1 AS x) SELECT x FROM number").fetchall() == [(1,)]
    assert stored == 7


def test_frames_of_narwhals_and_altair_take_a_relation(con):
    narwhals, altair = pytest.importorskip("narwhals"), pytest.importorskip("altair")
    rows = con.sql("SELECT value AS x, value * value AS y FROM generate_series(1, 3) ORDER BY 1")
    for frame in (narwhals.from_arrow(rows, backend=pyarrow), narwhals.from_native(rows)):
        assert frame.columns == ["x", "y"] and frame.shape == (3, 2)
    assert con.sql("SELECT sum(y) FROM frame").fetchall() == [(14,)]
    chart = altair.Chart(rows).mark_point().encode(x="x:Q", y="y:Q").to_dict()
    (data,) = chart["datasets"].values()
    assert data == [{"x": 1, "y": 1}, {"x": 2, "y": 4}, {"x": 3, "y": 9}]
    typed = altair.Chart(con.sql("SELECT 'a' AS name, 0.5 AS share")).mark_bar().encode(x="name", y="share").to_dict()
    assert [typed["encoding"][axis]["type"] for axis in "xy"] == ["nominal", "quantitative"]
