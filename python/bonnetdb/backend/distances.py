"""Distances: of a node to all others, and what summarises those of all pairs."""

import math

import networkx
import numpy

from bonnetdb._bonnetdb import Table
from bonnetdb.backend.centrality import lengths
from bonnetdb.backend.components import count
from bonnetdb.backend.engine import array
from bonnetdb.backend.offer import is_name, offered


@offered(multigraph=True, linear=True, cutoff=lambda hops: hops is None or hops >= 0)
def single_source_shortest_path_length(G, source, cutoff=None):
    return hops_from(G, source, "Source {} is not in G", cutoff)


@offered(linear=True, default=("cutoff",), weight=is_name)
def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    return lengths_from(G, source, weight)


@offered(linear=True, default=("target", "method"), weight=is_name, source=lambda node: node is not None)
def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    return lengths_from(G, source, weight) if weight is not None else hops_from(G, source, "Source {} is not in G")


def hops_from(G, source, unknown, cutoff=None):
    """The hops from a node to those that paths lead to, the nearest first."""
    if source not in G:
        raise networkx.NodeNotFound(unknown.format(source))
    hops = len(G) if cutoff is None else min(math.floor(cutoff), len(G))
    rows = G.call("k_hop", "node, distance", Table({"node": numpy.array([G.number[source]])}), hops=hops, directed=G.directed)
    return in_order(G, array(rows, 0), array(rows, 1))


def lengths_from(G, source, weight):
    """The lengths of the shortest paths from a node, the nearest first: whole where all lengths of edges are."""
    if source not in G:
        raise networkx.NodeNotFound(f"Node {source} not found in graph")
    weight, whole = lengths(G, weight)
    start = Table({"node": numpy.array([G.number[source]])})
    rows = G.call("shortest_paths", "target, distance", start, weight=weight, directed=G.directed)
    distance = array(rows, 1)
    return in_order(G, array(rows, 0), distance.astype("int64") if whole else distance)


def in_order(G, node, distance):
    """Distances by node, the nearest first."""
    order = numpy.lexsort((node, distance))
    return dict(zip(map(G.nodes.__getitem__, node[order].tolist()), distance[order].tolist()))


def connected(G):
    """Whether paths lead from every node to every other."""
    return count(G, strong=G.directed) == 1


def eccentricities(G):
    """The eccentricity of each node. Refused as networkx refuses it where one is infinite."""
    if not connected(G):
        kind = "digraph is not strongly" if G.directed else "graph is not"
        raise networkx.NetworkXError(f"Found infinite path length because the {kind} connected")
    return G.per_node("eccentricity", directed=G.directed)


@offered(multigraph=True, default=("v", "sp", "weight"))
def eccentricity(G, v=None, sp=None, weight=None):
    return G.by_node(eccentricities(G))


@offered(multigraph=True, default=("e", "weight", "usebounds"))
def diameter(G, e=None, usebounds=False, weight=None):
    if G.directed or not connected(G):
        return int(eccentricities(G).max())
    return int(G.one("diameter"))


@offered(multigraph=True, default=("e", "weight", "usebounds"))
def radius(G, e=None, usebounds=False, weight=None):
    return int(eccentricities(G).min())


def nodes_with(G, found, value):
    return list(map(G.nodes.__getitem__, numpy.flatnonzero(found == value).tolist()))


@offered(multigraph=True, default=("e", "weight", "usebounds"))
def center(G, e=None, usebounds=False, weight=None):
    found = eccentricities(G)
    return nodes_with(G, found, found.min())


@offered(multigraph=True, default=("e", "weight", "usebounds"))
def periphery(G, e=None, usebounds=False, weight=None):
    found = eccentricities(G)
    return nodes_with(G, found, found.max())


def sum_of_distances(G):
    """The hops between all ordered pairs of nodes of a connected graph, exactly: closeness is n - 1 over the sum of a node."""
    closeness = G.per_node("closeness_centrality", directed=G.directed)
    return int(numpy.rint((len(G) - 1) / closeness).astype("int64").sum())


@offered(multigraph=True, default=("weight", "method"))
def average_shortest_path_length(G, weight=None, method=None):
    if len(G) == 1:
        return 0
    if not connected(G):
        raise networkx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    return sum_of_distances(G) / (len(G) * (len(G) - 1))


@offered(multigraph=True, default=("weight",))
def wiener_index(G, weight=None):
    if not connected(G):
        return float("inf")
    total = sum_of_distances(G) if len(G) > 1 else 0
    return total if G.directed else total / 2


@offered(directed=False, multigraph=True)
def global_efficiency(G):
    pairs = len(G) * (len(G) - 1)
    return float(G.per_node("harmonic_centrality").sum()) / pairs if pairs else 0
