"""Ours against the peers: one run, one machine, in turns. Prints a Markdown table.

    python benches/compare.py [--repeats 3] [--only SUBJECT] [--epochs 100]

BONNET is the command to be timed, beside the folder `examples` of the same build; without it, `cargo build --release` makes
both. BONNET_DATA is the folder of data sets (default ../shared/data beside this repository). Nothing is installed: a row
whose peer or data is missing is skipped, and the reason printed below the table. The peers need numpy (midpoint,
edge_curvature, descriptors, graph_kernels), grakel and POT (graph_kernels), networkit (algorithms), GraphRicciCurvature (edge_curvature), gudhi (filtrations, topology,
enumeration), networkx (algorithms, descriptors, filtrations), scikit-learn (descriptors, filtrations), scipy and duckdb
(ranking, homophily, lasting), torch and torch_geometric (training, typed), torch, scipy and TopoModelX 0.0.1 (complexes), mantra-dataset
(complexes).

Everything of ours goes through SQL, but for rows that a program appends. A query's time is what `\\timing` says of it:
parsing, planning, reading the attached files, the kernel and the rows, in a session that has run the query before. Training
is the column train_seconds of `train` over its epochs: preparation, steps, and the validation figures of every epoch. The
nodes of all parts but the first are one part, which both sides watch in every epoch. The peer reads the same graph,
exported by a query.

Medians over the repeats, in each of which ours and the peer run one after the other; in brackets the processor time of all
threads together, which other load on the machine changes little. Of ours it is that of the whole process, less that of a
process that only attaches, shared out among the queries or epochs: for training it counts reading the graph, too.
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
    subprocess.run(["cargo", "build", "--release", "--bin", "bonnet", "--example", "append_rows"], cwd=ROOT, check=True)
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    target = json.loads(subprocess.run(metadata, cwd=ROOT, check=True, capture_output=True).stdout)["target_directory"]
    return str(pathlib.Path(target) / "release" / "bonnet")


class Bonnet:
    def __init__(self, command):
        self.command = command

    def run(self, statements, threads=None, output="csv", database=None):
        """Runs statements in one process: its output, milliseconds of each timed statement, and of the processor."""
        script = "\n".join(s if s.startswith("\\") else s + ";" for s in statements) + "\n"
        arguments = [self.command, "--format", output, *(["--threads", str(threads)] if threads else [])]
        arguments += [database] if database else []
        before = processor_ms()
        done = subprocess.run(arguments, input=script, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bonnet failed:\n{script}\n{done.stderr}")
        wall = [float(ms) for ms in re.findall(r"^Time: ([0-9.]+) ms", done.stderr, re.M)]
        return done.stdout, wall, processor_ms() - before

    def query(self, preparation, query, times, database=None):
        """The median of the milliseconds of a query, run once before and then `times` times, and its processor time."""
        _, _, idle = self.run(preparation, database=database)
        _, wall, busy = self.run([*preparation, query, "\\timing on", *[query] * times], database=database)
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
        cells += [f"{t / o:,.0f}x" if t > 10 * o else f"{t / o:.2g}x" for o, t in zip(ours, theirs)] or ["", ""]
        print("| " + " | ".join([*cells, target]) + " |", flush=True)


    def use(self, name, target, measure):
        """`measure` gives the milliseconds of a query, and those of the processor, whose share of all cores is the figure."""
        try:
            wall, busy = measure()
        except Skipped as why:
            self.notes.append(f"{name}: skipped, {why}")
            print(f"| {name} | skipped | | | | {target} |", flush=True)
            return
        share = busy / (wall * os.cpu_count())
        print(f"| {name} | {duration(wall)} [{duration(busy)}] | | {100 * share:.0f} % | | {target} |", flush=True)


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


def graph_cache(bonnet, table, repeats):
    """A call on a cached graph, beside the same call that reads its graph anew."""

    def measured(preparation, query):
        off = [*preparation, "SET bonnet.graph_cache = 'off'"]
        return tuple([bonnet.query(start, query, 20) for _ in range(repeats)] for start in (preparation, off))

    def cora():
        attach = f"ATTACH '{require_data('planetoid/cora')}' AS cora (TYPE planetoid)"
        return measured([attach], "SELECT avg(curvature) FROM midpoint_curvature(cora.edges)")

    def components():
        return measured(
            ["CREATE GRAPH g AS barabasi_albert(1000000, 10)"], "SELECT max(component) FROM connected_components(g.edges)"
        )

    def collection():
        make = "CREATE TABLE e AS SELECT * FROM cycle((SELECT value AS graph_id, 10 AS n FROM generate_series(1, 1000000)))"
        query = "SELECT count(*) FROM connected_components(e)"
        threads = ([make], [make, "SET bonnet.threads = 1"])
        return tuple([bonnet.query(start, query, 3) for _ in range(repeats)] for start in threads)

    table.row("midpoint curvature, Cora, cached; not cached", "3 ms", cora)
    table.row("components, 10^6 nodes, 10^7 edges, cached; not cached", "2x", components)
    table.row("components of 10^6 graphs of 10 edges; one thread", "", collection)


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


# Graphs to train on: what attaches or makes one as the schema `given`; the epochs of a run as a share of those asked for, the
# runs of ours, whether one thread is measured too, and the targets of the models.
MODELS = {"gcn": "GCN", "graphsage": "GraphSAGE", "gat": "GAT 8x8", "appnp": "APPNP", "gprgnn": "GPRGNN"}
LARGE = "CREATE GRAPH given AS stochastic_block_model(blocks => 40, nodes_per_block => 4250, p_within => 0.00166, "
LARGE += "p_between => 0.0000426, features => 128)"


def attached(path, options=""):
    def make():
        attach = f"ATTACH '{require_data(path)}' AS given{options}"
        return [attach, "CREATE VIEW given_splits AS SELECT node, part FROM given.splits WHERE split = 0"]

    return make


def made():
    parts = "SELECT node, CASE WHEN node % 2 = 0 THEN 'train' ELSE 'val' END AS part FROM given.nodes"
    return [LARGE, f"CREATE VIEW given_splits AS {parts}"]


GRAPHS = {
    "Cora": (attached("planetoid/cora"), 1, 5, True, ["50x", "50x", "20x", "15x", "15x"]),
    "Film": (attached("geom-gcn/film"), 0.5, 3, True, ["8x"] * 5),
    "Chameleon": (attached("heterophilous-graphs/chameleon", " (features 'sparse')"), 0.5, 3, True, ["8x"] * 5),
    "170,000 nodes, 1.2 M edges, 128 features, 40 classes": (made, 0.2, 1, False, ["8x"] * 5),
}

# Models of curved spaces, with the options of their peer.
CURVED = dict.fromkeys(["hgnn", "hgcn", "hat", "hybonet", "qgcn", "cusp", "graphmore"], "")
CURVED["cusp"] = ", 'H22,E21,S21' AS factors, 'unit' AS edge_weights, 0 AS frequencies"

# One part that is watched in every epoch, made of the published validation and test nodes.
WATCHED = [
    "CREATE SCHEMA watched",
    "CREATE VIEW watched.nodes AS SELECT * FROM given.nodes",
    "CREATE VIEW watched.edges AS SELECT * FROM given.edges",
    "CREATE VIEW watched.splits AS SELECT 0 AS split, node, CASE part WHEN 'train' THEN part ELSE 'val' END AS part"
    " FROM given_splits",
]


def export(bonnet, preparation, folder):
    """The watched graph as the files that the peer reads."""

    def write(name, query):
        (folder / name).write_text(bonnet.run([*preparation, query])[0])

    write("edges.csv", "SELECT src, dst FROM watched.edges WHERE src <> dst")
    write("nodes.csv", "SELECT node, label, part FROM watched.nodes LEFT JOIN watched.splits USING (node)")
    kind = bonnet.run([*preparation, "SELECT arrow_typeof(features) AS kind FROM watched.nodes LIMIT 1"])[0]
    if "Map" in kind:
        entries = "SELECT node, unnest(map_keys(features)) AS column, unnest(map_values(features)) AS value"
        write("entries.csv", f"{entries} FROM watched.nodes")
        return
    lists = bonnet.run([*preparation, "SELECT max(cardinality(features)) AS columns FROM watched.nodes"])[0]
    columns = ", ".join(f"round(features[{c}], 4) AS c{c}" for c in range(1, int(lists.split()[-1]) + 1))
    write("features.csv", f"SELECT {columns} FROM watched.nodes ORDER BY node")


def training(bonnet, table, repeats, epochs):
    def epoch(preparation, model, threads, epochs, runs):
        job = f"SELECT 'watched' AS graph, '{model}' AS model, 0 AS seed, {epochs} AS epochs, 'row' AS normalize"
        job += CURVED.get(model, "")
        query = f"SELECT status, 1000 * train_seconds / epochs_run AS ms FROM train(({job}))"
        # Several runs, one after the other, each in a statement of its own.
        _, _, idle = bonnet.run(preparation, threads)
        output, _, busy = bonnet.run([*preparation, *[query] * runs], threads, "ndjson")
        rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        if [row["status"] for row in rows] != ["ok"] * runs:
            sys.exit(f"training failed: {output}")
        return statistics.median(row["ms"] for row in rows), (busy - idle) / (runs * epochs)

    def one_model(make, folder, model, threads, epochs, runs, script=("train_pyg.py",)):
        def measure():
            require_modules("torch", "torch_geometric")
            preparation = [*make(), *WATCHED]
            if not (folder / "edges.csv").exists():
                export(bonnet, preparation, folder)
            ours, theirs = [], []
            for _ in range(repeats):
                found = peer(*script, folder, model, threads or 0, epochs)
                theirs.append((found["median_ms"], found["processor_ms"]))
                ours.append(epoch(preparation, model, threads, epochs, runs))
            return ours, theirs

        return measure

    for graph, (make, share, runs, both, targets) in GRAPHS.items():
        with tempfile.TemporaryDirectory() as folder:
            for (model, name), target in zip(MODELS.items(), targets):
                for threads, words in [(1, "1 thread"), (None, "all threads")][0 if both else 1 :]:
                    measure = one_model(make, pathlib.Path(folder), model, threads, max(1, int(share * epochs)), runs)
                    table.row(f"{name}, an epoch on {graph}, {words}; PyTorch Geometric", target, measure)

    with tempfile.TemporaryDirectory() as folder:
        for model in CURVED:
            make, share, runs, _, _ = GRAPHS["Cora"]
            script = ("curved_torch.py", "times")
            measure = one_model(make, pathlib.Path(folder), model, 1, max(1, int(share * epochs)), runs, script)
            table.row(f"{model}, an epoch on Cora, 1 thread; PyTorch with the papers' formulas", "10x", measure)

    def core_use():
        attach = f"ATTACH '{require_data('planetoid/cora')}' AS cora (TYPE planetoid)"
        jobs = "SELECT 'cora' AS graph, 'gcn' AS model, s.value AS seed, lr.value AS lr FROM generate_series(1, 25) s"
        jobs += " CROSS JOIN (SELECT unnest([0.005, 0.01, 0.02, 0.05]) AS value) lr"
        query = f"SELECT count(*) FILTER (WHERE status = 'ok') AS ok FROM train(({jobs}), epochs => {epochs})"
        _, _, idle = bonnet.run([attach])
        output, wall, busy = bonnet.run([attach, "\\timing on", query])
        if output.split()[-1] != "100":
            sys.exit(f"training failed: {output}")
        return wall[0], busy - idle

    table.use(f"core use of a grid of 100 jobs of {epochs} epochs on Cora", "90 %", core_use)


def typed(bonnet, table, repeats):
    """Processor time of an epoch of models that read types; the peer's wall time is that of its processor, it has one thread."""

    def epoch(preparation, graph, model, epochs):
        job = f"SELECT '{graph}' AS graph, '{model}' AS model, 0 AS split, 0 AS seed"
        query = f"SELECT status, 1000 * train_seconds / epochs_run AS ms FROM train(({job}), epochs => {{}})"

        def run(epochs):
            output, _, busy = bonnet.run([*preparation, query.format(epochs)], 1, "ndjson")
            row = next(json.loads(line) for line in output.splitlines() if line.startswith("{"))
            if row["status"] != "ok":
                sys.exit(f"training failed: {output}")
            return row["ms"], busy

        # The first epoch is the peer's that is not counted, and pays for reading the graph.
        (_, idle), (ms, busy) = run(1), run(1 + epochs)
        return ms, (busy - idle) / epochs

    def one_model(preparation, graph, folder, model, epochs, both):
        def measure():
            require_modules("torch", "torch_geometric", "scipy")
            ours, theirs = [], []
            for _ in range(repeats):
                found = peer("typed_train_pyg.py", folder, model, 1 + both)
                theirs.append((1e3 * found["processor_s_an_epoch"],) * 2)
                ours.append(epoch(preparation, graph, model, epochs))
            return ours, theirs

        return measure

    def acm(model):
        def measure():
            folder = require_data("heco/acm")
            return one_model([f"ATTACH '{folder}' AS acm"], "acm", folder, model, 20, 5)()

        return measure

    for model in ("r_gcn", "hgt", "han"):
        table.row(f"{model}, an epoch on ACM, 1 thread; PyTorch Geometric", "10x", acm(model))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, PEERS / "typed_graph.py", folder], capture_output=True, text=True)
        if done.returncode != 0:
            table.notes.append(f"the made-up typed graph: skipped, {done.stderr.splitlines()[-1]}")
            return
        features = ", ".join(f"x{column}" for column in range(16))
        preparation = [
            "CREATE SCHEMA made_up",
            f"CREATE TABLE made_up.nodes AS SELECT node, type, label, [{features}] AS features FROM '{folder}/nodes.csv'",
            f"CREATE TABLE made_up.edges AS SELECT src, dst, type FROM '{folder}/edges.csv'",
            f"CREATE TABLE made_up.splits AS SELECT 0 AS split, node, part FROM '{folder}/nodes.csv' WHERE part <> ''",
        ]
        for model in ("r_gcn", "hgt"):
            measure = one_model(preparation, "made_up", folder, model, 3, 1)
            table.row(f"{model}, an epoch on 200,000 nodes, 6 relations, 1 thread; PyTorch Geometric", "10x", measure)


