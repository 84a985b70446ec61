"""Ours against the peers: one run, one machine, in turns. Prints a Markdown table.

    python benches/compare.py [--repeats 3] [--only midpoint|scale|training] [--epochs 100]

BONNET is the command to be timed; without it, `cargo build --release` makes one. BONNET_DATA is the folder of data sets
(default ../shared/data beside this repository). Nothing is installed: a row whose peer or data is missing is skipped, and
the reason printed below the table. The peers need numpy (midpoint curvature) and torch, torch_geometric (training).

Everything of ours goes through SQL. A query's time is what `\\timing` says of it: parsing, planning, reading the attached
files, the kernel and the rows, in a session that has run the query before. Training is the column train_seconds of `train`
over its epochs: preparation, steps, and the validation figures of every epoch. For a like comparison the peers' two parts,
validation and test, are both watched by ours in every epoch, as one part of a view over the published split.

Medians over the repeats, in each of which ours and the peer run one after the other; in brackets the processor time of
all threads together, which other load on the machine changes little. Of ours it is that of the whole process, less that of
a process that only attaches, shared out among the queries or epochs: for training it counts reading the graph, too.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "benches" / "peers"
DATA = pathlib.Path(os.environ.get("BONNET_DATA", ROOT / ".." / "shared" / "data")).resolve()


class Skipped(Exception):
    """Why a row cannot be measured."""


def require_modules(*modules):
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise Skipped(f"the peer is missing: pip install {' '.join(missing)}")


def require_data(path):
    if not (DATA / path).exists():
        raise Skipped(f"{path} is not in the data folder: set BONNET_DATA")
    return str(DATA / path).replace("'", "''")


def find_bonnet():
    if "BONNET" in os.environ:
        return os.environ["BONNET"]
    subprocess.run(["cargo", "build", "--release", "--bin", "bonnet"], cwd=ROOT, check=True)
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    target = json.loads(subprocess.run(metadata, cwd=ROOT, check=True, capture_output=True).stdout)["target_directory"]
    return str(pathlib.Path(target) / "release" / "bonnet")


class Bonnet:
    def __init__(self, command):
        self.command = command

    def run(self, statements, threads=None, output="csv"):
        """Runs statements in one process: its output, milliseconds of each timed statement, and of the processor."""
        script = "\n".join(s if s.startswith("\\") else s + ";" for s in statements) + "\n"
        arguments = [self.command, "--format", output, *(["--threads", str(threads)] if threads else [])]
        before = processor_ms()
        done = subprocess.run(arguments, input=script, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bonnet failed:\n{script}\n{done.stderr}")
        wall = [float(ms) for ms in re.findall(r"^Time: ([0-9.]+) ms", done.stderr, re.M)]
        return done.stdout, wall, processor_ms() - before

    def query(self, preparation, query, times):
        """The median of the milliseconds of a query, run once before and then `times` times, and its processor time."""
        _, _, idle = self.run(preparation)
        _, wall, busy = self.run([*preparation, query, "\\timing on", *[query] * times])
        if len(wall) != times:
            sys.exit(f"expected {times} timings of {query}, found {len(wall)}")
        return statistics.median(wall), (busy - idle) / (times + 1)


def processor_ms():
    """Of all processes that were started from here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (usage.ru_utime + usage.ru_stime)


