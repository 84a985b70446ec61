"""Triangles, clustering, and how degrees meet."""

from bonnetdb.backend.engine import run
from bonnetdb.backend.offer import offered


@offered(directed=False, default=("nodes",))
def triangles(G, nodes=None):
    return G.by_node(G.per_node("triangle_count"))


@offered(directed=False, default=("nodes", "weight"))
def clustering(G, nodes=None, weight=None):
    found = G.by_node(G.per_node("local_clustering"))
    # A node without triangles has the integer 0 there.
    return {node: value or 0 for node, value in found.items()}


@offered(directed=False, default=("nodes", "weight"))
def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    values = G.per_node("local_clustering").tolist()
    if not count_zeros:
        values = [value for value in values if abs(value) > 0]
    return sum(values) / len(values)


@offered(directed=False)
def transitivity(G):
    return aggregate(G, "transitivity") or 0


@offered(directed=False, default=("x", "y", "weight", "nodes"), linear=True)
def degree_pearson_correlation_coefficient(G, x="out", y="in", weight=None, nodes=None):
    if G.has_loops:
        raise NotImplementedError("the graph has loops")
    found = aggregate(G, "degree_assortativity")
    if found is None:
        raise NotImplementedError("all nodes with edges have one degree")
    return found


def aggregate(G, function):
    """The value of an aggregate over the edges; None where there is none."""
    ((value,),) = run(f"SELECT {function}(src, dst) FROM edges", G.tables()).fetch(None)
    return value
