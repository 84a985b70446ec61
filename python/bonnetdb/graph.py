"""Graphs by name: to other libraries and from them."""

import contextlib
from collections.abc import Mapping

from bonnetdb._bonnetdb import DatabaseError, ProgrammingError, Table
from bonnetdb.frames import rows_or_self
from bonnetdb.literals import identifier, literal, qualified


def create_graph(connection, name, edges, nodes, directed, replace, splits=None, renamed=None, of_nodes=None):
    """Makes a graph of frames, or of lists: pairs or triples (with a weight) for edges, keys for nodes. `renamed` and `of_nodes`
    say which column of the edges, and of the nodes, takes each of the graph's own names."""
    session = connection._open()
    edges = table_of_edges(edges)
    if renamed is not None:
        edges = with_names(session, edges, renamed, "edges")
    if nodes is None:
        if of_nodes is not None and of_nodes["label"] is not None:
            raise ProgrammingError("a label is a column of the nodes: give these, nodes=...")
        ends = "SELECT DISTINCT node FROM (SELECT src AS node FROM bonnetdb_ends UNION ALL SELECT dst FROM bonnetdb_ends)"
        ends += " WHERE node IS NOT NULL ORDER BY node"
        with own_words("ends", "edges"):
            nodes = session.run(ends, [{"bonnetdb_ends": edges}])
    else:
        nodes = rows_or_self("nodes", nodes)
        if not has_rows(nodes):
            nodes = Table({"node": list(nodes)})
        if of_nodes is not None:
            nodes = with_names(session, nodes, of_nodes, "nodes")
    tables = {"nodes": nodes, "edges": edges}
    if splits is not None:
        tables["splits"] = splits
    session.create_graph(name, tables, directed, replace)
    return Graph(connection, name)


@contextlib.contextmanager
def own_words(table, argument):
    """Errors about a table of ours as errors about an argument: the caller knows no variable of this name."""
    try:
        yield
    except DatabaseError as error:
        text = str(error).replace(f"the variable bonnetdb_{table}", f"the argument {argument}").replace(f"bonnetdb_{table}", argument)
        raise type(error)(text) from None


def with_names(session, rows, names, argument):
    """Rows with the columns that `names` gives for each of the graph's own names, under these; the others as they are."""
    with own_words("frame", argument):
        known = session.query("SELECT * FROM bonnetdb_frame", [{"bonnetdb_frame": rows}]).columns
    taken = {own: place_of(known, name, argument, own) for own, name in names.items() if name is not None}
    if all(known[at] == own for own, at in taken.items()):
        return rows
    for own, at in taken.items():
        if own in known and known[at] != own:
            raise ProgrammingError(f"the {argument} have a column {own} beside {known[at]}, which takes its name: leave one of them out")
    names = {at: own for own, at in taken.items()}
    columns = [f"{identifier(column)} AS {identifier(names.get(at, column))}" for at, column in enumerate(known)]
    with own_words("frame", argument):
        return session.run(f"SELECT {', '.join(columns)} FROM bonnetdb_frame", [{"bonnetdb_frame": rows}], True)


def place_of(known, name, argument, own):
    """The column of this name, or the only one that differs from it by case alone."""
    if name in known:
        return known.index(name)
    found = [at for at, column in enumerate(known) if column.lower() == name.lower()]
    if len(found) == 1:
        return found[0]
    if found:
        raise ProgrammingError(f"several columns of the {argument} are named {name} but for case: {', '.join(known[at] for at in found)}")
    there = ", ".join(known) or "none"
    options = {"src": "source", "dst": "target"}
    raise ProgrammingError(
        f"the table {argument} needs a column {name}; there are: {there}. "
        f"from_edges(..., {options.get(own, own)}='...') names the column that is meant"
    )


def has_rows(frame):
    """Whether an object gives its rows to others."""
    return hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__")


def table_of_edges(edges):
    """Edges as a table: a frame as it is, a dict of columns, a list of pairs or triples by columns."""
    if has_rows(edges):
        return edges
    if isinstance(edges, Mapping) or hasattr(edges, "collect"):
        return rows_or_self("edges", edges)
    if getattr(edges, "ndim", None) == 2 and edges.shape[1] == 2:
        return Table({"src": edges[:, 0], "dst": edges[:, 1]})
    rows = [tuple(row) for row in edges]
    width = len(rows[0]) if rows else 2
    if width not in (2, 3) or any(len(row) != width for row in rows):
        raise ProgrammingError("edges are a frame with src and dst, an array of two columns, or pairs, or triples with a weight")
    names = ("src", "dst", "weight")[:width]
    return Table({name: [row[at] for row in rows] for at, name in enumerate(names)})


