import os

import adbc_driver_manager
import pandas
import polars
import pyarrow
import pytest
from adbc_driver_manager import dbapi

import bonnetdb

DRIVER = os.environ.get("BONNET_ADBC") or bonnetdb.adbc_driver_path()


@pytest.fixture
def adbc():
    with dbapi.connect(driver=DRIVER, autocommit=True) as connection:
        yield connection


QUERIES = [
    "SELECT 1 AS i, 1.5 AS d, 'a' AS s, NULL AS n, TRUE AS b, DATE '2026-01-02' AS day",
    "SELECT node, round(pagerank, 9) AS pagerank FROM pagerank((SELECT * FROM complete(5))) ORDER BY node",
    "SELECT [1, 2] AS l, {'a': 1} AS s, X'00ff' AS x, 1.25::DECIMAL(5, 2) AS c, INTERVAL '1 day' AS i",
    "SELECT value FROM generate_series(1, 20000) ORDER BY 1",
    "SELECT 1 AS x WHERE FALSE",
]


@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_those_of_the_module(adbc, con, query):
    with adbc.cursor() as cursor:
        cursor.execute(query)
        table = cursor.fetch_arrow_table()
    assert table.equals(con.sql(query).arrow())


def test_polars_and_pandas_read_through_the_driver(adbc):
    frame = polars.read_database("SELECT value AS x FROM generate_series(1, 3) ORDER BY 1", adbc)
    assert frame["x"].to_list() == [1, 2, 3]
    assert pandas.read_sql("SELECT 1 AS x, 'a' AS s", adbc).values.tolist() == [[1, "a"]]


def test_rows_are_written_in_bulk(adbc):
    table = pyarrow.table({"x": [1, 2], "s": ["a", None]})
    with adbc.cursor() as cursor:
        assert cursor.adbc_ingest("t", table) == 2
        with pytest.raises(dbapi.Error, match="exists already"):
            cursor.adbc_ingest("t", table)
        assert cursor.adbc_ingest("t", table.to_reader(), mode="append") == 2
        assert cursor.adbc_ingest("u", table, mode="create_append") == 2
        assert cursor.adbc_ingest("u", table, mode="create_append") == 2
        cursor.execute("SELECT count(*), sum(x), count(s) FROM t UNION ALL SELECT count(*), sum(x), count(s) FROM u")
        assert cursor.fetchall() == [(4, 6, 2), (4, 6, 2)]
        assert cursor.adbc_ingest("t", table, mode="replace") == 2
        cursor.execute("SELECT count(*) FROM t")
        assert cursor.fetchone() == (2,)
        with pytest.raises(dbapi.Error, match="temporary"):
            cursor.adbc_ingest("v", table, temporary=True)
    polars.DataFrame({"x": [7]}).write_database("p", adbc, engine="adbc")
    assert polars.read_database("SELECT x FROM p", adbc)["x"].to_list() == [7]


def test_parameters_are_bound(adbc):
    with adbc.cursor() as cursor:
        cursor.execute("SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e", (1, "it's", 0.1, None, b"\x00\xff"))
        assert cursor.fetchone() == (1, "it's", 0.1, None, b"\x00\xff")
        cursor.execute("CREATE TABLE t(x BIGINT, s VARCHAR)")
        cursor.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b")])
        assert cursor.rowcount == 2
        cursor.execute("SELECT x, s FROM t WHERE x = ?", (2,))
        assert cursor.fetchall() == [(2, "b")]


