"""Columns as NumPy arrays, without pyarrow."""

import numpy


def array(rows, index):
    """A column as an array: of numbers and times as they are, masked where there are NULLs; of lists of numbers of one
    length as two dimensions; of objects otherwise."""
    found = rows.numbers(index)
    if found is None:
        values = rows.objects(index)
        column = numpy.empty(len(values), dtype=object)
        column[:] = values
        return column
    dtype, values, nulls, lengths = found
    flat = numpy.frombuffer(values, dtype=dtype)
    if lengths is not None:
        return lists(flat, numpy.frombuffer(lengths, dtype="int64"), nulls)
    if nulls is None:
        return flat
    return numpy.ma.masked_array(flat, mask=numpy.frombuffer(nulls, dtype="bool"))


def lists(flat, lengths, nulls):
    """Lists of numbers: an array of two dimensions where all are of one length, else of arrays."""
    if nulls is None and len(lengths) > 0 and (lengths == lengths[0]).all():
        return flat.reshape(len(lengths), -1) if lengths[0] > 0 else flat.reshape(len(lengths), 0)
    ends = numpy.cumsum(lengths)
    column = numpy.empty(len(lengths), dtype=object)
    missing = numpy.zeros(len(lengths), bool) if nulls is None else numpy.frombuffer(nulls, dtype="bool")
    for at in range(len(lengths)):
        column[at] = None if missing[at] else flat[ends[at] - lengths[at] : ends[at]]
    return column


def series(rows, index):
    """A column as pandas has it: NaN for NULL among numbers, NaT among times."""
    column = array(rows, index)
    if isinstance(column, numpy.ma.MaskedArray):
        if column.dtype.kind in "iu":
            return column.astype("float64").filled(numpy.nan)
        if column.dtype.kind == "b":
            objects = column.data.astype(object)
            objects[column.mask] = None
            return objects
        if column.dtype.kind in "Mm":
            return column.filled(numpy.array("NaT", dtype=column.dtype))
        return column.filled(numpy.nan)
    return column if column.ndim == 1 else list(column)
