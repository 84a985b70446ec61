"""The midpoint curvature of CurvBench Eq. 1-3 by the literal dense method, in NumPy.

    python midpoint_dense.py EDGES.csv [EXPECTED.csv]

EDGES.csv has the header src,dst and node numbers from 0; EXPECTED.csv has the header node,curvature and a row for every
node, and thereby the isolated ones. Without it, every node is on an edge.

The distances of all pairs come from one breadth-first search per node. Then every centre and every pair of its neighbours
is visited, and the residual of the pair is computed for all anchors at once. The graph is undirected and simple; anchors
that do not reach the centre, and the centre itself, are left out; a centre with fewer than two neighbours has curvature 0.

Prints one line of JSON: seconds of both steps, their sum, and the largest absolute difference from the expected values.
The sum is what another implementation is to be compared with: the graph is in memory when the clock starts.
"""

import json
import sys
import time
from collections import deque

import numpy as np


def read_csv(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def adjacency(edges, n):
    neighbors = [set() for _ in range(n)]
    for u, v in edges:
        if u != v:
            neighbors[u].add(v)
            neighbors[v].add(u)
    return [sorted(row) for row in neighbors]


def all_distances(neighbors):
    """The n x n matrix of hop counts, infinite where there is no path."""
    n = len(neighbors)
    distances = np.full((n, n), np.inf)
    for source in range(n):
        found = {source: 0}
        queue = deque([source])
        while queue:
            u = queue.popleft()
            for v in neighbors[u]:
                if v not in found:
                    found[v] = found[u] + 1
                    queue.append(v)
        distances[source, list(found)] = list(found.values())
    return distances


def midpoint_curvature(neighbors, d):
    n = len(neighbors)
    curvature = np.zeros(n)
    for m in range(n):
        around = neighbors[m]
        to_m = d[:, m]
        anchors = np.isfinite(to_m) & (to_m > 0)
        to_m = to_m[anchors]
        total, pairs = 0.0, 0
        for i, b in enumerate(around):
            for c in around[i + 1 :]:
                to_b, to_c = d[anchors, b], d[anchors, c]
                # Eq. 1: the deviation of the squared distance to the midpoint from the parallelogram law.
                deviation = to_m**2 + d[b, c] ** 2 / 4 - (to_b**2 + to_c**2) / 2
                total += np.mean(deviation / (2 * to_m))
                pairs += 1
        if pairs:
            curvature[m] = total / pairs
    # Eq. 3: relative to the largest finite distance.
    return curvature / d[np.isfinite(d)].max()


def main(edges_path, expected_path=None):
    edges = read_csv(edges_path).astype(np.int64)
    expected = None
    n = int(edges.max()) + 1
    if expected_path is not None:
        rows = read_csv(expected_path)
        n = len(rows)
        expected = np.empty(n)
        expected[rows[:, 0].astype(np.int64)] = rows[:, 1]
    neighbors = adjacency(edges.tolist(), n)

    start, processor = time.perf_counter(), time.process_time()
    distances = all_distances(neighbors)
    middle = time.perf_counter()
    curvature = midpoint_curvature(neighbors, distances)
    end = time.perf_counter()

    report = {"nodes": n, "distances": middle - start, "pairs": end - middle, "seconds": end - start}
    report["processor_seconds"] = time.process_time() - processor
    if expected is not None:
        report["max_difference"] = float(np.abs(curvature - expected).max())
    print(json.dumps(report))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
