"""The values of all pairs of a set of graphs without labels, with GraKeL or with POT, and their sum.

    python graph_kernels.py EDGES.csv KIND

EDGES.csv has the header graph_id,src,dst. KIND is wl_subtree_kernel (GraKeL's WeisfeilerLehman over VertexHistogram, 5 rounds),
shortest_path_kernel (GraKeL's ShortestPath), wl_wasserstein_distance (3 rounds; the ground distance is the share of rounds whose colours
differ, and POT's emd2 moves the nodes), or tree_movers_distance (depth 4, weight 1; POT's emd2 matches subtrees and nodes, blank trees
with what is left over, level by level as Chuang and Jegelka's Algorithm 1 does).

Prints one line of JSON: seconds, processor seconds, the sum of the values over unordered pairs, a graph with itself too. The graphs are in
memory when the clock starts.
"""

import csv
import json
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")


def read(path):
    graphs = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            adjacency = graphs.setdefault(int(row["graph_id"]), {})
            for u, v in ((row["src"], row["dst"]), (row["dst"], row["src"])):
                adjacency.setdefault(int(u), set()).add(int(v))
    numbered = []
    for _, adjacency in sorted(graphs.items()):
        number = {node: i for i, node in enumerate(sorted(adjacency))}
        numbered.append([sorted(number[v] for v in adjacency[node]) for node in sorted(adjacency)])
    return numbered


def grakel(graphs, kernel):
    from grakel import Graph

    def convert(adjacency):
        arcs = [(u, v) for u, around in enumerate(adjacency) for v in around]
        return Graph(arcs, node_labels={v: 0 for v in range(len(adjacency))})

    return kernel.fit_transform([convert(adjacency) for adjacency in graphs])


def wl_subtree_kernel(graphs):
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    return grakel(graphs, WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram))


def shortest_path_kernel(graphs):
    from grakel.kernels import ShortestPath

    return grakel(graphs, ShortestPath(with_labels=True))


def wl_wasserstein_distance(graphs, rounds=3):
    import ot

    colors = [np.zeros(len(adjacency), int) for adjacency in graphs]
    history = [[color] for color in colors]
    for _ in range(rounds):
        numbers = {}
        for i, adjacency in enumerate(graphs):
            own = [(colors[i][v], *sorted(colors[i][u] for u in around)) for v, around in enumerate(adjacency)]
            colors[i] = np.array([numbers.setdefault(signature, len(numbers)) for signature in own])
            history[i].append(colors[i])
    history = [np.array(rows).T for rows in history]
    distances = np.zeros((len(graphs), len(graphs)))
    for i, a in enumerate(history):
        for j, b in enumerate(history[:i]):
            ground = (a[:, None, :] != b[None, :, :]).mean(axis=2)
            distances[i, j] = ot.emd2(np.full(len(a), 1 / len(a)), np.full(len(b), 1 / len(b)), ground)
    return distances


def tree_movers_distance(graphs, depth=4):
    import ot

    def matched(costs, n, m):
        """The last row and column of `costs` are the blank tree's."""
        if n == 0 or m == 0:
            return costs[-1, :m].sum() if n == 0 else costs[:n, -1].sum()
        if n < m:
            weights = np.append(np.ones(n), m - n)
            return ot.emd2(weights, np.ones(m), np.ascontiguousarray(costs[:, :m]))
        weights = np.append(np.ones(m), n - m)
        return ot.emd2(np.ones(n), weights, np.ascontiguousarray(costs[:n]))

    def pair(a, b):
        trees = np.zeros((len(a) + 1, len(b) + 1))
        trees[:-1, -1] = trees[-1, :-1] = 1
        for _ in range(depth - 1):
            above = np.zeros_like(trees)
            for u, around in enumerate(a):
                above[u, -1] = 1 + trees[around, -1].sum()
                for v, other in enumerate(b):
                    costs = trees[np.ix_([*around, len(a)], [*other, len(b)])]
                    above[u, v] = matched(costs, len(around), len(other))
            for v, other in enumerate(b):
                above[-1, v] = 1 + trees[-1, other].sum()
            trees = above
        return matched(trees, len(a), len(b))

    distances = np.zeros((len(graphs), len(graphs)))
    for i, a in enumerate(graphs):
        for j in range(i):
            distances[i, j] = pair(a, graphs[j])
    return distances


def main():
    graphs, kind = read(sys.argv[1]), sys.argv[2]
    start, busy = time.perf_counter(), time.process_time()
    values = globals()[kind](graphs)
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    print(json.dumps({"seconds": seconds, "processor_seconds": processor, "sum": float(np.tril(values).sum())}))


main()
