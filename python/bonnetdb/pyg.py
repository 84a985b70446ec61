"""Graphs of a database behind PyTorch Geometric: stores from which its loaders sample, and a sampler for where none is compiled.

    features, edges = con.graph("papers").to_pyg_stores()
    loader = con.graph("papers").to_pyg_loader([10, 5], input_nodes="train_mask", batch_size=512)

The keys of the nodes, the ends of the edges and the masks are in memory; features and labels are read from the database, those of
a batch when it is made. Nodes are numbered as `Graph.to_pyg` numbers them.
"""

import copy
import os
import warnings

import numpy
import torch
from torch_geometric import data, sampler

from bonnetdb._bonnetdb import DataError, NotSupportedError, OperationalError, ProgrammingError, Table
from bonnetdb.columns import array
from bonnetdb.interchange import arrays as of_tables
from bonnetdb.interchange.hetero import NodeTypes, edges_by_type


class Source:
    """A graph for whoever reads it, in other processes too: there its database, which must be a lasting one, is opened anew."""

    def __init__(self, graph):
        self.name = graph.name
        self.path = graph.connection._path
        self._graph, self._process = graph, os.getpid()

    @property
    def graph(self):
        if self._graph is None or self._process != os.getpid():
            from bonnetdb.connection import connect

            if self.path is None:
                raise OperationalError(
                    f"the graph {self.name} is in memory, where other processes do not see it: use num_workers=0, or a lasting database"
                )
            # The one of the other process is not ours to close.
            self._others = self._graph
            self._graph = connect(self.path, read_only=True, threads=1, progress=False).graph(self.name)
            self._process = os.getpid()
        return self._graph

    def __getstate__(self):
        return {"name": self.name, "path": self.path, "_graph": None, "_process": None}


class Nodes:
    """The nodes of a graph, or those of one type, as a store reads them."""

    def __init__(self, source, kind, keys, masks):
        self._source = source
        self.kind = kind
        self.masks = masks
        self.count = len(keys)
        self._keys = None if of_tables.is_counted(keys) else keys
        graph = source.graph
        nodes = graph.nodes
        types = dict(zip(nodes.columns, nodes.types))
        self._rows = (
            f"{graph._schema}.nodes" if kind is None else f"(SELECT * FROM {graph._schema}.nodes WHERE {NodeTypes.is_of(kind)})"
        )
        known = (("x", "features"), ("y", "label"))
        self.columns = {name: column for name, column in known if column in types and self._has_values(column)}
        self._width = self._width_of_maps() if types.get("features", "").startswith("MAP") else None
        self._texts = self._texts_of_labels() if types.get("label") == "VARCHAR" else None

    def _sql(self, query):
        return self._source.graph._sql(query)

    def _has_values(self, column):
        return bool(self._sql(f"SELECT 1 FROM {self._rows} WHERE {column} IS NOT NULL LIMIT 1").fetchall())

    def _width_of_maps(self):
        (width,) = self._sql(f"SELECT max(array_max(map_keys(features))) FROM {self._rows}").fetchone()
        return 0 if width is None else width + 1

    def _texts_of_labels(self):
        labels = f"SELECT DISTINCT label FROM {self._rows} WHERE label IS NOT NULL"
        return {label: at for at, label in enumerate(sorted(label for (label,) in self._sql(labels)))}

    def mask(self, name, index):
        """The values of a mask."""
        mask = torch.from_numpy(self.masks[name])
        return mask if index is None else mask[torch.as_tensor(index) if isinstance(index, numpy.ndarray) else index]

    def read(self, names, index):
        """The values of `x` and `y` of the nodes with these numbers (all of them: None), in one query."""
        graph = self._source.graph
        columns = ", ".join(f"n.{self.columns[name]}" for name in names)
        one = isinstance(index, int)
        if index is None:
            query, scope = f"SELECT {columns} FROM {self._rows} AS n ORDER BY n.node", []
        else:
            numbers = numpy.arange(self.count)[index] if isinstance(index, slice) else numpy.asarray(index, dtype="int64")
            numbers = numbers.reshape(-1)
            if len(numbers) and not -self.count <= numbers.min() <= numbers.max() < self.count:
                of_type = "" if self.kind is None else f" of type {self.kind}"
                raise DataError(
                    f"the graph {graph.name} has the nodes 0 to {self.count - 1}{of_type}, not {numbers.min()} to {numbers.max()}"
                )
            numbers = numbers % max(self.count, 1)
            wanted = Table({"place": numpy.arange(len(numbers)), "node": numbers if self._keys is None else self._keys[numbers]})
            query = f"SELECT {columns} FROM bonnetdb_wanted AS w JOIN {self._rows} AS n ON n.node = w.node ORDER BY w.place"
            scope = [{"bonnetdb_wanted": wanted}]
        rows = graph.connection._session.query(query, scope)
        rows.count()
        found = {name: self._tensor(name, array(rows, at)) for at, name in enumerate(names)}
        return {name: values[0] for name, values in found.items()} if one else found

    def _tensor(self, name, values):
        if name == "y" and self._texts is not None:
            values = numpy.array([-1 if label is None else self._texts[label] for label in values], dtype="int64")
        elif name == "y":
            values = of_tables.labels(values)
        elif self._width is not None:
            values = of_tables.filled(values, self._width)
        else:
            values = of_tables.features(values)
        return torch.from_numpy(numpy.require(values, requirements="W"))


