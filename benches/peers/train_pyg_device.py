"""Milliseconds per epoch of PyTorch Geometric on a GPU, on a random graph of the sizes of the benchmark training_sizes.

    python train_pyg_device.py [NODES] [EPOCHS]

7 edges a node, 128 dense features, 40 classes, half the nodes labelled for training; an epoch is a training step, and the
loss and accuracy of a quarter of the nodes. Two layers of 64, dropout 0.5 (gat: 8 heads of 8), Adam with weight decay. For
each model the faster of the edge list and the sparse tensor, the median after ten epochs of warming up. Printed as lines
"MODEL MILLISECONDS FORM".
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from torch_geometric.utils import coalesce, remove_self_loops, to_torch_csr_tensor, to_undirected

CLASSES, COLUMNS, HIDDEN = 40, 128, 64


def graph(nodes):
    torch.manual_seed(0)
    source = torch.arange(nodes).repeat_interleave(7)
    target = (nodes * torch.rand(7 * nodes) ** 2).long()
    alike = torch.rand(7 * nodes) < 0.7
    target = torch.where(alike, target - target % CLASSES + source % CLASSES, target).clamp(max=nodes - 1)
    edges, _ = remove_self_loops(torch.stack([source, target]))
    labels = torch.arange(nodes) % CLASSES
    features = torch.randn(nodes, COLUMNS)
    features += (torch.arange(COLUMNS)[None, :] % CLASSES == labels[:, None]).float()
    block = torch.arange(nodes) // CLASSES % 4
    return features, coalesce(to_undirected(edges)), labels, block < 2, block == 2


class Model(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        if name == "gat":
            self.first, self.last = GATConv(COLUMNS, 8, heads=8, dropout=0.6), GATConv(64, CLASSES, dropout=0.6)
        else:
            layer = {"gcn": lambda a, b: GCNConv(a, b, cached=True), "graphsage": SAGEConv}[name]
            self.first, self.last = layer(COLUMNS, HIDDEN), layer(HIDDEN, CLASSES)
        self.activation = F.elu if name == "gat" else F.relu

    def forward(self, x, edges):
        x = F.dropout(x, 0.5, self.training)
        x = self.activation(self.first(x, edges))
        x = F.dropout(x, 0.5, self.training)
        return self.last(x, edges)


def milliseconds(name, x, edges, labels, train, val, epochs):
    model = Model(name).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4, fused=True)
    times = []
    for _ in range(epochs + 10):
        torch.cuda.synchronize()
        start = time.perf_counter()
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, edges)[train], labels[train])
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            logits = model(x, edges)[val]
            (loss.item(), F.cross_entropy(logits, labels[val]).item(), (logits.argmax(1) == labels[val]).float().mean().item())
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[10:])


def main():
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 170_000
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    x, edges, labels, train, val = (part.cuda() for part in graph(nodes))
    print(f"# torch {torch.__version__}, {torch.cuda.get_device_name()}, {nodes} nodes, {edges.shape[1] // 2} edges")
    forms = {"edge list": edges, "sparse tensor": to_torch_csr_tensor(edges, size=(nodes, nodes))}
    for name in ["gcn", "graphsage", "gat"]:
        found = []
        for form, given in forms.items():
            try:
                found.append((milliseconds(name, x, given, labels, train, val, epochs), form))
            except (RuntimeError, ValueError, NotImplementedError) as error:
                print(f"# {name} on a {form}: {str(error).splitlines()[0]}")
        print(name, *min(found))


if __name__ == "__main__":
    main()
