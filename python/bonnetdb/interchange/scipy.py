"""Adjacency matrices of SciPy."""

from bonnetdb._bonnetdb import DataError, Table
from bonnetdb.graph import create_graph
from bonnetdb.relation import need


def load(graph):
    """See `Graph.to_scipy`."""
    sparse = need("scipy.sparse", ".to_scipy()")
    import numpy

    from bonnetdb.interchange.arrays import arrays

    found = arrays(graph)
    src, dst = found["edge_index"]
    weight = found.get("edge_weight")
    if weight is None:
        weight = numpy.ones(len(src))
    elif isinstance(weight, numpy.ma.MaskedArray):
        raise DataError("the column weight of the edges has NULLs: make a view that gives every edge a weight")
    size = found["num_nodes"]
    matrix = sparse.csr_array((weight, (src, dst)), shape=(size, size))
    if "edge_weight" not in found:
        # Arcs that are repeated count once.
        matrix.data[:] = 1
    return matrix


def store(connection, matrix, name, directed, replace):
    """See `Connection.from_scipy`."""
    import numpy

    coo = matrix.tocoo()
    if coo.shape[0] != coo.shape[1]:
        raise DataError(f"an adjacency matrix is square; this one is {coo.shape[0]} by {coo.shape[1]}")
    src, dst, weight = coo.row.astype("int64"), coo.col.astype("int64"), coo.data
    if not directed:
        if (abs(matrix - matrix.T) > 0).nnz:
            raise DataError("the matrix is not symmetric: its entries are arcs, directed=True")
        upper = src <= dst
        src, dst, weight = src[upper], dst[upper], weight[upper]
    nodes = Table({"node": numpy.arange(coo.shape[0], dtype="int64")})
    return create_graph(connection, name, Table({"src": src, "dst": dst, "weight": weight}), nodes, directed, replace)


def boundary(connection, facets, dim):
    """See `Connection.boundary_matrix`."""
    sparse = need("scipy.sparse", ".boundary_matrix()")
    facets = [[int(vertex) for vertex in facet] for facet in facets]
    if not facets:
        raise DataError("a complex has one facet at least")
    query = """
        SELECT boundary_matrix(f, $2) AS entries, CASE WHEN $2 > 0 THEN array_length(faces(f, $2 - 1)) END AS rows,
               array_length(faces(f, $2)) AS columns
        FROM (SELECT $1 AS f)"""
    entries, rows, columns = connection._sql(query, [facets, int(dim)], []).fetchone()
    # Lists of SQL count from 1.
    row, column = ([entry[name] - 1 for entry in entries] for name in ("row_index", "column_index"))
    value = [entry["value"] for entry in entries]
    return sparse.csr_array((value, (row, column)), shape=(rows or 0, columns or 0), dtype="int64")
