"""A collection of graphs, whose tables have the column `graph_id`, as arrays of each of them."""

import numpy

from bonnetdb._bonnetdb import DataError
from bonnetdb.interchange.arrays import attributes_of, attributes_of_nodes, ends, labels, numbers_of, read


def collection(graph):
    """See `Graph.collection`."""
    nodes = read(graph, "nodes", ("graph_id", "node", "features", "label"), "ORDER BY graph_id, node")
    edges = read(graph, "edges", ("graph_id", "src", "dst", "weight", "features"), "ORDER BY graph_id")
    of_node = nodes["graph_id"]
    ids, first = numpy.unique(of_node, return_index=True)
    first = numpy.append(first, len(of_node))
    of_edge = numbers_of(ids, edges["graph_id"], "graph_id")
    begins = numpy.searchsorted(of_edge, numpy.arange(len(ids) + 1))
    keys, src, dst = nodes["node"], edges["src"], edges["dst"]
    extra, of_nodes = attributes_of(edges), attributes_of_nodes(nodes)
    of_graphs = labels_of_graphs(graph, ids)
    result = []
    for at, name in enumerate(ids):
        rows, arcs = slice(first[at], first[at + 1]), slice(begins[at], begins[at + 1])
        pair = numpy.stack([numbers_of(keys[rows], end[arcs], what) for end, what in ((src, "src"), (dst, "dst"))])
        found = {"num_nodes": int(first[at + 1] - first[at])}
        found["edge_index"], attributes = ends(pair, {key: values[arcs] for key, values in extra.items()}, graph.directed)
        found.update(attributes)
        # What a collection learns is the label of the graph.
        found.update({("node_label" if key == "y" else key): values[rows] for key, values in of_nodes.items()})
        if of_graphs is not None:
            found["y"] = of_graphs[at : at + 1]
        found["graph_id"] = name
        result.append(found)
    return result


def labels_of_graphs(graph, ids):
    """The label of each graph, from the table `graphs`; none where there is none."""
    if not graph._has("graphs"):
        return None
    graphs = read(graph, "graphs", ("graph_id", "label"))
    if "label" not in graphs:
        return None
    found = labels(graphs["label"])
    if found is None:
        return None
    number = numbers_of(ids, graphs["graph_id"], "graph_id")
    if len(number) != len(ids):
        raise DataError(f"the table graphs has {len(number)} rows for {len(ids)} graphs")
    ordered = numpy.empty_like(found)
    ordered[number] = found
    return ordered