# A length of every edge for curvatures over lengths, from 1/2 to 3/2.
LENGTH = "0.5 + ((src * 7 + dst * 13) % 64) / 64.0"


def edge_curvature(bonnet, table, repeats):
    def against_peer(function, peer_name, make, times, *modules):
        column, columns, call, limit = function, "src, dst", f"{function}(g.edges)", 1e-9
        short = {"forman_ricci": "forman", "ollivier_ricci": "ollivier", "effective_resistance": "resistance"}.get(function)
        if short is None:
            short, columns = function, f"src, dst, {LENGTH} AS weight"
            edges = f"(SELECT {columns} FROM g.edges)"
            options = "weight => 'weight', alpha => 0.5, measure => 'exponential'"
            column, call, limit = {
                "lengths": ("ollivier_ricci", f"ollivier_ricci({edges}, {options})", 1e-9),
                # The lengths of 20 steps, each made of the one before.
                "flow": ("weight", f"ricci_flow({edges}, {options}, steps => 20) WHERE step = 20", 1e-6),
            }[function]

        def measure():
            require_modules(*modules)
            ours, theirs = [], []
            with tempfile.TemporaryDirectory() as folder:
                edges, values = pathlib.Path(folder, "edges.csv"), pathlib.Path(folder, "values.csv")
                edges.write_text(bonnet.run([make, f"SELECT {columns} FROM g.edges"])[0])
                values.write_text(bonnet.run([make, f"SELECT src, dst, {column} AS value FROM {call}"])[0])
                for _ in range(repeats):
                    found = peer("edge_curvature.py", short, edges, values)
                    theirs.append((1e3 * found["seconds"], 1e3 * found["processor_seconds"]))
                    ours.append(bonnet.query([make], f"SELECT avg({column}) FROM {call}", times))
                    if not found["max_difference"] < limit:
                        sys.exit(f"our {function} differs from {peer_name}'s by {found['max_difference']}")
                table.notes.append(f"{function}: largest difference from {peer_name}'s {found['max_difference']:.1e}")
            return ours, theirs

        return measure

    half, whole = (f"CREATE GRAPH g AS erdos_renyi({n}, 0.3, seed => 1)" for n in (500, 1000))
    ricci = "GraphRicciCurvature"
    row = "Erdos-Renyi n = 500, p = 0.3"
    forman = against_peer("forman_ricci", ricci, half, 20, ricci, "networkx")
    table.row(f"Forman, {row}; {ricci}", "300x", forman)
    ollivier = against_peer("ollivier_ricci", ricci, half, 5, ricci, "networkx")
    table.row(f'Ollivier, {row}; {ricci}, method="OTD"', "200x", ollivier)
    for p, row in [(0.5, "10,000 edges on 200 nodes"), (0.05, "10,000 edges on 632 nodes")]:
        make = f"CREATE GRAPH g AS erdos_renyi({200 if p == 0.5 else 632}, {p}, seed => 1)"
        lengths = against_peer("lengths", ricci, make, 5, ricci, "networkx")
        table.row(f'Ollivier over lengths, {row}; {ricci}, method="OTD"', "100x", lengths)
        flow = against_peer("flow", ricci, make, 1, ricci, "networkx")
        table.row(f'Ricci flow, 20 steps, {row}; {ricci}, method="OTD"', "50x", flow)
    resistance = against_peer("effective_resistance", "numpy", whole, 5, "numpy")
    table.row("effective resistance, Erdos-Renyi n = 1000, p = 0.3; numpy.linalg.pinv", "5x", resistance)

    def alone(function, times, *preparation):
        query = f"SELECT avg({function}) FROM {function}(g.edges)"
        return [bonnet.query(preparation, query, times) for _ in range(repeats)], []

    def loaded(path, kind):
        attach = f"ATTACH '{require_data(path)}' AS files (TYPE {kind})"
        return attach, "CREATE SCHEMA g", "CREATE TABLE g.edges AS SELECT src, dst FROM files.edges"

    def made(query):
        return "CREATE SCHEMA g", f"CREATE TABLE g.edges AS {query}"

    grid = (
        "SELECT value AS src, value + 1 AS dst FROM generate_series(0, 99855) WHERE value % 316 < 315"
        " UNION ALL SELECT value, value + 316 FROM generate_series(0, 99539)"
        " UNION ALL SELECT value, value + 317 FROM generate_series(0, 99539) WHERE value % 316 < 315"
    )
    ladder = (
        "SELECT 2 * value AS src, 2 * value + 1 AS dst FROM generate_series(0, 49999)"
        " UNION ALL SELECT value, value + 2 FROM generate_series(0, 99997)"
    )
    pubmed = ("planetoid/pubmed", "planetoid")
    wikilinks = ("hyperbolics/real/wikilinks.edges", "edge_list")
    ollivier, resistance = "ollivier_ricci", "effective_resistance"
    table.row("Ollivier, Erdos-Renyi n = 1000, p = 0.3", "about 1 s", lambda: alone(ollivier, 1, whole))
    table.row("Ollivier, PubMed (44,324 edges)", "0.1 s", lambda: alone(ollivier, 5, *loaded(*pubmed)))
    table.row("Ollivier, wikilinks (106,534 edges)", "a few s", lambda: alone(ollivier, 1, *loaded(*wikilinks)))
    table.row("Ollivier, grid plus diagonals (99,856 nodes)", "", lambda: alone(ollivier, 3, *made(grid)))

    def with_lengths(*preparation):
        call = f"ollivier_ricci((SELECT src, dst, {LENGTH} AS weight FROM g.edges), weight => 'weight', alpha => 0.5)"
        queries = [f"SELECT avg(ollivier_ricci) FROM {of}" for of in (call, "ollivier_ricci(g.edges, alpha => 0.5)")]
        runs = [[bonnet.query(preparation, query, 1) for query in queries] for _ in range(repeats)]
        return [run[0] for run in runs], [run[1] for run in runs]

    over = "Ollivier over lengths, the same over hops as its peer"
    hubs = "CREATE GRAPH g AS barabasi_albert(10000, 5, seed => 1)"
    table.row(f"{over}: Erdos-Renyi n = 500, p = 0.3", "0.5x", lambda: with_lengths(half))
    table.row(f"{over}: Barabasi-Albert n = 10,000, m = 5", "0.5x", lambda: with_lengths(hubs))
    table.row(f"{over}: PubMed", "0.5x", lambda: with_lengths(*loaded(*pubmed)))
    table.row(f"{over}: grid plus diagonals", "0.5x", lambda: with_lengths(*made(grid)))
    table.row("effective resistance, PubMed", "0.3 s", lambda: alone(resistance, 3, *loaded(*pubmed)))
    table.row("effective resistance, wikilinks", "", lambda: alone(resistance, 3, *loaded(*wikilinks)))
    table.row("effective resistance, grid plus diagonals", "about 1 s", lambda: alone(resistance, 3, *made(grid)))
    table.row("effective resistance, ladder of 50,000 rungs", "", lambda: alone(resistance, 3, *made(ladder)))



