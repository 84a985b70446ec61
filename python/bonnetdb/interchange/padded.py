"""Persistence diagrams as arrays of one shape, which tensors can be made of."""

from bonnetdb._bonnetdb import DataError, ProgrammingError

FIELDS = ("dim", "birth", "death")


def to_padded(diagrams, size=None, fill=float("nan")):
    """Diagrams of different lengths as two arrays of NumPy: `points` (n, size, 3) of DOUBLE with the dimension, the birth and the
    death of each point, in the order of the diagram, and `mask` (n, size), where there is a point; `fill` stands elsewhere.

    `diagrams` are n lists of {dim, birth, death}, as `persistence_diagram` answers, or a relation with one column of them. A
    diagram that is NULL has no points. `size` is that of the longest by default; a longer diagram is an error.

        points, mask = bonnetdb.to_padded(con.sql("SELECT persistence_diagram(...) FROM ..."))
        torch.from_numpy(points)
    """
    import numpy

    rows = rows_of(diagrams)
    longest = max(map(len, rows), default=0)
    if size is None:
        size = longest
    elif longest > size:
        raise DataError(f"a diagram has {longest} points, which are more than size={size}")
    points, mask = numpy.full((len(rows), size, 3), fill, dtype="float64"), numpy.zeros((len(rows), size), bool)
    for number, row in enumerate(rows):
        try:
            values = [[point[field] for field in FIELDS] for point in row]
        except (KeyError, TypeError):
            raise DataError(f"diagram {number} is no list of {{dim, birth, death}}") from None
        points[number, : len(row)] = numpy.array(values, dtype="float64").reshape(-1, 3)
        mask[number, : len(row)] = True
    return points, mask


def rows_of(diagrams):
    """Diagrams as lists; NULL has none."""
    if hasattr(diagrams, "fetchall") and hasattr(diagrams, "columns"):
        if len(diagrams.columns) != 1:
            raise ProgrammingError(f"diagrams are one column; there are {', '.join(diagrams.columns) or 'none'}")
        diagrams = [row[0] for row in diagrams]
    return [[] if diagram is None else list(diagram) for diagram in diagrams]
