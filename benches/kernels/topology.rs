//! Homology of complexes.

use bonnet_topology::{Facets, Workspace, clique_complex, hodge_laplacian_spectrum, manifold_check};

use super::*;

/// The boundary of the cyclic polytope of dimension 4, a 3-sphere in which all edges are there: Gale's evenness condition.
fn cyclic_sphere(n: i64) -> Vec<[i64; 4]> {
    let pairs = (0..n - 1).map(|i| (i, i + 1)).chain([(n - 1, 0)]);
    let mut facets: Vec<[i64; 4]> = Vec::new();
    for (a, b) in pairs.clone() {
        for (c, d) in pairs.clone().filter(|&(c, d)| ![c, d].contains(&a) && ![c, d].contains(&b)) {
            let mut facet = [a, b, c, d];
            facet.sort_unstable();
            facets.push(facet);
        }
    }
    facets.sort_unstable();
    facets.dedup();
    facets
}

/// A torus of `side` times `side` squares, each cut into two triangles.
fn torus(side: i64) -> Vec<[i64; 3]> {
    let vertex = |i: i64, j: i64| i % side * side + j % side;
    let squares = (0..side).flat_map(|i| (0..side).map(move |j| (i, j)));
    squares
        .flat_map(|(i, j)| {
            let (a, b) = (vertex(i, j), vertex(i + 1, j + 1));
            [[a, vertex(i + 1, j), b], [a, vertex(i, j + 1), b]]
        })
        .collect()
}

/// Integer homology of one small complex, by masks, and of one large one, by sparse columns; and what else is made of
/// facets.
pub(crate) fn topology(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("topology");
    let sphere = Facets::new(&cyclic_sphere(10))?;
    let surface = Facets::new(&torus(60))?;
    let mut workspace = Workspace::default();
    for (name, facets) in [("sphere_10_vertices", &sphere), ("torus_3600_vertices", &surface)] {
        group.throughput(Throughput::Elements(facets.len() as u64));
        group.bench_function(BenchmarkId::new("homology", name), |b| {
            b.iter(|| workspace.homology(black_box(facets), &Unmonitored).map(|homology| homology.betti_numbers()[0]));
        });
        group.bench_function(BenchmarkId::new("manifold_check", name), |b| {
            b.iter(|| manifold_check(black_box(facets), &Unmonitored));
        });
    }
    let small = Facets::new(&torus(12))?;
    group.bench_function("hodge_laplacian_spectrum/432_edges", |b| {
        b.iter(|| hodge_laplacian_spectrum(black_box(&small), 1, &Unmonitored));
    });
    let hubs = graph(&barabasi_albert(20_000, 8, 0, &Unmonitored)?);
    group.bench_function("clique_complex/barabasi_albert_20000", |b| {
        b.iter(|| clique_complex(black_box(&hubs), None, &Unmonitored));
    });
    group.finish();
    Ok(())
}
