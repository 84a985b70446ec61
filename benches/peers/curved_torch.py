"""Models of curved spaces in PyTorch, written as their papers and the authors' programs have them: matrix by matrix, points
with all their coordinates, exponentials and logarithms between the steps.

    python curved_torch.py fixture [MODEL ...] > udfs/learning/tests/curved_torch.json
    python curved_torch.py times FOLDER MODEL THREADS EPOCHS

`fixture` writes outputs of small models in double precision, which the tests of udfs/learning compare with ours: of hgcn and
cusp, or of the models that are named. `times` prints milliseconds per epoch, and of the processor, on a graph that
train_pyg.py reads; an epoch is train_pyg.py's, and the widths are the defaults of ours. MODEL is

    gcn        for comparison, as wide as hgcn
    hgnn       Liu, Nickel and Kiela 2019, Eq. 2, 6 and 7, hyperboloid, 100 centroids
    hgcn       Chami et al. 2019, Eq. 6-11, hyperboloid
    hat        Zhang et al. 2021, Eq. 5-13, eight balls of eight dimensions
    hybonet    Chen et al. 2022, Eq. 3 and 6, neighbours alike
    qgcn       Xiong et al. 2022, Sec. 4, eight dimensions of space and of time
    cusp       Grover et al. 2025, Eq. 5-8, three factors, ten hops, edges of weight 1
    graphmore  Guo et al. 2025, Eq. 5-10, three experts, ego graphs of two and three hops, whole

Needs torch, and torch_geometric for `times`. `python -m unittest discover -s benches/peers` tests the models.
"""

import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F


def with_loops(edges, n):
    """Both directions of each edge, and a loop at each node."""
    return torch.cat([edges, edges.flip(0), torch.arange(n).expand(2, n)], 1).unique(dim=1)


def normalised(edges, n, dtype):
    """`D^-1/2 (A + I) D^-1/2`, sparse."""
    both = with_loops(edges, n)
    root = torch.bincount(both[0], minlength=n).to(dtype).rsqrt()
    return torch.sparse_coo_tensor(both, root[both[0]] * root[both[1]], (n, n)).coalesce().to_sparse_csr()


def mean(edges, n, dtype):
    """`D^-1 (A + I)`, sparse."""
    both = with_loops(edges, n)
    share = 1 / torch.bincount(both[0], minlength=n).to(dtype)
    return torch.sparse_coo_tensor(both, share[both[0]], (n, n)).coalesce().to_sparse_csr()


def margin(x, double, single):
    """How near to the end of its range a function is read."""
    return double if x.dtype == torch.float64 else single


def squares(x):
    return (x * x).sum(-1, keepdim=True)


def length_of(x):
    return x.norm(dim=-1, keepdim=True).clamp_min(1e-12)


class Hyperboloid:
    """Of curvature -1/k, the time first."""

    def __init__(self, k):
        self.k = k

    def inner(self, x, y):
        return (x * y).sum(-1, keepdim=True) - 2 * x[:, :1] * y[:, :1]

    def exp(self, x, v):
        length = self.inner(v, v).clamp_min(1e-24).sqrt()
        # At most 15, as in HGCN's program: far from the origin single precision leaves `inner` no digits.
        t = (length / self.k.sqrt()).clamp_max(15)
        return t.cosh() * x + self.k.sqrt() * t.sinh() * v / length

    def origin(self, v):
        return torch.cat([self.k.sqrt().expand(len(v), 1), torch.zeros_like(v)], 1)

    def exp0(self, v):
        return self.exp(self.origin(v), F.pad(v, (1, 0)))

    def log0(self, x):
        space = x[:, 1:]
        length = space.norm(dim=1, keepdim=True).clamp_min(1e-12)
        cosh = (x[:, :1] / self.k.sqrt()).clamp_min(1 + margin(x, 1e-15, 1.2e-7))
        return self.k.sqrt() * cosh.acosh() * space / length

    def transport0(self, x, v):
        """From the origin to x."""
        o, v = self.origin(v), F.pad(v, (1, 0))
        return v + self.inner(x, v) / (self.k - self.inner(o, x)) * (o + x)

    def products(self, x, y):
        """The inner products of rows of x and rows of y, a matrix."""
        return x[:, 1:] @ y[:, 1:].T - x[:, :1] @ y[:, :1].T

    def distances(self, x, y):
        return self.k.sqrt() * (-self.products(x, y) / self.k).clamp_min(1 + margin(x, 1e-15, 1.2e-7)).acosh()


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


