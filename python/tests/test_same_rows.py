"""The engine's own scripts of SQL, through the module and through the driver: the same rows as the scripts say."""

import pathlib
import re

import pyarrow
import pytest
from adbc_driver_manager import dbapi

import bonnetdb

SCRIPTS = pathlib.Path(__file__).parents[2] / "tests" / "slt"


def records(script):
    """The statements of a script: whether it answers rows, its columns' types, its text, the lines that it shall answer."""
    for record in re.split(r"\n\s*\n", script.read_text()):
        lines = [line for line in record.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        head, *rest = lines
        if head == "statement ok":
            yield False, "", "\n".join(rest), []
        elif head.startswith("query ") and "----" in rest:
            end = rest.index("----")
            yield True, head.split()[1], "\n".join(rest[:end]), rest[end + 1 :]


@pytest.mark.skipif(not SCRIPTS.exists(), reason="the engine's scripts are not beside the tests")
def test_scripts_answer_the_same_through_module_and_driver():
    compared = sum(same_rows(SCRIPTS / f"{name}.slt") for name in ("dialect", "set_logic", "pivot", "strata"))
    assert compared >= 50, compared


def same_rows(script):
    """Compares the answers to every query of a script, and answers their number."""
    compared = 0
    con = bonnetdb.connect(replacement_scans=False)
    with dbapi.connect(driver=bonnetdb.adbc_driver_path(), autocommit=True) as connection, connection.cursor() as cursor:
        for answers, kinds, text, expected in records(script):
            cursor.execute(text)
            if not answers:
                con.execute(text)
                continue
            relation = con.sql(text)
            rows, _ = relation._rows.head(100_000)
            lines = [" ".join("NULL" if cell is None else cell or "(empty)" for cell in row) for row in rows]
            # Other types are written there in a way of their own.
            if set(kinds) <= {"I", "T"}:
                assert sorted(lines) == sorted(expected), text
            assert len(rows) == len(expected), text
            driver = cursor.fetch_arrow_table()
            assert driver.schema == pyarrow.table(relation).schema, text
            assert sorted(map(repr, driver.to_pylist())) == sorted(map(repr, relation.arrow().to_pylist())), text
            compared += 1
    return compared