# From edges to the distance of two samples' mean landscapes, over both dimensions.
FILTRATIONS = """
WITH diagrams AS (
    SELECT graph_id < {split} AS first,
           persistence_diagram(src, dst, forman_ricci, expand => 2, vertices => 'lowest') AS diagram
    FROM forman_ricci(edges) GROUP BY graph_id),
landscapes AS (
    SELECT first, persistence_landscape(diagram, 0, cap => {cap}) AS components,
           persistence_landscape(diagram, 1, cap => {cap}) AS cycles
    FROM diagrams),
means AS (
    SELECT landscape_mean(components) FILTER (WHERE first) AS a0, landscape_mean(components) FILTER (WHERE NOT first) AS b0,
           landscape_mean(cycles) FILTER (WHERE first) AS a1, landscape_mean(cycles) FILTER (WHERE NOT first) AS b1
    FROM landscapes)
SELECT landscape_distance(a0, b0) + landscape_distance(a1, b1) AS distance FROM means"""


def filtrations(bonnet, table, repeats):
    def samples():
        require_modules("gudhi", "networkx", "sklearn")
        split, cap = 500, 12
        graphs = "SELECT value AS graph_id, 10 AS n, 0.3 + 0.1 * (value / 500) AS p, value AS seed FROM generate_series(0, 999)"
        make = f"CREATE TABLE edges AS SELECT * FROM erdos_renyi(({graphs}))"
        query = " ".join(FILTRATIONS.format(split=split, cap=cap).split())
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            edges = pathlib.Path(folder, "edges.csv")
            edges.write_text(bonnet.run([make, "SELECT graph_id, src, dst FROM edges"])[0])
            value = float(bonnet.run([make, query])[0].split()[-1])
            for _ in range(repeats):
                found = peer("filtrations_gudhi.py", edges, split, cap)
                theirs.append((1e3 * found["seconds"], 1e3 * found["processor_seconds"]))
                ours.append(bonnet.query([make], query, 20))
        if not abs(found["distance"] - value) < 1e-9 * value:
            sys.exit(f"our distance {value} is not the peer's {found['distance']}")
        table.notes.append(f"Distance of mean landscapes: ours {value}, the peer's {found['distance']}")
        return ours, theirs

    def dense(options):
        make = "CREATE GRAPH g AS erdos_renyi(500, 0.3, seed => 1)"
        values = "CREATE TABLE edges AS SELECT src, dst, forman_ricci + sin(100 * src + dst) AS value FROM forman_ricci(g.edges)"
        query = f"SELECT array_length(persistence_diagram(src, dst, value{options})) FROM edges"
        return [bonnet.query([make, values], query, 3) for _ in range(repeats)], []

    name = "1,000 graphs of 10 nodes, Forman curvature to distance of mean landscapes; networkx and GUDHI"
    table.row(name, "20x", samples)
    dense_name = "persistence diagram, Erdos-Renyi n = 500, p = 0.3 (37,000 edges)"
    table.row(dense_name, "", lambda: dense(""))
    table.row(dense_name + ", expand => 2", "", lambda: dense(", expand => 2"))



