"""Graph algorithms by networkx: algorithms_networkx.py ALGORITHM EDGES

EDGES is a file of rows `src,dst` under a line of names, which is read before the time starts. Prints seconds of processor time, and
a value that says what was found: the largest rank, the modularity, the number of components, or the sum over the nodes.
"""

import json
import sys
import time

import networkx as nx


def pagerank(graph):
    # Its tolerance is a node's.
    return max(nx.pagerank(graph, alpha=0.85, tol=1e-9 / len(graph), max_iter=1000).values())


def connected_components(graph):
    return sum(1 for _ in nx.connected_components(graph))


def core_number(graph):
    return sum(nx.core_number(graph).values())


def triangle_count(graph):
    return sum(nx.triangles(graph).values())


def local_clustering(graph):
    return sum(nx.clustering(graph).values())


def louvain(graph):
    return nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=0))


def betweenness_centrality(graph):
    return sum(nx.betweenness_centrality(graph, k=4, seed=0).values())


def main():
    algorithm, path = sys.argv[1:3]
    graph = nx.read_edgelist(path, delimiter=",", nodetype=int, comments="s")
    run = globals()[algorithm]
    start = time.process_time()
    value = run(graph)
    print(json.dumps({"value": value, "seconds": time.process_time() - start}))


if __name__ == "__main__":
    main()
