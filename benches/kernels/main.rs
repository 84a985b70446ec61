//! Times of the kernels on generated graphs, without SQL: `cargo bench --bench kernels [-- FILTER]`.
//!
//! Each runs in rayon's global pool, as wide as the machine. The comparison with other tools is in `compare.py`.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a benchmark fails by a panic")]

mod algorithms;
mod descriptors;
mod edge_curvature;
mod enumeration;
mod filtrations;
mod generators;
mod homophily;
mod ranking;
mod structure;
mod tasks;
mod topology;
mod training_sizes;

use std::hint::black_box;
use std::time::Duration;

use bonnet_curvature::{MidpointOptions, forman_ricci, midpoint_curvature};
use bonnet_generators::{
    Generated, StochasticBlockModel, barabasi_albert, erdos_renyi, grid_2d, random_tree, stochastic_block_model,
};
use bonnet_graph::{Digraph, Graph, Unmonitored, connected_components};
use bonnet_homophily::{LabelPairs, NeighborMatches};
use bonnet_learning::{Features, GraphData, Items, Job, Place, Split, TrainOptions, models, train};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Graphs of three shapes: hubs and short distances, no cycles, long distances.
fn shapes(n: usize) -> Result<[(&'static str, Generated); 3]> {
    let side = n.isqrt();
    Ok([
        ("barabasi_albert", barabasi_albert(n, 5, 0, &Unmonitored)?),
        ("random_tree", random_tree(n, 0, &Unmonitored)?),
        ("grid_2d", grid_2d(side, side, true, false, &Unmonitored)?),
    ])
}

fn graph(generated: &Generated) -> Graph {
    Graph::from_edges(generated.n_nodes, &generated.edges)
}

fn midpoint(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("midpoint_curvature");
    let exact = MidpointOptions::default();
    let sampled = MidpointOptions { anchors: Some(512), ..exact.clone() };
    for (name, generated) in shapes(10_000)? {
        for (kind, options) in [("exact", &exact), ("anchors_512", &sampled)] {
            group.bench_function(BenchmarkId::new(name, kind), |b| {
                b.iter(|| midpoint_curvature(generated.n_nodes, &generated.edges, black_box(options), &Unmonitored));
            });
        }
    }
    group.finish();
    Ok(())
}

fn forman(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("forman_ricci");
    for (name, generated) in shapes(100_000)? {
        let graph = graph(&generated);
        group.throughput(Throughput::Elements(generated.edges.len() as u64));
        group.bench_function(name, |b| b.iter(|| forman_ricci(&graph, black_box(&generated.edges), &Unmonitored)));
    }
    group.finish();
    Ok(())
}

fn components(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("connected_components");
    for (name, generated) in shapes(100_000)? {
        let graph = graph(&generated);
        group.throughput(Throughput::Elements(generated.edges.len() as u64));
        group.bench_function(name, |b| b.iter(|| connected_components(black_box(&graph))));
    }
    group.finish();
    Ok(())
}

/// The counts that adjusted homophily, edge homophily and label informativeness are made of.
fn label_pairs(c: &mut Criterion) -> Result<()> {
    let mut group = c.benchmark_group("adjusted_homophily_counts");
    let generated = barabasi_albert(200_000, 5, 0, &Unmonitored)?;
    for classes in [10, 1_000] {
        // Any labels cost the same: these mix the bits of a node's number (Knuth's multiplicative hash).
        let label = |v: u32| (v.wrapping_mul(2_654_435_761) >> 8) % classes;
        let (source, target): (Vec<u32>, Vec<u32>) = generated.edges.iter().map(|&(u, v)| (label(u), label(v))).unzip();
        group.throughput(Throughput::Elements(source.len() as u64));
        group.bench_function(format!("{classes}_classes"), |b| {
            b.iter(|| {
                let mut pairs = LabelPairs::default();
                pairs.add_batch(black_box(&source), black_box(&target));
                pairs
            });
        });
    }
    let (nodes, others): (Vec<u32>, Vec<u32>) = generated.edges.iter().copied().unzip();
    group.bench_function("node_homophily", |b| {
        b.iter(|| {
            let mut matches = NeighborMatches::default();
            matches.add_batch(black_box(&nodes), black_box(&nodes), black_box(&others));
            matches
        });
    });
    group.finish();
    Ok(())
}

/// A whole run of 20 epochs with the validation and test accuracy after each.
fn training(c: &mut Criterion) -> Result<()> {
    let blocks = StochasticBlockModel {
        sizes: vec![400; 5],
        p_within: 0.01,
        p_between: 0.001,
        features: 64,
        ..StochasticBlockModel::default()
    };
    let generated = stochastic_block_model(&blocks, 0, &Unmonitored)?;
    let labels = generated.labels.iter().flatten().map(|&label| u32::try_from(label).ok()).collect();
    let (width, values) = generated.features.clone().ok_or("the block model has features")?;
    let data = GraphData::new(graph(&generated), Features::dense(width, values)?, labels, blocks.sizes.len())?;
    let nodes = 0..generated.n_nodes as u32;
    let part = |remainders: std::ops::Range<u32>| -> Vec<u32> {
        nodes.clone().filter(|v| remainders.contains(&(v % 10))).collect()
    };
    let split = Split::given(&data, &part(0..1), &part(1..4), &part(4..10))?;

    let mut group = c.benchmark_group("train_20_epochs");
    for model in models().iter().filter(|model| !model.is_pretrained()) {
        let job = Job::new(model.name).with("epochs", 20);
        let options = TrainOptions { test_each_epoch: true, ..job.resolve()? };
        let items = Items::Nodes(&data, &split);
        train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {})?;
        group.bench_function(model.name, |b| {
            b.iter(|| train(Place::Cpu, items, None, black_box(&options), &Unmonitored, &mut |_| {}));
        });
    }
    group.finish();
    Ok(())
}

fn all(c: &mut Criterion) {
    for group in [
        midpoint,
        forman,
        components,
        label_pairs,
        training,
        training_sizes::cora,
        training_sizes::arxiv,
        tasks::links,
        tasks::graphs,
        edge_curvature::ollivier,
        edge_curvature::resistance,
        ranking::ranking,
        descriptors::descriptors,
        filtrations::filtrations,
        generators::generators,
        structure::structure,
        topology::topology,
        enumeration::enumeration,
        enumeration::complexes,
        enumeration::operators,
        homophily::metapaths,
        homophily::homophily_of_graphs,
        algorithms::algorithms,
    ] {
        group(c).expect("generated graphs are valid input");
    }
}

criterion_group! {
    name = kernels;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .without_plots();
    targets = all
}
criterion_main!(kernels);