class FeatureStore(data.FeatureStore):
    """The features of the nodes (`x`), their labels (`y`) and the masks of the splits, as `Graph.to_pyg` has them. Groups are the
    types of nodes, `store["paper", "x", index]`, and have no names where nodes have no types: `store[None, "x", index]`."""

    def __init__(self, graph):
        super().__init__()
        refuse_collection(graph)
        source = Source(graph)
        if graph.is_heterogeneous:
            types = NodeTypes(graph)
            masks = types.masks()
            of = lambda kind: {part: mask for (of_kind, part), mask in masks.items() if of_kind == kind}  # noqa: E731
            nodes = {kind: Nodes(source, kind, types.keys_of(kind), of(kind)) for kind in types.names}
        else:
            keys = of_tables.read(graph, "nodes", ("node",), "ORDER BY node")["node"]
            nodes = {None: Nodes(source, None, keys, of_tables.masks(graph, keys) if graph._has("splits") else {})}
        self.__dict__["_source"], self.__dict__["_nodes"] = source, nodes

    @property
    def num_nodes_by_type(self):
        """The number of nodes of each type; that of None where nodes have no types."""
        return {kind: nodes.count for kind, nodes in self._nodes.items()}

    @property
    def num_nodes(self):
        """The number of all nodes."""
        return sum(self.num_nodes_by_type.values())

    def get_all_tensor_attrs(self):
        return [data.TensorAttr(kind, name) for kind, nodes in self._nodes.items() for name in [*nodes.columns, *nodes.masks]]

    def _get_tensor(self, attr):
        return self._multi_get_tensor([attr])[0]

    def _multi_get_tensor(self, attrs):
        # The columns of one batch and type in one query.
        wanted, found = {}, {}
        for attr in attrs:
            if attr.attr_name in self._of(attr).columns:
                wanted.setdefault((attr.group_name, id(attr.index)), []).append(attr)
        for place, same in wanted.items():
            names = list(dict.fromkeys(attr.attr_name for attr in same))
            found[place] = self._nodes[place[0]].read(names, same[0].index)
        return [
            found[attr.group_name, id(attr.index)][attr.attr_name]
            if attr.attr_name in self._of(attr).columns
            else self._of(attr).mask(attr.attr_name, attr.index)
            for attr in attrs
        ]

    def _of(self, attr):
        """The nodes that a tensor is of."""
        nodes = self._nodes.get(attr.group_name)
        if nodes is None or attr.attr_name not in nodes.columns and attr.attr_name not in nodes.masks:
            known = "; ".join(f"of {kind!r}: {', '.join([*one.columns, *one.masks])}" for kind, one in self._nodes.items())
            raise ProgrammingError(
                f"the graph {self._source.name} has no tensor {attr.attr_name!r} of {attr.group_name!r}, but {known}"
            )
        return nodes

    def _get_tensor_size(self, attr):
        attr = copy.copy(attr)
        attr.index = slice(0, 1)
        return (self._of(attr).count, *self._get_tensor(attr).shape[1:])

    def _put_tensor(self, tensor, attr):
        raise NotSupportedError("a store reads: Connection.from_pyg and SQL write graphs")

    def _remove_tensor(self, attr):
        raise NotSupportedError("a store reads: SQL changes the tables of a graph")

    def __repr__(self):
        return f"bonnetdb.pyg.FeatureStore({self._source.name!r})"