class Graph:
    """A graph of the database: a schema with the tables `nodes` and `edges`."""

    def __init__(self, connection, name):
        self.connection = connection
        self.name = name
        self._schema = qualified(name)
        plain = self._schema.replace('"', "")
        rows = connection._sql(f"SELECT directed FROM bonnet.graphs WHERE graph = {literal(plain)}", None, []).fetchall()
        if not rows:
            raise ProgrammingError(f"there is no graph {name}; SELECT graph FROM bonnet.graphs lists them")
        self.directed = rows[0][0]

    def _sql(self, query):
        return self.connection._sql(query, None, [])

    def _has(self, table):
        schema = self._schema.replace('"', "").split(".")
        where = f"table_schema = {literal(schema[-1])} AND table_name = {literal(table)}"
        if len(schema) > 1:
            where += f" AND table_catalog = {literal(schema[0])}"
        return bool(self._sql(f"SELECT 1 FROM information_schema.tables WHERE {where} LIMIT 1").fetchall())

    @property
    def nodes(self):
        """The rows of `nodes`, by their keys."""
        return self._sql(f"SELECT * FROM {self._schema}.nodes ORDER BY node")

    @property
    def edges(self):
        """The rows of `edges`."""
        return self._sql(f"SELECT * FROM {self._schema}.edges")

    def profile(self):
        """`graph_profile` of the graph: one row."""
        return self._sql(f"SELECT * FROM graph_profile({self._schema})")

    def to_networkx(self):
        """The graph as one of networkx: directed where its edges are arcs, a multigraph where the edges have a column `key`.
        Columns are attributes; NULLs are left out."""
        from bonnetdb.interchange.networkx import load

        return load(self)

    def to_scipy(self):
        """The adjacency matrix as `scipy.sparse.csr_array`, in the order of the nodes' keys, which `keys()` gives. Entries are
        the column `weight`, else 1; symmetric where the edges are no arcs."""
        from bonnetdb.interchange.scipy import load

        return load(self)

    def to_pyg(self):
        """The graph as a `torch_geometric.data.Data`: see `arrays`. A heterogeneous graph is a `HeteroData`: see `arrays_by_type`;
        a collection of graphs a list of `Data`: see `collection`."""
        from bonnetdb.interchange.pyg import load

        return load(self)

    def to_pyg_stores(self):
        """A `FeatureStore` and a `GraphStore` of PyTorch Geometric over the tables of the graph: see `bonnetdb.pyg`."""
        from bonnetdb.interchange.pyg import stores

        return stores(self)

    def to_pyg_loader(self, num_neighbors, input_nodes=None, **options):
        """A `NeighborLoader` of PyTorch Geometric: batches of sampled neighbourhoods of `input_nodes` (a mask, numbers of nodes,
        or the name of a mask; default: all nodes; of a heterogeneous graph a type, or a pair of one and these), at most
        `num_neighbors` of them a hop and relation. The features of a batch are read from
        the database when it is made. `options` are the loader's: `batch_size`, `shuffle`, `replace`, `num_workers`. The same
        `torch.manual_seed`, the same batches."""
        from bonnetdb.interchange.pyg import loader

        return loader(self, num_neighbors, input_nodes, options)

    @property
    def is_collection(self):
        """Whether the tables hold many graphs, told apart by `graph_id`."""
        return "graph_id" in self.nodes.columns

    @property
    def is_heterogeneous(self):
        """Whether the nodes have types: a column `type`."""
        return "type" in self.nodes.columns and not self.is_collection

    def collection(self):
        """The graphs of a collection in the order of `graph_id`, each a dict as `arrays` gives one, with its `graph_id`; `y` is
        the label of the graph, and `node_label` that of its nodes."""
        from bonnetdb.interchange.collection import collection

        if not self.is_collection:
            raise ProgrammingError(f"{self.name} is one graph: its nodes have no column graph_id; arrays() gives it")
        return collection(self)

    def keys(self):
        """The keys of the nodes in their order, as a NumPy array."""
        from bonnetdb.columns import array

        return array(self._sql(f"SELECT node FROM {self._schema}.nodes ORDER BY node")._rows, 0)

    def arrays(self):
        """The graph as a dict of NumPy arrays, in PyTorch Geometric's words and shapes. Nodes are numbered in the order of
        their keys. `edge_index` (2, m), both ways where the edges are no arcs; and where the tables have them: `x` (n, d) from
        `features`, `y` (n) from `label` (-1 for an integer label that is missing), `edge_weight` (m), `edge_attr` (m, d),
        `train_mask`, `val_mask`, `test_mask` (n), or (n, s) of s splits, each where nodes stand in that part; `num_nodes`."""
        from bonnetdb.interchange.arrays import arrays

        if self.is_collection:
            raise ProgrammingError(f"{self.name} is a collection of graphs: collection() gives the arrays of each")
        return arrays(self)

    def arrays_by_type(self):
        """A heterogeneous graph as a dict with the keys and words of `HeteroData`: by type of nodes a dict of `num_nodes`, `x`, `y`
        and masks; by triple (type of the source, type of the edges, type of the target) one of `edge_index`, `edge_weight`,
        `edge_attr`; see `arrays`. Nodes of a type are numbered in the order of their keys. Where the edges are no arcs, those
        between two types come a second time as the relation `rev_...`, as PyTorch Geometric's `ToUndirected` names it. A type
        without nodes, or without edges, is none."""
        from bonnetdb.interchange.hetero import arrays_by_type

        if not self.is_heterogeneous:
            raise ProgrammingError(
                f"the nodes of {self.name} have no column type: arrays() gives its arrays, or those of a collection"
            )
        return arrays_by_type(self)

    def __repr__(self):
        return f"bonnetdb.Graph({self.name!r}, {'directed' if self.directed else 'undirected'})"
