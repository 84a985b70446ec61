"""Betti numbers over Z/p of all complexes of a MANTRA file, by GUDHI on one core: `homology_gudhi.py FILE [P]`, P = 2."""

import json
import resource
import sys
import time

import gudhi


def betti_numbers(facets, p):
    complex_ = gudhi.SimplexTree()
    for facet in facets:
        complex_.insert(facet)
    complex_.compute_persistence(homology_coeff_field=p, persistence_dim_max=True)
    return complex_.betti_numbers()


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    with open(sys.argv[1]) as file:
        complexes = [entry["triangulation"] for entry in json.load(file)]
    p = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    busy, start = processor_seconds(), time.perf_counter()
    total = 0
    for facets in complexes:
        betti = betti_numbers(facets, p)
        total += betti[1] if len(betti) > 1 else 0
    seconds, busy = time.perf_counter() - start, processor_seconds() - busy
    print(json.dumps({"seconds": seconds, "processor_seconds": busy, "complexes": len(complexes), "betti_1": total}))


if __name__ == "__main__":
    main()