def descriptors(bonnet, table, repeats):
    """Two samples of random graphs: descriptors of each graph, then the discrepancy, in one query."""
    graphs, n = 200, 40
    sample = "SELECT {0} + value AS graph_id, {1} AS n, {2} AS p, {0} + value AS seed FROM generate_series(1, {3})"
    make = "CREATE TABLE edges AS " + " UNION ALL ".join(
        f"SELECT * FROM erdos_renyi(({sample.format(first, n, p, graphs)}))" for first, p in [(0, 0.2), (1000, 0.3)]
    )
    kinds = {
        "degree_histogram": "kernel => 'gaussian_emd'",
        "clustering_histogram": "kernel => 'gaussian_emd', sigma => 10",
        "laplacian_spectrum": "kernel => 'gaussian_emd'",
        "orbit_counts": "sigma => 30",
    }

    def one(kind, options):
        def measure():
            require_modules("numpy", "networkx")
            query = (
                f"SELECT mmd(d, s, {options}) AS mmd FROM (SELECT graph_id / 1000 AS s, {kind}(src, dst) AS d"
                " FROM edges GROUP BY graph_id)"
            )
            ours, theirs = [], []
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "edges.csv")
                file.write_text(bonnet.run([make, "SELECT * FROM edges"])[0])
                expected = float(bonnet.run([make, query])[0].split()[-1])
                for _ in range(repeats):
                    found = peer("descriptors_networkx.py", file, kind)
                    theirs.append((1e3 * found["seconds"], 1e3 * found["processor_seconds"]))
                    ours.append(bonnet.query([make], query, 5))
                if not abs(found["mmd"] - expected) < 1e-9:
                    sys.exit(f"{kind}: our discrepancy is {expected}, the peer's {found['mmd']}")
            return ours, theirs

        return measure

    for kind, options in kinds.items():
        table.row(f"{kind} and mmd, 2 x {graphs} graphs of {n} nodes; networkx", "", one(kind, options))



