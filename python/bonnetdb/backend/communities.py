"""Communities and their modularity."""

import numpy

from bonnetdb._bonnetdb import Table
from bonnetdb.backend.centrality import strengths
from bonnetdb.backend.offer import is_list, is_name, offered


def partition(G, method, weight, resolution, seed):
    """The communities by a method, the largest first. The seed is drawn from networkx's generator: the same generator, the same
    communities."""
    options = {"resolution": float(resolution)}
    if hasattr(seed, "getrandbits"):
        options["seed"] = seed.getrandbits(31)
    elif seed is not None:
        options["seed"] = int(seed)
    found = G.per_node(method, weight=strengths(G, weight), **options)
    order = numpy.argsort(found, kind="stable")
    starts = numpy.flatnonzero(numpy.diff(found[order], prepend=-1))
    return [set(map(G.nodes.__getitem__, part.tolist())) for part in numpy.split(order, starts[1:])]


@offered(directed=False, default=("threshold", "max_level"), weight=is_name)
def louvain_communities(G, weight="weight", resolution=1, threshold=0.0000001, max_level=None, seed=None):
    return partition(G, "louvain", weight, resolution, seed)


@offered(directed=False, default=("max_level",), weight=is_name)
def leiden_communities(G, weight="weight", resolution=1, max_level=None, seed=None):
    return partition(G, "leiden", weight, resolution, seed)


@offered(directed=False, weight=is_name, communities=is_list)
def modularity(G, communities, weight="weight", resolution=1):
    number = numpy.full(len(G), -1)
    for at, community in enumerate(communities):
        # Whoever takes part twice, or is no node, makes this no partition: networkx says so.
        for node in community:
            if node not in G or number[G.number[node]] >= 0:
                raise NotImplementedError("the communities are no partition of the nodes")
            number[G.number[node]] = at
    if (number < 0).any():
        raise NotImplementedError("the communities are no partition of the nodes")
    of_nodes = Table({"node": numpy.arange(len(G)), "community": number})
    found = G.one("modularity", of_nodes, weight=strengths(G, weight), resolution=float(resolution))
    if found is None:
        raise NotImplementedError("the graph has no edges")
    return found