def test_catalogs_tables_and_columns_are_listed(adbc):
    with adbc.cursor() as cursor:
        cursor.execute("CREATE TABLE first(x BIGINT, s VARCHAR)")
        cursor.execute("CREATE SCHEMA g")
        cursor.execute("CREATE TABLE g.second(y DOUBLE)")
        cursor.execute("CREATE VIEW third AS SELECT 1 AS z")
    catalogs = adbc.adbc_get_objects().read_all().to_pylist()
    (memory,) = (catalog for catalog in catalogs if catalog["catalog_name"] == "memory")
    schemas = {schema["db_schema_name"]: schema["db_schema_tables"] for schema in memory["catalog_db_schemas"]}
    main = {table["table_name"]: table for table in schemas["main"]}
    assert [column["column_name"] for column in main["first"]["table_columns"]] == ["x", "s"]
    assert [column["ordinal_position"] for column in main["first"]["table_columns"]] == [1, 2]
    assert main["third"]["table_type"] == "VIEW" and main["first"]["table_type"] == "BASE TABLE"
    assert [table["table_name"] for table in schemas["g"]] == ["second"]
    found = adbc.adbc_get_objects(depth="tables", table_name_filter="fir%").read_all().to_pylist()
    names = [t["table_name"] for c in found for s in c["catalog_db_schemas"] for t in s["db_schema_tables"]]
    assert names == ["first"]
    assert adbc.adbc_get_objects(depth="catalogs").read_all().to_pylist()[0]["catalog_db_schemas"] is None
    assert adbc.adbc_get_table_schema("first").names == ["x", "s"]
    assert adbc.adbc_get_table_schema("second", db_schema_filter="g").names == ["y"]
    assert "VIEW" in adbc.adbc_get_table_types()
    info = adbc.adbc_get_info()
    assert info["vendor_name"] == "BonnetDB" and info["vendor_version"] == bonnetdb.__version__


def test_errors_have_their_class(adbc):
    with adbc.cursor() as cursor:
        with pytest.raises(dbapi.ProgrammingError, match="nowhere") as error:
            cursor.execute("SELECT * FROM nowhere")
        assert error.value.sqlstate == "42P01"
        with pytest.raises(dbapi.ProgrammingError, match="2 values"):
            cursor.execute("SELECT ?", (1, 2))
        cursor.execute("CREATE TABLE k(x INT PRIMARY KEY)")
        cursor.execute("INSERT INTO k VALUES (1)")
        with pytest.raises(dbapi.IntegrityError, match="PRIMARY KEY") as error:
            cursor.execute("INSERT INTO k VALUES (1)")
        assert error.value.sqlstate == "23505"
    with pytest.raises(dbapi.Error, match="there is no option color"):
        dbapi.connect(driver=DRIVER, db_kwargs={"color": "red"}, autocommit=True)


def test_a_statement_is_cancelled_from_another_thread(adbc):
    import threading
    import time

    long = "SELECT count(*) FROM generate_series(1, 100000) AS a(x) CROSS JOIN generate_series(1, 10000000) AS b(y) WHERE x * y % 7 = 3"
    cursor = adbc.cursor()

    def cancel():
        time.sleep(0.5)
        cursor.adbc_cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Exception, match="(?i)cancel"):
        cursor.execute(long)
        cursor.fetchall()
    thread.join()
    cursor.close()


def test_a_cancel_between_two_batches_is_heard_by_its_statement_alone(adbc):
    query = "SELECT value FROM generate_series(1, 3000000)"
    with adbc.cursor() as one, adbc.cursor() as other:
        one.execute(query)
        other.execute(query)
        reader = one.fetch_record_batch()
        assert reader.read_next_batch().num_rows > 0
        one.adbc_cancel()
        with pytest.raises(Exception, match="(?i)cancel"):
            reader.read_all()
        assert other.fetch_arrow_table().num_rows == 3_000_000
        one.execute("SELECT 1 AS x")
        assert one.fetchall() == [(1,)]


def test_a_lasting_database_by_its_path(tmp_path):
    path = str(tmp_path / "lab.bonnet")
    with bonnetdb.connect(path) as con:
        con.sql("CREATE TABLE t AS SELECT 5 AS x")
    options = {"path": path, "read_only": "true"}
    with dbapi.connect(driver=DRIVER, db_kwargs=options, autocommit=True) as adbc:
        assert pandas.read_sql("SELECT x FROM t", adbc)["x"].tolist() == [5]
        with adbc.cursor() as cursor, pytest.raises(dbapi.Error, match="(?i)read"):
            cursor.execute("INSERT INTO t VALUES (6)")
        assert adbc.adbc_current_catalog and adbc.adbc_current_db_schema == "main"


