"""What a graph is, its cliques, its dominators, and scores of pairs of nodes."""

import networkx
import numpy

from bonnetdb._bonnetdb import Table
from bonnetdb.backend.clustering import aggregate
from bonnetdb.backend.engine import array, run
from bonnetdb.backend.offer import is_list, offered
from bonnetdb.literals import literal


@offered(multigraph=True)
def is_planar(G):
    return bool(G.one("is_planar"))


@offered(multigraph=True, linear=True)
def is_bipartite(G):
    # A loop joins a node with itself.
    return not G.has_loops and aggregate(G, "is_bipartite") is not False


@offered(default=("node_match", "edge_match"))
def is_isomorphic(G1, G2, node_match=None, edge_match=None):
    if G2.is_multigraph() or G1.directed != G2.directed or G1.has_loops or G2.has_loops:
        raise NotImplementedError("graphs of two kinds, multigraphs and graphs with loops are not compared")
    ends = [len(numpy.union1d(graph.source, graph.target)) for graph in (G1, G2)]
    if len(G1) != len(G2) or len(G1.source) != len(G2.source) or ends[0] != ends[1]:
        return False
    if len(G1.source) == 0:
        return True
    # Nodes without edges are as many on both sides.
    query = f"SELECT is_isomorphic FROM is_isomorphic(edges, other, directed => {literal(G1.directed)})"
    ((same,),) = run(query, {**G1.tables(), "other": Table({"src": G2.source, "dst": G2.target})}).fetch(None)
    return same


@offered(directed=False, multigraph=True, default=("nodes",))
def find_cliques(G, nodes=None):
    rows = G.call("maximal_cliques", "node, maximal_cliques")
    node, clique = array(rows, 0), array(rows, 1)
    order = numpy.lexsort((node, clique))
    starts = numpy.flatnonzero(numpy.diff(clique[order], prepend=-1))
    for part in numpy.split(node[order], starts[1:]):
        yield list(map(G.nodes.__getitem__, part.tolist()))


@offered(directed=True, multigraph=True)
def immediate_dominators(G, start):
    if start not in G:
        raise networkx.NetworkXError("start is not in G")
    if len(G.source) == 0:
        return {}
    found = G.call("dominators", "node, dominators", source=G.number[start]).fetch(None)
    return {G.nodes[node]: G.nodes[before] for node, before in found if before is not None}


def scores(G, function, ebunch, whole=False):
    """The scores of pairs in their order."""
    if G.has_loops:
        raise NotImplementedError("the graph has loops")
    pairs = [tuple(pair) for pair in ebunch]
    for pair in pairs:
        for node in pair:
            if node not in G:
                raise networkx.NodeNotFound(f"Node {node} not in G.")
        if pair[0] == pair[1]:
            raise NotImplementedError("a node has no score with itself")
    if not pairs:
        return
    first, second = (numpy.array([G.number[pair[end]] for pair in pairs]) for end in (0, 1))
    rows = G.call(function, f"src, dst, {function}", pairs=Table({"src": first, "dst": second}))
    found = {(u, v): value for u, v, value in rows.fetch(None)}
    for (u, v), key in zip(pairs, zip(first.tolist(), second.tolist())):
        yield u, v, int(found[key]) if whole else found[key]


@offered(directed=False, linear=True, ebunch=is_list)
def jaccard_coefficient(G, ebunch=None):
    yield from scores(G, "jaccard_similarity", ebunch)


@offered(directed=False, linear=True, ebunch=is_list)
def adamic_adar_index(G, ebunch=None):
    yield from scores(G, "adamic_adar", ebunch)


@offered(directed=False, linear=True, ebunch=is_list)
def resource_allocation_index(G, ebunch=None):
    yield from scores(G, "resource_allocation", ebunch)


@offered(directed=False, linear=True, ebunch=is_list)
def preferential_attachment(G, ebunch=None):
    yield from scores(G, "preferential_attachment_score", ebunch, whole=True)