def relu_on_ball(x):
    """A rectifier on coordinates of the ball, of points of the hyperboloid of curvature -1 (Liu et al. 2019, Eq. 7)."""
    ball = F.relu(x[:, 1:] / (1 + x[:, :1]))
    return torch.cat([1 + squares(ball), 2 * ball], 1) / (1 - squares(ball)).clamp_min(margin(x, 1e-15, 1e-6))


def hgnn(x, p, w, layers, dropout):
    space = Hyperboloid(x.new_ones(1, 1))
    points = space.exp0(dropout(x))
    for layer in range(layers):
        if layer > 0:
            points = space.exp0(dropout(space.log0(points)))
        points = relu_on_ball(space.exp0(p @ (space.log0(points) @ w[f"{layer}.weight"])))
    return space.distances(points, w["centroids"]) @ w["decode.weight"] + w["decode.bias"]


def lorentz_linear(x, w, name):
    """Chen et al. 2022, Eq. 3: the time by a sigmoid, the space in its direction as long as the hyperboloid has it."""
    y = x @ w[f"{name}.weight"] + w[f"{name}.bias"]
    time, space = w[f"{name}.scale"].exp() * torch.sigmoid(y[:, :1]) + 1.1, y[:, 1:]
    return torch.cat([time, ((time * time - 1) / squares(space).clamp_min(1e-8)).sqrt() * space], 1)


def hybonet(x, p, w, layers, dropout):
    """`p` averages over neighbours."""
    space = Hyperboloid(x.new_ones(1, 1))
    points = space.exp0(x)
    for layer in range(layers):
        if layer > 0:
            points = F.relu(points)
        total = p @ lorentz_linear(dropout(points), w, str(layer))
        points = total / space.inner(total, total).abs().clamp_min(1e-8).sqrt()
    return 2 + 2 * space.products(points, w["classes"]) + w["decode.bias"]


class PseudoHyperboloid:
    """`-|x_t|^2 + |x_s|^2 = -b`, the t + 1 coordinates of time first, by the diffeomorphism to `S^t x R^s`."""

    def __init__(self, b, time):
        self.b, self.root, self.time = b, b.sqrt(), time

    def to_product(self, x):
        time = x[:, : self.time + 1]
        return self.root * time / length_of(time), x[:, self.time + 1 :]

    def from_product(self, u, v):
        return torch.cat([(self.b + squares(v)).sqrt() / self.root * u, v], 1)

    def exp_on_sphere(self, u, a):
        length = length_of(a)
        return torch.cos(length / self.root) * u + self.root * torch.sin(length / self.root) * a / length

    def origin(self, a):
        return torch.cat([self.root.expand(len(a), 1), torch.zeros_like(a)], 1)

    def exp0(self, v):
        a = v[:, : self.time]
        return self.from_product(self.exp_on_sphere(self.origin(a), F.pad(a, (1, 0))), v[:, self.time :])

    def log0(self, x):
        u, v = self.to_product(x)
        # The angle from the origin by both of its sides: the arc cosine has no digits near it.
        length = length_of(u[:, 1:])
        return torch.cat([self.root * torch.atan2(length, u[:, :1]) * u[:, 1:] / length, v], 1)

    def move(self, x, bias):
        """Along a tangent vector at the origin that is transported to x."""
        u, v = self.to_product(x)
        o, a = self.origin(u[:, 1:]), F.pad(bias[:, : self.time], (1, 0))
        a = a - (u * a).sum(1, keepdim=True) / (self.b + (o * u).sum(1, keepdim=True)).clamp_min(1e-6) * (o + u)
        return self.from_product(self.exp_on_sphere(u, a), v + bias[:, self.time :])


def qgcn(x, p, w, layers, dropout, time):
    for layer in range(layers):
        space = PseudoHyperboloid(1 / F.softplus(w[f"{layer}.curvature"]), time)
        points = space.exp0(dropout(x))
        points = space.exp0(space.log0(points) @ w[f"{layer}.weight"])
        points = space.move(points, w[f"{layer}.bias"])
        points = space.exp0(p @ space.log0(points))
        x = F.relu(space.log0(points))
    return dropout(x) @ w["decode.weight"] + w["decode.bias"]


