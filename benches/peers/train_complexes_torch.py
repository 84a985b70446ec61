"""Processor time of a step of training on simplicial complexes: TopoModelX 0.0.1 and torch beside the engine, same complexes.

    bonnet -c "COPY (SELECT id, facets, name, betti_numbers, torsion_coefficients FROM enumerate_surfaces(9)
               WHERE n_vertices = 9) TO 'surfaces.json' STORED AS MANTRA"
    python benches/peers/train_complexes_torch.py surfaces.json THREADS STEPS [BONNET] [MODEL ...]

MODEL is san, sccn, sccnn or scn, which are TopoModelX's own, or cellmp, ct or dect, which are written here from the equations
with torch's usual operations (gather and index_add for messages, one dense block of scores a complex for attention). TopoModelX
has a CW network, too, but its CWN updates edges alone, so it is another model than CellMP, which updates all dimensions. Settings are
those of MANTRA, App. D: 64 wide, batches of 128, connectivity indices, two classes, Adam. Operators are made before the clock
starts. With BONNET, the path of the command, the engine trains the same model on the same complexes with as many threads: the
difference between a run of many epochs and a run of few, so that reading and operators made once do not count. Each epoch of the
engine also validates; the collection's parts make that two complexes.

A line of JSON a model: milliseconds of processor time (all threads) and of the clock a step, of both, and their ratio; `dense` is
the share of torch's processor time in matrix products with dense factors (addmm, mm, bmm), by its profiler.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import combinations

import numpy
import scipy.sparse
import torch
from torch.nn import functional as F

BATCH, HIDDEN = 128, 64


class Batch:
    """Complexes side by side: simplices by dimension, signed boundary matrices, connectivity indices."""

    def __init__(self, facets):
        self.faces, boundaries, self.complex = [[], [], []], [], [[], [], []]
        index = [{}, {}, {}]
        for number, triangles in enumerate(facets):
            for k in range(3):
                simplices = sorted({face for triangle in triangles for face in combinations(sorted(triangle), k + 1)})
                for face in simplices:
                    index[k][number, face] = len(self.faces[k])
                    self.faces[k].append((number, face))
                    self.complex[k].append(number)
        self.n = [len(faces) for faces in self.faces]
        self.boundary = []
        for k in (1, 2):
            entries = [
                (index[k - 1][number, face[:i] + face[i + 1 :]], column, (-1) ** i)
                for column, (number, face) in enumerate(self.faces[k])
                for i in range(k + 1)
            ]
            rows, columns, values = zip(*entries)
            self.boundary.append(scipy.sparse.csr_matrix((values, (rows, columns)), shape=(self.n[k - 1], self.n[k]), dtype=numpy.float32))
        b1, b2 = self.boundary
        self.down = [None, b1.T @ b1, b2.T @ b2]
        self.up = [b1 @ b1.T, b2 @ b2.T, None]
        degree = lambda m: numpy.asarray((m != 0).sum(1)).ravel() - 1.0
        columns = [[degree(self.up[0])], [degree(self.up[1]), degree(self.down[1])], [degree(self.down[2])]]
        self.x = [torch.tensor(numpy.stack(c, 1), dtype=torch.float32) for c in columns]
        self.complex = [torch.tensor(c) for c in self.complex]
        self.size = len(facets)
        self.y = torch.tensor([number % 2 for number in range(self.size)])

    def pool(self, k, x):
        return torch.zeros(self.size, x.shape[1]).index_add(0, self.complex[k], x)


def sparse(matrix):
    matrix = matrix.tocoo()
    return torch.sparse_coo_tensor(numpy.stack([matrix.row, matrix.col]), matrix.data, matrix.shape).coalesce()


class ReadOut(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, 2) for width in widths)

    def forward(self, batch, xs, dimensions=(0, 1, 2)):
        return sum(layer(batch.pool(k, x)) for layer, k, x in zip(self.layers, dimensions, xs))


class San(torch.nn.Module):
    def __init__(self):
        from topomodelx.nn.simplicial.san import SAN

        super().__init__()
        self.net, self.out = SAN(2, HIDDEN, n_layers=1), ReadOut([HIDDEN])

    def prepare(self, batch):
        return sparse(batch.up[1]), sparse(batch.down[1])

    def forward(self, batch, operators):
        return self.out(batch, [torch.sigmoid(self.net(batch.x[1], *operators))], (1,))


class Sccn(torch.nn.Module):
    def __init__(self):
        from topomodelx.nn.simplicial.sccn import SCCN

        super().__init__()
        self.embed = torch.nn.ModuleList(torch.nn.Linear(width, HIDDEN) for width in (1, 2, 1))
        self.net, self.out = SCCN(HIDDEN, 2, n_layers=2), ReadOut([HIDDEN] * 3)

    def prepare(self, batch):
        incidences = {f"rank_{k}": sparse(batch.boundary[k - 1]) for k in (1, 2)}
        laplacians = {f"rank_{k}": sparse(sum(m for m in (batch.down[k], batch.up[k]) if m is not None)) for k in range(3)}
        return incidences, laplacians

    def forward(self, batch, operators):
        x = {f"rank_{k}": embed(x) for k, (embed, x) in enumerate(zip(self.embed, batch.x))}
        x = self.net(x, *operators)
        return self.out(batch, [x[f"rank_{k}"] for k in range(3)])


class Sccnn(torch.nn.Module):
    def __init__(self):
        from topomodelx.nn.simplicial.sccnn import SCCNN

        super().__init__()
        widths = (HIDDEN,) * 3
        self.net = SCCNN((1, 2, 1), widths, conv_order=1, sc_order=2, update_func="sigmoid", n_layers=2)
        self.out = ReadOut(widths)

    def prepare(self, batch):
        laplacians = [sparse(m) for m in (batch.up[0], batch.down[1], batch.up[1], batch.down[2])]
        return laplacians, [sparse(b) for b in batch.boundary]

    def forward(self, batch, operators):
        return self.out(batch, self.net(tuple(batch.x), *operators))


class Scn(torch.nn.Module):
    def __init__(self):
        from topomodelx.nn.simplicial.scn2 import SCN2

        super().__init__()
        self.net, self.out = SCN2(1, 2, 1, n_layers=2), ReadOut([1, 2, 1])

    def prepare(self, batch):
        def normalised(m):
            d = numpy.asarray(abs(m).sum(1)).ravel()
            root = scipy.sparse.diags(numpy.where(d > 0, 1 / numpy.sqrt(numpy.maximum(d, 1e-12)), 0))
            return sparse((root @ m @ root).astype(numpy.float32))

        return [normalised(sum(m for m in (batch.down[k], batch.up[k]) if m is not None)) for k in range(3)]

    def forward(self, batch, laplacians):
        return self.out(batch, self.net(*batch.x, *laplacians))


def block(width_in, width=HIDDEN):
    return torch.nn.Sequential(torch.nn.Linear(width_in, width, bias=False), torch.nn.BatchNorm1d(width), torch.nn.ReLU())


class CellMP(torch.nn.Module):
    """Messages along faces, and along common cofaces with what the coface knows; ten layers."""

    def __init__(self, layers=10):
        super().__init__()
        self.embed = torch.nn.ModuleList(torch.nn.Linear(width, HIDDEN) for width in (1, 2, 1))
        layer = lambda: torch.nn.ModuleList(
            torch.nn.ModuleDict(
                {
                    "message": torch.nn.Linear(2 * HIDDEN, HIDDEN),
                    "below": torch.nn.Sequential(block(HIDDEN), block(HIDDEN)),
                    "above": torch.nn.Sequential(block(HIDDEN), block(HIDDEN)),
                    "combine": block(2 * HIDDEN),
                }
            )
            for _ in range(3)
        )
        self.layers = torch.nn.ModuleList(layer() for _ in range(layers))
        self.wide = torch.nn.ModuleList(torch.nn.Linear(HIDDEN, 2 * HIDDEN) for _ in range(3))
        self.out = torch.nn.Linear(2 * HIDDEN, 2)

    def prepare(self, batch):
        faces, pairs = [], []
        for b in batch.boundary:
            coo = b.tocoo()
            faces.append((torch.tensor(coo.row).long(), torch.tensor(coo.col).long()))
            columns = b.tocsc()
            found = [
                (s, t, d)
                for d in range(b.shape[1])
                for s in columns.indices[columns.indptr[d] : columns.indptr[d + 1]]
                for t in columns.indices[columns.indptr[d] : columns.indptr[d + 1]]
                if s != t
            ]
            pairs.append(tuple(torch.tensor(part).long() for part in zip(*found)))
        return faces, pairs

    def forward(self, batch, operators):
        faces, pairs = operators
        h = [embed(x) for embed, x in zip(self.embed, batch.x)]
        for layer in self.layers:
            following = []
            for k, part in enumerate(layer):
                below, above = h[k], h[k]
                if k > 0:
                    below = below.index_add(0, faces[k - 1][1], h[k - 1][faces[k - 1][0]])
                if k < 2:
                    s, t, d = pairs[k]
                    above = above.index_add(0, s, F.relu(part["message"](torch.cat([h[k][t], h[k + 1][d]], 1))))
                z = part["combine"](torch.cat([part["below"](below), part["above"](above)], 1))
                following.append(F.dropout(z, 0.5, self.training))
            h = following
        z = sum(F.relu(wide(batch.pool(k, x))) for k, (wide, x) in enumerate(zip(self.wide, h)))
        return self.out(F.dropout(z, 0.5, self.training))


class Ct(torch.nn.Module):
    """Attention within dimensions and between neighbouring ones, scores of a batch padded to its largest complex."""

    def __init__(self, layers=2, heads=8):
        super().__init__()
        self.heads = heads
        self.embed = torch.nn.ModuleList(torch.nn.Linear(width + 8, HIDDEN) for width in (1, 2, 1))
        self.arrows = [(a, b) for a in range(3) for b in range(3) if abs(a - b) <= 1]
        linear = lambda: torch.nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.layers = torch.nn.ModuleList(
            torch.nn.ModuleDict(
                {f"{a}{b}": torch.nn.ModuleList(linear() for _ in range(4)) for a, b in self.arrows}
                | {f"norm{k}": torch.nn.LayerNorm(HIDDEN) for k in range(3)}
                | {f"last{k}": torch.nn.LayerNorm(HIDDEN) for k in range(3)}
                | {f"feed{k}": torch.nn.Sequential(torch.nn.Linear(HIDDEN, 128), torch.nn.ReLU(), torch.nn.Linear(128, HIDDEN)) for k in range(3)}
            )
            for _ in range(layers)
        )
        self.out = torch.nn.Sequential(torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 2))

    def prepare(self, batch):
        counts = [torch.bincount(c, minlength=batch.size) for c in batch.complex]
        slots = []
        for c, count in zip(batch.complex, counts):
            starts = torch.cumsum(count, 0) - count
            slots.append((c, torch.arange(len(c)) - starts[c], int(count.max())))
        neighbourhoods = {(1, 0): batch.boundary[0].T, (0, 1): batch.boundary[0], (2, 1): batch.boundary[1].T, (1, 2): batch.boundary[1], (0, 0): batch.up[0], (1, 1): batch.down[1], (2, 2): batch.down[2]}
        masks = {}
        for (to, source), m in neighbourhoods.items():
            coo = m.tocoo()
            keep = (coo.row != coo.col) | (to != source)
            mask = torch.zeros(batch.size, slots[to][2], slots[source][2])
            mask[slots[to][0][coo.row[keep]], slots[to][1][coo.row[keep]], slots[source][1][coo.col[keep]]] = 1.0
            empty = torch.arange(slots[source][2])[None, :] >= counts[source][:, None]
            masks[to, source] = mask.masked_fill(empty[:, None, :], float("-inf"))
        codes = []
        for k in range(3):
            laplacian = sum(m for m in (batch.down[k], batch.up[k]) if m is not None).toarray()
            code, c = torch.zeros(batch.n[k], 8), batch.complex[k].numpy()
            for number in range(batch.size):
                at = numpy.nonzero(c == number)[0]
                vectors = numpy.linalg.eigh(laplacian[numpy.ix_(at, at)])[1][:, :8]
                code[at[0] : at[-1] + 1, : vectors.shape[1]] = torch.tensor(vectors, dtype=torch.float32)
            codes.append(code)
        return slots, masks, codes

    def forward(self, batch, operators):
        slots, masks, codes = operators
        h = [embed(torch.cat([x, code], 1)) for embed, x, code in zip(self.embed, batch.x, codes)]
        for layer in self.layers:
            sums = list(h)
            for source, to in self.arrows:
                query, key, value, out = layer[f"{source}{to}"]

                def heads(x, k):
                    graph, slot, most = slots[k]
                    padded = torch.zeros(batch.size, most, HIDDEN).index_put((graph, slot), x)
                    return padded.view(batch.size, most, self.heads, -1).transpose(1, 2)

                q, k, v = heads(query(h[to]), to), heads(key(h[source]), source), heads(value(h[source]), source)
                scores = q @ k.transpose(2, 3) / (HIDDEN // self.heads) ** 0.5 + masks[to, source][:, None]
                z = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(batch.size, -1, HIDDEN)
                sums[to] = sums[to] + out(z[slots[to][0], slots[to][1]])
            h = [layer[f"norm{k}"](x) for k, x in enumerate(sums)]
            h = [layer[f"last{k}"](x + layer[f"feed{k}"](x)) for k, x in enumerate(h)]
        counts = torch.bincount(batch.complex[0], minlength=batch.size)[:, None]
        return self.out(batch.pool(0, h[0]) / counts)


class Dect(torch.nn.Module):
    """The transform of the vertices, made anew each step as in its authors' layer, then a perceptron."""

    def __init__(self):
        super().__init__()
        self.directions = F.normalize(torch.randn(1, 32), dim=0)
        self.heights = torch.linspace(-1.1, 1.1, 32)
        self.net = torch.nn.Sequential(torch.nn.Linear(1024, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 2))

    def prepare(self, batch):
        return ()

    def forward(self, batch, operators):
        below = torch.sigmoid(500 * (self.heights[None, :, None] - (batch.x[0] @ self.directions)[:, None, :]))
        curve = torch.zeros(batch.size, 32, 32).index_add(0, batch.complex[0], below)
        curve = curve / curve.amax((1, 2), keepdim=True).clamp(min=1e-12)
        return self.net(curve.flatten(1))


