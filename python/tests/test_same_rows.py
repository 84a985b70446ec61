"""The engine's own scripts of SQL, through the module, the driver, the command and psql: the same rows as the scripts say."""

import datetime
import decimal
import functools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess

import pyarrow
import pytest
from adbc_driver_manager import dbapi

import bonnetdb

SCRIPTS = pathlib.Path(__file__).parents[2] / "tests" / "slt"
NAMES = ("dialect", "set_logic", "pivot", "strata", "simplices", "persistence", "topology")
"""Scripts with values of all kinds: NULL, NaN, texts, dates, lists, lists of lists, structs."""
COMMAND = os.environ.get("BONNET_COMMAND") or shutil.which("bonnet")
MARK = "@@ the next statement @@"

pytestmark = pytest.mark.skipif(not SCRIPTS.exists(), reason="the engine's scripts are not beside the tests")


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
            # Plans are asked for by the runner of these scripts alone.
            if any("<slt:" in line for line in rest):
                continue
            yield True, head.split()[1], "\n".join(rest[:end]), rest[end + 1 :]


def required(there, what):
    """Skips where a program is absent; fails where all tests are required."""
    if not there:
        assert os.environ.get("BONNET_REQUIRE_ALL") != "1", f"{what} is absent"
        pytest.skip(f"{what} is absent")


def test_scripts_answer_the_same_through_module_and_driver():
    compared = sum(len(answers(SCRIPTS / f"{name}.slt")) for name in NAMES)
    assert compared >= 50, compared


@functools.cache
def answers(script):
    """The rows of each query of a script: its text, the types of its columns, its rows. Those of the driver are the same."""
    found = []
    con = bonnetdb.connect(replacement_scans=False)
    with dbapi.connect(driver=bonnetdb.adbc_driver_path(), autocommit=True) as connection, connection.cursor() as cursor:
        for has_rows, kinds, text, expected in records(script):
            cursor.execute(text)
            if not has_rows:
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
            found.append((text, relation.types, relation.fetchall()))
    return found


def script_for(script, separator):
    """All statements of a script for a program that runs a file, each query behind a line with the mark."""
    lines = []
    for has_rows, _, text, _ in records(script):
        lines += [f"{separator} {MARK}" if has_rows else "", f"{text};"]
    return "\n".join(lines) + "\n"


def same_as(expected, pieces, rows_of):
    """Compares what a program wrote behind each mark with the rows of the module. Answers the number of queries."""
    assert len(pieces) == len(expected)
    for (text, types, rows), piece in zip(expected, pieces):
        if any("INTERVAL" in kind for kind in types):
            continue
        ours = sorted((plain(row, types) for row in rows), key=repr)
        theirs = sorted((plain(row, types) for row in rows_of(piece, types)), key=repr)
        assert theirs == ours, text
    return len(pieces)


def plain(row, types):
    return tuple(value_of(value, "FLOAT" in kind) for value, kind in zip(row, types))


def value_of(value, single=False):
    """One form for a value, whoever wrote it: numbers to the digits that their type has."""
    if isinstance(value, (list, tuple)):
        return [value_of(item, single) for item in value]
    if isinstance(value, dict):
        return {str(key): value_of(item, single) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime.time):
        value = value.isoformat()
    if isinstance(value, datetime.date):
        return value_of(value.isoformat())
    if isinstance(value, str):
        moment = re.fullmatch(r"(\d{4}-\d\d-\d\d[ T])?(\d\d:\d\d:\d\d)(\.\d+)?", value)
        if not moment:
            return value
        return (moment[1] or "").replace(" ", "T") + moment[2] + (moment[3] or "").rstrip("0").rstrip(".")
    if isinstance(value, (float, decimal.Decimal)):
        value = float(value)
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        value = float(f"{value:.6g}") if single else value
        return int(value) if value == int(value) and abs(value) < 1e15 else value
    return value


def test_the_command_answers_the_same():
    required(COMMAND, "the command (BONNET_COMMAND)")
    compared = 0
    for name in NAMES:
        script = SCRIPTS / f"{name}.slt"
        run = subprocess.run([COMMAND, "--format", "json"], input=script_for(script, "\\echo"), capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        pieces = run.stdout.split(f"{MARK}\n")[1:]
        compared += same_as(answers(script), pieces, rows_of_json)
    assert compared >= 50, compared


def rows_of_json(piece, _):
    # Several columns may have one name.
    unique = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else dict(enumerate(value for _, value in pairs))  # noqa: E731
    return [tuple(row.values()) for row in json.loads(piece, object_pairs_hook=unique)]


def test_psql_shows_the_same():
    required(shutil.which("psql"), "psql")
    required(COMMAND, "the command (BONNET_COMMAND)")
    # Without the feature, `serve` is a word like any other, and the help is that of the command.
    required(b"--pg" in subprocess.run([COMMAND, "serve", "--help"], capture_output=True).stdout, "the feature pg of the command")
    compared = 0
    for name in NAMES:
        server = subprocess.Popen([COMMAND, "serve", "--pg", "127.0.0.1:0", "--external-access"], stderr=subprocess.PIPE, text=True)
        try:
            port = server.stderr.readline().strip().rsplit(":", 1)[1]
            script = SCRIPTS / f"{name}.slt"
            options = ["-X", "-q", "-A", "-t", "-F", "\x1f", "-R", "\x1e", "-P", "null=\x1d", "-v", "ON_ERROR_STOP=1"]
            address = f"host=127.0.0.1 port={port} user=me dbname=postgres"
            run = subprocess.run(["psql", *options, address], input=script_for(script, "\\echo"), capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            compared += same_as(answers(script), run.stdout.split(f"{MARK}\n")[1:], rows_of_psql)
        finally:
            server.kill()
            server.communicate()
    assert compared >= 50, compared


def rows_of_psql(piece, types):
    # A row of one empty text is an empty line, and no rows are none.
    piece = piece.removesuffix("\n")
    return [tuple(map(value_of_psql, row.split("\x1f"), types)) for row in piece.split("\x1e")] if piece else []


def value_of_psql(cell, kind):
    if cell == "\x1d":
        return None
    if kind.startswith(("STRUCT", "MAP")) or kind.count("[") > 1 or ")[" in kind:
        return json.loads(cell)
    if kind.endswith("]"):
        items = re.findall(r'"(?:[^"\\]|\\.)*"|[^,{}]+', cell[1:-1])
        item_kind = kind[: kind.rindex("[")]
        return [value_of_psql(re.sub(r"\\(.)", r"\1", item.strip('"')) if item != "NULL" else "\x1d", item_kind) for item in items]
    if kind == "BOOLEAN":
        return {"t": True, "f": False}[cell]
    if kind == "BLOB":
        return cell.removeprefix("\\x")
    if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
        return float(cell)
    return int(cell) if kind == bonnetdb.NUMBER else cell