class Stereographic:
    """The ball for kappa < 0, the sphere for kappa > 0."""

    def __init__(self, sign, raw):
        self.sign = sign
        self.kappa = sign * F.softplus(raw) if sign else torch.zeros(1, 1)

    def tan(self, t):
        root = self.kappa.abs().sqrt()
        return torch.tanh(root * t) / root if self.sign < 0 else torch.tan((root * t).clamp_max(1.5)) / root

    def arctan(self, t):
        root = self.kappa.abs().sqrt()
        if self.sign > 0:
            return torch.atan(root * t) / root
        return torch.atanh((root * t).clamp_max(1 - margin(t, 1e-10, 1e-5))) / root

    def exp0(self, v):
        length = length_of(v)
        return v if self.sign == 0 else self.tan(length) * v / length

    def log0(self, x):
        length = length_of(x)
        return x if self.sign == 0 else self.arctan(length) * x / length

    def add(self, x, y):
        if self.sign == 0:
            return x + y
        xy, xx, yy = (x * y).sum(-1, keepdim=True), squares(x), squares(y)
        k = self.kappa
        above = (1 - 2 * k * xy - k * yy) * x + (1 + k * xx) * y
        return above / (1 - 2 * k * xy + k * k * xx * yy).clamp_min(1e-15)

    def distance(self, x, y):
        length = self.add(-x, y).norm(dim=-1, keepdim=True)
        return 2 * (length if self.sign == 0 else self.arctan(length))


def softmax_of_neighbours(scores, to, n):
    """Of a column with a row for each arc, over the arcs to each node."""
    most = scores.detach().new_full((n, 1), -torch.inf).index_reduce(0, to, scores.detach(), "amax")
    powers = (scores - most[to]).exp()
    return powers / powers.new_zeros(n, 1).index_add(0, to, powers)[to]


def hat(x, arcs, w, layers, dropout, heads):
    """`arcs` are pairs of a node and one that hears it, with loops. After the first layer points are of a product of balls."""
    (at, to), n = arcs, len(x)
    for layer in range(layers):
        space = Stereographic(-1, w[f"{layer}.curvature"])
        points = space.exp0(dropout(x))
        tangent = space.log0(points).flatten(1) @ w[f"{layer}.weight"]
        points = space.exp0(tangent.view(n, heads, -1))
        square = (space.distance(points[to], points[at]) ** 2).sum(1)
        shares = softmax_of_neighbours(-(square + 1e-15).sqrt(), to, n)
        messages = shares[:, :, None] * space.log0(points)[at]
        total = torch.zeros_like(points).index_add(0, to, messages)
        points = space.exp0(F.relu(total + w[f"{layer}.bias"].view(1, heads, -1)))
        x = space.log0(points)
    return dropout(x.flatten(1)) @ w["decode.weight"] + w["decode.bias"]


def ego_graphs(edges, n, hops, dtype):
    """The graphs of the nodes within so many hops of each node, side by side: their nodes, the node that each belongs to, and
    `D^-1/2 (A + I) D^-1/2` of each."""
    near = [set() for _ in range(n)]
    for u, v in edges.T.tolist():
        near[u].add(v)
        near[v].add(u)
    nodes, centres, pairs = [], [], []
    for centre in range(n):
        inside, ring = {centre}, {centre}
        for _ in range(hops):
            ring = set().union(*(near[u] for u in ring)) - inside
            inside |= ring
        place = {u: len(nodes) + i for i, u in enumerate(sorted(inside))}
        pairs += [(i, place[v]) for u, i in place.items() for v in near[u] if u < v and v in place]
        nodes += place
        centres += [centre] * len(place)
    pairs = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    return torch.tensor(nodes), torch.tensor(centres), normalised(pairs, len(nodes), dtype)


