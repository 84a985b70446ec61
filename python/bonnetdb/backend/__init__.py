"""The backend of networkx: `networkx.pagerank(graph, backend="bonnetdb")`, or `NETWORKX_BACKEND_PRIORITY=bonnetdb` for all calls.

A graph is converted once, and networkx keeps the converted one with it. What a function of the engine does not do (multigraphs,
parameters that it lacks, weights that are no positive numbers) is refused before it runs, and networkx runs its own.
"""

import inspect

from bonnetdb.backend import centrality, clustering, communities, components, distances, flows, structure
from bonnetdb.backend.graph import ConvertedGraph, convert

FUNCTIONS = {
    name: function
    for module in (centrality, clustering, communities, components, distances, flows, structure)
    for name, function in vars(module).items()
    if hasattr(function, "offer")
}
"""The functions by the names that networkx dispatches."""


class Backend:
    """What networkx asks a backend for; its functions are attributes."""

    @staticmethod
    def convert_from_nx(graph, *, edge_attrs=None, preserve_edge_attrs=False, **_):
        return convert(graph, edge_attrs, preserve_edge_attrs)

    @staticmethod
    def convert_to_nx(result, *, name=None):
        return result.to_networkx() if isinstance(result, ConvertedGraph) else result

    @staticmethod
    def can_run(name, args, kwargs):
        """Whether a function does what is asked of it; else a text that says why it does not."""
        return FUNCTIONS[name].offer.accepts(args, kwargs)

    @staticmethod
    def should_run(name, args, kwargs):
        """Whether a call that names no backend is worth a conversion. Work that is linear in the graph is not, unless the graph has
        been converted before."""
        offer = FUNCTIONS[name].offer
        graph = offer.graph_of(args, kwargs)
        if offer.linear and not is_converted(graph):
            return "to convert the graph takes as long as the work itself"
        return True


def is_converted(graph):
    """Whether networkx has a converted graph for this one."""
    cache = getattr(graph, "__networkx_cache__", None) or {}
    return isinstance(graph, ConvertedGraph) or bool(cache.get("backends", {}).get("bonnetdb"))


for _name, _function in FUNCTIONS.items():
    setattr(Backend, _name, staticmethod(_function))


def parameters(name):
    """The names of a function's parameters."""
    return list(inspect.signature(FUNCTIONS[name]).parameters)
