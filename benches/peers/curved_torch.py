"""Models of curved spaces in PyTorch, written as their papers and the authors' programs have them: matrix by matrix, points with
all their coordinates, exponentials and logarithms between the steps.

    python curved_torch.py fixture > udfs/learning/tests/curved_torch.json
    python curved_torch.py times FOLDER MODEL THREADS EPOCHS

`fixture` writes outputs of small models in double precision, which the tests of udfs/learning compare with ours. `times` prints
milliseconds per epoch, and of the processor, on a graph that train_pyg.py reads: MODEL is gcn, hgcn (Chami et al. 2019, Eq. 6-11, hyperboloid) or cusp
(Grover et al. 2025, Eq. 5-8, three factors, ten hops, edges of weight 1); an epoch is train_pyg.py's. Needs torch, and
torch_geometric for `times`.
"""

import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F


def normalised(edges, n, dtype):
    """`D^-1/2 (A + I) D^-1/2`, sparse."""
    both = torch.cat([edges, edges.flip(0), torch.arange(n).expand(2, n)], 1).unique(dim=1)
    root = torch.bincount(both[0], minlength=n).to(dtype).rsqrt()
    return torch.sparse_coo_tensor(both, root[both[0]] * root[both[1]], (n, n)).coalesce().to_sparse_csr()


class Hyperboloid:
    """Of curvature -1/k, the time first."""

    def __init__(self, k):
        self.k = k

    def inner(self, x, y):
        return (x * y).sum(-1, keepdim=True) - 2 * x[:, :1] * y[:, :1]

    def exp(self, x, v):
        length = self.inner(v, v).clamp_min(1e-24).sqrt()
        t = length / self.k.sqrt()
        return t.cosh() * x + self.k.sqrt() * t.sinh() * v / length

    def origin(self, v):
        return torch.cat([self.k.sqrt().expand(len(v), 1), torch.zeros_like(v)], 1)

    def exp0(self, v):
        return self.exp(self.origin(v), F.pad(v, (1, 0)))

    def log0(self, x):
        space = x[:, 1:]
        length = space.norm(dim=1, keepdim=True).clamp_min(1e-12)
        return self.k.sqrt() * (x[:, :1] / self.k.sqrt()).clamp_min(1 + 1e-15).acosh() * space / length

    def transport0(self, x, v):
        """From the origin to x."""
        o, v = self.origin(v), F.pad(v, (1, 0))
        return v + self.inner(x, v) / (self.k - self.inner(o, x)) * (o + x)


def hgcn(x, p, w, layers, dropout):
    for layer in range(layers):
        space = Hyperboloid(1 / F.softplus(w[f"{layer}.curvature"]))
        points = space.exp0(dropout(x))
        points = space.exp0(space.log0(points) @ w[f"{layer}.weight"])
        bias = w[f"{layer}.bias"].expand(len(x), -1)
        points = space.exp(points, space.transport0(points, bias))
        points = space.exp0(p @ space.log0(points))
        x = F.relu(space.log0(points))
    return dropout(x) @ w["decode.weight"] + w["decode.bias"]


def gcn(x, p, w, layers, dropout):
    for layer in range(layers):
        x = p @ (dropout(x) @ w[f"{layer}.weight"]) + w[f"{layer}.bias"]
        x = F.relu(x) if layer + 1 < layers else x
    return x


