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


class FeatureStore(data.FeatureStore):
    """The features of the nodes (`x`), their labels (`y`) and the masks of the splits, as `Graph.to_pyg` has them. Groups have no
    names: `store[None, "x", index]`."""

    def __init__(self, graph):
        super().__init__()
        if graph.is_collection:
            raise ProgrammingError(
                f"{graph.name} is a collection of graphs: to_pyg() gives a list for PyTorch Geometric's DataLoader"
            )
        own = self.__dict__
        own["_source"] = Source(graph)
        nodes = graph.nodes
        types = dict(zip(nodes.columns, nodes.types))
        keys = of_tables.read(graph, "nodes", ("node",), "ORDER BY node")["node"]
        own["num_nodes"] = len(keys)
        own["_keys"] = None if of_tables.is_counted(keys) else keys
        own["_columns"] = {
            name: column for name, column in (("x", "features"), ("y", "label")) if self._is_known(column, types.get(column))
        }
        own["_width"] = self._width_of_maps() if types.get("features", "").startswith("MAP") else None
        own["_texts"] = self._texts_of_labels() if types.get("label") == "VARCHAR" else None
        own["_masks"] = of_tables.masks(graph, keys) if graph._has("splits") else {}

    def _is_known(self, column, kind):
        """Whether a column has values."""
        if kind is None:
            return False
        graph = self._source.graph
        return bool(graph._sql(f"SELECT 1 FROM {graph._schema}.nodes WHERE {column} IS NOT NULL LIMIT 1").fetchall())

    def _width_of_maps(self):
        graph = self._source.graph
        (width,) = graph._sql(f"SELECT max(array_max(map_keys(features))) FROM {graph._schema}.nodes").fetchone()
        return 0 if width is None else width + 1

    def _texts_of_labels(self):
        graph = self._source.graph
        labels = f"SELECT DISTINCT label FROM {graph._schema}.nodes WHERE label IS NOT NULL"
        return {label: at for at, label in enumerate(sorted(label for (label,) in graph._sql(labels)))}

    def get_all_tensor_attrs(self):
        return [data.TensorAttr(None, name) for name in [*self._columns, *self._masks]]

    def _get_tensor(self, attr):
        return self._multi_get_tensor([attr])[0]

    def _multi_get_tensor(self, attrs):
        # The columns of one batch in one query.
        attrs = [self._named(attr) for attr in attrs]
        found = {}
        for attr in attrs:
            if attr.attr_name in self._columns and id(attr.index) not in found:
                names = [other.attr_name for other in attrs if other.index is attr.index and other.attr_name in self._columns]
                found[id(attr.index)] = self._read(names, attr.index)
        return [
            found[id(attr.index)][attr.attr_name] if attr.attr_name in self._columns else self._mask(attr.attr_name, attr.index)
            for attr in attrs
        ]

    def _named(self, attr):
        if attr.group_name is not None or attr.attr_name not in self._columns and attr.attr_name not in self._masks:
            known = ", ".join([*self._columns, *self._masks])
            raise ProgrammingError(
                f"the graph {self._source.name} has no tensor {attr.attr_name!r} of {attr.group_name!r}, but of None: {known}"
            )
        return attr

    def _mask(self, name, index):
        mask = torch.from_numpy(self._masks[name])
        return mask if index is None else mask[torch.as_tensor(index) if isinstance(index, numpy.ndarray) else index]

    def _read(self, names, index):
        graph = self._source.graph
        columns = ", ".join(f"n.{self._columns[name]}" for name in names)
        one = isinstance(index, int)
        if index is None:
            query, scope = f"SELECT {columns} FROM {graph._schema}.nodes AS n ORDER BY n.node", []
        else:
            numbers = numpy.arange(self.num_nodes)[index] if isinstance(index, slice) else numpy.asarray(index, dtype="int64")
            numbers = numbers.reshape(-1)
            if len(numbers) and not -self.num_nodes <= numbers.min() <= numbers.max() < self.num_nodes:
                raise DataError(
                    f"the graph {graph.name} has the nodes 0 to {self.num_nodes - 1}, not {numbers.min()} to {numbers.max()}"
                )
            numbers = numbers % max(self.num_nodes, 1)
            wanted = Table({"place": numpy.arange(len(numbers)), "node": numbers if self._keys is None else self._keys[numbers]})
            query = (
                f"SELECT {columns} FROM bonnetdb_wanted AS w JOIN {graph._schema}.nodes AS n ON n.node = w.node ORDER BY w.place"
            )
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

    def _get_tensor_size(self, attr):
        attr = copy.copy(attr)
        attr.index = slice(0, 1)
        return (self.num_nodes, *self._get_tensor(attr).shape[1:])

    def _put_tensor(self, tensor, attr):
        raise NotSupportedError("a store reads: Connection.from_pyg and SQL write graphs")

    def _remove_tensor(self, attr):
        raise NotSupportedError("a store reads: SQL changes the tables of a graph")

    def __repr__(self):
        return f"bonnetdb.pyg.FeatureStore({self._source.name!r})"


