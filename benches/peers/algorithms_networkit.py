"""Graph algorithms by NetworKit: algorithms_networkit.py ALGORITHM EDGES THREADS

EDGES is a file of rows `src,dst` under a line of names, which is read before the time starts. Prints seconds, and a value that says
what was found: the largest rank, the modularity, the number of components, or the sum over the nodes.
"""

import json
import sys
import time

import networkit as nk
import numpy as np


def pagerank(graph):
    ranks = nk.centrality.PageRank(graph, 0.85, 1e-9)
    ranks.run()
    return max(ranks.scores())


def connected_components(graph):
    components = nk.components.ConnectedComponents(graph)
    components.run()
    return components.numberOfComponents()


def core_number(graph):
    cores = nk.centrality.CoreDecomposition(graph)
    cores.run()
    return sum(cores.scores())


def triangle_count(graph):
    scores = nk.sparsification.TriangleEdgeScore(graph)
    scores.run()
    # Each triangle counts at three edges here, at three nodes there.
    return sum(scores.scores())


def local_clustering(graph):
    clustering = nk.centrality.LocalClusteringCoefficient(graph, True)
    clustering.run()
    return sum(clustering.scores())


def louvain(graph):
    communities = nk.community.detectCommunities(graph, algo=nk.community.PLM(graph, refine=True), inspect=False)
    return nk.community.Modularity().getQuality(communities, graph)


def betweenness_centrality(graph):
    betweenness = nk.centrality.EstimateBetweenness(graph, 64, True, True)
    betweenness.run()
    return sum(betweenness.scores())


def main():
    algorithm, path, threads = sys.argv[1:4]
    nk.setNumberOfThreads(int(threads))
    src, dst = np.loadtxt(path, dtype=np.uint64, delimiter=",", skiprows=1, unpack=True)
    graph = nk.GraphFromCoo((src, dst), n=int(max(src.max(), dst.max())) + 1)
    if algorithm in ("triangle_count", "local_clustering"):
        graph.indexEdges()
        graph.sortEdges()
    run = globals()[algorithm]
    start, busy = time.perf_counter(), time.process_time()
    value = run(graph)
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    print(json.dumps({"value": value, "seconds": seconds, "processor_seconds": processor}))


if __name__ == "__main__":
    main()
