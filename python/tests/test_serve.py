"""Clients of PostgreSQL at `bonnet serve`, where the command and they are installed: SQLAlchemy, as Superset uses it."""

import os
import shutil
import subprocess

import pytest

COMMAND = os.environ.get("BONNET_COMMAND") or shutil.which("bonnet")
PASSWORD = "a secret"


@pytest.fixture
def address(tmp_path):
    if not COMMAND or subprocess.run([COMMAND, "serve", "--help"], capture_output=True).returncode != 0:
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