def graphmore(x, p, w, layers, dropout, signs, egos, edges):
    """The outputs, and the distortion of edges whose ends are at distance 1 (Guo et al. 2025, Eq. 10); without edges 0."""
    spaces, vectors = [], []
    for number, sign in enumerate(signs):
        name = f"{number}.{'hyperbolic' if sign < 0 else 'spherical'}.curvature"
        space, v = Stereographic(sign, w[name] if sign else None), x
        for layer in range(layers):
            points = space.exp0(dropout(F.relu(v) if layer > 0 else v))
            points = space.exp0(space.log0(points) @ w[f"{number}.{layer}.weight"])
            points = space.add(points, space.exp0(w[f"{number}.{layer}.bias"]))
            points = space.exp0(p @ space.log0(points))
            v = space.log0(points)
        spaces.append(space)
        vectors.append(v)
    scores = w["gate.bias"]
    for k, (nodes, centres, inside) in enumerate(egos):
        z = inside @ (x @ w["gate.0.weight"])[nodes]
        z = inside @ (z @ w["gate.1.weight"])
        pooled = z.new_zeros(len(x), z.shape[1]).index_add(0, centres, z) / torch.bincount(centres)[:, None]
        scores = scores + pooled @ w[f"gate.ego.{k}.weight"]
    shares, distortion = F.softmax(scores, dim=1), 0
    if edges is not None:
        i, j = edges
        points = [space.exp0(v) for space, v in zip(spaces, vectors)]
        apart = torch.cat([space.distance(v[i], v[j]) ** 2 for space, v in zip(spaces, points)], 1)
        distortion = ((F.softmax(shares[i] * shares[j], dim=1) * apart).sum(1) - 1).abs().mean()
    return dropout(torch.cat(vectors, 1)) @ w["decode.weight"] + w["decode.bias"], distortion


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

# Parameters whose rows are points of the hyperboloid of curvature -1.
POINTS = ("centroids", "classes")

# Options of a run, the defaults of ours where ours has them.
RUNS = {
    "gcn": {"hidden": 16},
    "hgnn": {"hidden": 16, "centroids": 100},
    "hgcn": {"hidden": 16, "affinity": "random_walk"},
    "hat": {"hidden": 8, "heads": 8, "dropout": 0.6, "lr": 0.005},
    "hybonet": {"hidden": 16},
    "qgcn": {"hidden": 16, "signature": "8,8", "affinity": "random_walk"},
    "cusp": {"hidden": 64, "factors": "H22,E21,S21", "hops": 10},
    "graphmore": {"hidden": 32, "experts": "1,1,1", "ego_hops": "2,3"},
}


def parsed(text):
    return [(FACTORS[part[0]], int(part[1:])) for part in text.split(",")]


def numbers(text):
    return [int(part) for part in text.split(",")]


def signs_of(options):
    return [sign for sign, count in zip((-1, 0, 1), numbers(options["experts"])) for _ in range(count)]


def on_graph(model, options, edges, n, dtype):
    """The model on a graph: of features, parameters, a dropout and whether it trains, the outputs and a loss beside theirs."""
    plain = {"gcn": gcn, "hgnn": hgnn, "hgcn": hgcn, "hybonet": hybonet, "qgcn": qgcn, "cusp": cusp}
    if model == "hat":
        arcs = with_loops(edges, n)
        return lambda x, w, dropout, training: (hat(x, arcs, w, 2, dropout, options["heads"]), 0)
    means = model == "hybonet" or options.get("affinity") == "random_walk"
    p = mean(edges, n, dtype) if means else normalised(edges, n, dtype)
    if model == "graphmore":
        signs, once = signs_of(options), torch.sort(edges, 0).values.unique(dim=1)
        egos = [ego_graphs(edges, n, hops, dtype) for hops in numbers(options["ego_hops"])]
        return lambda x, w, dropout, training: graphmore(x, p, w, 2, dropout, signs, egos, once if training else None)
    more = {"cusp": lambda: (parsed(options["factors"]), options["hops"]), "qgcn": lambda: (numbers(options["signature"])[1],)}
    more = more.get(model, tuple)()
    return lambda x, w, dropout, training: (plain[model](x, p, w, 2, dropout, *more), 0)


