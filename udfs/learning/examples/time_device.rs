//! Prints milliseconds per epoch on the CPU and on the first GPU, and how several small runs share it.
//!
//!     cargo run --release -p bonnet-learning --no-default-features --features cuda --example time_device -- [nodes] [epochs]
//!
//! The large graph has 7 edges a node, 128 dense features, 40 classes and half its nodes labelled for training; an epoch is a
//! training step, and the loss and accuracy of a quarter of the nodes. `benches/peers/train_pyg_device.py` draws a graph of
//! these sizes for PyTorch Geometric. The small runs are on 2,708 nodes with 1,433 sparse features, as many at once as given
//! by threads. A run's first epochs, which load and record its kernels, count.

use std::time::Instant;

use bonnet_graph::{Graph, Unmonitored};
use bonnet_learning::device::Place;
use bonnet_learning::random::{Stream, key};
use bonnet_learning::{Features, GraphData, Items, Job, SparseRows, Split, TrainOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let nodes = arguments.first().copied().unwrap_or(170_000);
    let epochs = arguments.get(1).copied().unwrap_or(100) as i64;
    let gpu = Place::of("cuda").inspect_err(|why| println!("{why}")).ok();

    let (data, split) = large(nodes)?;
    println!("{nodes} nodes, {} edges, {epochs} epochs (CPU: 3)", data.graph().n_edges());
    for model in ["gcn", "graphsage", "gat"] {
        let job = Job { epochs: Some(epochs), dropout: Some(0.5), ..Job::new(model) };
        let options = job.resolve()?;
        let items = Items::Nodes(&data, &split);
        let few = TrainOptions { epochs: 3, ..options.clone() };
        let cpu = Place::Cpu.train_items(items, None, &few, &Unmonitored, &mut |_| {})?;
        println!("{model:<10} cpu  {:8.3} ms", cpu.train_seconds * 1e3 / 3.0);
        let Some(gpu) = gpu else { continue };
        // The first run prepares the kernels; epochs apart from the preparation of the graph.
        for _ in 0..2 {
            let mut times = Vec::new();
            let mut clock = Instant::now();
            let observe = &mut |_: &bonnet_learning::EpochRecord| {
                times.push(clock.elapsed().as_secs_f64() * 1e3);
                clock = Instant::now();
            };
            let outcome = gpu.train_items(items, None, &options, &Unmonitored, observe)?;
            let mut steady = times.split_off(times.len().min(3));
            steady.sort_by(f64::total_cmp);
            let median = steady.get(steady.len() / 2).copied().unwrap_or(f64::NAN);
            println!(
                "{model:<10} {:<4} {median:8.3} ms, {:.2} s in all, {} MiB, test accuracy {:.4}",
                outcome.device,
                outcome.train_seconds,
                outcome.peak_memory >> 20,
                outcome.test.accuracy.unwrap_or(f64::NAN),
            );
        }
    }

    let (data, split) = small()?;
    let run = |place: Place, seed: u64| {
        let job = Job { epochs: Some(200), seed: Some(seed), ..Job::new("gcn") };
        let options = job.resolve().map_err(|error| error.to_string())?;
        let items = Items::Nodes(&data, &split);
        place.train_items(items, None, &options, &Unmonitored, &mut |_| {}).map_err(|error| error.to_string())
    };
    let place = gpu.unwrap_or(Place::Cpu);
    run(place, 0)?;
    let jobs = 16;
    let clock = Instant::now();
    (0..jobs).try_for_each(|seed| run(place, seed).map(|_| ()))?;
    let alone = clock.elapsed().as_secs_f64();
    println!("{jobs} runs of gcn on {} nodes: {alone:.2} s one after the other", data.graph().n_nodes());
    for threads in [4, 8, 16] {
        let clock = Instant::now();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    scope.spawn(move || {
                        (worker..jobs).step_by(threads as usize).try_for_each(|s| run(place, s).map(|_| ()))
                    })
                })
                .collect();
            workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a run panicked".to_owned())?)
        })?;
        let together = clock.elapsed().as_secs_f64();
        println!("{threads:>2} at once: {together:.2} s, {:.2} times faster", alone / together);
    }
    Ok(())
}

/// Random edges within a class mostly, dense features that hint at it.
fn large(nodes: usize) -> Result<(GraphData, Split), Box<dyn std::error::Error>> {
    const CLASSES: usize = 40;
    const COLUMNS: usize = 128;
    let mut stream = Stream::new(key(&[2]));
    let mut edges = Vec::with_capacity(7 * nodes);
    for v in 0..nodes {
        for _ in 0..7 {
            let u = (nodes as f64 * stream.uniform().powi(2)) as usize;
            let u = if stream.uniform() < 0.7 { u - u % CLASSES + v % CLASSES } else { u };
            edges.push((v as u32, u.min(nodes - 1) as u32));
        }
    }
    let value = |v: usize, c: usize, noise: f64| (noise + if c % CLASSES == v % CLASSES { 1.0 } else { 0.0 }) as f32;
    let values = (0..nodes * COLUMNS).map(|at| value(at / COLUMNS, at % COLUMNS, stream.normal())).collect();
    let labels = (0..nodes).map(|v| Some((v % CLASSES) as u32)).collect();
    let data = GraphData::new(Graph::from_edges(nodes, &edges), Features::dense(COLUMNS, values)?, labels, CLASSES)?;
    let part = |of: fn(u32) -> bool| (0..nodes as u32).filter(|&v| of(v / 40)).collect::<Vec<u32>>();
    let split = Split::given(&data, &part(|b| b % 4 < 2), &part(|b| b % 4 == 2), &part(|b| b % 4 == 3))?;
    Ok((data, split))
}

/// A graph of the size of Cora.
fn small() -> Result<(GraphData, Split), Box<dyn std::error::Error>> {
    let (nodes, columns) = (2708usize, 1433usize);
    let mut stream = Stream::new(key(&[1]));
    let edges: Vec<(u32, u32)> = (0..5278).map(|i| (stream.below(nodes) as u32, (i % nodes) as u32)).collect();
    let (mut offsets, mut indices) = (vec![0], Vec::new());
    for _ in 0..nodes {
        let mut words: Vec<u32> = (0..18).map(|_| stream.below(columns) as u32).collect();
        words.sort_unstable();
        words.dedup();
        indices.extend(words);
        offsets.push(indices.len());
    }
    let values = vec![1.0; indices.len()];
    let features = Features::Sparse(SparseRows::new(columns, offsets, indices, values)?);
    let labels = (0..nodes).map(|v| Some((v % 7) as u32)).collect();
    let data = GraphData::new(Graph::from_edges(nodes, &edges), features, labels, 7)?;
    let range = |from: u32, to: u32| (from..to).collect::<Vec<u32>>();
    let split = Split::given(&data, &range(0, 140), &range(140, 640), &range(1708, 2708))?;
    Ok((data, split))
}
