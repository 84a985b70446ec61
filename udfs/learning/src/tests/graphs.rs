use serde_json::json;

use super::objectives::many;
use super::*;
use crate::{GraphSet, Items, Outcome, Part, Saved, Status, Targets, train};

fn job(task: &str, model: &str) -> Job {
    Job::new(model).with("task", task).with("epochs", 150).with("hidden", 16)
}

fn run(set: &GraphSet, split: &Split, job: &Job) -> Outcome {
    let options = TrainOptions { keep_embeddings: true, ..job.resolve().unwrap() };
    let outcome = train(Place::Cpu, Items::Graphs(set, split), None, &options, &Unmonitored, &mut |_| {}).unwrap();
    Outcome { train_seconds: 0.0, test_seconds: 0.0, peak_memory: 0, ..outcome }
}

/// 90 graphs of 5 to 9 nodes: cycles, stars and complete graphs in turn; the targets are the kind or the mean degree.
pub(crate) fn kinds(values: bool) -> GraphSet {
    let (mut starts, mut edges) = (vec![0u32], Vec::new());
    let mut degrees = Vec::new();
    for g in 0..90u32 {
        let (first, size) = (starts[g as usize], 5 + g / 3 % 5);
        let before = edges.len();
        for i in 0..size {
            match g % 3 {
                0 => edges.push((first + i, first + (i + 1) % size)),
                1 if i > 0 => edges.push((first, first + i)),
                1 => {}
                _ => edges.extend((0..i).map(|j| (first + j, first + i))),
            }
        }
        degrees.push(Some(2.0 * (edges.len() - before) as f64 / f64::from(size)));
        starts.push(first + size);
    }
    let targets = match values {
        true => Targets::Values(degrees),
        false => Targets::Classes((0..90).map(|g| Some(g % 3)).collect(), 3),
    };
    GraphSet::new(Graph::from_edges(starts[90] as usize, &edges), Features::None, starts, targets).unwrap()
}

#[test]
fn kinds_of_graphs_are_told_apart_in_full_and_small_batches() {
    let set = kinds(false);
    let split = set.split("stratified:60/20/20".parse().unwrap(), 1).unwrap();
    for (model, batch) in [("gcn", None), ("graphsage", Some(10)), ("gat", None)] {
        let mut job = job("graph_classification", model).with("features", "degree");
        job.set("batch", batch);
        let outcome = run(&set, &split, &job);
        assert_eq!((outcome.test.accuracy, outcome.test.auc), (Some(1.0), Some(1.0)), "{model}");
        assert_eq!((outcome.logits.columns, outcome.logits.values.len()), (3, 270));
        assert_eq!(outcome.embeddings.unwrap().values.len(), 90 * 16);
    }
}

#[test]
fn the_mean_degree_is_learnt() {
    let set = kinds(true);
    let split = set.split("random:60/20/20".parse().unwrap(), 1).unwrap();
    let mut job = job("graph_regression", "graphsage").with("features", "degree").with("dropout", 0.0);
    job.set("epochs", 400);
    let outcome = run(&set, &split, &job);
    // The figures by their definitions. The variance of the targets is above 3.
    let Targets::Values(truth) = set.targets() else { panic!("these are numbers") };
    let errors: Vec<f64> = split
        .part(Part::Test)
        .iter()
        .map(|&g| f64::from(outcome.logits.values[g as usize]) - truth[g as usize].unwrap())
        .collect();
    let mean = |of: &dyn Fn(f64) -> f64| errors.iter().map(|&e| of(e)).sum::<f64>() / errors.len() as f64;
    assert!((outcome.test.mse.unwrap() - mean(&|e| e * e)).abs() < 1e-12);
    assert!((outcome.test.mae.unwrap() - mean(&f64::abs)).abs() < 1e-12);
    assert!(outcome.test.mse < Some(0.2), "{:?}", outcome.test);
    assert_eq!((outcome.test.accuracy, outcome.logits.columns), (None, 1));
}

