//! Generators of random graphs.

use bonnet_generators::{DiseaseTree, GRAPH500, KroneckerEdges, disease_tree};

use super::*;

pub(crate) fn generators(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("generators");
    let n = 100_000;
    let tree = DiseaseTree { n, ..DiseaseTree::default() };
    group.bench_function("erdos_renyi", |b| b.iter(|| erdos_renyi(black_box(n), 1e-4, 0, &Unmonitored)));
    group.bench_function("barabasi_albert", |b| b.iter(|| barabasi_albert(black_box(n), 5, 0, &Unmonitored)));
    group.bench_function("random_tree", |b| b.iter(|| random_tree(black_box(n), 0, &Unmonitored)));
    group.bench_function("disease_tree", |b| b.iter(|| disease_tree(black_box(&tree), 0, &Unmonitored)));
    let edges = KroneckerEdges::new(26, 16, GRAPH500, 0)?;
    group.bench_function("kronecker_edges/65536", |b| b.iter(|| edges.block(black_box(7))));
    group.finish();
    Ok(())
}