class GraphStore(data.GraphStore):
    """The edges of a graph as `Graph.to_pyg` has them. They are read when they are first asked for, and stay in memory."""

    def __init__(self, graph):
        super().__init__()
        if graph.is_collection:
            raise ProgrammingError(
                f"{graph.name} is a collection of graphs: to_pyg() gives a list for PyTorch Geometric's DataLoader"
            )
        self.__dict__["_source"] = Source(graph)
        keys = of_tables.read(graph, "nodes", ("node",), "ORDER BY node")["node"]
        self.__dict__["_size"] = (len(keys), len(keys))
        self.__dict__["_edges"] = None

    def get_all_edge_attrs(self):
        return [data.EdgeAttr(None, data.EdgeLayout.COO, False, self._size)]

    def _get_edge_index(self, edge_attr):
        if edge_attr.edge_type is not None or edge_attr.layout != data.EdgeLayout.COO:
            return None
        if self._edges is None:
            graph = self._source.graph
            keys = of_tables.read(graph, "nodes", ("node",), "ORDER BY node")["node"]
            pair = of_tables.pair_of(of_tables.read(graph, "edges", ("src", "dst")), keys)
            self.__dict__["_edges"] = torch.from_numpy(of_tables.ends(pair, {}, graph.directed)[0])
        return self._edges[0], self._edges[1]

    def _put_edge_index(self, edge_index, edge_attr):
        raise NotSupportedError("a store reads: Connection.from_pyg and SQL write graphs")

    def _remove_edge_index(self, edge_attr):
        raise NotSupportedError("a store reads: SQL changes the tables of a graph")

    def __repr__(self):
        return f"bonnetdb.pyg.GraphStore({self._source.name!r})"


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
        self._local = None

    def _sample(self, seed, seed_time=None, **options):
        if self._local is None or len(self._local) != self.num_nodes:
            self._local = torch.full((self.num_nodes,), -1, dtype=torch.int64)
        local = self._local
        nodes, rows, cols, edges = [seed], [], [], []
        local[seed] = torch.arange(len(seed))
        new, count, frontier = [len(seed)], len(seed), (seed, local[seed])
        for neighbors in self.num_neighbors.get_mapped_values():
            at, edge = self._of(frontier[0], neighbors)
            source = self.row[edge]
            fresh = torch.unique(source[local[source] < 0])
            numbers = torch.arange(count, count + len(fresh))
            local[fresh] = numbers
            rows.append(local[source])
            cols.append(frontier[1][at])
            edges.append(edge)
            nodes.append(fresh)
            new.append(len(fresh))
            count += len(fresh)
            frontier = (fresh, numbers)
        node = torch.cat(nodes)
        local[node] = -1
        none = torch.zeros(0, dtype=torch.int64)
        return sampler.SamplerOutput(
            node=node,
            row=torch.cat(rows or [none]),
            col=torch.cat(cols or [none]),
            edge=torch.cat(edges or [none]),
            num_sampled_nodes=new,
            num_sampled_edges=[len(edge) for edge in edges],
        )

    def _of(self, frontier, neighbors):
        """Edges that end in these nodes: the place of each one's node among them, and its number."""
        first = self.colptr[frontier]
        degree = self.colptr[frontier + 1] - first
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
