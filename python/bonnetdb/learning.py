"""`train`, `predict` and `embed` as methods: they put SQL together."""

import itertools

from bonnetdb._bonnetdb import ProgrammingError
from bonnetdb.literals import identifier, literal


def statement(function, graph, model, options):
    """`SELECT * FROM function((jobs), option => value)`: a job for every combination of the values that are lists."""
    columns = {"graph": graph, "model": model, **options}
    lists = {name: _values(name, value) for name, value in columns.items() if name in ("graph", "model") or _is_list(value)}
    constants = {name: value for name, value in columns.items() if name not in lists}
    jobs = list(itertools.product(*lists.values()))
    if not jobs:
        raise ProgrammingError(f"{function}: a list of graphs, models or values is empty, so there is no job")
    rows = ", ".join("(" + ", ".join(literal(value) for value in job) + ")" for job in jobs)
    names = ", ".join(identifier(name) for name in lists)
    constants = "".join(f", {identifier(name)} => {literal(value)}" for name, value in constants.items())
    return f"SELECT * FROM {function}((SELECT * FROM (VALUES {rows}) AS jobs({names})){constants})"


def run(connection, function, graph, model, options):
    """The rows of such a statement."""
    return connection._sql(statement(function, graph, model, options), None, [])


def _is_list(value):
    return isinstance(value, (list, tuple, range, set, frozenset))


def _values(name, value):
    values = list(value) if _is_list(value) else [value]
    return [getattr(item, "name", item) if name == "graph" else item for item in values]
