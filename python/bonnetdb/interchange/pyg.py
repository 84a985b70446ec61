"""`Data` of PyTorch Geometric."""

import numpy

from bonnetdb._bonnetdb import DataError, Table
from bonnetdb.graph import create_graph
from bonnetdb.relation import need


def load(graph):
    """See `Graph.to_pyg`."""
    torch = need("torch", ".to_pyg()")
    data = need("torch_geometric.data", ".to_pyg()")
    from bonnetdb.interchange.arrays import arrays

    found = arrays(graph)
    size = found.pop("num_nodes")
    result = data.Data(**{name: torch.from_numpy(numpy.require(values, requirements="W")) for name, values in found.items()})
    result.num_nodes = size
    return result


def store(connection, data, name, directed, replace):
    """See `Connection.from_pyg`. Tensors, or anything that NumPy takes."""
    edge_index = plain(data, "edge_index")
    if edge_index is None or edge_index.ndim != 2 or edge_index.shape[0] != 2:
        raise DataError("the data has no edge_index of two rows")
    x, y = plain(data, "x"), plain(data, "y")
    size = getattr(data, "num_nodes", None)
    if size is None:
        size = len(x) if x is not None else int(edge_index.max(initial=-1)) + 1
    nodes = {"node": numpy.arange(size, dtype="int64")}
    for column, values in (("features", x), ("label", y)):
        if values is not None:
            if len(values) != size:
                raise DataError(f"{'x' if column == 'features' else 'y'} has {len(values)} rows for {size} nodes")
            nodes[column] = values[:, None] if column == "features" and values.ndim == 1 else values
    edges = {"src": edge_index[0].astype("int64"), "dst": edge_index[1].astype("int64")}
    if (weight := plain(data, "edge_weight")) is not None:
        edges["weight"] = weight
    if (attributes := plain(data, "edge_attr")) is not None:
        edges["features"] = attributes[:, None] if attributes.ndim == 1 else attributes
    return create_graph(connection, name, Table(edges), Table(nodes), directed, replace, splits(data))


def plain(data, name):
    """A tensor as an array; None where there is none."""
    values = getattr(data, name, None)
    if values is None:
        return None
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return numpy.asarray(values)


def splits(data):
    """The masks of the parts as the table `splits`."""
    found = {"split": [], "node": [], "part": []}
    for part in ("train", "val", "test"):
        mask = plain(data, f"{part}_mask")
        if mask is None:
            continue
        nodes, split = numpy.nonzero(mask[:, None] if mask.ndim == 1 else mask)
        found["split"].append(split.astype("int64"))
        found["node"].append(nodes.astype("int64"))
        found["part"].extend([part] * len(nodes))
    if not found["split"]:
        return None
    return Table({
        "split": numpy.concatenate(found["split"]), "node": numpy.concatenate(found["node"]), "part": found["part"],
    })  # fmt: skip
