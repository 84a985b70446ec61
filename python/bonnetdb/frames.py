"""What a variable that a statement names gives: rows, or a reason why it gives none."""

import sys
import types
from collections.abc import Mapping, Sequence, Set

from bonnetdb._bonnetdb import DataError, Table

NO_TABLES = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""What stands under a name by chance: a module `nodes` is not meant by FROM nodes."""


def rows_of(name, value):
    """The rows of an object as one with `__arrow_c_stream__` or `__arrow_c_array__`: frames and relations as they are, a series
    as a column of its name or, without one, the variable's, a lazy frame collected, a dict of columns, an array of one or two
    dimensions with the columns `column_1`, `column_2`, ...; a text that says why there are none; None of what is no value."""
    if isinstance(value, NO_TABLES):
        return None
    home = type(value).__module__.split(".")[0]
    kind = type(value).__name__
    if home in ("pandas", "polars") and hasattr(value, "to_frame") and hasattr(value, "name"):
        return value.to_frame(value.name if isinstance(value.name, str) and value.name else name)
    if home == "polars" and kind == "LazyFrame":
        return value.collect()
    if home == "pyarrow" and kind != "Table" and not hasattr(value, "schema") and hasattr(value, "type"):
        pyarrow = sys.modules["pyarrow"]
        return value if pyarrow.types.is_struct(value.type) else pyarrow.table({name: value})
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__"):
        return value
    if isinstance(value, Mapping):
        return columns_of(name, value)
    if home == "numpy" and hasattr(value, "dtype") and hasattr(value, "ndim"):
        return array_of(name, value)
    return f"the variable {name} is {article(kind)} {kind}, which is no table: {advice(name, value, home)}"


def rows_or_self(name, value):
    """The rows of an object, or itself where it has none: the engine says so."""
    found = rows_of(name, value)
    return value if found is None or isinstance(found, str) else found


def columns_of(name, value):
    """A dict of columns as a table."""
    if value and all(isinstance(key, str) and is_column(column) for key, column in value.items()):
        return table({key: plain(column) for key, column in value.items()})
    return f"the variable {name} is a dict, but not one of columns: as a table it has a text and a list of values for each column"


def array_of(name, value):
    """An array of NumPy as a table."""
    if value.dtype.names is not None and value.ndim == 1:
        return table({field: plain(value[field]) for field in value.dtype.names})
    if value.ndim == 1:
        value = value[:, None]
    if value.ndim != 2 or value.shape[1] == 0:
        return f"the variable {name} is an array of shape {value.shape}: a table has two dimensions, and one column or more"
    return table({f"column_{at + 1}": plain(value[:, at]) for at in range(value.shape[1])})


def table(columns):
    """Columns as a table: of plain values, or by pyarrow, which knows times and decimals."""
    try:
        return Table(columns)
    except DataError:
        try:
            import pyarrow
        except ImportError:
            pyarrow = None
        if pyarrow is None or len({len(values) for values in columns.values()}) > 1:
            raise
        try:
            return pyarrow.table(columns)
        except (pyarrow.ArrowException, TypeError, ValueError):
            pass
        raise


def is_column(value):
    """Whether an object is a row of values, which are the values of a column."""
    if hasattr(value, "dtype") and hasattr(value, "ndim"):
        return value.ndim in (1, 2)
    if isinstance(value, range) or hasattr(value, "to_list"):
        return True
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def plain(values):
    """The values of a column as a list or an array without a mask."""
    if hasattr(values, "to_list"):
        return values.to_list()
    return values.tolist() if hasattr(values, "mask") else values


def advice(name, value, home):
    """What to write instead."""
    if home == "bonnetdb" and hasattr(value, "profile"):
        return f"it is the graph {value.name}; name that, or {value.name}.edges"
    if home in ("networkx", "torch_geometric"):
        method = "from_networkx" if home == "networkx" else "from_pyg"
        return f"con.{method}({name}, 'g') makes a graph of it, with the tables g.nodes and g.edges"
    if home == "scipy":
        return f"con.from_scipy({name}, 'g') makes a graph of an adjacency matrix, with the tables g.nodes and g.edges"
    if home == "torch":
        return f"name an array, {name}.numpy(), or a frame"
    if isinstance(value, (list, tuple, Set)):
        return "give its columns names, as a dict of columns {'x': [...], 'y': [...]}, or in a frame of pandas or polars"
    return (
        "a table is a frame of pandas or polars, a table of pyarrow, a relation, a series, a dict of columns, an array of NumPy, "
        "or whatever has __arrow_c_stream__"
    )


def article(word):
    return "an" if word[:1].lower() in "aeiou" else "a"