class GraphStore(data.GraphStore):
    """The edges of a graph as `Graph.to_pyg` has them, by triples of types where nodes have types. They are read when they are first
    asked for, and stay in memory."""

    def __init__(self, graph):
        super().__init__()
        refuse_collection(graph)
        self.__dict__["_source"] = Source(graph)
        self.__dict__["_edges"] = None
        if graph.is_heterogeneous:
            types = NodeTypes(graph)
            found = edges_by_type(graph, types)
            self.__dict__["_edges"] = {relation: torch.from_numpy(pair) for relation, (pair, _) in found.items()}
            self.__dict__["_sizes"] = {relation: (types.sizes[relation[0]], types.sizes[relation[2]]) for relation in found}
        else:
            keys = of_tables.read(graph, "nodes", ("node",), "ORDER BY node")["node"]
            self.__dict__["_sizes"] = {None: (len(keys), len(keys))}

    def get_all_edge_attrs(self):
        return [data.EdgeAttr(relation, data.EdgeLayout.COO, False, size) for relation, size in self._sizes.items()]

    def _get_edge_index(self, edge_attr):
        if edge_attr.edge_type not in self._sizes or edge_attr.layout != data.EdgeLayout.COO:
            return None
        if self._edges is None:
            graph = self._source.graph
            keys = of_tables.read(graph, "nodes", ("node",), "ORDER BY node")["node"]
            pair = of_tables.pair_of(of_tables.read(graph, "edges", ("src", "dst")), keys)
            self.__dict__["_edges"] = {None: torch.from_numpy(of_tables.ends(pair, {}, graph.directed)[0])}
        edges = self._edges[edge_attr.edge_type]
        return edges[0], edges[1]

    def _put_edge_index(self, edge_index, edge_attr):
        raise NotSupportedError("a store reads: Connection.from_pyg and SQL write graphs")

    def _remove_edge_index(self, edge_attr):
        raise NotSupportedError("a store reads: SQL changes the tables of a graph")

    def __repr__(self):
        return f"bonnetdb.pyg.GraphStore({self._source.name!r})"


def refuse_collection(graph):
    """Stores are of one graph."""
    if graph.is_collection:
        raise ProgrammingError(f"{graph.name} is a collection of graphs: to_pyg() gives a list for PyTorch Geometric's DataLoader")


class NeighborSampler(sampler.NeighborSampler):
    """PyTorch Geometric's sampler of neighbourhoods without a compiled library: the same output for nodes and links, by tensors
    alone. For each node of a hop, `num_neighbors` of the edges that end in it, uniformly without repeats (all of them where there
    are fewer, or for -1), or with `replace` each drawn by itself. Numbers come from torch's generator."""

    def __init__(self, data, num_neighbors, replace=False, subgraph_type="directional"):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*pyg-lib.*")
            super().__init__(data, num_neighbors, subgraph_type=subgraph_type, replace=replace)
        if self.subgraph_type == sampler.base.SubgraphType.induced:
            raise NotSupportedError("induced neighbourhoods are not sampled: use subgraph_type 'directional' or 'bidirectional'")
        self._local = {}
        if isinstance(data, tuple) and self.is_hetero:
            # In the order of the stores, so that the numbers of a seed are the same in every process; with types without tensors.
            features, edges = data
            self.edge_types = [attr.edge_type for attr in edges.get_all_edge_attrs()]
            self.node_types = list(features.num_nodes_by_type)
            self.num_nodes = features.num_nodes_by_type

    def _sample(self, seed, seed_time=None, **options):
        if not isinstance(seed, dict):
            neighbors = self.num_neighbors.get_mapped_values()
            walk = Walk(self, {None: self.num_nodes}, {None: seed}, {None: (None, None, self.row, self.colptr, neighbors)})
            return sampler.SamplerOutput(**{name: of_types and of_types[None] for name, of_types in walk.output().items()})
        neighbors = self.num_neighbors.get_mapped_values(self.edge_types)
        relations = {}
        for kind in self.edge_types:
            name = self.to_rel_type[kind]
            relations[kind] = (kind[0], kind[2], self.row_dict[name], self.colptr_dict[name], neighbors[name])
        return sampler.HeteroSamplerOutput(**Walk(self, self.num_nodes, seed, relations).output())

    def _local_of(self, kind, count):
        """The number in the sample of each node of a type, -1 for those that are not in it: one tensor for all samples."""
        local = self._local.get(kind)
        if local is None or len(local) != count:
            local = self._local[kind] = torch.full((count,), -1, dtype=torch.int64)
        return local

    def _of(self, colptr, frontier, neighbors):
        """Edges that end in these nodes: the place of each one's node among them, and its number."""
        first = colptr[frontier]
        degree = colptr[frontier + 1] - first
        if self.replace and neighbors >= 0:
            at = torch.arange(len(frontier))[degree > 0].repeat_interleave(neighbors)
            return at, first[at] + drawn(degree[at])
        few = degree <= neighbors if neighbors >= 0 else torch.ones_like(degree, dtype=torch.bool)
        whole = few.nonzero().view(-1)
        at = whole.repeat_interleave(degree[whole])
        begins = degree[whole].cumsum(0) - degree[whole]
        edge = first[at] + torch.arange(len(at)) - begins.repeat_interleave(degree[whole])
        if bool(few.all()) or neighbors == 0:
            return at, edge
        part = (~few).nonzero().view(-1)
        chosen = first[part][:, None] + combinations(degree[part], neighbors)
        return torch.cat([at, part.repeat_interleave(neighbors)]), torch.cat([edge, chosen.view(-1)])


