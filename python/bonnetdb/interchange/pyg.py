"""`Data` and `HeteroData` of PyTorch Geometric."""

import warnings
from multiprocessing import get_all_start_methods

import numpy

from bonnetdb._bonnetdb import DataError, ProgrammingError, Table
from bonnetdb.graph import create_graph
from bonnetdb.interchange import hetero
from bonnetdb.relation import need


MASKS = ("train_mask", "val_mask", "test_mask")
OF_NODES = {"num_nodes", "x", "y", *MASKS}
OF_EDGES = {"edge_index", "edge_weight", "edge_attr"}
"""What a graph keeps of the attributes of a `Data`, or of a part of a `HeteroData`."""


def load(graph):
    """See `Graph.to_pyg`."""
    torch = need("torch", ".to_pyg()")
    data = need("torch_geometric.data", ".to_pyg()")
    if graph.is_collection:
        return [data.Data(**tensors(torch, found)) for found in graph.collection()]
    if graph.is_heterogeneous:
        found = data.HeteroData()
        for key, values in graph.arrays_by_type().items():
            found[key].update(tensors(torch, values))
        return found
    return data.Data(**tensors(torch, graph.arrays()))


def tensors(torch, found):
    """Arrays as tensors, on the same memory; what is no array as it is."""
    return {
        name: torch.from_numpy(numpy.require(values, requirements="W")) if isinstance(values, numpy.ndarray) else values
        for name, values in found.items()
    }


def store(connection, data, name, directed, replace):
    """See `Connection.from_pyg`. Tensors, or anything that NumPy takes."""
    by_type = hasattr(data, "node_types") and hasattr(data, "edge_types")
    if left := left_out_by_type(data) if by_type else left_out(data, OF_NODES | OF_EDGES):
        warnings.warn(f"from_pyg does not keep {', '.join(left)}", stacklevel=3)
    if by_type:
        return store_by_type(connection, data, name, directed, replace)
    edges = edges_of(data, "the data")
    nodes = nodes_of(data, "", num_nodes(data))
    return create_graph(connection, name, Table(edges), Table(nodes), directed, replace, splits([(0, data)]))


def store_by_type(connection, data, name, directed, replace):
    """A `HeteroData` as a graph with types: its nodes are numbered through, one type after the other."""
    nodes, parts, count = {}, [], 0
    for kind in data.node_types:
        size = num_nodes(data[kind])
        if size is None:
            raise DataError(f"the number of nodes of type {kind!r} is not known: set data[{kind!r}].num_nodes")
        nodes[kind] = nodes_of(data[kind], f" of {kind!r}", size)
        parts.append((count, data[kind]))
        count += size
    if not nodes or not data.edge_types:
        raise DataError("the data has no nodes, or no edge_index")
    edges = {relation: edges_of(data[relation], f"the relation {relation}") for relation in data.edge_types}
    rows = [connection._open().run(query, [scope]) for query, scope in hetero.tables(nodes, edges)]
    return create_graph(connection, name, rows[1], rows[0], directed, replace, splits(parts))


def left_out(data, kept, where=""):
    """What a graph does not keep of these attributes, in words."""
    found = [f"{name}{where}" for name in names_of(data) if name not in kept and getattr(data, name, None) is not None]
    # A part is a list of nodes in `splits`: one without any leaves no trace.
    empty = [name for name in MASKS if name in kept and (mask := plain(data, name)) is not None and not mask.any()]
    return found + [f"{name}{where}, which marks no node" for name in empty]


def left_out_by_type(data):
    """What a graph does not keep of a `HeteroData`, in words."""
    parts = [(data[kind], OF_NODES, f" of {kind!r}") for kind in data.node_types]
    parts += [(data[relation], OF_EDGES, f" of {relation}") for relation in data.edge_types]
    known = {name for part, _, _ in parts for name in names_of(part)}
    of_all = [name for name in names_of(data) if name not in known]
    return [text for part in parts for text in left_out(*part)] + of_all


