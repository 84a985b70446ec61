//! Curvature and resistance of edges.

use bonnet_curvature::{
    FlowOptions, Measure, MeasuredGraph, OllivierOptions, effective_resistance, ollivier_ricci, ricci_flow,
};

use super::*;

pub(crate) fn ollivier(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("ollivier_ricci");
    let uniform = OllivierOptions::default();
    let lazy = OllivierOptions { alpha: 0.5, ..uniform.clone() };
    let walk = OllivierOptions { measure: Measure::RandomWalk, ..uniform.clone() };
    let dense = ("erdos_renyi_300", erdos_renyi(300, 0.3, 0, &Unmonitored)?);
    for (name, generated) in shapes(10_000)?.into_iter().chain([dense]) {
        let graph = graph(&generated);
        group.throughput(Throughput::Elements(graph.n_edges() as u64));
        for (kind, options) in [("uniform", &uniform), ("uniform_half_stays", &lazy)] {
            group.bench_function(BenchmarkId::new(name, kind), |b| {
                b.iter(|| ollivier_ricci(&graph, black_box(options), &Unmonitored));
            });
        }
        let lengths: Vec<f64> = graph.edges().map(|(u, v)| 0.5 + f64::from((u ^ v) % 64) / 64.0).collect();
        let space = MeasuredGraph { graph: &graph, lengths: Some(&lengths), measures: None };
        group.bench_function(BenchmarkId::new(name, "lengths_half_stays"), |b| {
            b.iter(|| ollivier_ricci(black_box(space), &lazy, &Unmonitored));
        });
    }
    for (name, generated) in shapes(1_000)? {
        let graph = graph(&generated);
        group.throughput(Throughput::Elements(graph.n_edges() as u64));
        group.bench_function(BenchmarkId::new(name, "random_walk_1000"), |b| {
            b.iter(|| ollivier_ricci(&graph, black_box(&walk), &Unmonitored));
        });
    }
    group.finish();

    let mut group = c.benchmark_group("ricci_flow");
    let options = FlowOptions { steps: 5, ..FlowOptions::default() };
    for (name, generated) in shapes(1_000)? {
        let graph = graph(&generated);
        group.throughput(Throughput::Elements(graph.n_edges() as u64));
        group.bench_function(BenchmarkId::new(name, "5_steps"), |b| {
            b.iter(|| ricci_flow(black_box(&graph), None, &options, &Unmonitored, &mut |_| Ok(())));
        });
    }
    group.finish();
    Ok(())
}

pub(crate) fn resistance(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("effective_resistance");
    let sparse = ("barabasi_albert_2", barabasi_albert(3_000, 2, 0, &Unmonitored)?);
    let dense = ("erdos_renyi_1000", erdos_renyi(1_000, 0.3, 0, &Unmonitored)?);
    let [_, tree, grid] = shapes(100_000)?;
    for (name, generated) in [tree, grid, sparse, dense] {
        let graph = graph(&generated);
        group.throughput(Throughput::Elements(graph.n_edges() as u64));
        group.bench_function(name, |b| b.iter(|| effective_resistance(black_box(&graph), None, &Unmonitored)));
    }
    group.finish();
    Ok(())
}