def parameters(model, features, classes, options, generator, dtype):
    """Random parameters by the names of ours."""
    hidden, w = options["hidden"], {}

    def normal(rows, columns, size=None):
        size = size if size is not None else (2 / (rows + columns)) ** 0.5
        return size * torch.randn(rows, columns, generator=generator, dtype=dtype)

    def affine(name, rows, columns):
        w[f"{name}.weight"], w[f"{name}.bias"] = normal(rows, columns), normal(1, columns, 0.3)

    def points(rows, columns):
        space = normal(rows, columns)
        return torch.cat([(1 + squares(space)).sqrt(), space], 1)

    def curvature(name, sign):
        if sign:
            w[f"{name}.{'hyperbolic' if sign < 0 else 'spherical'}.curvature"] = normal(1, 1, 0.5)

    if model in ("gcn", "hgcn", "qgcn", "hat"):
        width = hidden * options.get("heads", 1)
        widths = [features, width, classes if model == "gcn" else width]
        for layer in range(2):
            affine(layer, widths[layer], widths[layer + 1])
            if model != "gcn":
                w[f"{layer}.curvature"] = normal(1, 1, 0.5)
        if model != "gcn":
            affine("decode", width, classes)
    elif model == "hgnn":
        w["0.weight"], w["1.weight"] = normal(features, hidden), normal(hidden, hidden)
        w["centroids"] = points(options["centroids"], hidden)
        affine("decode", options["centroids"], classes)
    elif model == "hybonet":
        for layer, width in enumerate((features, hidden)):
            affine(layer, width + 1, hidden + 1)
            w[f"{layer}.scale"] = torch.full((1, 1), 10.0, dtype=dtype).log()
        w["classes"], w["decode.bias"] = points(classes, hidden), normal(1, classes, 0.3)
    elif model == "cusp":
        factors, hops = parsed(options["factors"]), options["hops"]
        for layer in range(2):
            affine(layer, features if layer == 0 else hidden, hidden)
        common = max(dimension for _, dimension in factors)
        gammas = [0.1 * 0.9**k if k < degree else 0.9**degree for degree in range(hops + 1) for k in range(degree + 1)]
        w["gamma"] = torch.tensor([gammas], dtype=dtype) + normal(1, len(gammas), 0.05)
        w["filters"] = normal(1, hops + 1, 0.5)
        for q, (sign, dimension) in enumerate(factors):
            curvature(q, sign)
            w[f"{q}.map"], w[f"{q}.score"] = normal(dimension, common), normal(1, common)
        affine("decode", hidden, classes)
    elif model == "graphmore":
        signs = signs_of(options)
        for number, sign in enumerate(signs):
            for layer, width in enumerate((features, hidden)):
                affine(f"{number}.{layer}", width, hidden)
            curvature(number, sign)
        w["gate.0.weight"], w["gate.1.weight"] = normal(features, hidden), normal(hidden, hidden)
        for k, _ in enumerate(numbers(options["ego_hops"])):
            w[f"gate.ego.{k}.weight"] = normal(hidden, len(signs))
        w["gate.bias"] = normal(1, len(signs), 0.3)
        affine("decode", hidden * len(signs), classes)
    else:
        sys.exit(f"the model {model} is none of {', '.join(RUNS)}")
    return w


class PointAdam:
    """Riemannian Adam (Becigneul and Ganea 2019, Sec. 4) for rows that are points of the hyperboloid of curvature -1."""

    def __init__(self, points, lr):
        self.points, self.lr, self.steps = points, lr, 0
        self.first = [torch.zeros_like(x) for x in points]
        self.second = [x.new_zeros(len(x), 1) for x in points]

    def zero_grad(self):
        for x in self.points:
            x.grad = None

    @torch.no_grad()
    def step(self):
        self.steps += 1
        inner = Hyperboloid(torch.ones(1, 1)).inner
        for x, first, second in zip(self.points, self.first, self.second):
            # The gradient by the metric, in the tangent space.
            gradient = torch.cat([-x.grad[:, :1], x.grad[:, 1:]], 1)
            gradient += inner(x, gradient) * x
            first.mul_(0.9).add_(gradient, alpha=0.1)
            second.mul_(0.999).add_(inner(gradient, gradient), alpha=0.001)
            root = (second.clamp_min(0) / (1 - 0.999**self.steps)).sqrt() + 1e-8
            way = -self.lr / (1 - 0.9**self.steps) * first / root
            length = inner(way, way).clamp_min(1e-24).sqrt()
            y = length.cosh() * x + length.sinh() * way / length
            y[:, :1] = (1 + squares(y[:, 1:])).sqrt()
            first += inner(y, first) / (1 - inner(x, y)) * (x + y)
            x.copy_(y)


def optimizers(w, lr):
    """Adam, and Riemannian Adam for points, which do not decay."""
    rest = [value for name, value in w.items() if name not in POINTS]
    points = [value for name, value in w.items() if name in POINTS]
    return [torch.optim.Adam(rest, lr=lr, weight_decay=5e-4), *([PointAdam(points, lr)] if points else [])]


