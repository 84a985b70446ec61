"""A descriptor of every graph of a set and the squared maximum mean discrepancy between its two samples, with networkx.

    python descriptors_networkx.py EDGES.csv KIND

EDGES.csv has the header graph_id,src,dst; the sample of a graph is graph_id // 1000. KIND is degree_histogram,
clustering_histogram, laplacian_spectrum or orbit_counts. The first three are compared by the Gaussian of the earth mover's
distance of normalised histograms, widths 1, 10 and 1 bins; the last, the mean over nodes of the orbits of graphlets of up
to 4 nodes, by the Gaussian of the Euclidean distance of width 30.

networkx counts degrees, triangles and matrices; orbits are found by walking along connected sets of nodes, each once, as
networkx has no such function. Values within 1e-9 below a border of two bins count in the upper one.

Prints one line of JSON: seconds, processor seconds, the discrepancy. The graphs are in memory when the clock starts.
"""

import csv
import json
import sys
import time

import networkx as nx
import numpy as np

ORBIT = {
    (1, 1): {1: 0},
    (1, 1, 2): {1: 1, 2: 2},
    (2, 2, 2): {2: 3},
    (1, 1, 2, 2): {1: 4, 2: 5},
    (1, 1, 1, 3): {1: 6, 3: 7},
    (2, 2, 2, 2): {2: 8},
    (1, 2, 2, 3): {1: 9, 2: 10, 3: 11},
    (2, 2, 3, 3): {2: 12, 3: 13},
    (3, 3, 3, 3): {3: 14},
}


def read(path):
    graphs = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            graphs.setdefault(int(row["graph_id"]), nx.Graph()).add_edge(int(row["src"]), int(row["dst"]))
    return graphs


def connected_sets(adjacency, largest):
    """Every connected set of 2 to `largest` nodes, once (Wernicke's ESU)."""

    def extend(chosen, extension, seen, root):
        if len(chosen) > 1:
            yield chosen
        if len(chosen) == largest:
            return
        extension = set(extension)
        while extension:
            node = extension.pop()
            fresh = {v for v in adjacency[node] if v > root and v not in seen}
            yield from extend(chosen + [node], extension | fresh, seen | fresh, root)

    for root in adjacency:
        first = {v for v in adjacency[root] if v > root}
        yield from extend([root], first, first | {root}, root)


def orbit_counts(graph):
    adjacency = {v: set(graph[v]) for v in graph}
    counts = np.zeros(15)
    for chosen in connected_sets(adjacency, 4):
        degrees = [sum(v in adjacency[u] for v in chosen) for u in chosen]
        orbit = ORBIT[tuple(sorted(degrees))]
        for degree in degrees:
            counts[orbit[degree]] += 1
    return counts / graph.number_of_nodes()


def clustering_histogram(graph):
    values = np.array(list(nx.clustering(graph).values()))
    return np.histogram(np.clip(values + 1e-9, 0, 1), bins=100, range=(0, 1))[0]


def laplacian_spectrum(graph):
    values = np.linalg.eigvalsh(nx.normalized_laplacian_matrix(graph).toarray())
    return np.histogram(np.clip(values + 1e-9, 0, 2), bins=200, range=(0, 2))[0]


KINDS = {
    "degree_histogram": (lambda graph: np.array(nx.degree_histogram(graph)), 1.0),
    "clustering_histogram": (clustering_histogram, 10.0),
    "laplacian_spectrum": (laplacian_spectrum, 1.0),
    "orbit_counts": (orbit_counts, 30.0),
}


def mean_kernel(a, b, sigma, earth_mover):
    total = 0.0
    for x in a:
        distance = np.abs(b - x).sum(axis=1) if earth_mover else np.sqrt(((b - x) ** 2).sum(axis=1))
        total += np.exp(-(distance**2) / (2 * sigma**2)).sum()
    return total / (len(a) * len(b))


def discrepancy(vectors, sigma, earth_mover):
    width = max(len(vector) for sample in vectors for vector in sample)
    a, b = (np.array([np.pad(np.asarray(v, float), (0, width - len(v))) for v in sample]) for sample in vectors)
    if earth_mover:
        a, b = (np.cumsum(sample / sample.sum(axis=1, keepdims=True), axis=1) for sample in (a, b))
    within = mean_kernel(a, a, sigma, earth_mover) + mean_kernel(b, b, sigma, earth_mover)
    return within - 2 * mean_kernel(a, b, sigma, earth_mover)


def main():
    graphs, kind = read(sys.argv[1]), sys.argv[2]
    descriptor, sigma = KINDS[kind]
    start, busy = time.perf_counter(), time.process_time()
    samples = {}
    for graph_id, graph in graphs.items():
        samples.setdefault(graph_id // 1000, []).append(descriptor(graph))
    mmd = discrepancy([samples[key] for key in sorted(samples)], sigma, kind != "orbit_counts")
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "processor_seconds": time.process_time() - busy,
                "mmd": mmd,
            }
        )
    )


main()
