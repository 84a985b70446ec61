//! Generators of random graphs.

use bonnet_generators::{DiseaseTree, disease_tree};

use super::*;

pub(crate) fn generators(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("generators");
    let n = 100_000;
    let tree = DiseaseTree { n, ..DiseaseTree::default() };
    group.bench_function("erdos_renyi", |b| b.iter(|| erdos_renyi(black_box(n), 1e-4, 0, &Unmonitored)));
    group.bench_function("barabasi_albert", |b| b.iter(|| barabasi_albert(black_box(n), 5, 0, &Unmonitored)));
    group.bench_function("random_tree", |b| b.iter(|| random_tree(black_box(n), 0, &Unmonitored)));
    group.bench_function("disease_tree", |b| b.iter(|| disease_tree(black_box(&tree), 0, &Unmonitored)));
    group.finish();
    Ok(())
}
