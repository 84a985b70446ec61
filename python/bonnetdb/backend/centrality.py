"""Centralities."""

import numpy

from bonnetdb._bonnetdb import Table
from bonnetdb.backend.offer import is_name, offered


def strengths(G, weight):
    """The weights of edges as strengths; none without an attribute. Loops, which networkx counts and the engine does not, are
    refused."""
    if G.has_loops:
        raise NotImplementedError("the graph has loops")
    return None if weight is None else G.weights(weight)[0]


def lengths(G, weight):
    """The weights of edges as lengths, and whether they are whole; none without an attribute."""
    return (None, True) if weight is None else G.weights(weight)


@offered(
    default=("nstart", "dangling"),
    weight=is_name,
    alpha=lambda alpha: 0 <= alpha < 1,
    max_iter=lambda steps: steps >= 100,
    tol=lambda tol: tol > 0,
)
def pagerank(G, alpha=0.85, personalization=None, max_iter=100, tol=1e-06, nstart=None, weight="weight", dangling=None):
    # More exact than is asked for: networkx ends when no rank changes by tol on average.
    options = {"damping": float(alpha), "tolerance": min(float(tol), 1e-12), "directed": G.directed}
    if personalization is not None:
        chosen = {G.number[node]: float(share) for node, share in personalization.items() if node in G}
        if not chosen or sum(chosen.values()) <= 0 or min(chosen.values()) < 0:
            raise NotImplementedError("the shares of personalization add up to nothing")
        nodes, shares = (numpy.array(column) for column in zip(*chosen.items()))
        options["personalisation"] = Table({"node": nodes, "weight": shares})
    return G.by_node(G.per_node("pagerank", weight=strengths(G, weight), **options))


@offered(k=lambda k: k is None, endpoints=lambda given: not given, weight=is_name)
def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    weight, _ = lengths(G, weight)
    return G.by_node(G.per_node("betweenness_centrality", weight=weight, directed=G.directed, normalized=bool(normalized)))


@offered(k=lambda k: k is None, weight=is_name)
def edge_betweenness_centrality(G, k=None, normalized=True, weight=None, seed=None):
    weight, _ = lengths(G, weight)
    # Edges do not tell how many nodes there are: the pairs are counted here.
    found = G.per_edge("edge_betweenness", weight=weight, directed=G.directed, normalized=False).filled(0.0)
    pairs = len(G) * (len(G) - 1)
    if normalized and pairs > 0:
        found = found * ((1 if G.directed else 2) / pairs)
    ends = zip(map(G.nodes.__getitem__, G.source.tolist()), map(G.nodes.__getitem__, G.target.tolist()))
    return dict(zip(ends, found.tolist()))


@offered(multigraph=True, default=("u",), distance=is_name, wf_improved=bool)
def closeness_centrality(G, u=None, distance=None, wf_improved=True):
    weight, _ = lengths(G, distance)
    return G.by_node(G.per_node("closeness_centrality", weight=weight, directed=G.directed))


@offered(multigraph=True, default=("nbunch", "sources"), distance=is_name)
def harmonic_centrality(G, nbunch=None, distance=None, sources=None):
    weight, _ = lengths(G, distance)
    found = G.per_node("harmonic_centrality", weight=weight, directed=G.directed)
    # An empty sum is the integer 0 there.
    return {node: value or 0 for node, value in G.by_node(found).items()}


@offered(default=("nstart",), normalized=bool, weight=is_name, max_iter=lambda steps: steps >= 100, beta=lambda beta: is_number(beta))
def katz_centrality(G, alpha=0.1, beta=1.0, max_iter=1000, tol=1.0e-6, nstart=None, normalized=True, weight=None):
    return katz(G, alpha, beta, weight, min(float(tol), 1e-12))


@offered(normalized=bool, weight=is_name, beta=lambda beta: is_number(beta))
def katz_centrality_numpy(G, alpha=0.1, beta=1.0, normalized=True, weight=None):
    return katz(G, alpha, beta, weight, 1e-13)


def katz(G, alpha, beta, weight, tolerance):
    weight = strengths(G, weight)
    options = {"alpha": float(alpha), "beta": float(beta), "tolerance": tolerance, "directed": G.directed}
    return G.by_node(G.per_node("katz_centrality", weight=weight, **options))


def is_number(value):
    return isinstance(value, (int, float)) and value > 0


@offered(default=("nstart",), weight=is_name, max_iter=lambda steps: steps >= 100)
def eigenvector_centrality(G, max_iter=100, tol=1.0e-6, nstart=None, weight=None):
    weight = strengths(G, weight)
    options = {"tolerance": min(float(tol), 1e-12), "directed": G.directed, "max_iterations": 100_000}
    return G.by_node(G.per_node("eigenvector_centrality", weight=weight, **options))


def degrees(G, **options):
    if G.has_loops:
        raise NotImplementedError("the graph has loops")
    found = G.by_node(G.per_node("degree_centrality", directed=G.directed, **options))
    # A single node has the integer 1 there.
    return {node: 1 for node in found} if len(found) == 1 else found


@offered(linear=True)
def degree_centrality(G):
    return degrees(G)


@offered(directed=True, linear=True)
def in_degree_centrality(G):
    return degrees(G, direction="in")


@offered(directed=True, linear=True)
def out_degree_centrality(G):
    return degrees(G, direction="out")


@offered(directed=False, linear=True)
def core_number(G):
    if G.has_loops:
        raise NotImplementedError("the graph has loops")
    return G.by_node(G.per_node("core_number"))