class Stereographic:
    """The ball for kappa < 0, the sphere for kappa > 0."""

    def __init__(self, sign, raw):
        self.sign = sign
        self.kappa = sign * F.softplus(raw) if sign else torch.zeros(1, 1)

    def tan(self, t):
        root = self.kappa.abs().sqrt()
        return torch.tanh(root * t) / root if self.sign < 0 else torch.tan(root * t) / root

    def arctan(self, t):
        root = self.kappa.abs().sqrt()
        return torch.atanh((root * t).clamp_max(1 - 1e-10)) / root if self.sign < 0 else torch.atan(root * t) / root

    def exp0(self, v):
        length = v.norm(dim=1, keepdim=True).clamp_min(1e-15)
        return v if self.sign == 0 else self.tan(length) * v / length

    def log0(self, x):
        length = x.norm(dim=1, keepdim=True).clamp_min(1e-15)
        return x if self.sign == 0 else self.arctan(length) * x / length

    def add(self, x, y):
        if self.sign == 0:
            return x + y
        xy, xx, yy = (x * y).sum(1, keepdim=True), (x * x).sum(1, keepdim=True), (y * y).sum(1, keepdim=True)
        k = self.kappa
        above = (1 - 2 * k * xy - k * yy) * x + (1 + k * xx) * y
        return above / (1 - 2 * k * xy + k * k * xx * yy).clamp_min(1e-15)


def cusp(x, p, w, layers, dropout, factors, hops):
    for layer in range(layers):
        x = dropout(x) @ w[f"{layer}.weight"] + w[f"{layer}.bias"]
        x = F.relu(x) if layer + 1 < layers else x
    x = dropout(x)
    spaces, columns, start = [], [], 0
    for number, (sign, dimension) in enumerate(factors):
        name = "hyperbolic" if sign < 0 else "spherical"
        spaces.append(Stereographic(sign, w[f"{number}.{name}.curvature"] if sign else None))
        columns.append(slice(start, start + dimension))
        start += dimension
    powers = [[space.exp0(x[:, c]) for space, c in zip(spaces, columns)]]
    for _ in range(hops):
        powers.append([space.exp0(p @ space.log0(v)) for space, v in zip(spaces, powers[-1])])
    mixed, at = 0, 0
    shares = F.softmax(w["filters"], dim=1)
    for degree in range(hops + 1):
        filtered = []
        for q, space in enumerate(spaces):
            terms = [space.exp0(w["gamma"][0, at + k] * space.log0(powers[k][q])) for k in range(degree + 1)]
            total = terms[0]
            for term in terms[1:]:
                total = space.add(total, term)
            filtered.append(space.log0(total))
        at += degree + 1
        mapped = [v @ w[f"{q}.map"] for q, v in enumerate(filtered)]
        mean = sum(mapped) / len(mapped)
        scores = [torch.sigmoid((m - mean) @ w[f"{q}.score"].T) for q, m in enumerate(mapped)]
        of_factors = F.softmax(torch.cat(scores, 1), dim=1)
        pooled = torch.cat([of_factors[:, q : q + 1] * v for q, v in enumerate(filtered)], 1)
        mixed = mixed + shares[0, degree] * pooled
    return dropout(mixed) @ w["decode.weight"] + w["decode.bias"]


FACTORS = {"H": -1, "E": 0, "S": 1}


def parsed(text):
    return [(FACTORS[part[0]], int(part[1:])) for part in text.split(",")]


def parameters(model, features, classes, hidden, factors, hops, generator, dtype):
    """Random parameters by the names of ours."""

    def normal(rows, columns, size=None):
        size = size if size is not None else (2 / (rows + columns)) ** 0.5
        return size * torch.randn(rows, columns, generator=generator, dtype=dtype)

    w = {}
    if model in ("hgcn", "gcn"):
        widths = [features, hidden, hidden if model == "hgcn" else classes]
        for layer in range(2):
            w[f"{layer}.weight"] = normal(widths[layer], widths[layer + 1])
            w[f"{layer}.bias"] = normal(1, widths[layer + 1], 0.3)
            if model == "hgcn":
                w[f"{layer}.curvature"] = normal(1, 1, 0.5)
    else:
        for layer in range(2):
            w[f"{layer}.weight"] = normal(features if layer == 0 else hidden, hidden)
            w[f"{layer}.bias"] = normal(1, hidden, 0.3)
        common = max(dimension for _, dimension in factors)
        gammas = [0.1 * 0.9**k if k < degree else 0.9**degree for degree in range(hops + 1) for k in range(degree + 1)]
        w["gamma"] = torch.tensor([gammas], dtype=dtype) + normal(1, len(gammas), 0.05)
        w["filters"] = normal(1, hops + 1, 0.5)
        for q, (sign, dimension) in enumerate(factors):
            if sign:
                w[f"{q}.{'hyperbolic' if sign < 0 else 'spherical'}.curvature"] = normal(1, 1, 0.5)
            w[f"{q}.map"], w[f"{q}.score"] = normal(dimension, common), normal(1, common)
    if model != "gcn":
        w["decode.weight"], w["decode.bias"] = normal(hidden, classes), normal(1, classes, 0.3)
    return w


