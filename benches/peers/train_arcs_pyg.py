"""Test accuracy of PyTorch Geometric's LINKX on a graph's arcs and on its edges.

    python train_arcs_pyg.py FILE

FILE is a graph of github.com/yandex-research/heterophilous-graphs whose rows are arcs (chameleon_directed.npz). The model is
trained on the arcs as they are and on the edges, which are the arcs in both directions, over ten splits: of each class
0.6 n / C nodes for training, 0.2 n for validation, the rest for the test. Adam, 64 units, at most 300 epochs, 50 without a
better validation accuracy; learning rate, weight decay and dropout are those that docs/papers/heterophily.md chose on the
edges. Features are divided by the sum of their row.

Prints a line for each: mean and sample deviation of the test accuracy, in percent.
"""

import statistics
import sys

import numpy
import torch
import torch.nn.functional as F
from torch_geometric.nn import LINKX

LR, WEIGHT_DECAY, DROPOUT = 0.01, 5e-3, 0.0


class Linkx(torch.nn.Module):
    """PyTorch Geometric's, whose adjacency rows are those of the arcs' heads: arcs are turned round for it."""

    def __init__(self, x, arcs, classes):
        super().__init__()
        self.x, self.arcs = x, arcs.flip(0)
        self.model = LINKX(len(x), x.shape[1], 64, classes, num_layers=1, dropout=DROPOUT)

    def forward(self):
        return self.model(self.x, self.arcs)


def balanced(labels, seed):
    """Masks of training, validation and test nodes."""
    order = numpy.random.default_rng(seed).permutation(len(labels))
    classes = labels.max() + 1
    each = round(0.6 * len(labels) / classes)
    train = numpy.concatenate([order[labels[order] == c][:each] for c in range(classes)])
    rest = order[~numpy.isin(order, train)]
    validation = rest[: round(0.2 * len(labels))]
    return [torch.from_numpy(part) for part in (train, validation, rest[len(validation) :])]


def train(network, labels, parts):
    optimizer = torch.optim.Adam(network.parameters(), lr=LR, weight_decay=WEIGHT_DECAY)
    best, waited = (-1.0, 0.0), 0
    for _ in range(300):
        network.train()
        optimizer.zero_grad()
        F.cross_entropy(network()[parts[0]], labels[parts[0]]).backward()
        optimizer.step()
        network.eval()
        with torch.no_grad():
            right = network().argmax(1) == labels
        accuracies = tuple(float(right[part].float().mean()) for part in parts[1:])
        waited = 0 if accuracies[0] > best[0] else waited + 1
        best = max(best, accuracies, key=lambda pair: pair[0])
        if waited == 50:
            break
    return best[1]


def main(file):
    graph = numpy.load(file)
    x = torch.from_numpy(graph["node_features"]).float()
    x = x / x.sum(1, keepdim=True).clamp(min=1.0)
    labels = torch.from_numpy(graph["node_labels"]).long()
    arcs = torch.from_numpy(graph["edges"].T.copy()).long()
    both = torch.cat([arcs, arcs.flip(0)], 1).unique(dim=1)
    classes = int(labels.max()) + 1
    for name, edges in (("arcs", arcs), ("edges", both)):
        found = []
        for seed in range(10):
            torch.manual_seed(seed)
            parts = balanced(labels.numpy(), seed)
            found.append(100 * train(Linkx(x, edges, classes), labels, parts))
        print(f"{name}: {statistics.mean(found):.2f} ± {statistics.stdev(found):.2f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
