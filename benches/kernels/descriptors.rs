//! Descriptors of graphs, and the discrepancy between samples.

use bonnet_persistence as persistence;

use super::*;

/// Descriptors of one graph, and the discrepancy between two samples of a thousand.
pub(crate) fn descriptors(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("orbit_counts");
    for (name, generated) in shapes(100_000)? {
        let graph = graph(&generated);
        group.throughput(Throughput::Elements(generated.edges.len() as u64));
        group.bench_function(name, |b| b.iter(|| persistence::orbit_counts(black_box(&graph), &Unmonitored)));
    }
    group.finish();

    let mut group = c.benchmark_group("clustering_histogram");
    for (name, generated) in shapes(100_000)? {
        let graph = graph(&generated);
        group.bench_function(name, |b| b.iter(|| persistence::clustering_histogram(black_box(&graph), &Unmonitored)));
    }
    group.finish();

    let mut group = c.benchmark_group("laplacian_spectrum");
    for n in [100, 1_000] {
        let graph = graph(&barabasi_albert(n, 5, 0, &Unmonitored)?);
        group.bench_function(n.to_string(), |b| {
            b.iter(|| persistence::laplacian_spectrum(black_box(&graph), &Unmonitored));
        });
    }
    group.finish();

    let mut group = c.benchmark_group("subgraph_counts");
    for (name, generated) in shapes(100_000)? {
        let graph = graph(&generated);
        group.bench_function(name, |b| b.iter(|| persistence::subgraph_counts(black_box(&graph), 4, &Unmonitored)));
    }
    group.finish();

    let mut group = c.benchmark_group("mmd_1000_against_1000");
    let sample = |first: u64| -> Result<Vec<Vec<f64>>> {
        let of = |seed| Ok(persistence::degree_histogram(&graph(&barabasi_albert(60, 3, seed, &Unmonitored)?)));
        (first..first + 1_000).map(of).collect()
    };
    let (a, b_sample) = (sample(0)?, sample(1_000)?);
    for (name, kernel) in [
        ("gaussian", persistence::Kernel::Gaussian { sigma: 1.0 }),
        ("gaussian_emd", persistence::Kernel::GaussianEmd { sigma: 1.0 }),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| persistence::mmd(black_box(&a), &b_sample, kernel, false, &Unmonitored));
        });
    }
    group.finish();
    Ok(())
}
