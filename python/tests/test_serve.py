"""Clients of PostgreSQL at `bonnet serve`, where the command and they are installed: SQLAlchemy, as Superset uses it, psycopg,
asyncpg, and PostgreSQL's JDBC driver, as DBeaver does."""

import os
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

import pytest

COMMAND = os.environ.get("BONNET_COMMAND") or shutil.which("bonnet")
JDBC = os.environ.get("BONNET_JDBC", "/usr/share/java/postgresql.jar")
PASSWORD = "a secret"
PSYCOPG = pathlib.Path(__file__).parents[2] / "tests" / "serve" / "psycopg_client.py"


@pytest.fixture
def address(tmp_path):
    if not COMMAND or b"--pg" not in subprocess.run([COMMAND, "serve", "--help"], capture_output=True).stdout:
        assert os.environ.get("BONNET_REQUIRE_ALL") != "1", "the command with the feature pg (BONNET_COMMAND) is absent"
        pytest.skip("the command with the feature pg (BONNET_COMMAND) is absent")
    arguments = [COMMAND, "serve", str(tmp_path / "lab.bonnet"), "--pg", "127.0.0.1:0", "--user", "me"]
    server = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env={**os.environ, "BONNET_PASSWORD": PASSWORD})
    try:
        yield "127.0.0.1:" + server.stderr.readline().strip().rsplit(":", 1)[1]
    finally:
        server.kill()
        server.communicate()


def test_sqlalchemy_reads_the_catalog_and_pandas_the_rows(address):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg2")
    host, port = address.split(":")
    url = sqlalchemy.URL.create("postgresql+psycopg2", "me", PASSWORD, host, int(port), "postgres")
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE runs (model VARCHAR NOT NULL, accuracy DOUBLE, at TIMESTAMP)"))
        connection.execute(sqlalchemy.text("CREATE VIEW best AS SELECT max(accuracy) AS accuracy FROM runs"))
        table = sqlalchemy.Table("runs", sqlalchemy.MetaData(), autoload_with=connection)
        connection.execute(table.insert(), [{"model": "gcn", "accuracy": 0.5}, {"model": "mlp", "accuracy": None}])
        query = sqlalchemy.select(table.c.model, table.c.accuracy).where(table.c.accuracy.is_not(None)).order_by(table.c.model)
        assert connection.execute(query).fetchall() == [("gcn", 0.5)]
        with pytest.raises(sqlalchemy.exc.IntegrityError, match="NOT NULL"):
            connection.execute(table.insert(), [{"model": None, "accuracy": 0.5}])
        with pytest.raises(sqlalchemy.exc.ProgrammingError, match="nowhere"):
            connection.execute(sqlalchemy.text("SELECT * FROM nowhere"))
    inspector = sqlalchemy.inspect(engine)
    assert inspector.default_schema_name == "main" and "main" in inspector.get_schema_names()
    assert inspector.get_table_names() == ["runs"] and inspector.get_view_names() == ["best"] and inspector.has_table("runs")
    columns = {column["name"]: (str(column["type"]), column["nullable"]) for column in inspector.get_columns("runs")}
    assert columns == {"model": ("TEXT", False), "accuracy": ("DOUBLE PRECISION", True), "at": ("TIMESTAMP", True)}
    assert not inspector.get_pk_constraint("runs")["constrained_columns"]
    assert inspector.get_foreign_keys("runs") == inspector.get_indexes("runs") == inspector.get_unique_constraints("runs") == []
    assert inspector.get_table_comment("runs") == {"text": None} and "accuracy" in inspector.get_view_definition("best")
    pandas = pytest.importorskip("pandas")
    assert pandas.read_sql("SELECT model, accuracy FROM runs ORDER BY model", engine)["model"].tolist() == ["gcn", "mlp"]


def test_psycopg_prepares_streams_and_cancels(address):
    """By the program that the tests of the server itself run, here with a password."""
    pytest.importorskip("psycopg")
    url = f"postgresql://me:{urllib.parse.quote(PASSWORD)}@{address}/postgres"
    run = subprocess.run([sys.executable, str(PSYCOPG), url], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and run.stdout.endswith("all is well\n"), run.stdout + run.stderr


def test_asyncpg_prepares_streams_and_reads_in_binary(address):
    asyncpg = pytest.importorskip("asyncpg")
    import asyncio

    async def work():
        host, port = address.split(":")
        connection = await asyncpg.connect(host=host, port=int(port), user="me", password=PASSWORD, database="postgres")
        await connection.execute("CREATE TABLE p AS SELECT value AS a, value / 4.0 AS b FROM generate_series(1, 1000)")
        assert await connection.fetchval("SELECT sum(a) FROM p WHERE a > $1", 990) == sum(range(991, 1001))
        row = await connection.fetchrow(
            "SELECT [1, NULL] AS l, 'x' AS t, NULL AS n, true AS b, 0.25::DOUBLE AS d, DATE '2026-01-31' AS day"
        )
        assert row["l"] == [1, None]
        assert (row["t"], row["n"], row["b"], row["d"], row["day"].isoformat()) == ("x", None, True, 0.25, "2026-01-31")
        async with connection.transaction():
            total = 0
            async for found in connection.cursor("SELECT a FROM p ORDER BY a", prefetch=70):
                total += found["a"]
        assert total == 500_500
        try:
            await connection.fetch("SELECT nothing FROM p")
        except asyncpg.UndefinedColumnError:
            pass
        else:
            raise AssertionError("an unknown column is no error")
        await connection.close()

    asyncio.run(work())


def test_the_jdbc_driver_reads_the_catalog_and_writes(address):
    java = shutil.which("java")
    if not java or not os.path.exists(JDBC):
        pytest.skip(f"java or {JDBC} is absent")
    source = pathlib.Path(__file__).with_name("Metadata.java")
    run = subprocess.run([java, "-cp", JDBC, str(source), f"{address}/postgres", PASSWORD], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "all is well\n"), run.stderr
