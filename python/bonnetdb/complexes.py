"""Simplicial complexes of a query, as arrays, matrices and tensors."""

from bonnetdb._bonnetdb import DataError, ProgrammingError
from bonnetdb.relation import need


def complexes(connection, rows):
    """See `Connection.complexes`."""
    if "facets" not in rows.columns:
        raise ProgrammingError(f"complexes have a column facets; there are {', '.join(rows.columns)}")
    place = rows.columns.index("facets")
    found = []
    for number, row in enumerate(rows):
        if row[place] is None:
            raise DataError(f"row {number} has no facets: leave it out, WHERE facets IS NOT NULL")
        others = {name: value for at, (name, value) in enumerate(zip(rows.columns, row)) if at != place}
        found.append(Complex(connection, row[place], others))
    return found


class Complex:
    """A simplicial complex, by its facets: lists of vertices, which are integers. `attributes` are the other columns of its row."""

    def __init__(self, connection, facets, attributes=None):
        self._connection = connection
        self.facets = [tuple(int(vertex) for vertex in facet) for facet in facets]
        if not self.facets or not all(self.facets):
            raise DataError("a complex has one facet at least, and a facet one vertex")
        self.attributes = attributes or {}

    @property
    def dimension(self):
        """The number of vertices of its largest facet, less one."""
        return max(len(set(facet)) for facet in self.facets) - 1

    def faces(self, dim):
        """The faces of a dimension in lexicographic order, (n, dim + 1): vertices by their labels."""
        import numpy

        facets = [list(facet) for facet in self.facets]
        (faces,) = self._connection._sql("SELECT faces($1, $2)", [facets, int(dim)], []).fetchone()
        return numpy.array(faces, dtype="int64").reshape(-1, int(dim) + 1)

    def boundary_matrix(self, dim):
        """The boundary map from `dim` to `dim - 1`: see `Connection.boundary_matrix`."""
        return self._connection.boundary_matrix(self.facets, dim)

    def to_toponetx(self):
        """The complex as `toponetx.SimplicialComplex`, with `attributes` as its own."""
        toponetx = need("toponetx", ".to_toponetx()")
        return toponetx.SimplicialComplex(self.facets, **self.attributes)

    def to_pyg(self):
        """The complex as a `Data` of PyTorch Geometric, of which `Batch` and `DataLoader` make batches. Vertices are numbered in
        their order: `vertex` (n) are their labels, `edge_index` (2, 2m) the edges both ways, `simplices_k` (k + 1, n_k) the faces
        of each dimension k > 0 by numbers of vertices, `boundary_k` (n_(k-1), n_k) its boundary matrix, sparse. Attributes are
        attributes; one named `features`, a row a vertex, is `x`, and one named `label` is `y`."""
        torch = need("torch", ".to_pyg()")
        need("torch_geometric.data", ".to_pyg()")
        import numpy

        from bonnetdb.pyg import ComplexData

        vertices = self.faces(0)[:, 0]
        found = {"num_nodes": len(vertices), "vertex": torch.from_numpy(vertices)}
        edges = numpy.zeros((2, 0), "int64")
        for dim in range(1, self.dimension + 1):
            numbers = numpy.searchsorted(vertices, self.faces(dim)).T
            if dim == 1:
                edges = numpy.concatenate([numbers, numbers[::-1]], axis=1)
            found[f"simplices_{dim}"] = torch.from_numpy(numpy.ascontiguousarray(numbers))
            boundary = self.boundary_matrix(dim).tocoo()
            places = torch.from_numpy(numpy.stack([boundary.row, boundary.col]).astype("int64"))
            values = torch.from_numpy(boundary.data.astype("float32"))
            found[f"boundary_{dim}"] = torch.sparse_coo_tensor(places, values, boundary.shape).coalesce()
        found["edge_index"] = torch.from_numpy(edges[:, numpy.lexsort((edges[1], edges[0]))])
        for name, value in self.attributes.items():
            if name == "features" and value is not None:
                x = torch.tensor(value, dtype=torch.float32)
                if x.ndim != 2 or len(x) != len(vertices):
                    raise DataError(f"features of a complex have a row for each of its {len(vertices)} vertices")
                found["x"] = x
            else:
                found["y" if name == "label" else name] = value
        return ComplexData(**found)

    def __repr__(self):
        return f"bonnetdb.Complex(dimension {self.dimension}, {len(self.facets)} facets)"
