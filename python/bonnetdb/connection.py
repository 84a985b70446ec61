"""Connections: a database and a session on it."""

import os

from bonnetdb import _bonnetdb as engine
from bonnetdb import learning
from bonnetdb.cursor import Cursor, bound
from bonnetdb.frames import rows_or_self
from bonnetdb.graph import Graph, create_graph
from bonnetdb.progress import reporter
from bonnetdb.relation import Relation
from bonnetdb.scope import variables


def connect(path=None, read_only=False, *, threads=None, memory_limit=None, replacement_scans=True, progress=None):
    """Opens a lasting database, a folder that is made if it is missing, or one in memory.

    `threads` are for queries and kernels (default: the machine's cores), `memory_limit` is in bytes or a string as the command
    takes it: "4GB" counts by 1000, "4GiB" by 1024. With `replacement_scans`, statements find frames in the caller's variables.
    `progress` shows a line while a long statement runs: by default on terminals and in notebooks. Connections may be shared
    among threads.
    """
    path = None if path is None or path == ":memory:" else os.fspath(path)
    session = engine.Session(path, read_only, threads, _bytes(memory_limit), reporter(progress))
    return Connection(session, replacement_scans, path)


def _bytes(limit):
    return limit if limit is None or isinstance(limit, int) else engine.Session.parse_size(str(limit))