def peer(script, *arguments):
    done = subprocess.run([sys.executable, PEERS / script, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{script} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def duration(ms):
    return f"{ms / 1e3:.2f} s" if ms >= 1000 else f"{ms:.3g} ms" if ms < 100 else f"{ms:.0f} ms"


class Table:
    def __init__(self):
        self.notes = []
        print("| | ours | peer | ratio | ratio of processor time | target |\n|---|---|---|---|---|---|", flush=True)

    def row(self, name, target, measure):
        """`measure` gives pairs of milliseconds, elapsed and of the processor: ours and the peer's, which may be none."""
        try:
            ours, theirs = (tuple(map(statistics.median, zip(*pairs))) for pairs in measure())
        except Skipped as why:
            self.notes.append(f"{name}: skipped, {why}")
            print(f"| {name} | skipped | | | | {target} |", flush=True)
            return
        cells = [name, *(f"{duration(side[0])} [{duration(side[1])}]" if side else "" for side in (ours, theirs))]
        cells += [f"{t / o:,.0f}x" for o, t in zip(ours, theirs)] or ["", ""]
        print("| " + " | ".join([*cells, target]) + " |", flush=True)


def midpoint(bonnet, table, repeats):
    def cora():
        require_modules("numpy")
        attach = f"ATTACH '{require_data('planetoid/cora')}' AS cora (TYPE planetoid)"
        call = "midpoint_curvature(cora.edges, nodes => cora.nodes)"
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            edges, values = pathlib.Path(folder, "edges.csv"), pathlib.Path(folder, "curvature.csv")
            edges.write_text(bonnet.run([attach, "SELECT src, dst FROM cora.edges"])[0])
            values.write_text(bonnet.run([attach, f"SELECT node, curvature FROM {call}"])[0])
            difference = peer("midpoint_dense.py", edges, values)["max_difference"]
            if not difference < 1e-12:
                sys.exit(f"our curvature of Cora differs from the dense method's by {difference}")
            table.notes.append(f"Cora: largest difference from the dense method's values {difference:.1e}")
            for _ in range(repeats):
                found = peer("midpoint_dense.py", edges, values)
                theirs.append((1e3 * found["seconds"], 1e3 * found["processor_seconds"]))
                ours.append(bonnet.query([attach], f"SELECT avg(curvature) FROM {call}", 40))
        return ours, theirs

    table.row("midpoint curvature, Cora; dense NumPy", "1,000x", cora)


def scale(bonnet, table, repeats):
    def measured(times, option, *preparation):
        query = f"SELECT avg(curvature) FROM midpoint_curvature(g.edges, nodes => g.nodes{option})"
        return [bonnet.query(preparation, query, times) for _ in range(repeats)], []

    def attached(path, kind):
        return f"ATTACH '{require_data(path)}' AS g (TYPE {kind})"

    def loaded(path, kind):
        attach = attached(path, kind).replace(" AS g ", " AS files ")
        edges = "CREATE TABLE g.edges AS SELECT src, dst FROM files.edges"
        nodes = "CREATE TABLE g.nodes AS SELECT node FROM files.nodes"
        return attach, "CREATE SCHEMA g", edges, nodes

    for name, path, kind in [
        ("PubMed (19,717 nodes)", "planetoid/pubmed", "planetoid"),
        ("WordNet (74,374 nodes)", "hyperbolics/real/wordnet.edges", "edge_list"),
    ]:
        row = f"midpoint curvature, {name}"
        table.row(f"{row}, reading the attached file", "", lambda: measured(5, "", attached(path, kind)))
        table.row(f"{row}, from tables", "0.1 s", lambda: measured(5, "", *loaded(path, kind)))
    small, large = (f"CREATE GRAPH g AS barabasi_albert({n}, 10)" for n in (10**5, 10**6))
    row = "midpoint curvature, preferential attachment"
    table.row(f"{row}, 10^5 nodes, 10^6 edges", "a few s", lambda: measured(1, "", small))
    table.row(f"{row}, 10^6 nodes, 10^7 edges, 512 anchors", "a few s", lambda: measured(1, ", anchors => 512", large))


# One part that is watched in every epoch, made of the published validation and test nodes.
WATCHED = [
    "CREATE SCHEMA watched",
    "CREATE VIEW watched.nodes AS SELECT * FROM cora.nodes",
    "CREATE VIEW watched.edges AS SELECT * FROM cora.edges",
    "CREATE VIEW watched.splits AS SELECT split, node, CASE part WHEN 'train' THEN part ELSE 'val' END AS part"
    " FROM cora.splits",
]


def training(bonnet, table, repeats, epochs):
    def epoch(model, threads):
        attach = f"ATTACH '{require_data('planetoid/cora')}' AS cora (TYPE planetoid)"
        job = f"SELECT 'watched' AS graph, '{model}' AS model, 0 AS seed, {epochs} AS epochs, 'row' AS normalize"
        query = f"SELECT status, 1000 * train_seconds / epochs_run AS ms FROM train(({job}))"
        # Several runs, one after the other, each in a statement of its own.
        _, _, idle = bonnet.run([attach, *WATCHED], threads)
        output, _, busy = bonnet.run([attach, *WATCHED, *[query] * 5], threads, "ndjson")
        rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        if [row["status"] for row in rows] != ["ok"] * 5:
            sys.exit(f"training failed: {output}")
        return statistics.median(row["ms"] for row in rows), (busy - idle) / (5 * epochs)

    def one_model(model, threads):
        def measure():
            require_modules("torch", "torch_geometric")
            require_data("planetoid/cora")
            ours, theirs = [], []
            for _ in range(repeats):
                found = peer("train_pyg.py", DATA / "planetoid" / "cora", "cora", model, threads or 0, epochs)
                theirs.append((found["median_ms"], found["processor_ms"]))
                ours.append(epoch(model, threads))
            return ours, theirs

        return measure

    for model, name, target in [("gcn", "GCN", "25x"), ("gat", "GAT 8x8", "10x"), ("graphsage", "GraphSAGE", "")]:
        for threads, words in [(1, "1 thread"), (None, "all threads")]:
            table.row(f"{name}, an epoch on Cora, {words}; PyTorch Geometric", target, one_model(model, threads))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["midpoint", "scale", "training"])
    parser.add_argument("--epochs", type=int, default=100)
    arguments = parser.parse_args()
    command = find_bonnet()
    if shutil.which(command) is None:
        sys.exit(f"BONNET is {command}, which is no command")
    bonnet = Bonnet(command)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{os.cpu_count()} cores, load average {load:.1f} at the start.\n")
    table = Table()
    if arguments.only in (None, "midpoint"):
        midpoint(bonnet, table, arguments.repeats)
    if arguments.only in (None, "scale"):
        scale(bonnet, table, arguments.repeats)
    if arguments.only in (None, "training"):
        training(bonnet, table, arguments.repeats, arguments.epochs)
    print(*("\n" + note for note in table.notes))


if __name__ == "__main__":
    main()