def test_the_manager_opens_the_driver_by_itself():
    with adbc_driver_manager.AdbcDatabase(driver=DRIVER) as database:
        with adbc_driver_manager.AdbcConnection(database) as connection:
            with adbc_driver_manager.AdbcStatement(connection) as statement:
                statement.set_sql_query("SELECT 40 + 2 AS x")
                stream, _ = statement.execute_query()
                assert pyarrow.RecordBatchReader._import_from_c(stream.address).read_all().to_pylist() == [{"x": 42}]


def test_frames_of_pandas_are_written_with_their_metadata(adbc):
    frame = pandas.DataFrame({"z": [1, 2], "s": ["a", None]})
    assert pyarrow.Table.from_pandas(frame).schema.metadata, "pandas writes its own beside the columns"
    frame.to_sql("t", adbc, index=False)
    assert pandas.read_sql("SELECT z, s FROM t ORDER BY z", adbc)["z"].tolist() == [1, 2]
    with adbc.cursor() as cursor:
        for mode, rows in (("append", 4), ("create_append", 6), ("replace", 2)):
            assert cursor.adbc_ingest("t", pyarrow.Table.from_pandas(frame), mode=mode) == 2
            cursor.execute("SELECT count(*), sum(z) FROM t")
            assert cursor.fetchone() == (rows, rows * 3 // 2), mode
        field = pyarrow.field("x", pyarrow.int64(), metadata={"unit": "m"})
        assert cursor.adbc_ingest("u", pyarrow.table([pyarrow.array([7])], schema=pyarrow.schema([field]))) == 1
        assert cursor.adbc_ingest("v", pyarrow.record_batch([pyarrow.array([7])], schema=pyarrow.schema([field]))) == 1
        cursor.execute("SELECT u.x + v.x FROM u, v")
        assert cursor.fetchone() == (14,)
    frame.set_index("s").head(1).to_sql("indexed", adbc)
    assert adbc.adbc_get_table_schema("indexed").names == ["z", "s"]


def test_uris_name_folders(tmp_path):
    lab = tmp_path / "my lab.bonnet"
    uri = "bonnetdb://" + str(lab).replace(" ", "%20")
    with dbapi.connect(driver=DRIVER, uri=uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t AS SELECT 1 AS x")
    assert (lab / "bonnet.json").exists() and [path.name for path in tmp_path.iterdir()] == [lab.name]
    for db_kwargs in ({"path": str(lab)}, {"uri": str(lab)}, {"uri": f"file://{uri.removeprefix('bonnetdb://')}"}):
        with dbapi.connect(driver=DRIVER, db_kwargs=db_kwargs, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT x FROM t")
            assert cursor.fetchall() == [(1,)]
    for uri in ("bonnetdb://host/x", "postgresql://host/x", "bonnetdb:///x?threads=1"):
        with pytest.raises(dbapi.ProgrammingError, match="bonnetdb:///data/lab.bonnet"):
            dbapi.connect(driver=DRIVER, uri=uri, autocommit=True)
    for uri in ("bonnetdb://", "bonnetdb::memory:", ":memory:"):
        with dbapi.connect(driver=DRIVER, uri=uri, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT current_database()")
            assert cursor.fetchall() == [("memory",)]


def test_threads_have_a_range(adbc):
    for threads in ("0", "1025"):
        with pytest.raises(dbapi.Error, match=f"threads = {threads}: expected a whole number from 1 to 1024"):
            dbapi.connect(driver=DRIVER, db_kwargs={"threads": threads}, autocommit=True)


def test_a_manifest_makes_the_driver_known_by_its_name(tmp_path, monkeypatch):
    path = bonnetdb.write_adbc_manifest(tmp_path / "drivers")
    assert path == str(tmp_path / "drivers" / "bonnetdb.toml")
    options = {"additional_manifest_search_path_list": str(tmp_path / "drivers")}
    with dbapi.connect(driver="bonnetdb", db_kwargs=options, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 40 + 2 AS x")
        assert cursor.fetchall() == [(42,)]
    # A URI alone names the driver, too.
    monkeypatch.setenv("ADBC_DRIVER_PATH", str(tmp_path / "drivers"))
    with dbapi.connect(f"bonnetdb://{tmp_path}/lab.bonnet", autocommit=True):
        assert (tmp_path / "lab.bonnet" / "bonnet.json").exists()