class Connection:
    """A session on a database: its settings, its current schema, and the frames registered with it."""

    Warning = engine.Warning
    Error = engine.Error
    InterfaceError = engine.InterfaceError
    DatabaseError = engine.DatabaseError
    DataError = engine.DataError
    OperationalError = engine.OperationalError
    IntegrityError = engine.IntegrityError
    InternalError = engine.InternalError
    ProgrammingError = engine.ProgrammingError
    NotSupportedError = engine.NotSupportedError

    def __init__(self, session, replacement_scans=True, path=None):
        self._session = session
        self._path = path
        self.replacement_scans = replacement_scans

    def _open(self):
        if self._session.closed:
            raise engine.InterfaceError("the connection is closed")
        return self._session

    # Statements.

    def sql(self, query, params=None):
        """Plans a query, which runs when rows are asked for, and answers its rows as a `Relation`. Any other statement runs at
        once; where it answers no rows, as CREATE, the relation has no columns, and a `status`. Of several statements all but the
        last run at once."""
        return self._sql(query, params, variables(self))

    def _sql(self, query, params, scope):
        session = self._open()
        statements = engine.Session.split(query)
        if not statements:
            raise engine.ProgrammingError("there is no statement in the text")
        if params is not None:
            if len(statements) > 1:
                raise engine.ProgrammingError("a text of several statements takes no parameters")
            statements = [bound(statements[0], params)]
        for statement in statements[:-1]:
            session.run(statement, scope)
        rows = session.query(statements[-1], scope)
        if rows is None:
            rows = session.run(statements[-1], scope, True)
        return Relation(rows, statements[-1], self)

    def execute(self, operation, parameters=None):
        """Runs a statement in a new cursor and answers the cursor: its rows come as they are fetched and are not kept."""
        return Cursor(self)._execute(operation, parameters, variables(self))

    def executemany(self, operation, seq_of_parameters):
        """As `Cursor.executemany`, in a new cursor."""
        return Cursor(self).executemany(operation, seq_of_parameters)

    def cursor(self):
        """A cursor of PEP 249 in this session."""
        self._open()
        return Cursor(self)

    def duplicate(self):
        """Another session on the same database, with settings of its own."""
        return Connection(self._open().another(reporter(None)), self.replacement_scans, self._path)

    def commit(self):
        """Nothing: every statement is a transaction of its own, and is committed when it ends."""
        self._open()

    def rollback(self):
        """Refused: every statement is committed when it ends."""
        self._open()
        raise engine.NotSupportedError("there is nothing to roll back: every statement is committed when it ends")

    def close(self):
        """Ends the session. Statements are refused from now on."""
        self._session.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Frames.

    def register(self, name, rows):
        """Makes the rows that an object has now a table of this connection: frames of pandas and polars, tables of pyarrow,
        relations, whatever has `__arrow_c_stream__`; series, dicts of columns, arrays of NumPy. It takes the place of one
        registered before. Answers the connection."""
        self._open().register(name, rows_or_self(name, rows))
        return self

    def unregister(self, name):
        """Forgets a registered table."""
        if not self._open().unregister(name):
            raise engine.ProgrammingError(f"no frame is registered as {name}")
        return self

    def append(self, table, rows):
        """Appends the rows of a frame to a table, all of them or none: the quickest way to write many. Columns are found by
        their names. Answers the number of rows."""
        return self._open().append(table, rows_or_self(table, rows))

    # Graphs.

    def graph(self, name):
        """A graph: a schema with the tables `nodes` and `edges`."""
        return Graph(self, name)

    def from_edges(
        self, edges, name, nodes=None, directed=False, replace=False, *, source="src", target="dst", weight=None, node="node", label=None
    ):
        """Makes a graph of a frame of edges, and one of nodes with `node` (without it: the ends of the edges), and answers it.
        `source`, `target` and `weight` name columns of the edges, `node` and `label` columns of the nodes, in any case where
        one alone has the name; the graph has them as `src`, `dst`, `weight`, `node` and `label`. Other columns stay; `label`,
        `features`, `weight` and `type` mean something."""
        renamed = {"src": source, "dst": target, "weight": weight}
        return create_graph(self, name, edges, nodes, directed, replace, renamed=renamed, of_nodes={"node": node, "label": label})

    def from_networkx(self, graph, name, replace=False, *, label=None):
        """Makes a graph of one of networkx, with the attributes of its nodes and edges as columns, and answers it. `label` names
        the attribute of nodes that is their label, which models learn."""
        from bonnetdb.interchange.networkx import store

        return store(self, graph, name, replace, label)

    def from_scipy(self, matrix, name, directed=False, replace=False):
        """Makes a graph of a sparse adjacency matrix of SciPy, its values as the weights, and answers it."""
        from bonnetdb.interchange.scipy import store

        return store(self, matrix, name, directed, replace)

    def from_pyg(self, data, name, directed=True, replace=False):
        """Makes a graph of a `Data` of PyTorch Geometric, and answers it: `x`, `y`, `edge_index`, `edge_weight`, `edge_attr` and the
        masks of the parts. Of a `HeteroData` the same of each type, with the column `type`; its nodes are numbered through. Warns of
        what it does not keep: any other attribute, and a mask that marks no node."""
        from bonnetdb.interchange.pyg import store

        return store(self, data, name, directed, replace)

    def boundary_matrix(self, facets, dim):
        """The boundary map of a simplicial complex from dimension `dim` to `dim - 1` as `scipy.sparse.csr_array` of 1 and -1: a
        row for each face of dimension `dim - 1` and a column for each of `dim`, both in the order of the function `faces`.
        `facets` are lists of vertices, as a column `facets` holds them."""
        from bonnetdb.interchange.scipy import boundary

        return boundary(self, facets, dim)

    def complexes(self, rows):
        """The simplicial complexes of a query or a relation with the column `facets`, a `Complex` a row; the other columns are its
        `attributes`."""
        from bonnetdb.complexes import complexes

        if isinstance(rows, str):
            rows = self._sql(rows, None, variables(self))
        return complexes(self, rows)

    # Learning.

    def train(self, graph, model, **options):
        """Trains models and answers a row a run: `SELECT * FROM train(jobs, option => value)`. A list of graphs, models or
        of values of an option makes a job of every combination."""
        return learning.run(self, "train", graph, model, options)

    def predict(self, graph, model, **options):
        """Trains a model and answers what it predicts, a row a node."""
        return learning.run(self, "predict", graph, model, options)

    def embed(self, graph, model, **options):
        """Trains a model and answers its embedding of each node."""
        return learning.run(self, "embed", graph, model, options)
