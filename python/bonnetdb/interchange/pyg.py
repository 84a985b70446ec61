"""`Data` of PyTorch Geometric."""

import numpy

from bonnetdb._bonnetdb import DataError, Table
from bonnetdb.graph import create_graph
from bonnetdb.relation import need


def load(graph):
    """See `Graph.to_pyg`."""
    torch = need("torch", ".to_pyg()")
    data = need("torch_geometric.data", ".to_pyg()")
    if graph.is_collection:
        return [data.Data(**tensors(torch, found)) for found in graph.collection()]
    return data.Data(**tensors(torch, graph.arrays()))


def tensors(torch, found):
    """Arrays as tensors, on the same memory; what is no array as it is."""
    return {
        name: torch.from_numpy(numpy.require(values, requirements="W")) if isinstance(values, numpy.ndarray) else values
        for name, values in found.items()
    }


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


def stores(graph):
    """See `Graph.to_pyg_stores`."""
    need("torch_geometric.data", ".to_pyg_stores()")
    from bonnetdb.pyg import FeatureStore, GraphStore

    return FeatureStore(graph), GraphStore(graph)


def loader(graph, num_neighbors, input_nodes, options):
    """See `Graph.to_pyg_loader`."""
    torch = need("torch", ".to_pyg_loader()")
    loaders = need("torch_geometric.loader", ".to_pyg_loader()")
    from bonnetdb.pyg import NeighborSampler

    features, edges = stores(graph)
    if input_nodes is None:
        input_nodes = torch.arange(features.num_nodes)
    elif isinstance(input_nodes, str):
        input_nodes = features[None, input_nodes, None]
    elif not isinstance(input_nodes, torch.Tensor):
        input_nodes = torch.as_tensor(input_nodes)
    sampling = {name: options.pop(name) for name in ("replace", "subgraph_type") if name in options}
    sampler = NeighborSampler((features, edges), num_neighbors, **sampling)
    return loaders.NeighborLoader((features, edges), num_neighbors, input_nodes=input_nodes, neighbor_sampler=sampler, **options)
