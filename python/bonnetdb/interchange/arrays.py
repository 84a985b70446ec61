"""A graph as arrays: nodes by number, edges as pairs of numbers."""

import numpy

from bonnetdb._bonnetdb import DataError
from bonnetdb.columns import array


def numbers_of(keys, ends, what):
    """The number of each end among the sorted keys. NULLs are not allowed: a graph's edges have two ends."""
    if isinstance(ends, numpy.ma.MaskedArray) or (ends.dtype == object and any(end is None for end in ends)):
        raise DataError(f"the column {what} of the edges has NULLs: remove these rows, or make a view without them")
    if keys.dtype.kind in "iu" and len(keys) and keys[0] == 0 and keys[-1] == len(keys) - 1:
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
    nodes, edges = graph.nodes, graph.edges
    nodes._rows.count()
    edges._rows.count()
    column = {name: at for at, name in enumerate(nodes.columns)}
    keys = array(nodes._rows, column["node"])
    result = {"num_nodes": len(keys)}
    of_edges = {name: at for at, name in enumerate(edges.columns)}
    pair = [numbers_of(keys, array(edges._rows, of_edges[end]), end) for end in ("src", "dst")]
    extra = {}
    for source, target in (("weight", "edge_weight"), ("features", "edge_attr")):
        if source in of_edges:
            extra[target] = array(edges._rows, of_edges[source])
    result["edge_index"], extra = ends(pair, extra, graph.directed)
    result.update(extra)
    if "features" in column:
        x = features(array(nodes._rows, column["features"]))
        if x is not None:
            result["x"] = x
    if "label" in column:
        y = labels(array(nodes._rows, column["label"]))
        if y is not None:
            result["y"] = y
    if graph._has("splits"):
        result.update(masks(graph, keys))
    return result


def ends(pair, extra, directed):
    """`edge_index` and what belongs to its columns: as the rows are, or both ways, sorted and each once."""
    if directed:
        return numpy.stack(pair) if len(pair[0]) else numpy.zeros((2, 0), "int64"), extra
    src, dst = pair
    both = numpy.stack([numpy.concatenate([src, dst]), numpy.concatenate([dst, src])])
    order = numpy.lexsort((both[1], both[0]))
    both = both[:, order]
    first = numpy.ones(both.shape[1], bool)
    first[1:] = (both[:, 1:] != both[:, :-1]).any(axis=0)
    once = {}
    for name, values in extra.items():
        values = numpy.concatenate([values, values])[order]
        # The repeats of an edge, and its two ways, must agree.
        repeated = numpy.flatnonzero(~first)
        if len(repeated) and not numpy.array_equal(values[repeated], values[repeated - 1]):
            raise DataError(f"an edge stands in several rows that differ in {name}: aggregate them in a view of the edges")
        once[name] = values[first]
    return numpy.ascontiguousarray(both[:, first]), once


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
        width = 1 + max((max(row, default=-1) for row in found), default=-1)
        x = numpy.zeros((len(found), width), "float32")
        for at, row in enumerate(found):
            x[at, list(row)] = list(row.values())
        return x
    raise DataError("the features of the nodes differ in length, or are no numbers")


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
    """The parts of the splits as masks."""
    rows = graph._sql(f"SELECT split, node, part FROM {graph._schema}.splits")
    rows._rows.count()
    split, node, part = (array(rows._rows, at) for at in range(3))
    splits = numpy.unique(split)
    node = numbers_of(keys, node, "node")
    found = {}
    for name in ("train", "val", "test"):
        mask = numpy.zeros((len(keys), len(splits)), bool)
        rows_of = part == name
        mask[node[rows_of], numpy.searchsorted(splits, split[rows_of])] = True
        found[f"{name}_mask"] = mask[:, 0].copy() if len(splits) == 1 else mask
    return found