#[test]
fn dropout_before_the_last_layer_is_of_training_alone() {
    let set = kinds(false);
    let split = set.split("stratified:60/20/20".parse().unwrap(), 1).unwrap();
    let dropping = |p: f64| {
        let job = job("graph_classification", "gcn").with("features", "degree").with("dropout", 0.0);
        job.with("epochs", 20).with("head_dropout", p)
    };
    let (none, half) = (run(&set, &split, &dropping(0.0)), run(&set, &split, &dropping(0.5)));
    assert!(none.weights != half.weights && half == run(&set, &split, &dropping(0.5)));
    let saved = Saved::new(&half.weights, json!({"options": {"model": "gcn"}}));
    let resumed = |p: f64, epochs: i64| {
        let options = dropping(p).with("epochs", epochs).with("load", "file").resolve().unwrap();
        let mut losses = Vec::new();
        let mut observe = |record: &EpochRecord| losses.push(record.train_loss);
        let items = Items::Graphs(&set, &split);
        let outcome = train(Place::Cpu, items, Some(&saved), &options, &Unmonitored, &mut observe).unwrap();
        (outcome.logits, losses)
    };
    let (logits, _) = resumed(0.5, 0);
    assert!(logits == half.logits && logits == resumed(0.0, 0).0);
    // A step without a mask has the loss of these outputs, one with a mask another.
    let loss = |&g: &u32| {
        let row = logits.row(g as usize);
        row.iter().map(|z| f64::from(*z).exp()).sum::<f64>().ln() - f64::from(row[g as usize % 3])
    };
    let expected = split.train.iter().map(loss).sum::<f64>() / split.train.len() as f64;
    let (plain, masked) = (resumed(0.0, 1).1[0], resumed(0.5, 1).1[0]);
    assert!((plain - expected).abs() < 1e-5 && (masked - expected).abs() > 1e-3, "{plain} {masked} {expected}");
}

#[test]
fn two_copies_of_a_graph_have_its_mean_and_twice_its_sum() {
    // Graphs 0 and 1 are the same path; graph 2 is two of them side by side.
    let edges = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (9, 10), (10, 11)];
    let row = |v: usize| [(v % 3) as f32, 1.0];
    let features = Features::dense(2, (0..12).flat_map(row).collect()).unwrap();
    let targets = Targets::Classes(vec![Some(0), Some(1), Some(0)], 2);
    let set = GraphSet::new(Graph::from_edges(12, &edges), features, vec![0, 3, 6, 12], targets).unwrap();
    let split = Split { train: vec![0, 1], val: vec![], test: vec![2] };
    for (pooling, factor) in [("mean", 1.0), ("sum", 2.0)] {
        let mut job = job("graph_classification", "gcn").with("epochs", 3);
        job.set("pooling", pooling);
        let pooled = run(&set, &split, &job).embeddings.unwrap();
        assert_eq!(pooled.row(0), pooled.row(1));
        for (one, two) in pooled.row(0).iter().zip(pooled.row(2)) {
            assert!((factor * one - two).abs() < 1e-6, "{pooling}: {one} {two}");
        }
    }
}

#[test]
fn neither_threads_nor_pruning_nor_a_large_batch_change_a_bit() {
    let set = many(|n| Targets::Classes((0..n).map(|g| (g % 5 != 4).then_some(g as u32 % 3)).collect(), 3));
    let split = set.split("random:60/20/20".parse().unwrap(), 1).unwrap();
    for batch in [None, Some(5)] {
        let mut job = job("graph_classification", "gcn").with("epochs", 5);
        job.set("batch", batch);
        let outcomes = [1, 3, 8].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&set, &split, &job))
        });
        assert!(outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2]);
        let options = TrainOptions { keep_embeddings: true, ..job.resolve().unwrap() };
        let items = Items::Graphs(&set, &split);
        let full = train_whole(items, &options);
        assert!(full.logits == outcomes[0].logits && full.weights == outcomes[0].weights);
        if batch.is_none() {
            job.set("batch", 1000);
            assert!(run(&set, &split, &job) == outcomes[0]);
        }
    }
}

#[test]
fn empty_graphs_and_graphs_without_target_are_no_trouble_and_wrong_splits_are() {
    let targets = Targets::Classes(vec![Some(0), Some(1), None, Some(1)], 2);
    let features = Features::dense(1, vec![1.0, 2.0, 3.0]).unwrap();
    let set = GraphSet::new(Graph::from_edges(3, &[(0, 1)]), features, vec![0, 2, 2, 2, 3], targets).unwrap();
    let job = job("graph_classification", "graphsage").with("epochs", 3);
    let outcome = run(&set, &Split { train: vec![0, 1], val: vec![], test: vec![3] }, &job);
    assert!(outcome.logits.values.iter().all(|z| z.is_finite()));
    let options = job.resolve().unwrap();
    for (split, text) in [
        (Split { train: vec![2], ..Split::default() }, "graph 2 of the split"),
        (Split { train: vec![4], ..Split::default() }, "graph 4 of the split"),
        (Split::default(), "no training graph"),
    ] {
        let error =
            train(Place::Cpu, Items::Graphs(&set, &split), None, &options, &Unmonitored, &mut |_| {}).unwrap_err();
        assert_eq!(error.status(), Some(Status::Error));
        assert!(error.to_string().contains(text), "{error}");
    }
}
