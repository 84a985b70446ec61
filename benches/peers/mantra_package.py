"""MANTRA's own package reads what the engine writes, and makes the same matrices of it.

    bonnet -c "COPY (SELECT id, facets, name, betti_numbers, torsion_coefficients FROM enumerate_surfaces(7)) TO 'surfaces.json' STORED AS MANTRA"
    bonnet --format ndjson -c "SELECT id, hodge_laplacian(facets, 0) AS l0, hodge_laplacian(facets, 1, part => 'up') AS up1,
        hodge_laplacian(facets, 1, part => 'down') AS down1, boundary_matrix(facets, 1) AS b1, boundary_matrix(facets, 2) AS b2
        FROM enumerate_surfaces(7)" > matrices.ndjson
    python benches/peers/mantra_package.py 2 surfaces.json [matrices.ndjson]

Needs mantra-dataset 0.0.19, which needs torch and torch_geometric. The file becomes the raw file of `version='latest'`, so that
nothing is downloaded; every field of every triangulation is compared with the file.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy
from mantra.datasets import ManifoldTriangulations
from mantra.representations.simplicial_connectivity import (
    AddSimplexTrie,
    DownLaplacianSimplicialComplex,
    IncidenceSimplicialComplex,
    UpLaplacianSimplicialComplex,
)


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


def equal(ours, theirs):
    # A number becomes a tensor of one number.
    theirs = plain(theirs)
    return ours == theirs or [ours] == theirs


def dense(entries, shape):
    matrix = numpy.zeros(shape)
    for entry in entries:
        matrix[entry["row_index"] - 1, entry["column_index"] - 1] = entry["value"]
    return matrix


def lexicographic(faces):
    """The package sorts faces as sets of Python do; from 8 on that is not by vertices."""
    return sorted(range(len(faces)), key=list(faces).__getitem__)


def matrices_differ(data, ours):
    trie = AddSimplexTrie()(data).simplex_trie
    incidence = IncidenceSimplicialComplex(signed=True, index=True)
    up = UpLaplacianSimplicialComplex(signed=True, index=True)
    down = DownLaplacianSimplicialComplex(signed=True, index=True)
    expected = {
        "b1": incidence.generate_matrix(trie, 1, 2),
        "b2": incidence.generate_matrix(trie, 2, 2),
        "l0": up.generate_matrix(trie, 0, 2),
        "up1": up.generate_matrix(trie, 1, 2),
        "down1": down.generate_matrix(trie, 1, 2),
    }
    for name, (*faces, matrix) in expected.items():
        rows, columns = faces[0], faces[-1]
        matrix = numpy.asarray(matrix.todense())[numpy.ix_(lexicographic(rows), lexicographic(columns))]
        if not numpy.array_equal(matrix, dense(ours[name], matrix.shape)):
            return name
    return None


def main():
    dimension, file = int(sys.argv[1]), Path(sys.argv[2])
    entries = json.loads(file.read_text())
    with tempfile.TemporaryDirectory() as root:
        raw = Path(root) / "mantra" / f"{dimension}D" / "raw"
        raw.mkdir(parents=True)
        shutil.copy(file, raw / f"{dimension}_manifolds.json")
        dataset = ManifoldTriangulations(root=root, dimension=dimension, version="latest")
        if len(dataset) != len(entries):
            sys.exit(f"the package loads {len(dataset)} triangulations of {len(entries)}")
        for data, entry in zip(dataset, entries):
            for key, value in entry.items():
                if not equal(value, data[key]):
                    sys.exit(f"{entry['id']}: {key} is {plain(data[key])} in the package, {value} in the file")
        if len(sys.argv) > 3:
            by_id = {data["id"]: data for data in dataset}
            for line in Path(sys.argv[3]).read_text().splitlines():
                ours = json.loads(line)
                data = by_id[ours["id"]]
                if name := matrices_differ(data, ours):
                    sys.exit(f"{ours['id']}: {name} is another matrix in the package")
    print(json.dumps({"triangulations": len(entries), "keys": sorted(entries[0])}))


main()
