"""Values of Python as literals of SQL."""

import datetime
import decimal
import math
import numbers
import uuid
from collections.abc import Mapping, Sequence, Set

from bonnetdb._bonnetdb import DataError, ProgrammingError


def literal(value) -> str:
    """A value as a literal that reads back as the same value; in parentheses where a sign or a cast needs them."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, numbers.Integral):
        return _integer(int(value))
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, numbers.Real):
        return _double(float(value))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"X'{bytes(value).hex()}'"
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            return f"('{value.isoformat(sep=' ')}'::TIMESTAMP)"
        moment = value.astimezone(datetime.timezone.utc).isoformat()
        return f"arrow_cast('{moment}', 'Timestamp(Microsecond, Some(\"+00:00\"))')"
    if isinstance(value, datetime.date):
        return f"('{value.isoformat()}'::DATE)"
    if isinstance(value, datetime.time):
        if value.tzinfo is not None:
            raise DataError("a time with a time zone is no value of SQL here: use a datetime")
        return f"('{value.isoformat()}'::TIME)"
    if isinstance(value, datetime.timedelta):
        micros = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
        return f"(INTERVAL '{micros} microseconds')"
    if isinstance(value, uuid.UUID):
        return _text(str(value))
    if hasattr(value, "tolist"):
        # NumPy's numbers and arrays, times of pandas.
        return literal(value.tolist())
    if isinstance(value, Mapping):
        fields = ", ".join(f"{_text(str(key))}: {literal(item)}" for key, item in value.items())
        return "{" + fields + "}"
    if isinstance(value, (Sequence, Set)):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    raise ProgrammingError(f"a {type(value).__name__} is no value that a parameter takes")


def identifier(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def qualified(name: str) -> str:
    """A name that may have a schema before it, `g` or `catalog.g`, each part in quotes unless it has some."""
    if '"' in name:
        return name
    return ".".join(identifier(part) for part in name.lower().split("."))


def _integer(value):
    if not -(2**63) <= value < 2**64:
        raise DataError(f"{value} fits no integer of SQL: give it as a decimal.Decimal, or as a text")
    if value == -(2**63):
        return "('-9223372036854775808'::BIGINT)"
    if value >= 2**63:
        return f"('{value}'::UBIGINT)"
    return str(value) if value >= 0 else f"({value})"


def _double(value):
    if math.isnan(value):
        return "('NaN'::DOUBLE)"
    if math.isinf(value):
        return f"('{'-' if value < 0 else ''}Infinity'::DOUBLE)"
    return f"('{value!r}'::DOUBLE)"


def _decimal(value):
    if not value.is_finite():
        raise DataError(f"{value} is no DECIMAL of SQL")
    sign, digits, exponent = value.as_tuple()
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, 1)
    if precision > 38:
        raise DataError(f"{value} has more than 38 digits")
    return f"('{value:f}'::DECIMAL({precision}, {scale}))"


def _text(value):
    if "\0" in value:
        raise DataError("a text with the character NUL is no literal of SQL")
    return "'" + value.replace("'", "''") + "'"