def graph_kernels(bonnet, table, repeats):
    """The values of all pairs of random graphs of 20 nodes, and the colours of many of them."""
    make = "CREATE TABLE edges AS SELECT * FROM erdos_renyi((SELECT value AS graph_id, 20 AS n, 0.2 AS p, value AS seed FROM generate_series(1, {})))"

    def one(kind, column, graphs):
        def measure():
            require_modules("numpy", *(["grakel"] if column == "kernel" else ["ot"]))
            query = f"SELECT sum({column}) FROM {kind}(edges)"
            ours, theirs = [], []
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "edges.csv")
                file.write_text(bonnet.run([make.format(graphs), "SELECT * FROM edges"])[0])
                expected = float(bonnet.run([make.format(graphs), query])[0].split()[-1])
                for _ in range(repeats):
                    found = peer("graph_kernels.py", file, kind)
                    theirs.append((1e3 * found["seconds"], 1e3 * found["processor_seconds"]))
                    ours.append(bonnet.query([make.format(graphs)], query, 3))
                if not abs(found["sum"] - expected) < 1e-9 * abs(expected):
                    sys.exit(f"{kind}: our sum is {expected}, the peer's {found['sum']}")
            return ours, theirs

        return measure

    for kind, column, graphs, of, target in [
        ("wl_subtree_kernel", "kernel", 1000, "GraKeL", ""),
        ("shortest_path_kernel", "kernel", 1000, "GraKeL", ""),
        ("wl_wasserstein_distance", "distance", 1000, "POT", "20x"),
        ("tree_movers_distance", "distance", 40, "POT", "20x"),
    ]:
        table.row(f"{kind}, {graphs:,} graphs of 20 nodes; {of}", target, one(kind, column, graphs))

    def colors():
        return [bonnet.query([make.format(100_000)], "SELECT max(color) FROM wl_colors(edges)", 3) for _ in range(repeats)], []

    table.row("wl_colors, 100,000 graphs of 20 nodes", "1 s", colors)


def topology(bonnet, table, repeats):
    """Betti numbers and torsion of many complexes by one query; GUDHI's are Betti numbers over Z/2, on one core. The sums of the
    first Betti numbers over Z/2 and Z/3 are those of GUDHI, and follow from the labels of the enumerated complexes."""
    census = "SELECT facets FROM census.triangulations"
    for name, source, path in [
        ("8,843 pseudomanifolds with 9 vertices", census, "triangulations/pseudomanifolds-3d-9v"),
        ("43,138 surfaces with up to 10 vertices", "SELECT * FROM enumerate_surfaces(10)", None),
        ("250,359 3-manifolds with up to 10 vertices", "SELECT * FROM enumerate_3_manifolds(10)", None),
    ]:

        def agree(name, load, file, labelled):
            """GUDHI over two fields beside our Betti numbers over them, and beside the labels over the integers."""
            for p in (2, 3):
                theirs = peer("homology_gudhi.py", file, p)["betti_1"]
                sums = [f"sum(betti_numbers(facets, field => 'Z/{p}')[2])"]
                # The torsion of these first homology groups is Z_2, or none.
                torsion = " + CASE torsion_coefficients[2] WHEN 'Z_2' THEN 1 ELSE 0 END" if p == 2 else ""
                sums += [f"sum(CAST(betti_numbers[2] AS BIGINT){torsion})"] if labelled else []
                output = bonnet.run([*load, f"SELECT {', '.join(sums)} FROM complexes"])[0]
                if {int(float(ours)) for ours in output.splitlines()[-1].split(",")} != {theirs}:
                    sys.exit(f"{name}: first Betti numbers over Z/{p} add up to {output.splitlines()[-1]}, GUDHI's to {theirs}")
                table.notes.append(f"{name}: first Betti numbers over Z/{p} add up to {theirs:,} here and with GUDHI")

        def many(name=name, source=source, path=path):
            require_modules("gudhi")
            attach = [f"ATTACH '{require_data(path)}' AS census (TYPE lutz)"] if path else []
            load = [*attach, f"CREATE TABLE complexes AS {source}"]
            query = "SELECT sum(betti_numbers(facets)[2]), max(torsion_coefficients(facets)[2]) FROM complexes"
            ours, theirs = [], []
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "complexes.json")
                columns = "'' AS id, facets, '' AS name, [0] AS betti_numbers, [''] AS torsion_coefficients"
                bonnet.run([*load, f"COPY (SELECT {columns} FROM complexes) TO '{file}' STORED AS MANTRA"])
                agree(name, load, file, labelled=path is None)
                for _ in range(repeats):
                    found = peer("homology_gudhi.py", file)
                    theirs.append((1e3 * found["seconds"], 1e3 * found["processor_seconds"]))
                    ours.append(bonnet.query(load, query, 5))
            return ours, theirs

        table.row(f"homology of {name}; GUDHI", "15x", many)



def enumeration(bonnet, table, repeats):
    def counted(query, times, expected):
        output, _, _ = bonnet.run([query])
        if expected not in output.split():
            sys.exit(f"{query} gives {output}, expected {expected}")
        return [bonnet.query([], query, times) for _ in range(repeats)], []

    for name, target, query, times, expected in [
        ("surfaces, 10 vertices", "1 s", "SELECT count(*) FROM enumerate_surfaces(10)", 3, "43138"),
        ("3-manifolds, 9 vertices", "", "SELECT count(*) FROM enumerate_3_manifolds(9)", 3, "1344"),
        ("3-manifolds, 10 vertices", "30 s", "SELECT count(*) FROM enumerate_3_manifolds(10)", 1, "250359"),
    ]:
        table.row(f"enumeration of {name}", target, lambda: counted(query, times, expected))

    def canonical():
        require_modules("pynauty")
        create = "CREATE TABLE surfaces AS SELECT facets FROM enumerate_surfaces(10)"
        distinct, _, _ = bonnet.run([create, "SELECT count(DISTINCT canonical_form(facets)) FROM surfaces"])
        if "43138" not in distinct.split():
            sys.exit(f"canonical_form finds {distinct} classes among the surfaces, expected 43138")
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder, "facets.ndjson")
            rows.write_text(bonnet.run([create, "SELECT facets FROM surfaces"], output="ndjson")[0])
            for _ in range(repeats):
                found = peer("canonical_pynauty.py", rows)
                if found["classes"] != 43138:
                    sys.exit(f"nauty finds {found['classes']} classes among the surfaces, expected 43138")
                theirs.append((1e3 * found["seconds"], 1e3 * found["processor_seconds"]))
                ours.append(bonnet.query([create], "SELECT count(canonical_form(facets)) FROM surfaces", 3))
        return ours, theirs

    table.row("canonical forms of 43,138 surfaces; pynauty", "1 s", canonical)



