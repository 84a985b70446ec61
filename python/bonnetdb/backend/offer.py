"""Which calls of networkx a function answers."""

import functools
import inspect

from bonnetdb._bonnetdb import DatabaseError


class Offer:
    """What a function needs of its graphs and of its arguments."""

    def __init__(self, function, directed, multigraph, linear, default, checks):
        self.signature = inspect.signature(function)
        self.directed = directed
        self.multigraph = multigraph
        self.linear = linear
        self.default = default
        self.checks = checks

    def bound(self, args, kwargs):
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def graph_of(self, args, kwargs):
        """The first graph of a call."""
        return next(iter(self.bound(args, kwargs).values()))

    def accepts(self, args, kwargs):
        """True, or why not."""
        try:
            given = self.bound(args, kwargs)
        except TypeError as error:
            return str(error)
        graph = next(iter(given.values()))
        if len(graph) == 0:
            return "the graph has no nodes"
        if graph.is_multigraph() and not self.multigraph:
            return "multigraphs are not read"
        if self.directed is not None and graph.is_directed() != self.directed:
            return f"only {'directed' if self.directed else 'undirected'} graphs are read"
        for name in self.default:
            if given[name] is not self.signature.parameters[name].default and given[name] != self.signature.parameters[name].default:
                return f"{name}={given[name]!r} is not supported"
        for name, check in self.checks.items():
            if not check(given[name]):
                return f"{name}={given[name]!r} is not supported"
        return True


def offered(directed=None, multigraph=False, linear=False, default=(), **checks):
    """Marks a function of the backend. `directed`: True or False where it reads graphs of one kind alone; `multigraph`: whether
    parallel edges count for nothing, so that multigraphs are read too; `linear`: whether the work is linear in the graph;
    `default`: parameters that have to be as they are by default; `checks`: a condition on the value of a parameter by its name.
    Errors of the engine are such as networkx takes for a refusal."""

    def mark(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            # A call that names the backend comes here without a question, where the graph was converted before.
            why = run.offer.accepts(args, kwargs)
            if why is not True:
                raise NotImplementedError(f"{function.__name__} of bonnetdb: {why}")
            try:
                found = function(*args, **kwargs)
                # What is refused is refused now, not when the first of many is asked for.
                return (item for item in list(found)) if inspect.isgenerator(found) else found
            except DatabaseError as error:
                raise NotImplementedError(str(error)) from error

        run.offer = Offer(function, directed, multigraph, linear, default, checks)
        return run

    return mark


def is_name(value):
    """Whether weights are an attribute of the edges, or none: a function of an edge is not read."""
    return value is None or not callable(value)


def is_list(value):
    """Whether a collection can be read twice: networkx reads it anew where this backend refuses."""
    return isinstance(value, (list, tuple, set, frozenset))
