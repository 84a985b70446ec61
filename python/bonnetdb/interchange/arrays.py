"""A graph as arrays: nodes by number, edges as pairs of numbers."""

import numpy

from bonnetdb._bonnetdb import DataError, both_ways
from bonnetdb.columns import array
from bonnetdb.literals import identifier


def numbers_of(keys, ends, what):
    """The number of each end among the sorted keys. NULLs are not allowed: a graph's edges have two ends."""
    if isinstance(ends, numpy.ma.MaskedArray) or (ends.dtype == object and any(end is None for end in ends)):
        raise DataError(f"the column {what} of the edges has NULLs: remove these rows, or make a view without them")
    if is_counted(keys) and len(keys):
        found = ends.astype("int64", copy=False)
        known = len(ends) == 0 or (found.min() >= 0 and found.max() < len(keys))
    elif keys.dtype == object:
        table = {key: at for at, key in enumerate(keys)}
        found = numpy.array([table.get(end, -1) for end in ends], dtype="int64")
        known = not (found < 0).any()
    else:
        found = numpy.minimum(numpy.searchsorted(keys, ends), max(len(keys) - 1, 0))
        known = len(ends) == 0 or (len(keys) > 0 and bool((keys[found] == ends).all()))
    if not known:
        raise DataError(f"the column {what} of the edges names a node that is not in nodes")
    return found


def arrays(graph):
    """See `Graph.arrays`."""
    nodes = read(graph, "nodes", ("node", "features", "label"), "ORDER BY node")
    edges = read(graph, "edges", ("src", "dst", "weight", "features"))
    keys = nodes["node"]
    result = {"num_nodes": len(keys)}
    extra = attributes_of(edges)
    pair = counted(edges, keys, True) if not extra and not graph.directed else None
    if pair is None:
        pair, extra = ends(pair_of(edges, keys), extra, graph.directed)
    result.update({"edge_index": pair, **extra})
    result.update(attributes_of_nodes(nodes))
    if graph._has("splits"):
        result.update(masks(graph, keys))
    return result


class Columns:
    """Columns of a table by name, as arrays."""

    def __init__(self, relation):
        self.rows = relation._rows
        self.place = {name: at for at, name in enumerate(relation.columns)}

    def __contains__(self, name):
        return name in self.place

    def __getitem__(self, name):
        return array(self.rows, self.place[name])


def read(graph, table, names, order=""):
    """Those of these columns that a table of a graph has."""
    known = graph._sql(f"SELECT * FROM {graph._schema}.{table}").columns
    names = ", ".join(identifier(name) for name in names if name in known)
    found = graph._sql(f"SELECT {names} FROM {graph._schema}.{table} {order}")
    found._rows.count()
    return Columns(found)


def is_counted(keys):
    """Whether sorted keys are 0, 1, 2, ..., so that a key is the number of its node."""
    return keys.dtype.kind in "iu" and (len(keys) == 0 or (keys[0] == 0 and keys[-1] == len(keys) - 1))


def counted(edges, keys, both):
    """`edge_index` of edges whose ends are the numbers of their nodes, as they are or both ways, sorted and each once: written
    from the columns of the engine by all processors. None of other keys."""
    if not is_counted(keys) or not len(keys):
        return None
    return edges.rows.edge_index(edges.place["src"], edges.place["dst"], len(keys), both)


def pair_of(edges, keys):
    """The numbers of the ends of edges, (2, m)."""
    pair = counted(edges, keys, False)
    if pair is not None:
        return pair
    found = [numbers_of(keys, edges[end], end) for end in ("src", "dst")]
    return numpy.stack(found) if len(found[0]) else numpy.zeros((2, 0), "int64")


def attributes_of(edges):
    """The columns of edges that mean something to others, by their names there."""
    return {target: edges[source] for source, target in (("weight", "edge_weight"), ("features", "edge_attr")) if source in edges}


def attributes_of_nodes(nodes):
    """`x` and `y`, where there are any."""
    found = {"x": features(nodes["features"]) if "features" in nodes else None}
    found["y"] = labels(nodes["label"]) if "label" in nodes else None
    return {name: values for name, values in found.items() if values is not None}


def ends(pair, extra, directed):
    """`edge_index` and what belongs to its columns: as the rows are, or both ways, sorted and each once."""
    if directed or pair.shape[1] == 0:
        return pair, extra
    if not extra:
        return both_ways(numpy.ascontiguousarray(pair)), extra
    return once(
        numpy.concatenate([pair, pair[::-1]], axis=1), {name: numpy.concatenate([values, values]) for name, values in extra.items()}
    )


def once(pair, extra):
    """Edges sorted and each once, with their attributes. Those of an edge that stands in several rows must agree."""
    order = numpy.lexsort((pair[1], pair[0]))
    pair = pair[:, order]
    first = numpy.ones(pair.shape[1], bool)
    first[1:] = (pair[:, 1:] != pair[:, :-1]).any(axis=0)
    repeated = numpy.flatnonzero(~first)
    found = {}
    for name, values in extra.items():
        values = values[order]
        if len(repeated) and not numpy.array_equal(values[repeated], values[repeated - 1]):
            raise DataError(f"an edge stands in several rows that differ in {name}: aggregate them in a view of the edges")
        found[name] = values[first]
    return numpy.ascontiguousarray(pair[:, first]), found


def features(found):
    """Features as an array of two dimensions; none where every row lacks them. Sparse ones, maps from index to value, are
    filled with zeros."""
    if found.dtype != object:
        return found
    if all(row is None for row in found):
        return None
    if any(row is None for row in found):
        raise DataError("some nodes have features and others none: make a view of the nodes that gives all of them some")
    if isinstance(found[0], dict):
        return filled(found, 1 + max((max(row, default=-1) for row in found), default=-1))
    raise DataError("the features of the nodes differ in length, or are no numbers")


def filled(maps, width):
    """Maps from index to value as rows of this width, zero elsewhere."""
    x = numpy.zeros((len(maps), width), "float32")
    for at, row in enumerate(maps):
        if row is None:
            raise DataError("some nodes have features and others none: make a view of the nodes that gives all of them some")
        x[at, list(row)] = list(row.values())
    return x


def labels(found):
    """Labels as numbers; texts are numbered in their order. None where all are missing."""
    missing = numpy.ma.getmaskarray(found) if isinstance(found, numpy.ma.MaskedArray) else None
    if missing is not None:
        if missing.all():
            return None
        return found.filled(-1 if found.dtype.kind in "iu" else numpy.nan)
    if found.dtype != object:
        return found
    if all(label is None for label in found):
        return None
    if not all(label is None or isinstance(label, str) for label in found):
        raise DataError("the labels of the nodes are no numbers, texts or lists of one length")
    names = sorted({label for label in found if label is not None})
    number = {name: at for at, name in enumerate(names)}
    return numpy.array([-1 if label is None else number[label] for label in found], dtype="int64")


def masks(graph, keys):
    """The parts of the splits as masks; none of a part that no split has."""
    rows = graph._sql(f"SELECT split, node, part FROM {graph._schema}.splits")
    rows._rows.count()
    split, node, part = (array(rows._rows, at) for at in range(3))
    splits = numpy.unique(split)
    node = numbers_of(keys, node, "node")
    found = {}
    for name in ("train", "val", "test"):
        rows_of = part == name
        if not rows_of.any():
            continue
        mask = numpy.zeros((len(keys), len(splits)), bool)
        mask[node[rows_of], numpy.searchsorted(splits, split[rows_of])] = True
        found[f"{name}_mask"] = mask[:, 0].copy() if len(splits) == 1 else mask
    return found
