"""Typed models of PyTorch Geometric on the CPU, trained as `train` trains its own: figures, processor time, memory.

    python typed_train_pyg.py GRAPH MODEL EPOCHS [SPLITS SEEDS PATIENCE FEATURES INITIAL]

GRAPH is the folder of HeCo's ACM (pa.txt, ps.txt, p_feat.npz and so on), or one that typed_graph.py has written. MODEL is han,
han_metapaths (of pap.npz and psp.npz; ACM alone), hgt, r_gcn (RGCNConv), or r_gcn_fast (FastRGCNConv). SPLITS are numbers of
splits between commas: 0, 1, 2 are ACM's 20, 40 and 60 labels a class; SEEDS is how many seeds, PATIENCE after how many epochs
without a better validation accuracy a run ends, 0 for never. FEATURES is how ACM's bags of words are held: dense, as the package's
layers take them, or sparse, torch's matrices, which the first weights then multiply with torch.sparse.mm. INITIAL is how
parameters start: package, as its layers start them, or glorot, as ours do. Defaults: 0 1 0 dense package.

The models are those of docs/models.md with its defaults: 64 columns (8 heads of 8), learning rate, weight decay and dropout in the
same places; each relation and its inverse carries messages, a relation within a type is one with its inverse; a type without
features has a column a node. HANConv applies relu and has as wide a semantic attention as its output, so ours takes activation =>
'relu', semantic => 64.

An epoch is a step with Adam on all training nodes, then a forward pass in evaluation mode. Selected is the epoch of the best
validation accuracy, ties by the lower validation loss, as train does. One thread. A line of JSON a run, with the processor time of
an epoch (the first is not counted where there are more) and the largest resident memory of the process so far.
"""

import json
import pathlib
import resource
import sys
import time

import numpy
import scipy.sparse
import torch
import torch.nn.functional as F
from torch_geometric.nn import FastRGCNConv, HANConv, HGTConv, RGCNConv

WIDTH, HEADS = 64, 8


class Typed:
    """Features and edges by type, the labelled type first. A relation is followed by its inverse; one within a type goes both ways."""

    def __init__(self, types, x, relations, y, parts):
        self.types, self.x, self.y, self.parts = types, dict(zip(types, x)), y, parts
        self.edges = {}
        for source, name, target, pairs in relations:
            if source == target:
                self.edges[source, name, target] = torch.cat([pairs, pairs.flip(0)], 1)
            else:
                self.edges[source, name, target] = pairs
                self.edges[target, "rev_" + name, source] = pairs.flip(0)
        self.metadata = (types, list(self.edges))

    def together(self):
        """Edges between numbers that run through all types, and the relation of each."""
        starts, start = {}, 0
        for kind in self.types:
            starts[kind], start = start, start + len(self.x[kind])
        shifted = [
            pairs + torch.tensor([[starts[source]], [starts[target]]]) for (source, _, target), pairs in self.edges.items()
        ]
        relation = torch.repeat_interleave(torch.tensor([pairs.shape[1] for pairs in shifted]))
        return torch.cat(shifted, 1), relation


def bags(path, form):
    x = torch.from_numpy(scipy.sparse.load_npz(path).toarray().astype(numpy.float32))
    return x.to_sparse() if form == "sparse" else x


def dropout(x, p, training):
    if not x.is_sparse:
        return F.dropout(x, p, training)
    return torch.sparse_coo_tensor(x.indices(), F.dropout(x.values(), p, training), x.shape, is_coalesced=True)


