//! Training at the sizes of Cora and of ogbn-arxiv, on the CPU and, where there is one, on the GPU.

use bonnet_learning::random::{Stream, key};
use bonnet_learning::{EpochRecord, Items, Place, Run, SparseRows, most_together, train_together};

use super::*;

/// The places of this machine.
fn places() -> Vec<(&'static str, Place)> {
    let gpu = Place::of("cuda").ok().map(|gpu| ("cuda", gpu));
    std::iter::once(("cpu", Place::Cpu)).chain(gpu).collect()
}

/// Runs of `epochs` epochs: a training step and the loss and accuracy of the other parts.
fn runs(c: &mut Criterion, group: &str, names: &[&str], epochs: i64, data: &GraphData, split: &Split) -> Result<()> {
    let mut group = c.benchmark_group(group);
    for &name in names {
        let options = Job::new(name).with("epochs", epochs).with("normalize", "row").resolve()?;
        let options = TrainOptions { test_each_epoch: true, ..options };
        for (place_name, place) in places() {
            let run = || train(place, Items::Nodes(data, split), None, &options, &Unmonitored, &mut |_| {});
            run()?;
            group.bench_function(BenchmarkId::new(name, place_name), |b| b.iter(run));
        }
    }
    group.finish();
    Ok(())
}

/// 2,708 nodes, 5,278 edges, 18 of 1,433 words a node: edges and words that are few for most and many for some.
pub(crate) fn cora(c: &mut Criterion) -> Result<()> {
    const NODES: usize = 2708;
    const WORDS: usize = 1433;
    let mut stream = Stream::new(key(&[1]));
    let mut skewed = |n: usize| (n as f64 * stream.uniform().powi(2)) as u32;
    let edges: Vec<(u32, u32)> = (0..5278).map(|i| (skewed(NODES), (i % NODES) as u32)).collect();
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for _ in 0..NODES {
        let mut words: Vec<u32> = (0..18).map(|_| skewed(WORDS)).collect();
        words.sort_unstable();
        words.dedup();
        columns.extend(words);
        offsets.push(columns.len());
    }
    let values = vec![1.0; columns.len()];
    let features = Features::Sparse(SparseRows::new(WORDS, offsets, columns, values)?);
    let labels = (0..NODES).map(|v| Some((v % 7) as u32)).collect();
    let data = GraphData::new(Graph::from_edges(NODES, &edges), features, labels, 7)?;
    let range = |from: u32, to: u32| (from..to).collect::<Vec<u32>>();
    let split = Split::given(&data, &range(0, 140), &range(140, 640), &range(1708, 2708))?;
    let names: Vec<&str> = models().iter().filter(|model| !model.is_pretrained()).map(|model| model.name).collect();
    runs(c, "train_cora_size_20_epochs", &names, 20, &data, &split)?;

    let mut group = c.benchmark_group("train_8_runs_at_once");
    for (name, place) in places() {
        group.bench_function(name, |b| {
            b.iter(|| {
                std::thread::scope(|threads| {
                    for seed in 0..8 {
                        let (data, split) = (&data, &split);
                        threads.spawn(move || {
                            let options = Job::new("gcn").with("epochs", 50).with("seed", seed).resolve()?;
                            train(place, Items::Nodes(data, split), None, &options, &Unmonitored, &mut |_| {})
                        });
                    }
                });
            });
        });
    }
    group.finish();
    together(c, &data, &split)
}

/// 32 runs of one thread, four learning rates of each seed: side by side, as the jobs of one call are, and one by one.
fn together(c: &mut Criterion, data: &GraphData, split: &Split) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut group = c.benchmark_group("train_32_runs_of_50_epochs");
    for (model, hidden) in [("gcn", 16), ("gcn", 64), ("sgc", 64), ("appnp", 16), ("mlp", 16), ("graphsage", 16)] {
        let job = |run: i64| Job::new(model).with("hidden", hidden).with("epochs", 50).with("seed", run / 4);
        let resolve = |run: i64| job(run).with("lr", 0.005 * (1 + run % 4) as f64).resolve();
        let options: Vec<TrainOptions> = (0..32).map(resolve).collect::<std::result::Result<_, _>>()?;
        let items = Items::Nodes(data, split);
        for (how, size) in [("together", most_together(&options[0])), ("one_by_one", 1)] {
            group.bench_function(BenchmarkId::new(format!("{model}_{hidden}"), how), |b| {
                b.iter(|| {
                    pool.install(|| {
                        for options in options.chunks(size) {
                            let mut ignore = vec![|_: &EpochRecord| {}; options.len()];
                            let runs = options.iter().zip(&mut ignore).map(|(options, observe)| Run {
                                items,
                                options,
                                monitor: &Unmonitored,
                                observe,
                            });
                            train_together(Place::Cpu, runs.collect());
                        }
                    });
                });
            });
        }
    }
    group.finish();
    Ok(())
}

/// 170,000 nodes in 40 blocks, 1.2 M edges, half of them within a block, 128 dense features that hint at the block, which is
/// the class; half the nodes train.
pub(crate) fn arxiv(c: &mut Criterion) -> Result<()> {
    const BLOCKS: usize = 40;
    const BLOCK: usize = 4250;
    const COLUMNS: usize = 128;
    let (n, mut stream) = (BLOCKS * BLOCK, Stream::new(key(&[3])));
    let mut edges = Vec::new();
    for a in 0..BLOCKS {
        for b in a..BLOCKS {
            for _ in 0..if a == b { 15_000 } else { 770 } {
                let mut node = |block: usize| (block * BLOCK + stream.below(BLOCK)) as u32;
                edges.push((node(a), node(b)));
            }
        }
    }
    let mean = |v: usize, c: usize| if c % BLOCKS == v / BLOCK { 1.0 } else { 0.0 };
    let values = (0..n * COLUMNS).map(|at| (mean(at / COLUMNS, at % COLUMNS) + stream.normal()) as f32).collect();
    let labels = (0..n).map(|v| Some((v / BLOCK) as u32)).collect();
    let data = GraphData::new(Graph::from_edges(n, &edges), Features::dense(COLUMNS, values)?, labels, BLOCKS)?;
    let part = |rest: u32| (0..n as u32).filter(|v| v % 2 == rest).collect::<Vec<u32>>();
    let split = Split::given(&data, &part(0), &part(1), &[])?;
    runs(c, "train_arxiv_size_3_epochs", &["gcn", "graphsage", "gat", "appnp", "gprgnn"], 3, &data, &split)
}
