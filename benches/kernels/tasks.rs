//! Runs of 20 epochs on links and on collections of graphs.

use bonnet_learning::{GraphSet, Items, LinkSplit, Shares, SplitScheme, Targets, train};

use super::*;

fn job(task: &str, features: &str) -> Job {
    Job::new("gcn").with("task", task).with("features", features).with("epochs", 20)
}

/// Links of a graph of 10,000 nodes and 50,000 edges, as many fresh pairs in each epoch.
pub(crate) fn links(c: &mut Criterion) -> Result<()> {
    let generated = barabasi_albert(10_000, 5, 0, &Unmonitored)?;
    let data = GraphData::new(graph(&generated), Features::None, vec![None; 10_000], 0)?;
    let shares = Shares::new(85.0, 5.0, 10.0).ok_or("these are shares")?;
    let split = LinkSplit::draw(data.graph(), shares, 0, &Unmonitored)?;
    let mut group = c.benchmark_group("link_prediction_20_epochs");
    for decoder in ["inner_product", "distance"] {
        let mut job = job("link_prediction", "random:64");
        job.set("decoder", decoder);
        let options = job.resolve()?;
        train(Place::Cpu, Items::Links(&data, &split), None, &options, &Unmonitored, &mut |_| {})?;
        group.bench_function(decoder, |b| {
            b.iter(|| {
                train(Place::Cpu, Items::Links(&data, &split), None, black_box(&options), &Unmonitored, &mut |_| {})
            });
        });
    }
    group.finish();
    Ok(())
}

/// 1,000 rings of 30 nodes, every other one with a chord, in one step an epoch and in steps of 64 graphs.
pub(crate) fn graphs(c: &mut Criterion) -> Result<()> {
    let (count, size) = (1_000u32, 30u32);
    let ring = |g: u32| (0..size).map(move |i| (g * size + i, g * size + (i + 1) % size));
    let chords = (0..count).filter(|g| g % 2 == 1).map(|g| (g * size, g * size + size / 2));
    let edges: Vec<(u32, u32)> = (0..count).flat_map(ring).chain(chords).collect();
    let starts = (0..=count).map(|g| g * size).collect();
    let targets = Targets::Classes((0..count).map(|g| Some(g % 2)).collect(), 2);
    let whole = Graph::from_edges((count * size) as usize, &edges);
    let set = GraphSet::new(whole, Features::None, starts, targets)?;
    let split = set.split("random:60/20/20".parse::<SplitScheme>()?, 0)?;
    let mut group = c.benchmark_group("graph_classification_20_epochs");
    for (name, batch) in [("full", None), ("batch_64", Some(64))] {
        let mut job = job("graph_classification", "degree");
        job.set("batch", batch);
        let options = job.resolve()?;
        train(Place::Cpu, Items::Graphs(&set, &split), None, &options, &Unmonitored, &mut |_| {})?;
        group.bench_function(name, |b| {
            b.iter(|| {
                train(Place::Cpu, Items::Graphs(&set, &split), None, black_box(&options), &Unmonitored, &mut |_| {})
            });
        });
    }
    group.finish();
    Ok(())
}