def homophily(bonnet, table, repeats):
    # 50 million labelled edges, ten classes, in a Parquet file that both read.
    rows, labels = 50_000_000, "value * 2654435761 % 4294967296 / 65536 % 10 AS a, value * 40503 % 65536 % 10 AS b"

    def pairs(mode):
        def measure():
            require_modules("duckdb")
            ours, theirs = [], []
            with tempfile.TemporaryDirectory() as folder:
                file = str(pathlib.Path(folder, "labelled.parquet"))
                bonnet.run([f"COPY (SELECT {labels} FROM generate_series(0, {rows - 1})) TO '{file}' STORED AS PARQUET"])
                source, preparation = f"'{file}'", []
                if mode == "memory":
                    source, preparation = "labelled", [f"CREATE TABLE labelled AS SELECT a, b FROM '{file}'"]
                query = f"SELECT adjusted_homophily(a, b) AS x, label_informativeness(a, b) AS y FROM {source}"
                output = bonnet.run([*preparation, query], output="ndjson")[0]
                found = json.loads(output.splitlines()[-1])
                for _ in range(repeats):
                    other = peer("label_pairs_duckdb.py", file, mode)
                    for mine, their in zip((found["x"], found["y"]), other["values"]):
                        if abs(mine - their) > 1e-9:
                            sys.exit(f"our value {mine} differs from DuckDB's {their}")
                    theirs.append((1e3 * other["seconds"], 1e3 * other["processor_seconds"]))
                    ours.append(bonnet.query(preparation, query, 5))
            return ours, theirs

        return measure

    name = "adjusted homophily and label informativeness, 50 M edges"
    table.row(f"{name}, from Parquet; DuckDB's GROUP BY", "", pairs("parquet"))
    table.row(f"{name}, in memory; DuckDB's GROUP BY", "2x", pairs("memory"))

    def decoding():
        # Ours beside a query that does little but decode the two columns. (The largest of a bare column comes from statistics.)
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder, "labelled.parquet"))
            bonnet.run([f"COPY (SELECT {labels} FROM generate_series(0, {rows - 1})) TO '{file}' STORED AS PARQUET"])
            for _ in range(repeats):
                metrics = "edge_homophily(a, b), adjusted_homophily(a, b), label_informativeness(a, b)"
                ours.append(bonnet.query([], f"SELECT {metrics} FROM '{file}'", 5))
                theirs.append(bonnet.query([], f"SELECT max(a + 0), max(b + 0) FROM '{file}'", 5))
        return ours, theirs

    name = "edge and adjusted homophily, label informativeness, 50 M edges from Parquet; decoding both columns (max)"
    table.row(name, "0.77x", decoding)

    def coauthors(first, levels):
        """A million papers, a million authors, three million rows. Each row's author is one of the first `first`, twice as
        many, four times as many and so on, so that a few have many papers and most have one or none."""
        papers, rows = 1_000_000, 3_000_000
        level = f"value * 2246822519 % 4294967296 / {2**32 // levels}"
        author = f"value * 2654435761 % 4294967296 % least({papers}, {first} << ({level}))"
        return papers, rows, [
            "CREATE SCHEMA g",
            f"""CREATE TABLE g.nodes AS SELECT value AS node, 'paper' AS type, value * 40503 % 65536 % 5 AS label
                FROM generate_series(0, {papers - 1}) UNION ALL SELECT value + {papers}, 'author', NULL
                FROM generate_series(0, {papers - 1})""",
            f"""CREATE TABLE g.edges AS SELECT value % {papers} AS src, {author} + {papers} AS dst
                FROM generate_series(0, {rows - 1})""",
        ]

    heterophily = "SELECT edges, adjusted_heterophily FROM metapath_heterophily(g)"

    def metapath():
        require_modules("numpy", "scipy")
        papers, rows, preparation = coauthors(6000, 8)
        found = json.loads(bonnet.run([*preparation, heterophily], output="ndjson")[0].splitlines()[-1])
        ours, theirs = [], []
        for _ in range(repeats):
            other = peer("metapath_scipy.py", papers, rows, 6000, 8)
            if found["edges"] != other["pairs"] or abs(found["adjusted_heterophily"] - other["value"]) > 1e-9:
                sys.exit(f"our {found} differs from SciPy's {other}")
            theirs.append((1e3 * other["seconds"], 1e3 * other["processor_seconds"]))
            ours.append(bonnet.query(preparation, heterophily, 3))
        table.notes.append(f"metapath pairs: {found['edges']:,}; ours reads and numbers the tables, too")
        return ours, theirs

    def many_pairs():
        _, _, preparation = coauthors(12, 16)
        found = json.loads(bonnet.run([*preparation, heterophily], output="ndjson")[0].splitlines()[-1])
        table.notes.append(f"metapath pairs with heavy authors: {found['edges']:,}")
        return [bonnet.query(preparation, heterophily, 1) for _ in range(repeats)], []

    table.row("heterophily along paper-author-paper, 10^6 papers and authors; SciPy's product", "10x", metapath)
    table.row("the same with heavy authors, 6 * 10^9 pairs", "10 s", many_pairs)

    def gencat():
        attach = f"ATTACH '{require_data('planetoid/cora')}' AS g (TYPE planetoid)"
        query = "SELECT count(*) FROM gencat(g, beta => 4)"
        return [bonnet.query([attach], query, 3) for _ in range(repeats)], []

    table.row("gencat, a graph like Cora with its features", "", gencat)

    def schema_graph():
        attach = f"ATTACH '{require_data('relational/f1')}' AS f1 (TYPE csv)"
        query = "CREATE OR REPLACE GRAPH g FROM SCHEMA f1"
        return [bonnet.query([attach], query, 3) for _ in range(repeats)], []

    table.row("CREATE GRAPH FROM SCHEMA, Formula 1 (17 tables, 115,052 rows), reading the files", "", schema_graph)

    def facebook():
        attach = f"ATTACH '{require_data('linkx/facebook100/Cornell5.mat')}' AS g"
        return [bonnet.query([attach], "SELECT aggregation FROM homophily(g)", 3) for _ in range(repeats)], []

    table.row("aggregation homophily, facebook100 Cornell5 (790,777 edges), reading the file", "seconds", facebook)



