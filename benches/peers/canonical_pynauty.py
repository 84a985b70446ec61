"""Isomorphism classes of complexes by nauty, from Python.

    python canonical_pynauty.py FACETS.ndjson [LIMIT]

Each line is an object with `facets`, a list of lists of vertices. A complex becomes its graph of vertices and facets, two
colours, and nauty's certificate of that graph is the same exactly for isomorphic complexes.

Prints one line of JSON: seconds for graphs and certificates, processor seconds, the number of complexes and of classes.
"""

import json
import sys
import time

from pynauty import Graph, certificate


def graph(facets):
    number = {v: i for i, v in enumerate(sorted({v for facet in facets for v in facet}))}
    n = len(number)
    adjacency = {n + i: [number[v] for v in facet] for i, facet in enumerate(facets)}
    colours = [set(range(n)), set(range(n, n + len(facets)))]
    return n, len(facets), Graph(n + len(facets), adjacency_dict=adjacency, vertex_coloring=colours)


def main():
    with open(sys.argv[1]) as lines:
        complexes = [json.loads(line)["facets"] for line in lines if line.startswith("{")]
    complexes = complexes[: int(sys.argv[2]) if len(sys.argv) > 2 else None]
    began, processor = time.perf_counter(), time.process_time()
    classes = set()
    for facets in complexes:
        n, k, of_complex = graph(facets)
        classes.add((n, k, certificate(of_complex)))
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    found = {"seconds": seconds, "processor_seconds": processor, "complexes": len(complexes), "classes": len(classes)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
