"""A heterogeneous graph, whose nodes have the column `type`, as arrays by type."""

import numpy

from bonnetdb._bonnetdb import DataError, Table
from bonnetdb.columns import array
from bonnetdb.interchange import arrays as of_tables
from bonnetdb.literals import literal

RELATION = "edge"
"""The relation of edges that have no column `type`, as the engine's functions of heterogeneous graphs name it."""


def arrays_by_type(graph):
    """See `Graph.arrays_by_type`."""
    types = NodeTypes(graph)
    found = {}
    for name in types.names:
        nodes = of_tables.read(graph, "nodes", ("node", "features", "label"), f"WHERE {types.is_of(name)} ORDER BY node")
        found[name] = {"num_nodes": types.sizes[name], **of_tables.attributes_of_nodes(nodes)}
    for part, mask in types.masks().items():
        found[part[0]][part[1]] = mask
    for relation, (pair, extra) in edges_by_type(graph, types, ("weight", "features")).items():
        found[relation] = {"edge_index": pair, **extra}
    return found


class NodeTypes:
    """The types of the nodes of a graph, in the order of their first keys. Nodes of a type are numbered in the order of theirs."""

    def __init__(self, graph):
        self.graph = graph
        nodes = f"{graph._schema}.nodes"
        rows = graph._sql(f"SELECT type::VARCHAR AS name, count(*) FROM {nodes} GROUP BY name ORDER BY min(node)").fetchall()
        if any(name is None for name, _ in rows):
            raise DataError(f"some nodes of {graph.name} have no type: every node of a heterogeneous graph has one")
        self.names = [name for name, _ in rows]
        self.sizes = dict(rows)
        self.keys = of_tables.read(graph, "nodes", ("node",), "ORDER BY node")["node"]
        # The type of each key, and its number among the nodes of that type.
        self.number = numpy.zeros(len(self.keys), "int64")
        self.local = numpy.zeros(len(self.keys), "int64")
        for at, name in enumerate(self.names):
            place = of_tables.numbers_of(self.keys, self.keys_of(name), "node") if len(self.names) > 1 else slice(None)
            self.number[place] = at
            self.local[place] = numpy.arange(self.sizes[name])

    @staticmethod
    def is_of(name):
        """The condition that a node is of a type."""
        return f"type::VARCHAR = {literal(name)}"

    def keys_of(self, name):
        """The keys of the nodes of a type, in their order."""
        return of_tables.read(self.graph, "nodes", ("node",), f"WHERE {self.is_of(name)} ORDER BY node")["node"]

    def masks(self):
        """The masks of the splits by type and name, where nodes of the type stand in the part."""
        found = {}
        masks = of_tables.masks(self.graph, self.keys) if self.graph._has("splits") else {}
        for at, name in enumerate(self.names):
            of_type = {(name, part): mask[self.number == at] for part, mask in masks.items()}
            found.update({place: mask for place, mask in of_type.items() if mask.any()})
        return found


def edges_by_type(graph, types, columns=()):
    """The edges by type of the source, relation and type of the target: the pairs of their numbers, and their attributes. Where
    edges are no arcs they come both ways: those between two types as a relation `rev_...` of their own."""
    edges = of_tables.read(graph, "edges", ("src", "dst", "type", *columns))
    pair, extra = of_tables.pair_of(edges, types.keys), of_tables.attributes_of(edges)
    relations, of_edge = ([RELATION], numpy.zeros(pair.shape[1], "int64"))
    if "type" in edges:
        texts = [None if name is None else str(name) for name in edges["type"].tolist()]
        relations = sorted(set(texts) - {None})
        if None in texts:
            raise DataError(f"some edges of {graph.name} have no type: give each one, or leave the column out of a view")
        number = {name: at for at, name in enumerate(relations)}
        of_edge = numpy.fromiter(map(number.__getitem__, texts), "int64", len(texts))
    count = len(types.names)
    kind = (types.number[pair[0]] * max(len(relations), 1) + of_edge) * count + types.number[pair[1]]
    pair = types.local[pair]
    found = {}
    for code in numpy.unique(kind):
        chosen = kind == code
        whole = bool(chosen.all())
        source, target = types.names[code // count // len(relations)], types.names[code % count]
        relation = (source, relations[code // count % len(relations)], target)
        ends = pair if whole else numpy.ascontiguousarray(pair[:, chosen])
        values = {name: one if whole else one[chosen] for name, one in extra.items()}
        values = {name: present(one, name, relation) for name, one in values.items()}
        values = {name: one for name, one in values.items() if one is not None}
        if graph.directed:
            found[relation] = ends, values
        elif source == target:
            found[relation] = of_tables.ends(ends, values, False)
        else:
            found[relation] = of_tables.once(ends, values)
            found[target, f"rev_{relation[1]}", source] = of_tables.once(ends[::-1], values)
    return found


def present(values, name, relation):
    """The attributes of the edges of one relation; none where all are missing."""
    missing = numpy.ma.getmaskarray(values) if isinstance(values, numpy.ma.MaskedArray) else None
    if missing is None and values.dtype == object:
        missing = numpy.array([value is None for value in values], bool)
    if missing is None or not missing.any():
        values = numpy.ma.getdata(values)
        if values.dtype == object and all(len(value) == len(values[0]) for value in values):
            return numpy.stack(list(values))
        return values
    if missing.all():
        return None
    raise DataError(
        f"some edges of the relation {relation} have {name} and others none: make a view of the edges that gives all some"
    )


def tables(nodes, edges):
    """The queries that put the nodes, or edges, of all types into one table, with the tables that they read. `nodes` are
    columns by type, `edges` columns by relation (source, name, target), whose ends are numbers of nodes of a type."""
    first, count = {}, 0
    for name, columns in nodes.items():
        first[name] = count
        count += len(columns["node"])
    numbered = [(name, {**columns, "node": columns["node"] + first[name]}) for name, columns in nodes.items()]
    ends = [
        (name, {**columns, "src": columns["src"] + first[source], "dst": columns["dst"] + first[target]})
        for (source, name, target), columns in edges.items()
    ]
    return union("bonnetdb_nodes", ("node", "features", "label"), numbered), union(
        "bonnetdb_edges", ("src", "dst", "weight", "features"), ends
    )


def union(prefix, names, parts):
    """A query for the rows of all parts in their order, with the column `type`, and the tables that it reads."""
    names = [name for name in names if any(name in columns for _, columns in parts)]
    scope, queries, count = {}, [], 0
    for at, (kind, columns) in enumerate(parts):
        rows = len(columns[names[0]])
        scope[f"{prefix}_{at}"] = Table({**columns, "place": numpy.arange(count, count + rows)})
        count += rows
        values = ", ".join(name if name in columns else f"NULL AS {name}" for name in names)
        queries.append(f"SELECT place, {values}, {literal(kind)} AS type FROM {prefix}_{at}")
    return f"SELECT {', '.join(names)}, type FROM ({' UNION ALL '.join(queries)}) ORDER BY place", scope