def ranking(bonnet, table, repeats):
    queries = {
        "spearman": ("spearman, 10^6 rows; SciPy", "SELECT spearman(x, y) FROM r"),
        "kendall_tau": ("kendall_tau, 10^6 rows; SciPy", "SELECT kendall_tau(x, y) FROM r"),
        "regrouping": (
            "regrouping_test, 12 items in threes (15,400 partitions); Python",
            "SELECT p_value FROM regrouping_test(p, (SELECT value AS item, value / 3 AS regime FROM generate_series(0, 11)))",
        ),
    }
    made = [
        "CREATE TABLE r AS SELECT value * 7919 % 100003 AS x, (value * 104729 + value / 10) % 99991 AS y"
        " FROM generate_series(1, 1000000)",
        "CREATE TABLE p AS SELECT a.value AS a, b.value AS b, ((a.value * 7 + b.value * 5) % 11) / 10.0 AS value"
        " FROM generate_series(0, 11) AS a(value) JOIN generate_series(0, 11) AS b(value) ON a.value < b.value",
    ]
    found = []

    def peers():
        require_modules("numpy", "scipy")
        if not found:
            with tempfile.TemporaryDirectory() as folder:
                rows, pairs = pathlib.Path(folder, "rows.csv"), pathlib.Path(folder, "pairs.csv")
                rows.write_text(bonnet.run([*made, "SELECT x, y FROM r"])[0])
                pairs.write_text(bonnet.run([*made, "SELECT a, b, value FROM p"])[0])
                found.extend(peer("rank_scipy.py", rows, pairs) for _ in range(repeats))
        return found

    for name, (row, query) in queries.items():

        def measure():
            theirs = [(run[name]["ms"], run[name]["processor_ms"]) for run in peers()]
            answer = float(bonnet.run([*made, query])[0].splitlines()[-1])
            if abs(answer - found[0][name]["answer"]) > 1e-12:
                sys.exit(f"our {name} is {answer}, the peer's {found[0][name]['answer']}")
            return [bonnet.query(made, query, 5) for _ in range(repeats)], theirs

        table.row(row, "", measure)



# A row of results, by `value`.
RESULT = (
    "'karate' AS graph, 'gcn' AS model, value AS seed, value % 10 AS split, 64 AS hidden, 0.01 AS lr, 'ok' AS status,"
    " (value % 997) / 997.0 AS val_accuracy, (value % 991) / 991.0 AS test_accuracy, value % 200 AS best_epoch,"
    " 1.5 AS train_seconds, value * 10 AS peak_memory"
)


def lasting(bonnet, table, repeats):
    """A million result rows in 1,000 statements, each a transaction: ours into a Delta table, flushed to the disk before
    the statement ends. DuckDB's own file flushes its log at each commit; Parquet with transactions is a Parquet file a
    batch, flushed, and then its name in a table of DuckDB's own file; the Parquet file alone is the least that any table
    of Parquet files has to write. Both run the same SELECT; planning and running it is in the time of both. A program
    appends rows that it has in memory: ours without SQL, DuckDB from an Arrow table. Of a table
    read: our Delta table against one Parquet file of the same rows, and before it is optimised against its files as a
    folder, both by us."""
    batches = range(1000)
    rows = lambda batch: f"SELECT {RESULT} FROM generate_series({batch} * 1000, {batch} * 1000 + 999) AS t(value)"
    theirs = f"SELECT {RESULT} FROM range({{batch}} * 1000, {{batch}} * 1000 + 1000) AS t(value)"
    query = "SELECT count(*), sum(test_accuracy), max(seed) FROM"

    def ours(folder):
        database = str(pathlib.Path(folder, "lab.bonnet"))
        made = [f"CREATE TABLE results AS {rows(0)} LIMIT 0"]
        _, _, idle = bonnet.run(made, database=database + "-idle")
        script = [*made, "\\timing on", *(f"INSERT INTO results {rows(batch)}" for batch in batches)]
        _, wall, busy = bonnet.run(script, database=database)
        return database, (sum(wall), busy - idle)

    # Nothing is removed before the end: some file systems (ext4) look long for the place of a new file where many were
    # removed a short while ago.
    kept = tempfile.TemporaryDirectory()
    fresh = lambda: tempfile.mkdtemp(dir=kept.name)

    def inserted(mode):
        def measure():
            require_modules("duckdb")
            pairs = []
            for _ in range(repeats):
                _, own = ours(fresh())
                found = peer("insert_duckdb.py", fresh(), mode, theirs)
                if found["rows"] != 1_000_000:
                    sys.exit(f"the peer has {found['rows']} rows")
                pairs.append((own, (1e3 * found["seconds"], 1e3 * found["processor_seconds"])))
            return zip(*pairs)

        return measure

    def appended():
        require_modules("duckdb")
        program = pathlib.Path(bonnet.command).parent / "examples" / "append_rows"
        if not program.exists():
            raise Skipped(f"there is no {program}: cargo build --example append_rows")
        pairs = []
        for _ in range(repeats):
            before = processor_ms()
            done = subprocess.run([program, pathlib.Path(fresh(), "lab.bonnet")], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"append_rows failed: {done.stderr}")
            own = 1e3 * float(done.stdout.split()[0]), processor_ms() - before
            found = peer("insert_duckdb.py", fresh(), "appended", theirs)
            pairs.append((own, (1e3 * found["seconds"], 1e3 * found["processor_seconds"])))
        return zip(*pairs)

    name = "10^6 result rows in 1,000 INSERTs"
    table.row(f"{name}; DuckDB, its own file", "1x", inserted("database"))
    table.row(f"{name}; DuckDB, Parquet with transactions", "1x", inserted("lake"))
    table.row(f"{name}; DuckDB, a Parquet file each", "1x", inserted("parquet"))
    name = "10^6 result rows in 1,000 appended batches"
    table.row(f"{name}; DuckDB, Parquet with transactions, rows in memory", "1x", appended)

    def read(optimized):
        def measure():
            folder = fresh()
            database, _ = ours(folder)
            files = str(next(pathlib.Path(database, "tables", "main").iterdir()) / "*.parquet")
            if optimized:
                files = str(pathlib.Path(folder, "results.parquet"))
                bonnet.run([f"COPY results TO '{files}'", "OPTIMIZE results"], database=database)
            pairs = []
            for _ in range(repeats):
                own = bonnet.query([], f"{query} results", 20, database=database)
                pairs.append((own, bonnet.query([], f"{query} '{files}'", 20)))
            return zip(*pairs)

        return measure

    table.row("reading them after OPTIMIZE; one Parquet file, by us", "1/1.2x", read(True))
    table.row("reading them before it; the same files as a folder, by us", "1x", read(False))
    kept.cleanup()


