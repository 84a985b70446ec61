"""The distance of the mean landscapes of two samples of graphs, by networkx and GUDHI: python filtrations_gudhi.py EDGES.csv SPLIT CAP

EDGES.csv has graph_id, src, dst; graphs with an id below SPLIT are one sample. Forman-Ricci curvature by networkx, the
clique 2-complex with vertices at the lowest value by GUDHI's SimplexTree, infinite deaths cut at CAP, landscapes by
gudhi.representations without its factor sqrt(2). The values are whole numbers: sampled at their halves, means are exact.
"""

import collections
import csv
import json
import math
import sys
import time

import gudhi
import gudhi.representations
import networkx
import numpy


def curvature(graph):
    degree, near = dict(graph.degree()), {v: set(graph[v]) for v in graph}
    return {(u, v): 4 - degree[u] - degree[v] + 3 * len(near[u] & near[v]) for u, v in graph.edges()}


def diagram(graph, cap):
    values = curvature(graph)
    lowest = min(values.values())
    complex = gudhi.SimplexTree()
    for v in graph:
        complex.insert([v], lowest)
    for edge, value in values.items():
        complex.insert(edge, value)
    complex.expansion(2)
    complex.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    points = [complex.persistence_intervals_in_dimension(dim) for dim in (0, 1)]
    for part in points:
        part[numpy.isinf(part)] = cap
    return [part[part[:, 0] < part[:, 1]] for part in points], lowest


def distance(graphs, split, cap):
    diagrams = {name: diagram(graph, cap) for name, graph in graphs.items()}
    low = min(lowest for _, lowest in diagrams.values())
    resolution = int(2 * (cap - low)) + 1
    depth = max(len(part) for points, _ in diagrams.values() for part in points)
    transform = gudhi.representations.Landscape(
        num_landscapes=depth, resolution=resolution, sample_range=[low, cap], keep_endpoints=True
    )
    total = 0
    for dim in (0, 1):
        mean = []
        for side in (True, False):
            sample = [points[dim] for name, (points, _) in diagrams.items() if (name < split) == side]
            filled = [part for part in sample if len(part)]
            mean.append(sum(transform(part) for part in filled) / math.sqrt(2) / len(sample))
        y = (mean[0] - mean[1]).reshape(depth, resolution)
        squares = (y[:, :-1] ** 2 + y[:, :-1] * y[:, 1:] + y[:, 1:] ** 2) / 3
        total += math.sqrt(squares.sum() * (cap - low) / (resolution - 1))
    return total


def main():
    split, cap = int(sys.argv[2]), float(sys.argv[3])
    edges = collections.defaultdict(list)
    with open(sys.argv[1]) as file:
        for row in csv.DictReader(file):
            edges[int(row["graph_id"])].append((int(row["src"]), int(row["dst"])))
    start, busy = time.perf_counter(), time.process_time()
    found = distance({name: networkx.Graph(rows) for name, rows in edges.items()}, split, cap)
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    print(json.dumps({"distance": found, "seconds": seconds, "processor_seconds": processor}))


main()
