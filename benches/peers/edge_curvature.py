"""Curvatures and resistances of edges by the peers.

    python edge_curvature.py FUNCTION EDGES.csv EXPECTED.csv

FUNCTION is forman, ollivier, lengths or flow (GraphRicciCurvature, for Ollivier with method "OTD", alpha 0 and a process
for every core; with lengths alpha 1/2 and all neighbours; the lengths after 20 steps of the Ricci flow, which take part in
the time as they are made) or resistance (numpy.linalg.pinv of the Laplacian). EDGES.csv has the header src,dst, for lengths
and flow src,dst,weight, and node numbers from 0; EXPECTED.csv the header src,dst,value.

Prints one line of JSON: seconds, processor seconds of this process and those it started, and the largest absolute
difference from the expected values. The graph is in memory when the clock starts.
"""

import json
import os
import sys
import time

import numpy as np


def processor_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def by_graph_ricci_curvature(edges, function):
    import networkx
    from GraphRicciCurvature.FormanRicci import FormanRicci
    from GraphRicciCurvature.OllivierRicci import OllivierRicci

    graph = networkx.Graph([(int(edge[0]), int(edge[1])) for edge in edges if edge[0] != edge[1]])
    if function in ("lengths", "flow"):
        networkx.set_edge_attributes(graph, {(int(u), int(v)): weight for u, v, weight in edges if u != v}, "weight")
        curvature = OllivierRicci(
            graph, alpha=0.5, method="OTD", nbr_topk=1 << 30, proc=os.cpu_count(), verbose="ERROR"
        )
        if function == "lengths":
            compute, name = curvature.compute_ricci_curvature, "ricciCurvature"
        else:
            compute, name = (lambda: curvature.compute_ricci_flow(iterations=20, delta=0)), "weight"
    elif function == "forman":
        curvature = FormanRicci(graph, method="augmented", verbose="ERROR")
        compute, name = curvature.compute_ricci_curvature, "formanCurvature"
    else:
        curvature = OllivierRicci(graph, alpha=0, method="OTD", proc=os.cpu_count(), verbose="ERROR")
        compute, name = curvature.compute_ricci_curvature, "ricciCurvature"

    def run():
        compute()
        return lambda u, v: curvature.G[u][v][name]

    return run


def by_pseudo_inverse(edges):
    n = int(edges.max()) + 1
    laplacian = np.zeros((n, n))
    for u, v in edges:
        if u != v:
            laplacian[u, v] = laplacian[v, u] = -1
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))

    def run():
        inverse = np.linalg.pinv(laplacian, hermitian=False)
        diagonal = np.diag(inverse)
        resistance = diagonal[:, None] + diagonal[None, :] - 2 * inverse
        return lambda u, v: resistance[u, v]

    return run


def main(function, edges_path, expected_path):
    edges = np.loadtxt(edges_path, delimiter=",", skiprows=1, ndmin=2)
    run = by_pseudo_inverse(edges.astype(np.int64)) if function == "resistance" else by_graph_ricci_curvature(edges.tolist(), function)
    start, processor = time.perf_counter(), processor_seconds()
    value = run()
    report = {"seconds": time.perf_counter() - start, "processor_seconds": processor_seconds() - processor}
    rows = np.loadtxt(expected_path, delimiter=",", skiprows=1, ndmin=2)
    report["max_difference"] = max(abs(value(int(u), int(v)) - expected) for u, v, expected in rows)
    print(json.dumps(report))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
