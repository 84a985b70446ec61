"""GUDHI's Betti numbers over fields, for the tests of udfs/topology: python benches/peers/homology_fixtures.py > udfs/topology/tests/gudhi.txt

Needs gudhi. A line a complex, `0,1,2 1,3;1,0,0;...`: its facets, then its Betti numbers over Z/2, Z/3, Z/5 and Z/11.
"""

import random

import gudhi

FIELDS = (2, 3, 5, 11)


def betti_numbers(facets, p):
    complex_ = gudhi.SimplexTree()
    for facet in facets:
        complex_.insert(facet)
    complex_.compute_persistence(homology_coeff_field=p, persistence_dim_max=True)
    found = complex_.betti_numbers()
    # GUDHI ends the list at the dimension of the last class.
    return found + [0] * (max(map(len, facets)) - len(found))


def moore(n):
    """A disc glued along a circle that it winds round n times: H_1 = Z/n."""
    ring = [3 + i for i in range(3 * n)]
    facets = []
    for i in range(3 * n):
        a, b, u, v = i % 3, (i + 1) % 3, ring[i], ring[(i + 1) % (3 * n)]
        facets += [[a, b, u], [b, u, v], [u, v, 3 + 3 * n]]
    return facets


def shifted(facets, by):
    return [[v + by for v in facet] for facet in facets]


def joined(numbers):
    return ",".join(map(str, numbers))


def main():
    draw = random.Random(22)
    complexes = [moore(n) for n in (2, 3, 5, 6, 10, 11)]
    complexes.append(moore(6) + shifted(moore(4), 30))
    # All edges on 8 to 11 vertices and some triangles (Linial and Meshulam): torsion is frequent near the threshold.
    for _ in range(20):
        n = draw.randint(8, 11)
        share = draw.uniform(0.2, 0.45)
        facets = [[a, b] for a in range(n) for b in range(a)]
        facets += [[a, b, c] for a in range(n) for b in range(a) for c in range(b) if draw.random() < share]
        complexes.append(facets)
    for _ in range(20):
        n = draw.randint(6, 14)
        complexes.append([draw.sample(range(n), draw.randint(1, 5)) for _ in range(draw.randint(3, 24))])
    for facets in complexes:
        facets = sorted(sorted(facet) for facet in facets)
        lists = [betti_numbers(facets, p) for p in FIELDS]
        print(";".join([" ".join(map(joined, facets)), *map(joined, lists)]))


main()