def names_of(data):
    """The names of the attributes of a `Data`, or of any other object."""
    keys = getattr(data, "keys", None)
    return list(keys() if callable(keys) else getattr(data, "__dict__", ()) if keys is None else keys)


def num_nodes(data):
    """The number of nodes; None where nothing says it."""
    size = getattr(data, "num_nodes", None)
    if size is None and (x := plain(data, "x")) is not None:
        size = len(x)
    if size is None and (pair := plain(data, "edge_index")) is not None:
        size = int(pair.max(initial=-1)) + 1
    return size


def nodes_of(data, where, size):
    """The columns of the nodes."""
    nodes = {"node": numpy.arange(size, dtype="int64")}
    for column, key in (("features", "x"), ("label", "y")):
        values = plain(data, key)
        if values is not None:
            if len(values) != size:
                raise DataError(f"{key}{where} has {len(values)} rows for {size} nodes")
            nodes[column] = values[:, None] if column == "features" and values.ndim == 1 else values
    return nodes


def edges_of(data, what):
    """The columns of the edges."""
    edge_index = plain(data, "edge_index")
    if edge_index is None or edge_index.ndim != 2 or edge_index.shape[0] != 2:
        raise DataError(f"{what} has no edge_index of two rows")
    edges = {"src": edge_index[0].astype("int64"), "dst": edge_index[1].astype("int64")}
    if (weight := plain(data, "edge_weight")) is not None:
        edges["weight"] = weight
    if (attributes := plain(data, "edge_attr")) is not None:
        edges["features"] = attributes[:, None] if attributes.ndim == 1 else attributes
    return edges


def plain(data, name):
    """A tensor as an array; None where there is none."""
    values = getattr(data, name, None)
    if values is None:
        return None
    if not hasattr(values, "detach"):
        return numpy.asarray(values)
    try:
        return values.detach().cpu().numpy()
    except (TypeError, RuntimeError) as error:
        kind = f"a tensor of {values.dtype}, {values.layout}"
        raise DataError(f"{name} is {kind}, for which NumPy has no array: give a dense one, of float32 say") from error


def splits(parts):
    """The masks of the parts as the table `splits`, of data whose nodes are numbered from these numbers on."""
    found = {"split": [], "node": [], "part": []}
    for first, data in parts:
        for part in ("train", "val", "test"):
            mask = plain(data, f"{part}_mask")
            if mask is None:
                continue
            nodes, split = numpy.nonzero(mask[:, None] if mask.ndim == 1 else mask)
            found["split"].append(split.astype("int64"))
            found["node"].append(first + nodes.astype("int64"))
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
    kind = None
    if graph.is_heterogeneous:
        pair = (input_nodes, None) if isinstance(input_nodes, str) else input_nodes
        kind, input_nodes = pair if isinstance(pair, (tuple, list)) and len(pair) == 2 else (None, None)
        if not isinstance(kind, str) or kind not in features.num_nodes_by_type:
            known = ", ".join(features.num_nodes_by_type)
            raise ProgrammingError(
                f"input_nodes is a type of nodes, or a pair of one and a mask; {graph.name} has the types: {known}"
            )
    if input_nodes is None:
        input_nodes = torch.arange(features.num_nodes_by_type[kind])
    elif isinstance(input_nodes, str):
        input_nodes = features[kind, input_nodes, None]
    elif not isinstance(input_nodes, torch.Tensor):
        input_nodes = torch.as_tensor(input_nodes)
    if kind is not None:
        input_nodes = (kind, input_nodes)
    if options.get("num_workers") and "multiprocessing_context" not in options:
        # A process that is forked has the locks of the engine's threads without these threads, and may wait for them for ever.
        options["multiprocessing_context"] = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    sampling = {name: options.pop(name) for name in ("replace", "subgraph_type") if name in options}
    sampler = NeighborSampler((features, edges), num_neighbors, **sampling)
    return loaders.NeighborLoader((features, edges), num_neighbors, input_nodes=input_nodes, neighbor_sampler=sampler, **options)