class Linear(torch.nn.Module):
    """A layer of torch or of the package, for features of either form."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return torch.sparse.mm(x, self.layer.weight.t()) + self.layer.bias if x.is_sparse else self.layer(x)


def heco(folder, split, form):
    def pairs(name):
        return torch.from_numpy(numpy.loadtxt(folder / name, dtype=numpy.int64).T.copy())

    labels = ["20", "40", "60"][split]
    parts = [torch.from_numpy(numpy.load(folder / f"{part}_{labels}.npy")).long() for part in ("train", "val", "test")]
    x = bags(folder / "p_feat.npz", form), bags(folder / "a_feat.npz", form), torch.eye(60)
    relations = ("paper", "author", "author", pairs("pa.txt")), ("paper", "subject", "subject", pairs("ps.txt"))
    return Typed(["paper", "author", "subject"], x, relations, torch.from_numpy(numpy.load(folder / "labels.npy")).long(), parts)


def metapaths(folder, split, form):
    graph = heco(folder, split, form)
    graph.types = ["paper"]
    joined = {name: scipy.sparse.load_npz(folder / f"{name}.npz").tocoo() for name in ("pap", "psp")}
    graph.edges = {
        ("paper", name, "paper"): torch.from_numpy(numpy.stack([path.row, path.col]).astype(numpy.int64))
        for name, path in joined.items()
    }
    graph.x = {"paper": graph.x["paper"]}
    graph.metadata = (graph.types, list(graph.edges))
    return graph


def made_up(folder):
    graph = numpy.load(folder / "graph.npz")
    types, names = ["paper", "author", "venue"], ["cites", "extends", "writes", "reviews", "knows", "hosts"]
    kinds, edges = graph["kinds"], graph["edges"]
    starts = numpy.searchsorted(kinds, range(len(types)))
    relations = []
    for number, name in enumerate(names):
        of = edges[edges[:, 2] == number, :2]
        source, target = kinds[of[0]]
        pairs = torch.from_numpy((of - starts[[source, target]]).T.copy())
        relations.append((types[source], name, types[target], pairs))
    x = [torch.from_numpy(graph["features"][kinds == kind]) for kind in range(len(types))]
    y, part = torch.from_numpy(graph["labels"][kinds == 0]), torch.from_numpy(graph["parts"][kinds == 0])
    return Typed(types, x, relations, y, [(part == number).nonzero().flatten() for number in range(3)])


class Projected(torch.nn.Module):
    """Features with weights and a bias of each type, after dropout."""

    def __init__(self, graph, p):
        super().__init__()
        self.p = p
        self.of = torch.nn.ModuleDict({kind: Linear(torch.nn.Linear(x.shape[1], WIDTH)) for kind, x in graph.x.items()})

    def forward(self, x):
        return {kind: self.of[kind](dropout(x, self.p, self.training)) for kind, x in x.items()}


class Han(torch.nn.Module):
    def __init__(self, graph, classes):
        super().__init__()
        widths = {kind: x.shape[1] for kind, x in graph.x.items()}
        self.conv = HANConv(widths, WIDTH, graph.metadata, heads=HEADS, dropout=0.6)
        for kind, layer in self.conv.proj.items():
            self.conv.proj[kind] = Linear(layer)
        self.output = torch.nn.Linear(WIDTH, classes)
        self.x, self.edges, self.first = graph.x, graph.edges, graph.types[0]

    def forward(self):
        x = {kind: dropout(x, 0.6, self.training) for kind, x in self.x.items()}
        return self.output(F.dropout(self.conv(x, self.edges)[self.first], 0.6, self.training))


class Hgt(torch.nn.Module):
    def __init__(self, graph, classes):
        super().__init__()
        self.input, self.output = Projected(graph, 0.2), torch.nn.Linear(WIDTH, classes)
        self.convs = torch.nn.ModuleList(HGTConv(WIDTH, WIDTH, graph.metadata, HEADS) for _ in range(2))
        for conv in self.convs:
            # Ours drops entries between gelu and the weights behind it; the layer has no dropout of its own.
            conv.out_lin.register_forward_pre_hook(self.drop)
        self.x, self.edges, self.first = graph.x, graph.edges, graph.types[0]

    def drop(self, _, inputs):
        return ({kind: F.dropout(h, 0.2, self.training) for kind, h in inputs[0].items()},)

    def forward(self):
        h = {kind: h.relu() for kind, h in self.input(self.x).items()}
        for conv in self.convs:
            h = conv(h, self.edges)
        return self.output(h[self.first])


class Rgcn(torch.nn.Module):
    def __init__(self, graph, classes, layer):
        super().__init__()
        self.input = Projected(graph, 0.5)
        self.convs = torch.nn.ModuleList(layer(WIDTH, width, len(graph.edges)) for width in (WIDTH, classes))
        self.x, (self.pairs, self.relation) = graph.x, graph.together()
        self.types, self.labelled = graph.types, len(graph.x[graph.types[0]])

    def forward(self):
        projected = self.input(self.x)
        h = torch.cat([projected[kind] for kind in self.types])
        h = F.dropout(self.convs[0](h, self.pairs, self.relation).relu(), 0.5, self.training)
        return self.convs[1](h, self.pairs, self.relation)[: self.labelled]


def build(model, graph, classes):
    """The model, its learning rate and its weight decay."""
    if model in ("han", "han_metapaths"):
        return Han(graph, classes), 0.005, 1e-3
    if model == "hgt":
        return Hgt(graph, classes), 0.005, 1e-3
    if model in ("r_gcn", "r_gcn_fast"):
        return Rgcn(graph, classes, RGCNConv if model == "r_gcn" else FastRGCNConv), 0.01, 5e-4
    sys.exit(f"the model {model} is none of han, han_metapaths, hgt, r_gcn, r_gcn_fast")


def start(network, graph):
    """Parameters as the engine starts them: Glorot and Bengio's limits, for the mean width of a type's features; biases at 0."""
    width = sum(x.shape[1] for x in graph.x.values()) / len(graph.x)
    for name, parameter in network.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.zeros_(parameter)
        elif name.startswith("input") or ".proj." in name:
            torch.nn.init.uniform_(parameter, -((6 / (width + WIDTH)) ** 0.5), (6 / (width + WIDTH)) ** 0.5)
        elif name.endswith("weight"):
            # Keys, queries and values of HGTConv stand in one matrix, each with limits of its own.
            outputs = WIDTH if "kqv" in name else parameter.shape[-2]
            limit = (6 / (outputs + parameter.shape[-1])) ** 0.5
            torch.nn.init.uniform_(parameter, -limit, limit)


def figures(outputs, y, classes):
    """Accuracy and macro-F1."""
    found = outputs.argmax(1)
    right = [int(((found == c) & (y == c)).sum()) for c in range(classes)]
    f1 = [2 * r / max(1, int((found == c).sum()) + int((y == c).sum())) for c, r in enumerate(right)]
    return sum(right) / len(y), sum(f1) / classes


def train(graph, model, epochs, patience, initial):
    classes = int(graph.y.max()) + 1
    network, lr, weight_decay = build(model, graph, classes)
    if initial == "glorot":
        start(network, graph)
    optimizer = torch.optim.Adam(network.parameters(), lr=lr, weight_decay=weight_decay)
    part = dict(zip(("train", "val", "test"), graph.parts))
    best, spent = None, []
    for epoch in range(1, epochs + 1):
        begun = time.process_time()
        network.train()
        optimizer.zero_grad()
        F.cross_entropy(network()[part["train"]], graph.y[part["train"]]).backward()
        optimizer.step()
        network.eval()
        with torch.no_grad():
            outputs = network()
        accuracy, _ = figures(outputs[part["val"]], graph.y[part["val"]], classes)
        loss = float(F.cross_entropy(outputs[part["val"]], graph.y[part["val"]]))
        if best is None or (accuracy, -loss) > best[:2]:
            stale = 0 if best is None or accuracy > best[0] else stale + 1
            best = (accuracy, -loss, epoch, *figures(outputs[part["test"]], graph.y[part["test"]], classes))
        else:
            stale += 1
        spent.append(time.process_time() - begun)
        if patience and stale >= patience:
            break
    counted = spent[1:] or spent
    return {
        "test_accuracy": best[3],
        "test_macro_f1": best[4],
        "best_epoch": best[2],
        "epochs_run": epoch,
        "parameters": sum(p.numel() for p in network.parameters()),
        "processor_s_an_epoch": sum(counted) / len(counted),
        "processor_s": sum(spent),
    }


def main(folder, model, epochs, splits="0", seeds="1", patience="0", features="dense", initial="package"):
    torch.set_num_threads(1)
    folder = pathlib.Path(folder)
    for split in map(int, splits.split(",")):
        if (folder / "graph.npz").exists():
            graph = made_up(folder)
        else:
            graph = (metapaths if model == "han_metapaths" else heco)(folder, split, features)
        for seed in range(int(seeds)):
            torch.manual_seed(seed)
            run = train(graph, model, int(epochs), int(patience), initial)
            asked = {"model": model, "split": split, "seed": seed, "features": features, "initial": initial}
            resident = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
            print(json.dumps({**asked, **run, "resident_mib": resident}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in range(4, 10):
        sys.exit(__doc__)
    main(*sys.argv[1:])
