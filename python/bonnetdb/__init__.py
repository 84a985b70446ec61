"""BonnetDB: an embedded SQL engine for the shape of data.

    import bonnetdb
    con = bonnetdb.connect()                 # in memory; connect("lab.bonnet") lasts
    con.sql("SELECT * FROM pagerank(edges)").df()

The module follows PEP 249; `Connection.sql` is the shorter way.
"""

from bonnetdb._bonnetdb import (
    DatabaseError,
    DataError,
    Error,
    FailedRunsWarning,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
    __version__,
)
from bonnetdb.adbc_manifest import write_adbc_manifest
from bonnetdb.complexes import Complex
from bonnetdb.connection import Connection, connect
from bonnetdb.cursor import Cursor
from bonnetdb.dbapi import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    apilevel,
    paramstyle,
    threadsafety,
)
from bonnetdb.graph import Graph
from bonnetdb.interchange.padded import to_padded
from bonnetdb.picture import Picture
from bonnetdb.relation import Relation


def adbc_driver_path() -> str:
    """The library that exports the ADBC driver, for `adbc_driver_manager.dbapi.connect(driver=...)`."""
    from bonnetdb import _bonnetdb

    return _bonnetdb.__file__


def load_ipython_extension(shell):
    """`%load_ext bonnetdb`: the magics `%sql` and `%%sql`."""
    from bonnetdb.magic import load

    load(shell)


__all__ = [
    "BINARY", "DATETIME", "NUMBER", "ROWID", "STRING", "Binary", "Complex", "Connection", "Cursor", "DataError", "DatabaseError", "Date",
    "DateFromTicks", "Error", "FailedRunsWarning", "Graph", "IntegrityError", "InterfaceError", "InternalError", "NotSupportedError",
    "OperationalError", "Picture", "ProgrammingError", "Relation", "Time", "TimeFromTicks", "Timestamp", "TimestampFromTicks",
    "Warning", "adbc_driver_path", "apilevel", "connect", "paramstyle", "threadsafety", "to_padded", "write_adbc_manifest",
]  # fmt: skip