def algorithms(bonnet, table, repeats):
    """The peers hold their graph before their time starts, and ours is cached."""
    make = "CREATE GRAPH g AS barabasi_albert({n}, 10, seed => 1)"
    queries = {
        "pagerank": ("max(pagerank)", "pagerank(g.edges, tolerance => 1e-9)"),
        "connected_components": ("max(component) + 1", "connected_components(g.edges)"),
        "core_number": ("sum(core_number)", "core_number(g.edges)"),
        "triangle_count": ("sum(triangle_count)", "triangle_count(g.edges)"),
        "local_clustering": ("sum(local_clustering)", "local_clustering(g.edges)"),
        "louvain": ("max(louvain)", "louvain(g.edges)"),
        "betweenness_centrality": (
            "sum(betweenness_centrality)",
            "betweenness_centrality(g.edges, samples => 64)",
        ),
    }
    # What both find to the digits given; communities and samples are others on each side.
    equal = {"pagerank": 1e-6, "connected_components": 0, "core_number": 0, "triangle_count": 0, "local_clustering": 1e-9}

    def against(script, n, function, *modules):
        value, call = queries[function]
        theirs_threads = [os.cpu_count()] if script == "algorithms_networkit.py" else []
        # networkx is given 4 sources: a sixteenth of the work.
        share = 16 if script == "algorithms_networkx.py" and function == "betweenness_centrality" else 1

        def measure():
            require_modules(*modules)
            ours, theirs = [], []
            with tempfile.TemporaryDirectory() as folder:
                edges = pathlib.Path(folder, "edges.csv")
                preparation = make.format(n=n)
                edges.write_text(bonnet.run([preparation, "SELECT src, dst FROM g.edges"])[0])
                query = f"SELECT {value} AS value FROM {call}"
                own = float(bonnet.run([preparation, query])[0].splitlines()[-1])
                for _ in range(repeats):
                    found = peer(script, function, edges, *theirs_threads)
                    seconds = share * found["seconds"], share * found.get("processor_seconds", found["seconds"])
                    theirs.append(tuple(1e3 * time for time in seconds))
                    ours.append(bonnet.query([preparation], query, 3))
                    if function in equal and abs(found["value"] - own) > equal[function] * abs(own):
                        sys.exit(f"our {function} gives {own}, the peer's {found['value']}")
            return ours, theirs

        return measure

    shape = "Barabasi-Albert n = {n:,}, m = 10"
    for function in queries:
        name = f"{function}, {shape.format(n=1_000_000)}; NetworKit"
        table.row(name, "1x", against("algorithms_networkit.py", 1_000_000, function, "networkit", "numpy"))
    for function in queries:
        name = f"{function}, {shape.format(n=100_000)}; networkx, processor time"
        table.row(name, "20x", against("algorithms_networkx.py", 100_000, function, "networkx"))


def complexes(bonnet, table, repeats):
    """A step of training on a batch of 128 surfaces with 9 vertices; and MANTRA's own package reads what the engine writes."""
    library = "TopoModelX 0.0.1"
    peers = {"scn": library, "sccn": library, "sccnn": library, "san": library, "cellmp": "torch", "ct": "torch", "dect": "torch"}
    columns = "id, facets, name, betti_numbers, torsion_coefficients"
    threads = os.cpu_count()

    def step(model):
        def measure():
            require_modules("torch", "scipy", *(["topomodelx"] if peers[model] == library else []))
            ours, theirs = [], []
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "surfaces.json")
                query = f"SELECT {columns} FROM enumerate_surfaces(9) WHERE n_vertices = 9"
                bonnet.run([f"COPY ({query}) TO '{file}' STORED AS MANTRA"])
                for _ in range(repeats):
                    found = peer("train_complexes_torch.py", file, threads, 10, shutil.which(bonnet.command), model)
                    theirs.append((found["torch_ms"], found["torch_cpu_ms"]))
                    ours.append((found["bonnet_ms"], found["bonnet_cpu_ms"]))
            table.notes.append(f"{model}: {100 * found['dense']:.0f} % of the peer's time are dense matrix products")
            return ours, theirs

        return measure

    for model, other in peers.items():
        table.row(f"{model}, a step on 128 surfaces with 9 vertices; {other}", "20x", step(model))

    def written(function, dimension):
        def measure():
            require_modules("mantra")
            operators = "hodge_laplacian(facets, 0) AS l0, hodge_laplacian(facets, 1, part => 'up') AS up1, hodge_laplacian(facets, 1, part => 'down') AS down1, boundary_matrix(facets, 1) AS b1, boundary_matrix(facets, 2) AS b2"
            with tempfile.TemporaryDirectory() as folder:
                file, matrices = pathlib.Path(folder, "complexes.json"), pathlib.Path(folder, "matrices.ndjson")
                copy = f"COPY (SELECT {columns} FROM {function}) TO '{file}' STORED AS MANTRA"
                bonnet.run([copy])
                # The matrices of the package are those of surfaces.
                if dimension == 2:
                    matrices.write_text(bonnet.run([f"SELECT id, {operators} FROM {function}"], output="ndjson")[0])
                found = peer("mantra_package.py", dimension, file, *([matrices] if dimension == 2 else []))
                table.notes.append(f"MANTRA's package reads {found['triangulations']:,} complexes of dimension {dimension} as they were written")
                return [bonnet.query([], copy, 3) for _ in range(repeats)], []

        return measure

    table.row("writing surfaces with up to 8 vertices as MANTRA's file, which its package reads", "", written("enumerate_surfaces(8)", 2))
    table.row("writing 3-manifolds with up to 8 vertices, likewise", "", written("enumerate_3_manifolds(8)", 3))


SUBJECTS = {
    "algorithms": algorithms,
    "lasting": lasting,
    "graph_cache": graph_cache,
    "midpoint": midpoint,
    "scale": scale,
    "edge_curvature": edge_curvature,
    "filtrations": filtrations,
    "descriptors": descriptors,
    "graph_kernels": graph_kernels,
    "topology": topology,
    "enumeration": enumeration,
    "homophily": homophily,
    "ranking": ranking,
    "training": training,
    "typed": typed,
    "complexes": complexes,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=list(SUBJECTS))
    parser.add_argument("--epochs", type=int, default=100)
    arguments = parser.parse_args()
    command = find_bonnet()
    if shutil.which(command) is None:
        sys.exit(f"BONNET is {command}, which is no command")
    bonnet = Bonnet(command)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{os.cpu_count()} cores, load average {load:.1f} at the start.\n")
    table = Table()
    for name, subject in SUBJECTS.items():
        if arguments.only in (None, name):
            epochs = [arguments.epochs] if subject is training else []
            subject(bonnet, table, arguments.repeats, *epochs)
    print(*("\n" + note for note in table.notes))


if __name__ == "__main__":
    main()
