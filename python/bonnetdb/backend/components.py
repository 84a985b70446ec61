"""Components, bridges and articulation points."""

import networkx
import numpy

from bonnetdb.backend.offer import offered


def number(G, strong=False):
    """The number of each node's component."""
    return G.per_node("strong_components") if strong else G.per_node("connected_components", column="component")


def count(G, strong=False):
    return int(number(G, strong).max()) + 1


@offered(directed=False, multigraph=True, linear=True)
def connected_components(G):
    yield from G.groups(number(G))


@offered(directed=False, multigraph=True, linear=True)
def number_connected_components(G):
    return count(G)


@offered(directed=False, multigraph=True, linear=True)
def is_connected(G):
    return count(G) == 1


@offered(directed=False, multigraph=True, linear=True)
def node_connected_component(G, n):
    return component_of(G, n, number(G))


@offered(directed=True, multigraph=True, linear=True)
def weakly_connected_components(G):
    yield from G.groups(number(G))


@offered(directed=True, multigraph=True, linear=True)
def number_weakly_connected_components(G):
    return count(G)


@offered(directed=True, multigraph=True, linear=True)
def is_weakly_connected(G):
    return count(G) == 1


@offered(directed=True, multigraph=True, linear=True)
def strongly_connected_components(G):
    yield from G.groups(number(G, strong=True))


@offered(directed=True, multigraph=True, linear=True)
def number_strongly_connected_components(G):
    return count(G, strong=True)


@offered(directed=True, multigraph=True, linear=True)
def is_strongly_connected(G):
    return count(G, strong=True) == 1


def component_of(G, node, numbers):
    """The nodes of a node's component."""
    if node not in G:
        raise networkx.NodeNotFound(f"Node {node} is not in G")
    same = numpy.flatnonzero(numbers == numbers[G.number[node]])
    return set(map(G.nodes.__getitem__, same.tolist()))


@offered(directed=False, linear=True, default=("root",))
def bridges(G, root=None):
    yield from bridges_of(G)


@offered(directed=False, linear=True, default=("root",))
def has_bridges(G, root=None):
    return bool(bridges_of(G))


def bridges_of(G):
    """The bridges in the order of the edges."""
    if len(G.source) == 0:
        return []
    found = numpy.flatnonzero(G.per_edge("bridges").filled(False))
    return [(G.nodes[G.source[at]], G.nodes[G.target[at]]) for at in found.tolist()]


@offered(directed=False, multigraph=True, linear=True)
def articulation_points(G):
    found = numpy.flatnonzero(G.per_node("articulation_points"))
    yield from map(G.nodes.__getitem__, found.tolist())


@offered(directed=False, multigraph=True, linear=True)
def biconnected_components(G):
    if len(G.source) == 0:
        return
    component = G.per_edge("biconnected_components")
    edges = numpy.flatnonzero(~numpy.ma.getmaskarray(component))
    edges = edges[numpy.argsort(component.data[edges], kind="stable")]
    starts = numpy.flatnonzero(numpy.diff(component.data[edges], prepend=-1))
    for part in numpy.split(edges, starts[1:]) if len(edges) else []:
        ends = numpy.unique(numpy.concatenate([G.source[part], G.target[part]]))
        yield set(map(G.nodes.__getitem__, ends.tolist()))
