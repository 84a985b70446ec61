"""GUDHI's answers on random graphs, for the tests of udfs/persistence: python benches/peers/gudhi_fixtures.py > udfs/persistence/tests/gudhi.txt

Needs gudhi, POT and scikit-learn. A line a fact; numbers with all their digits:

    graph N COMPLEX VERTICES            then its edges and GUDHI's points
    edge U V VALUE
    point DIM BIRTH DEATH
    landscape GRAPH DIM K T VALUE       lambda_K(T), infinite deaths cut at the largest finite value; without GUDHI's sqrt(2)
    bottleneck A B DIM VALUE            of the points of dimension DIM of the graphs number A and B
    wasserstein A B DIM P VALUE
"""

import math
import random

import gudhi
import gudhi.representations
import gudhi.wasserstein
import numpy


def persistence(n, edges, expand, vertices):
    complex = gudhi.SimplexTree()
    lowest = min(value for _, _, value in edges)
    for u, v, value in edges:
        for vertex in (u, v):
            first = min(w for a, b, w in edges if vertex in (a, b))
            complex.insert([vertex], min(first, {"first_edge": first, "lowest": lowest}.get(vertices, vertices)))
        complex.insert([u, v], value)
    complex.expansion(expand)
    found = complex.persistence(homology_coeff_field=2, min_persistence=0, persistence_dim_max=True)
    return sorted((dim, birth, death) for dim, (birth, death) in found if dim <= 1)


def of_dimension(points, dim):
    return numpy.array([[b, d] for e, b, d in points if e == dim]).reshape(-1, 2)


def main():
    draw = random.Random(7)
    diagrams = []
    for number in range(18):
        n, p = draw.choice([(8, 0.5), (14, 0.35), (24, 0.25), (30, 0.4)])
        whole = number % 3 == 0
        edges = [(u, v) for u in range(n) for v in range(u + 1, n) if draw.random() < p]
        edges = [(u, v, float(draw.randint(-6, 4)) if whole else draw.uniform(-2, 1)) for u, v in edges]
        expand, vertices = 1 + number % 2, ("first_edge", "lowest", -1.5)[number // 2 % 3]
        points = persistence(n, edges, expand, vertices)
        diagrams.append(points)
        print("graph", n, expand, vertices)
        for u, v, value in edges:
            print("edge", u, v, repr(value))
        for dim, birth, death in points:
            print("point", dim, repr(birth), repr(death))
        cap = max(value for point in points for value in point[1:] if math.isfinite(value))
        for dim in (0, 1):
            cut = of_dimension(points, dim)
            cut[numpy.isinf(cut)] = cap
            cut = cut[cut[:, 0] < cut[:, 1]]
            if len(cut) == 0:
                continue
            low, high, resolution, depth = float(cut.min()), float(cut.max()), 13, 3
            transform = gudhi.representations.Landscape(
                num_landscapes=depth, resolution=resolution, sample_range=[low, high], keep_endpoints=True
            )
            values = transform(cut).reshape(depth, resolution) / math.sqrt(2)
            for k in range(depth):
                for t, value in zip(numpy.linspace(low, high, resolution), values[k]):
                    print("landscape", number, dim, k + 1, repr(float(t)), repr(float(value)))
    for a in range(len(diagrams)):
        for b in range(a, len(diagrams), 2):
            for dim in (0, 1):
                x, y = of_dimension(diagrams[a], dim), of_dimension(diagrams[b], dim)
                print("bottleneck", a, b, dim, repr(gudhi.bottleneck_distance(x, y)))
                if a < b:
                    for p in (1, 2, 3.5):
                        found = gudhi.wasserstein.wasserstein_distance(x, y, order=p, internal_p=math.inf)
                        print("wasserstein", a, b, dim, p, repr(float(found)))


main()
