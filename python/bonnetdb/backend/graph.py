"""Graphs of networkx as the engine reads them: nodes by number, edges as columns."""

import itertools

import numpy

from bonnetdb._bonnetdb import Table
from bonnetdb.backend.engine import array, run
from bonnetdb.literals import literal

EXACT = 2**53
"""Whole numbers below are the same as a DOUBLE."""


class ConvertedGraph:
    """A graph of networkx, converted. Nodes are numbered in its order; an edge of an undirected graph is there once, from the lower
    number, in the order of `graph.edges`. It does not change."""

    __networkx_backend__ = "bonnetdb"

    def __init__(self, nodes, source, target, directed, multigraph, attributes, data):
        self.nodes = nodes
        self.number = dict(zip(nodes, range(len(nodes))))
        self.source, self.target = source, target
        self.directed, self.multigraph = directed, multigraph
        self.attributes = attributes
        self.data = data
        self.has_loops = bool((source == target).any())
        self.known = {}

    def __len__(self):
        return len(self.nodes)

    def __iter__(self):
        return iter(self.nodes)

    def __contains__(self, node):
        try:
            return node in self.number
        except TypeError:
            return False

    def is_directed(self):
        return self.directed

    def is_multigraph(self):
        return self.multigraph

    def to_networkx(self):
        """The graph as one of networkx, with the attributes of edges that were converted."""
        import networkx

        kinds = {
            (False, False): networkx.Graph,
            (True, False): networkx.DiGraph,
            (False, True): networkx.MultiGraph,
            (True, True): networkx.MultiDiGraph,
        }
        graph = kinds[self.directed, self.multigraph]()
        graph.add_nodes_from(self.nodes)
        names = list(self.attributes)
        data = self.data or [dict(zip(names, values)) for values in zip(*self.attributes.values())] or itertools.repeat({})
        ends = zip(self.source.tolist(), self.target.tolist())
        graph.add_edges_from((self.nodes[u], self.nodes[v], of_edge) for (u, v), of_edge in zip(ends, data))
        return graph

    # Edges as tables.

    def values(self, attribute):
        """The values of an attribute of the edges as they are."""
        if attribute in self.attributes:
            return self.attributes[attribute]
        if self.data is None:
            raise NotImplementedError(f"the attribute {attribute} of the edges was not converted")
        return [of_edge.get(attribute, 1) for of_edge in self.data]

    def weights(self, attribute, least=0.0):
        """The values of an attribute as numbers, and whether all are integers. Refused where one is no finite number above
        `least`, or an integer that is not exact as a DOUBLE."""
        key = attribute, least
        if key not in self.known:
            values = self.values(attribute)
            try:
                found = numpy.array(values)
            except (TypeError, ValueError, OverflowError):
                found = numpy.array(["no numbers"])
            if found.ndim != 1 or found.dtype.kind not in "biuf":
                raise NotImplementedError(f"the attribute {attribute} of the edges is no number")
            integral = found.dtype.kind in "biu"
            numbers = found.astype("float64")
            if len(numbers) and not (numpy.isfinite(numbers).all() and (numbers > least).all()):
                raise NotImplementedError(f"the attribute {attribute} of the edges is not finite and above {least}")
            if integral and len(numbers) and numbers.sum() >= EXACT:
                raise NotImplementedError(f"the attribute {attribute} of the edges is too large for exact sums")
            self.known[key] = numbers, integral
        return self.known[key]

    def tables(self, weight=None):
        """The tables that queries name: `edges`, with their numbers in `edge`, and `nodes`."""
        key = None if weight is None else id(weight)
        if key not in self.known:
            columns = {"src": self.source, "dst": self.target, "edge": numpy.arange(len(self.source))}
            if weight is not None:
                columns["weight"] = weight
            tables = {"edges": Table(columns), "nodes": Table({"node": numpy.arange(len(self.nodes))})}
            # The array is kept, so that its address means it alone.
            self.known[key] = tables, weight
        return self.known[key][0]

    # Calls.

    def call(self, function, columns, *relations, weight=None, **options):
        """The rows of `SELECT columns FROM function(edges, ..., nodes => nodes, option => value)`, where options may be tables."""
        tables = dict(self.tables(weight))
        places = ["edges"]
        for at, relation in enumerate(relations):
            tables[f"relation_{at}"] = relation
            places.append(f"relation_{at}")
        if weight is not None:
            options["weights"] = True
        named = ["nodes => nodes"]
        for name, value in options.items():
            if isinstance(value, Table):
                tables[f"given_{name}"] = value
            named.append(f"{name} => " + (f"given_{name}" if isinstance(value, Table) else literal(value)))
        call = ", ".join(places + named)
        return run(f"SELECT {columns} FROM {function}({call})", tables)

    def per_node(self, function, *, weight=None, **options):
        """A value a node, in the order of the nodes, as an array."""
        name = options.pop("column", function)
        rows = self.call(function, f"node, {name}", weight=weight, **options)
        node, value = array(rows, 0), array(rows, 1)
        found = numpy.empty(len(self.nodes), dtype=value.dtype)
        found[node] = value
        return found

    def per_edge(self, function, *, weight=None, **options):
        """A value an edge, in their order, as a masked array: loops have none."""
        named = "".join(f", {name} => {literal(value)}" for name, value in options.items())
        named += ", weight => weight" if weight is not None else ""
        rows = run(f"SELECT edge, {function} FROM {function}(edges{named})", self.tables(weight))
        edge, value = array(rows, 0), numpy.ma.asarray(array(rows, 1))
        found = numpy.ma.masked_all(len(self.source), dtype=value.dtype)
        found[edge] = value
        return found

    def one(self, function, *relations, **options):
        """The single value of a function that answers a row."""
        rows = self.call(function, function, *relations, **options).fetch(None)
        return rows[0][0]

    def by_node(self, values):
        """Values in the order of the nodes as a dict."""
        return dict(zip(self.nodes, values.tolist()))

    def groups(self, number):
        """The sets of nodes that have one number, in the order of their first nodes."""
        order = numpy.argsort(number, kind="stable")
        starts = numpy.flatnonzero(numpy.diff(number[order], prepend=-1))
        groups = [set(map(self.nodes.__getitem__, part.tolist())) for part in numpy.split(order, starts[1:])]
        return [groups[at] for at in numpy.argsort(order[starts], kind="stable")]


def convert(graph, edge_attrs, preserve_edge_attrs):
    """A graph of networkx, with these attributes of its edges (with what stands for one that is missing), or all."""
    nodes = list(graph)
    number = dict(zip(nodes, range(len(nodes))))
    around = [neighbours for _, neighbours in graph.adjacency()]
    lengths = numpy.fromiter(map(len, around), "int64", len(around))
    source = numpy.repeat(numpy.arange(len(nodes)), lengths)
    target = numpy.fromiter(map(number.__getitem__, itertools.chain.from_iterable(around)), "int64", int(lengths.sum()))
    directed, multigraph = graph.is_directed(), graph.is_multigraph()
    kept = numpy.ones(len(source), bool) if directed else source <= target
    data, attributes = None, {}
    if not multigraph and (preserve_edge_attrs or edge_attrs):
        of_edges = itertools.chain.from_iterable(neighbours.values() for neighbours in around)
        of_edges = list(itertools.compress(of_edges, kept.tolist()))
        if preserve_edge_attrs:
            data = [dict(of_edge) for of_edge in of_edges]
        else:
            attributes = {name: [of_edge.get(name, value) for of_edge in of_edges] for name, value in edge_attrs.items()}
    return ConvertedGraph(nodes, source[kept], target[kept], directed, multigraph, attributes, data)
