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
    graph_kernels(c)?;

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

/// Colours, kernels and distances of random graphs of 20 nodes.
fn graph_kernels(c: &mut Criterion) -> Result<()> {
    let set = |count: u64| -> Result<persistence::GraphSet> {
        let mut edges = Vec::new();
        for seed in 0..count {
            let start = 20 * seed as u32;
            let own = erdos_renyi(20, 0.2, seed, &Unmonitored)?;
            edges.extend(own.edges.iter().map(|&(u, v)| (u + start, v + start)));
        }
        Ok(persistence::GraphSet::new(&vec![20; count as usize], &edges, None))
    };
    let (many, some) = (set(100_000)?, set(1_000)?);
    let mut group = c.benchmark_group("wl_colors_100000_graphs");
    group.bench_function("1-WL", |b| {
        b.iter(|| persistence::wl_colors(black_box(&many), persistence::WlOptions::default(), &Unmonitored));
    });
    group.finish();
    let mut group = c.benchmark_group("kernels_of_1000_graphs");
    group
        .bench_function("wl_subtree", |b| b.iter(|| persistence::wl_subtree_kernel(black_box(&some), 5, &Unmonitored)));
    group.bench_function("shortest_path", |b| {
        b.iter(|| persistence::shortest_path_kernel(black_box(&some), &Unmonitored))
    });
    group.bench_function("wl_wasserstein", |b| {
        b.iter(|| persistence::wl_wasserstein_distance(black_box(&some), 3, &Unmonitored));
    });
    group.bench_function("tree_movers", |b| {
        b.iter(|| persistence::tree_movers_distance(black_box(&some), 4, 1.0, &Unmonitored));
    });
    group.finish();
    Ok(())
}
