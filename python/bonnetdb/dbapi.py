"""What PEP 249 asks of a module beside its classes: attributes, constructors and type objects."""

import datetime
import time

apilevel = "2.0"
threadsafety = 2
"""Threads may share the module and connections."""
paramstyle = "qmark"
"""`?` with a sequence; with a mapping, `:name` and `$name` work as well."""

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks):
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks):
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks):
    return Timestamp(*time.localtime(ticks)[:6])


class TypeObject:
    """Equal to each of the names of SQL types that are of its kind."""

    def __init__(self, name, *starts):
        self.name = name
        self.starts = starts

    def __eq__(self, other):
        if isinstance(other, TypeObject):
            return self is other
        if not isinstance(other, str) or other.endswith("]"):
            return NotImplemented
        return other.split("(")[0] in self.starts

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"bonnetdb.{self.name}"


STRING = TypeObject("STRING", "VARCHAR")
BINARY = TypeObject("BINARY", "BLOB")
NUMBER = TypeObject(
    "NUMBER", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
DATETIME = TypeObject(
    "DATETIME", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "INTERVAL"
)
ROWID = TypeObject("ROWID")
