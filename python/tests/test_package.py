import ast
import inspect
import io
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import bonnetdb
import bonnetdb.progress

PACKAGE = pathlib.Path(bonnetdb.__file__).parent
HERE = pathlib.Path(__file__).parents[1]


def test_the_stub_names_what_is_there():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name in functions.keys() | classes.keys():
        assert hasattr(bonnetdb, name), name
    imported = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    for name in bonnetdb.__all__:
        assert name in functions or name in classes or name in imported or f"\n{name}: " in (PACKAGE / "__init__.pyi").read_text() or f"\n{name} = " in (
            PACKAGE / "__init__.pyi"
        ).read_text(), name
    for name in ("Connection", "Cursor", "Relation", "Graph", "Picture"):
        real = getattr(bonnetdb, name)
        stubbed = {node.name: node for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        public = {key for key, value in vars(real).items() if not key.startswith("_") and (callable(value) or isinstance(value, property))}
        public -= {key for key in public if isinstance(vars(real)[key], type)}
        assert public == {key for key in stubbed if not key.startswith("_")}, name
        for key, node in stubbed.items():
            if isinstance(vars(real)[key], property):
                continue
            expected = [parameter for parameter in inspect.signature(getattr(real, key)).parameters if parameter != "_"]
            found = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
            found += [node.args.kwarg.arg] if node.args.kwarg else []
            assert found == expected, (name, key)
    assert (PACKAGE / "py.typed").exists()


def test_the_stub_of_the_library_names_what_is_there():
    from bonnetdb import _bonnetdb

    tree = ast.parse((PACKAGE / "_bonnetdb.pyi").read_text())
    stubbed = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    public = {name for name in vars(_bonnetdb) if not name.startswith("_")}
    assert public == stubbed.keys()
    for name in ("Session", "Rows", "Table"):
        real = {key for key in vars(getattr(_bonnetdb, name)) if not key.startswith("_")}
        assert real == {node.name for node in stubbed[name].body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}


def test_a_connection_that_cannot_be_made_says_why(tmp_path):
    for threads in (0, -1, 1025):
        with pytest.raises(bonnetdb.ProgrammingError, match=f"threads = {threads}: expected a whole number from 1 to 1024"):
            bonnetdb.connect(threads=threads)
    with pytest.raises(bonnetdb.OperationalError, match=f"there is no folder '{tmp_path}/missing'"):
        bonnetdb.connect(tmp_path / "missing" / "b" / "lab.bonnet")
    assert list(tmp_path.iterdir()) == []
    with bonnetdb.connect(tmp_path / "lab.bonnet", threads=1) as con:
        assert con.sql("SHOW bonnet.threads").fetchall()
    assert (tmp_path / "lab.bonnet").exists()


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_lines_of_the_readme_have_types(checker, tmp_path):
    pytest.importorskip(checker)
    document = HERE / "README.md"
    if not document.exists():
        pytest.skip("README.md is not beside the tests")
    script = tmp_path / "readme.py"
    script.write_text("\n".join(python_of(document)) + '\nframe = con.sql("SELECT 1").df()\nreveal_type(con.sql("SELECT 1").fetchall())\n')
    # Of an installed package mypy finds the types by itself, and refuses its folder here.
    environment = os.environ if PACKAGE.parent.name == "site-packages" else {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    config = tmp_path / "pyrightconfig.json"
    config.write_text(json.dumps({"extraPaths": [str(PACKAGE.parent)], "reportMissingModuleSource": False, "reportMissingImports": False}))
    arguments = {
        "mypy": ["--ignore-missing-imports", "--check-untyped-defs", "--cache-dir", str(tmp_path / "cache"), str(script)],
        "pyright": ["--project", str(config), "--pythonpath", sys.executable, str(script)],
    }
    done = subprocess.run([sys.executable, "-m", checker, *arguments[checker]], capture_output=True, text=True, env=environment, cwd=tmp_path)
    if checker == "pyright" and "error" not in done.stdout and done.returncode != 0:
        pytest.skip(f"pyright cannot run: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "list[tuple[Any, ...]]" in done.stdout, "the types of the package are read"


def test_importing_takes_no_other_library():
    script = """
import sys
import bonnetdb
import bonnetdb.progress
heavy = {"numpy", "pandas", "polars", "pyarrow", "networkx", "scipy", "torch", "IPython"} & set(sys.modules)
assert not heavy, heavy
con = bonnetdb.connect()
assert con.sql("SELECT 1 AS x").fetchall() == [(1,)]
heavy = {"numpy", "pandas", "polars", "pyarrow", "networkx", "scipy", "torch", "IPython"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def python_of(document):
    """The blocks of Python in a document."""
    return re.findall(r"^```python\n(.*?)^```", document.read_text(), re.M | re.S)


@pytest.mark.parametrize("name", ["README.md", "../README.md"])
def test_the_lines_of_the_documents_run(name, tmp_path, monkeypatch):
    document = HERE / name
    if not document.exists():
        pytest.skip(f"{name} is not beside the tests")
    blocks = python_of(document)
    assert blocks, name
    for csv in (HERE.parent / "examples" / "start").glob("*.csv"):
        (tmp_path / csv.name).write_bytes(csv.read_bytes())
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "document"}
    for block in blocks:
        exec(compile(block, name, "exec"), names)


def test_magics_run_cells():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "bonnetdb")
    assert shell.run_line_magic("sql", "SELECT 41 + 1 AS x").fetchall() == [(42,)]
    shell.user_ns["con"] = bonnetdb.connect()
    shell.run_cell_magic("sql", "found", "CREATE TABLE t AS SELECT 7 AS x;\nSELECT x FROM t")
    assert shell.user_ns["found"].fetchall() == [(7,)]
    assert shell.user_ns["con"].sql("SELECT x FROM t").fetchall() == [(7,)]
    shell.user_ns["rows"] = shell.user_ns["found"]
    assert shell.run_line_magic("sql", "SELECT count(*) FROM rows").fetchall() == [(1,)]
    with pytest.raises(ValueError, match="name of a variable"):
        shell.run_cell_magic("sql", "two words", "SELECT 1")


@pytest.mark.parametrize("name", ["strata.ipynb", "pyg.ipynb"])
def test_the_notebook_runs(name, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    if name == "pyg.ipynb":
        pytest.importorskip("torch_geometric")
    path = HERE / "examples" / name
    if not path.exists():
        pytest.skip("the notebook is not beside the tests")
    notebook = nbformat.read(path, as_version=4)
    assert sum(cell.cell_type == "code" for cell in notebook.cells) == 10
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("text/html" in output.get("data", {}) for output in shown)
    assert any("test_accuracy" in str(output) or "accuracy" in str(output) for output in shown)
    if name == "pyg.ipynb":
        assert any(output.get("data", {}).get("image/svg+xml", "").count('class="mark"') >= 2 for output in shown)


def test_progress_is_one_output_of_a_cell_and_one_line_of_a_terminal(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    source = "import bonnetdb.progress\nreport = bonnetdb.progress.reporter(None)\nfor done in range(5): report('pagerank', done, 4)"
    cells = [nbformat.v4.new_code_cell(source), nbformat.v4.new_code_cell("for done in (1, 1, 2): report('louvain', done, 2)")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell, text in zip(notebook.cells, ("pagerank: 100% (4/4", "louvain: 100% (2/2")):
        (output,) = cell.outputs
        assert output.output_type == "display_data" and output.data["text/plain"].startswith(text)
    stream = io.StringIO()
    line = bonnetdb.progress.Line(stream)
    for done in (0, 1, 1, 2):
        line("pagerank", done, 2)
    line("nothing", 0, 0)
    lines = stream.getvalue().split("\r")
    assert len(lines) == 4 and lines[1].startswith("pagerank: 0% (0/2)") and lines[3].endswith("\n")
