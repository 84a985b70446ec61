//! Prints milliseconds per epoch on the CPU, on a graph of the size of ogbn-arxiv.
//!
//!     cargo run --release -p bonnet-learning --no-default-features --example time_large -- [threads] [epochs] [model]...
//!
//! 170,000 nodes in 40 blocks, 1.2 M edges, half of them within a block, 128 dense features. Half the nodes are labelled for
//! training; an epoch is a training step, and the loss and accuracy of the others. Preparation is what comes before the first
//! epoch.

use std::time::Instant;

use bonnet_graph::{Graph, Unmonitored};
use bonnet_learning::random::{Stream, key};
use bonnet_learning::{Features, GraphData, Job, Split, train};

const BLOCKS: usize = 40;
const BLOCK: usize = 4250;
const COLUMNS: usize = 128;
/// Edges within each block, and between each two.
const WITHIN: usize = 15_000;
const BETWEEN: usize = 770;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let threads = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let epochs = arguments.next().map_or(Ok(7), |text| text.parse())?;
    let mut models: Vec<String> = arguments.collect();
    if models.is_empty() {
        models = ["gcn", "graphsage", "gat", "appnp", "gprgnn"].map(String::from).into();
    }
    let (data, split) = blocks()?;
    println!("{} edges, {threads} threads, {epochs} epochs", data.graph().n_edges());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    for model in models {
        let options = Job { epochs: Some(epochs), ..Job::new(&model) }.resolve()?;
        let (start, mut ends, mut loss) = (Instant::now(), Vec::new(), 0.0);
        let mut observe = |record: &bonnet_learning::EpochRecord| {
            ends.push(start.elapsed().as_secs_f64() * 1e3);
            loss = record.train_loss;
        };
        let outcome = pool.install(|| train(&data, &split, &options, &Unmonitored, &mut observe))?;
        let mut times: Vec<f64> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
        println!(
            "{model:<10} {median:7.1} ms, least {:7.1}; first epoch and preparation {:7.1}; {} MiB; last loss {loss:.6}",
            times.first().copied().unwrap_or(f64::NAN),
            ends[0],
            outcome.peak_memory >> 20,
        );
    }
    Ok(())
}

/// A stochastic block model whose features hint at the block, which is the class.
fn blocks() -> Result<(GraphData, Split), Box<dyn std::error::Error>> {
    let (n, mut stream) = (BLOCKS * BLOCK, Stream::new(key(&[3])));
    let mut edges = Vec::new();
    for a in 0..BLOCKS {
        for b in a..BLOCKS {
            for _ in 0..if a == b { WITHIN } else { BETWEEN } {
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
    Ok((data, split))
}
