"""Rows of a query, run when they are first asked for."""

import html

from bonnetdb._bonnetdb import InterfaceError

SHOWN = 40
"""How many rows are shown, unless it is said."""


def need(module, what):
    """A package that is imported where it is used."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise InterfaceError(f"{what} needs the package {package}: pip install {package}") from error


class Relation:
    """The rows of one query; of a statement that answers none, such as CREATE, no rows of no columns and its `status`.

    The query is planned when the relation is made, so what is wrong with it is said there; it runs when rows are first asked
    for, once: the rows are kept, and whoever asks again gets the same ones. After an error or Ctrl-C it runs again, from its
    first row. Any library that reads Arrow's `__arrow_c_stream__` takes a relation as it is, and so does another query that
    names the variable.
    """

    def __init__(self, rows, query, connection):
        self._rows = rows
        self.query = query
        self.connection = connection

    @property
    def status(self):
        """What a statement without rows has done: `INSERT 2`. None of a query."""
        return self._rows.done

    @property
    def columns(self):
        """The names of the columns."""
        return self._rows.columns

    @property
    def types(self):
        """The types of the columns in SQL."""
        return [name for name, _ in self._rows.types]

    @property
    def description(self):
        """The columns as PEP 249 has them."""
        return describe(self._rows)

    def arrow(self):
        """The rows as a `pyarrow.Table`, without a copy."""
        pyarrow = need("pyarrow", ".arrow()")
        self._rows.count()
        if self.status is not None:
            return pyarrow.table({})
        return pyarrow.RecordBatchReader.from_stream(self).read_all()

    def df(self):
        """The rows as a `pandas.DataFrame`: by pyarrow where it is installed, else through NumPy."""
        pandas = need("pandas", ".df()")
        if self.status is not None:
            return pandas.DataFrame()
        try:
            need("pyarrow", ".df()")
        except InterfaceError:
            from bonnetdb.columns import series

            self._rows.count()
            columns = [series(self._rows, index) for index in range(len(self.columns))]
            frame = pandas.DataFrame(dict(enumerate(columns)))
            frame.columns = self.columns
            return frame
        return self.arrow().to_pandas()

    def pl(self):
        """The rows as a `polars.DataFrame`, without a copy."""
        polars = need("polars", ".pl()")
        self._rows.count()
        return polars.DataFrame(self) if self.status is None else polars.DataFrame()

    def fetchnumpy(self):
        """A dict of the columns as NumPy arrays; masked arrays where there are NULLs, arrays of objects for other types."""
        from bonnetdb.columns import array

        self._rows.count()
        return {name: array(self._rows, index) for index, name in enumerate(self.columns)}

    def fetchall(self):
        """All rows that were not fetched yet, as tuples."""
        return self._rows.fetch(None)

    def fetchone(self):
        """The next row as a tuple; `None` behind the last one."""
        rows = self._rows.fetch(1)
        return rows[0] if rows else None

    def fetchmany(self, size=1):
        """The next rows as tuples, at most so many."""
        return self._rows.fetch(size)

    def execute(self):
        """Runs the query now, if it has not run, and keeps its rows."""
        self._rows.count()
        return self

    def plot(self, kind=None, x=None, y=None, color=None, **options):
        """A picture of the rows, as `COPY ... TO 'picture.svg'` draws it: a `Picture`, which a notebook shows and `save` writes.
        Without a kind the columns decide; `x`, `y` and `color` name columns, and `options` are COPY's: `title`, `width`,
        `height`, `bins`, `unpivot`, `node_color`, `seed` and the others of docs/pictures.md."""
        from bonnetdb.picture import Picture

        return Picture(self.connection, self, {"kind": kind, "x": x, "y": y, "color": color, **options})

    def __len__(self):
        return self._rows.count()

    def __iter__(self):
        """The rows from the first on, as tuples, whatever was fetched."""
        at, run = 0, None
        while (batch := self._rows.batch(at, run)) is not None:
            rows, run = batch
            yield from rows
            at += 1

    def show(self, rows=SHOWN):
        """Prints the first rows as a table."""
        print(self._text(rows))

    def _text(self, limit=SHOWN):
        if self.status is not None:
            return self.status
        rows, more = self._rows.head(limit)
        cells = [["" if cell is None else cell.replace("\n", "\\n") for cell in row] for row in rows]
        right = [is_number(kind) for kind in self.types]
        widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(self.columns)]
        lines = [" | ".join(name.ljust(width) for name, width in zip(self.columns, widths))]
        lines.append("-+-".join("-" * width for width in widths))
        for row in cells:
            aligned = (cell.rjust(width) if r else cell.ljust(width) for cell, width, r in zip(row, widths, right))
            lines.append(" | ".join(aligned))
        lines = [f" {line}".rstrip() for line in lines[:1]] + [f"-{lines[1]}-"] + [f" {line}".rstrip() for line in lines[2:]]
        return "\n".join([*lines, f"({footer(len(rows), more)})"])

    def __repr__(self):
        return self._text()

    def _repr_html_(self):
        if self.status is not None:
            return f"<small>{html.escape(self.status)}</small>"
        rows, more = self._rows.head(SHOWN)
        right = [' style="text-align:right"' if is_number(kind) else "" for kind in self.types]
        heads = "".join(f'<th title="{html.escape(kind)}">{html.escape(name)}</th>' for name, kind in zip(self.columns, self.types))
        body = "".join(
            "<tr>" + "".join(f"<td{style}>{html_cell(cell)}</td>" for cell, style in zip(row, right)) + "</tr>" for row in rows
        )
        return (
            f'<table class="bonnetdb"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
            f"<small>{footer(len(rows), more)}</small>"
        )

    def __arrow_c_stream__(self, requested_schema=None):
        return self._rows.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self):
        return self._rows.__arrow_c_schema__()

    def __narwhals_dataframe__(self):
        """The rows for libraries that read frames by narwhals, as Altair does: it takes what has this method, and no capsules."""
        narwhals = need("narwhals", "narwhals.from_native()")
        return narwhals.from_native(self.arrow(), eager_only=True)._compliant_frame


def is_number(kind):
    """Whether a type's values stand to the right of their column."""
    from bonnetdb.dbapi import NUMBER

    return kind == NUMBER and kind != "BOOLEAN"


def html_cell(cell):
    return "<i>NULL</i>" if cell is None else html.escape(cell)


def footer(rows, more):
    """How many rows are shown."""
    if more:
        return f"first {rows} rows; more follow"
    return "1 row" if rows == 1 else f"{rows} rows"


def describe(rows):
    """The columns of rows as PEP 249 has them: name, type, None three times, precision, scale, whether NULL is taken."""
    described = []
    for name, (kind, nullable) in zip(rows.columns, rows.types):
        precision = scale = None
        if kind.startswith("DECIMAL("):
            precision, scale = (int(part) for part in kind[8:-1].split(","))
        described.append((name, kind, None, None, precision, scale, nullable))
    return described
