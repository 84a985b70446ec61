"""Graphs of networkx."""

from bonnetdb._bonnetdb import DataError, Table
from bonnetdb.graph import create_graph
from bonnetdb.relation import need


def load(graph):
    """See `Graph.to_networkx`."""
    networkx = need("networkx", ".to_networkx()")
    nodes, edges = graph.nodes, graph.edges
    names = [name for name in edges.columns if name not in ("src", "dst")]
    multi = "key" in names
    kinds = {
        (False, False): networkx.Graph,
        (True, False): networkx.DiGraph,
        (False, True): networkx.MultiGraph,
        (True, True): networkx.MultiDiGraph,
    }
    result = kinds[graph.directed, multi]()
    at = nodes.columns.index("node")
    for row in nodes:
        result.add_node(row[at], **attributes(nodes.columns, row, ("node",)))
    src, dst = edges.columns.index("src"), edges.columns.index("dst")
    for row in edges:
        known = attributes(edges.columns, row, ("src", "dst", "key") if multi else ("src", "dst"))
        if multi:
            result.add_edge(row[src], row[dst], key=row[edges.columns.index("key")], **known)
        else:
            result.add_edge(row[src], row[dst], **known)
    return result


def attributes(names, row, left_out):
    """The columns of a row that are attributes."""
    return {name: value for name, value in zip(names, row) if name not in left_out and value is not None}


def store(connection, graph, name, replace, label=None):
    """See `Connection.from_networkx`."""
    if label is not None and label != "label" and any("label" in data for _, data in graph.nodes(data=True)):
        raise DataError(f"the nodes have an attribute label beside {label}, which takes its name: remove one of them")
    for node in graph:
        if isinstance(node, bool) or not isinstance(node, (int, str)):
            raise DataError(
                f"the node {node!r} is no integer and no text: networkx.convert_node_labels_to_integers(graph, "
                "label_attribute='name') numbers the nodes"
            )
    of_nodes = [data for _, data in graph.nodes(data=True)]
    if label is not None:
        if not any(label in data for data in of_nodes):
            known = ", ".join(sorted({str(key) for data in of_nodes for key in data})) or "none"
            raise DataError(f"no node has the attribute {label}; there are: {known}")
        of_nodes = [{"label" if key == label else key: value for key, value in data.items()} for data in of_nodes]
    nodes = columns([("node", list(graph))], of_nodes)
    if graph.is_multigraph():
        rows = list(graph.edges(keys=True, data=True))
        ends = [("src", [row[0] for row in rows]), ("dst", [row[1] for row in rows]), ("key", [row[2] for row in rows])]
    else:
        rows = list(graph.edges(data=True))
        ends = [("src", [row[0] for row in rows]), ("dst", [row[1] for row in rows])]
    edges = columns(ends, [row[-1] for row in rows])
    return create_graph(connection, name, edges, nodes, graph.is_directed(), replace)


def columns(keys, attributes):
    """A table of keys and of the attributes that any row has."""
    found = dict(keys)
    reserved = set(found)
    names = {}
    for row in attributes:
        for name in row:
            names.setdefault(name)
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"the attribute {name!r} has no text as its name")
        if name in reserved:
            raise DataError(f"the attribute {name} has the name of a column that the graph needs: rename it")
        found[name] = [row.get(name) for row in attributes]
    # Without rows, a column of keys has no type: graphs count from 0.
    if not found[keys[0][0]]:
        import numpy

        found.update({name: numpy.zeros(0, "int64") for name in reserved})
    return Table(found)