def fixture():
    generator = torch.Generator().manual_seed(20)
    n, columns, classes = 14, 6, 3
    edges = torch.randint(0, n, (2, 24), generator=generator)
    edges = torch.unique(torch.sort(edges[:, edges[0] != edges[1]], 0).values, dim=1)
    x = torch.randn(n, columns, generator=generator, dtype=torch.float64).round(decimals=2)
    p = normalised(edges, n, torch.float64)
    cases = []
    for model, options in (("hgcn", {"hidden": 5}), ("cusp", {"hidden": 8, "factors": "H3,E2,S3", "hops": 3})):
        factors, hops = parsed(options.get("factors", "E8")), options.get("hops", 0)
        w = parameters(model, columns, classes, options["hidden"], factors, hops, generator, torch.float64)
        w = {name: value.float().double() for name, value in w.items()}
        run = (hgcn, x, p, w, 2, lambda x: x) if model == "hgcn" else (cusp, x, p, w, 2, lambda x: x, factors, hops)
        outputs = run[0](*run[1:])
        own = {} if model == "hgcn" else {"edge_weights": "unit", "frequencies": 0}
        cases.append(
            {
                "model": model,
                "options": options | own,
                "parameters": {name: value.tolist() for name, value in w.items()},
                "outputs": outputs.tolist(),
            }
        )
    print(json.dumps({"edges": edges.T.tolist(), "features": x.tolist(), "cases": cases}))


def times(folder, model, threads, epochs):
    from torch_geometric.transforms import NormalizeFeatures
    from train_pyg import WARM_UP, read

    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    data = NormalizeFeatures()(read(folder))
    n, classes, hidden = len(data.x), int(data.y.max()) + 1, 64 if model == "cusp" else 16
    p = normalised(data.edge_index, n, torch.float32)
    factors, generator = parsed("H22,E21,S21"), torch.Generator().manual_seed(0)
    w = parameters(model, data.num_features, classes, hidden, factors, 10, generator, torch.float32)
    w = {name: value.requires_grad_() for name, value in w.items()}
    optimizer = torch.optim.Adam(w.values(), lr=0.01, weight_decay=5e-4)
    forward = {"gcn": gcn, "hgcn": hgcn, "cusp": cusp}[model]
    more = (factors, 10) if model == "cusp" else ()
    milliseconds, processor = [], []
    for _ in range(min(WARM_UP, int(epochs)) + int(epochs)):
        start, busy = time.perf_counter(), time.process_time()
        optimizer.zero_grad()
        z = forward(data.x, p, w, 2, lambda x: F.dropout(x, 0.5), *more)
        F.cross_entropy(z[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
        with torch.no_grad():
            right = forward(data.x, p, w, 2, lambda x: x, *more).argmax(dim=1) == data.y
            accuracy = float(right[data.val_mask].float().mean())
        milliseconds.append(1e3 * (time.perf_counter() - start))
        processor.append(1e3 * (time.process_time() - busy))
    timed = milliseconds[-int(epochs) :]
    report = {"median_ms": statistics.median(timed), "least_ms": min(timed), "threads": torch.get_num_threads()}
    report["processor_ms"] = statistics.mean(processor[-int(epochs) :])
    print(json.dumps(report | {"watched_accuracy": accuracy}))


if __name__ == "__main__":
    if sys.argv[1:] == ["fixture"]:
        fixture()
    elif len(sys.argv) == 6 and sys.argv[1] == "times":
        times(*sys.argv[2:])
    else:
        sys.exit(__doc__)