class Walk:
    """One sample: from the seeds, hop by hop, along each relation (types of source and target, sources, first edges by target,
    neighbours by hop)."""

    def __init__(self, sampler, sizes, seed, relations):
        none = torch.zeros(0, dtype=torch.int64)
        self.local = {kind: sampler._local_of(kind, size) for kind, size in sizes.items()}
        self.nodes = {kind: [seed.get(kind, none)] for kind in sizes}
        self.rows, self.cols, self.edges = ({name: [none] for name in relations} for _ in range(3))
        self.new_edges = {name: [] for name in relations}
        counts = {kind: len(nodes[0]) for kind, nodes in self.nodes.items()}
        for kind, nodes in self.nodes.items():
            self.local[kind][nodes[0]] = torch.arange(counts[kind])
        for hop in range(max((len(relation[-1]) for relation in relations.values()), default=0)):
            last = {kind: nodes[-1] for kind, nodes in self.nodes.items()}
            found = {kind: [] for kind in sizes}
            for name, (source, target, row, colptr, neighbors) in relations.items():
                at, edge = sampler._of(colptr, last[target], neighbors[hop])
                ends = row[edge]
                local = self.local[source]
                fresh = torch.unique(ends[local[ends] < 0])
                local[fresh] = torch.arange(counts[source], counts[source] + len(fresh))
                counts[source] += len(fresh)
                found[source].append(fresh)
                self.rows[name].append(local[ends])
                self.cols[name].append(self.local[target][last[target]][at])
                self.edges[name].append(edge)
                self.new_edges[name].append(len(edge))
            for kind, fresh in found.items():
                self.nodes[kind].append(torch.cat(fresh or [none]))
        for kind, nodes in self.nodes.items():
            self.local[kind][torch.cat(nodes)] = -1

    def output(self):
        """What the samplers of PyTorch Geometric answer, by type."""
        joined = [
            {name: torch.cat(parts) for name, parts in parts.items()} for parts in (self.nodes, self.rows, self.cols, self.edges)
        ]
        found = dict(zip(("node", "row", "col", "edge"), joined))
        found["num_sampled_nodes"] = {kind: [len(nodes) for nodes in parts] for kind, parts in self.nodes.items()}
        found["num_sampled_edges"] = self.new_edges
        return found


def drawn(below):
    """A number from 0 up to each bound, without the bound."""
    return torch.minimum((torch.rand(len(below), dtype=torch.float64) * below).long(), below - 1)


def combinations(sizes, count):
    """`count` different numbers below each size, every set as likely as any other (Floyd; Bentley and Floyd, 1987). O(count^2) a
    row, whatever the sizes."""
    chosen = torch.full((len(sizes), count), -1, dtype=torch.int64)
    for at in range(count):
        last = sizes - count + at
        number = drawn(last + 1)
        taken = (chosen[:, :at] == number[:, None]).any(dim=1)
        chosen[:, at] = torch.where(taken, last, number)
    return chosen


class ComplexData(data.Data):
    """A simplicial complex: see `Complex.to_pyg`. Batches put boundary matrices along the diagonal and count vertices on."""

    def __cat_dim__(self, key, value, *args, **kwargs):
        if key.startswith("boundary_"):
            return (0, 1)
        return -1 if key.startswith("simplices_") else super().__cat_dim__(key, value, *args, **kwargs)

    def __inc__(self, key, value, *args, **kwargs):
        return self.num_nodes if key.startswith("simplices_") else super().__inc__(key, value, *args, **kwargs)