MODELS = {"scn": Scn, "sccn": Sccn, "sccnn": Sccnn, "san": San, "cellmp": CellMP, "ct": Ct, "dect": Dect}
# CellMP here keeps the running moments of its steps, as torch does; the engine's default measures them after each epoch.
OWN = {"cellmp": "10 AS layers, 0.5 AS dropout, 'batch_running' AS norm", "dect": "3 AS layers, 0 AS dims", "san": "1 AS layers"}


def processor(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def torch_step(name, batches, steps):
    torch.manual_seed(0)
    model = MODELS[name]()
    operators = [model.prepare(batch) for batch in batches]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def step(i):
        batch, ready = batches[i % len(batches)], operators[i % len(batches)]
        optimizer.zero_grad()
        F.cross_entropy(model(batch, ready), batch.y).backward()
        optimizer.step()

    step(0)
    used, clock = processor(resource.RUSAGE_SELF), time.perf_counter()
    for i in range(steps):
        step(i)
    used, clock = processor(resource.RUSAGE_SELF) - used, time.perf_counter() - clock
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        step(0)
    events = profile.key_averages()
    total = sum(event.self_cpu_time_total for event in events)
    products = ("aten::addmm", "aten::mm", "aten::bmm", "aten::baddbmm")
    dense = sum(event.self_cpu_time_total for event in events if event.key in products)
    return 1000 * used / steps, 1000 * clock / steps, dense / max(total, 1)


def engine_step(bonnet, name, count, threads, file):
    def run(epochs):
        own = f", {OWN[name]}" if name in OWN else ""
        hidden = "" if name == "scn" else f", {HIDDEN} AS hidden"
        # `file` has count complexes; all but two train.
        sql = (
            f"ATTACH '{file}' AS peer; "
            f"SELECT status, error, train_seconds FROM train((SELECT '{name}' AS model{hidden}{own}), complexes => "
            f"(SELECT id, facets, number % 2 AS label, CASE WHEN number < 2 THEN 'val' WHEN number < 4 THEN 'test' ELSE 'train' END AS part "
            f"FROM (SELECT *, CAST(row_number() OVER (ORDER BY id) - 1 AS BIGINT) AS number FROM peer.triangulations)), "
            f"features => '{'degree_number' if name == 'dect' else 'connectivity'}', task => 'graph_classification', lr => 0.01, weight_decay => 0, batch => {BATCH}, epochs => {epochs})"
        )
        used, clock = processor(resource.RUSAGE_CHILDREN), time.perf_counter()
        out = subprocess.run([bonnet, "--threads", str(threads), "--quiet", "--format", "csv", "-c", sql], capture_output=True, text=True)
        if ",," not in out.stdout or "ok" not in out.stdout:
            sys.exit(out.stdout + out.stderr)
        return processor(resource.RUSAGE_CHILDREN) - used, time.perf_counter() - clock

    steps_of_epoch = (count - 4 + BATCH - 1) // BATCH
    few, many = 1, 4
    a, b = run(few), run(many)
    steps = (many - few) * steps_of_epoch
    return [1000 * (y - x) / steps for x, y in zip(a, b)]


def main(file, threads, steps, *rest):
    torch.set_num_threads(int(threads))
    bonnet = rest[0] if rest else None
    entries = json.loads(open(file).read())
    facets = [entry["triangulation"] for entry in entries]
    batches = [Batch(facets[i : i + BATCH]) for i in range(0, len(facets), BATCH)][:5]
    for name in rest[1:] or MODELS:
        cpu, clock, dense = torch_step(name, batches, max(1, int(steps) if name != "san" else int(steps) // 10))
        line = {"model": name, "torch_cpu_ms": round(cpu, 2), "torch_ms": round(clock, 2), "dense": round(dense, 2)}
        if bonnet:
            ours_cpu, ours = engine_step(bonnet, name, len(facets), int(threads), os.path.abspath(file))
            line |= {"bonnet_cpu_ms": round(ours_cpu, 2), "bonnet_ms": round(ours, 2), "ratio_cpu": round(cpu / ours_cpu, 1)}
        print(json.dumps(line), flush=True)


main(*sys.argv[1:])