# Small models, with the options of ours that a job sets.
FIXTURES = {
    "hgcn": {"hidden": 5, "affinity": "symmetric"},
    "cusp": {"hidden": 8, "factors": "H3,E2,S3", "hops": 3, "edge_weights": "unit", "frequencies": 0},
    "hgnn": {"hidden": 5, "centroids": 4},
    "hat": {"hidden": 3, "heads": 2},
    "hybonet": {"hidden": 5},
    "qgcn": {"hidden": 5, "signature": "2,3", "affinity": "symmetric"},
    "graphmore": {"hidden": 4, "experts": "1,1,1", "ego_hops": "1,2"},
}


def fixture(*models):
    generator = torch.Generator().manual_seed(20)
    n, columns, classes = 14, 6, 3
    edges = torch.randint(0, n, (2, 24), generator=generator)
    edges = torch.unique(torch.sort(edges[:, edges[0] != edges[1]], 0).values, dim=1)
    x = torch.randn(n, columns, generator=generator, dtype=torch.float64).round(decimals=2)
    cases = []
    for model in models or ("hgcn", "cusp"):
        options = FIXTURES[model]
        w = parameters(model, columns, classes, options, generator, torch.float64)
        if model == "graphmore":
            # Ours multiplies features as tangent vectors, however long; a lift ends near the pole of a small sphere.
            w["2.spherical.curvature"] -= 3
        # Ours are single; points have the time that their space says.
        w = {name: value.float().double() for name, value in w.items()}
        for name in set(POINTS) & set(w):
            w[name][:, :1] = (1 + squares(w[name][:, 1:])).sqrt()
        outputs, _ = on_graph(model, options, edges, n, torch.float64)(x, w, lambda x: x, False)
        stored = {name: value[:, 1:] if name in POINTS else value for name, value in w.items()}
        cases.append(
            {
                "model": model,
                "options": options,
                "parameters": {name: value.tolist() for name, value in stored.items()},
                "outputs": outputs.tolist(),
            }
        )
    print(json.dumps({"edges": edges.T.tolist(), "features": x.tolist(), "cases": cases}))


def times(folder, model, threads, epochs):
    from torch_geometric.transforms import NormalizeFeatures
    from train_pyg import WARM_UP, read

    if model not in RUNS:
        sys.exit(f"the model {model} is none of {', '.join(RUNS)}")
    if int(threads) > 0:
        torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    data = NormalizeFeatures()(read(folder))
    n, classes, options = len(data.x), int(data.y.max()) + 1, RUNS[model]
    forward = on_graph(model, options, data.edge_index, n, torch.float32)
    w = parameters(model, data.num_features, classes, options, torch.Generator().manual_seed(0), torch.float32)
    w = {name: value.requires_grad_() for name, value in w.items()}
    steps = optimizers(w, options.get("lr", 0.01))
    milliseconds, processor = [], []
    for _ in range(min(WARM_UP, int(epochs)) + int(epochs)):
        start, busy = time.perf_counter(), time.process_time()
        for optimizer in steps:
            optimizer.zero_grad()
        z, beside = forward(data.x, w, lambda x: F.dropout(x, options.get("dropout", 0.5)), True)
        loss = F.cross_entropy(z[data.train_mask], data.y[data.train_mask]) + beside
        loss.backward()
        for optimizer in steps:
            optimizer.step()
        with torch.no_grad():
            right = forward(data.x, w, lambda x: x, False)[0].argmax(dim=1) == data.y
            accuracy = float(right[data.val_mask].float().mean())
        milliseconds.append(1e3 * (time.perf_counter() - start))
        processor.append(1e3 * (time.process_time() - busy))
    if not loss.isfinite():
        sys.exit(f"the loss of {model} is {float(loss)}")
    timed = milliseconds[-int(epochs) :]
    report = {"median_ms": statistics.median(timed), "least_ms": min(timed), "threads": torch.get_num_threads()}
    report["processor_ms"] = statistics.mean(processor[-int(epochs) :])
    print(json.dumps(report | {"watched_accuracy": accuracy}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["fixture"] and set(sys.argv[2:]) <= set(FIXTURES):
        fixture(*sys.argv[2:])
    elif len(sys.argv) == 6 and sys.argv[1] == "times":
        times(*sys.argv[2:])
    else:
        sys.exit(__doc__)
