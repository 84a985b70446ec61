"""Cursors of PEP 249."""

from collections.abc import Mapping

from bonnetdb._bonnetdb import InterfaceError, ProgrammingError, Session
from bonnetdb.literals import literal
from bonnetdb.relation import describe
from bonnetdb.scope import variables


def bound(text, parameters):
    """A statement with its parameters put in."""
    if parameters is None:
        return text
    if isinstance(parameters, Mapping):
        return Session.bind(text, {str(name): literal(value) for name, value in parameters.items()})
    if isinstance(parameters, (str, bytes)):
        raise ProgrammingError("parameters are a sequence or a mapping, not a text: write [value]")
    return Session.bind(text, [literal(value) for value in parameters])


class Cursor:
    """Runs statements one after another, and gives the rows of the last one. Rows come as they are fetched and are not
    kept: after an error or Ctrl-C those that are left are refused."""

    def __init__(self, connection):
        self.connection = connection
        self.arraysize = 1
        self.rowcount = -1
        self._rows = None
        self._number = None
        self._closed = False

    def _check(self):
        if self._closed:
            raise InterfaceError("the cursor is closed")
        return self.connection._open()

    def execute(self, operation, parameters=None):
        """Runs a statement, or several of which the last one's rows count. Parameters are a sequence for `?` and `$1`, or a
        mapping for `:name` and `$name`; a text of several statements takes none. Answers the cursor."""
        return self._execute(operation, parameters, variables(self.connection))

    def _execute(self, operation, parameters, scope):
        session = self._check()
        self._rows, self._number, self.rowcount = None, None, -1
        statements = Session.split(operation)
        if not statements:
            raise ProgrammingError("there is no statement in the text")
        if parameters is not None:
            if len(statements) > 1:
                raise ProgrammingError("a text of several statements takes no parameters")
            statements = [bound(statements[0], parameters)]
        for statement in statements:
            rows = session.run(statement, scope)
        if rows.done is None:
            self._rows, self._number = rows, 0
        else:
            self.rowcount = changed(rows.done)
        return self

    def executemany(self, operation, seq_of_parameters):
        """Runs a statement once for each set of parameters; `rowcount` is the sum. Many rows go into a table far quicker
        with `Connection.append`."""
        total, scope = 0, variables(self.connection)
        for parameters in seq_of_parameters:
            self._execute(operation, parameters, scope)
            if self._rows is not None:
                self._rows = None
                raise ProgrammingError("executemany is for statements that change rows, not for queries")
            total = -1 if total < 0 or self.rowcount < 0 else total + self.rowcount
        self.rowcount = total
        return self

    @property
    def description(self):
        """The columns of the last statement's rows; `None` where it answers none."""
        return None if self._rows is None else describe(self._rows)

    @property
    def rownumber(self):
        """The index of the row that is fetched next."""
        return self._number

    def _fetch(self, limit):
        self._check()
        if self._rows is None:
            raise ProgrammingError("there are no rows to fetch: the last statement answers none, or none has run")
        rows = self._rows.fetch(limit)
        self._number += len(rows)
        if limit is None or len(rows) < limit:
            self.rowcount = self._number
        return rows

    def fetchone(self):
        rows = self._fetch(1)
        return rows[0] if rows else None

    def fetchmany(self, size=None):
        return self._fetch(self.arraysize if size is None else size)

    def fetchall(self):
        return self._fetch(None)

    def __iter__(self):
        return self

    def __next__(self):
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def nextset(self):
        """A statement has one set of rows."""
        self._check()

    def setinputsizes(self, sizes):
        """Nothing: values bring their sizes."""

    def setoutputsize(self, size, column=None):
        """Nothing: values come whole."""

    def __arrow_c_stream__(self, requested_schema=None):
        """The rows that were not fetched yet."""
        self._check()
        if self._rows is None:
            raise ProgrammingError("there are no rows to read: the last statement answers none, or none has run")
        return self._rows.__arrow_c_stream__(requested_schema)

    def close(self):
        self._closed, self._rows = True, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def changed(done):
    """The number of rows of `INSERT 3`; -1 where there is none."""
    last = done.split(" ")[-1]
    return int(last) if last.isdigit() else -1
