//! Whole runs: what changes an encoder, and what does not.

use std::sync::Arc;

use bonnet_graph::Unmonitored;
use serde_json::json;

use super::planted;
use crate::training::{Pretrained, SourceRecord, pretrain};
use crate::{Features, GraphData, Items, Job, Outcome, Place, Saved, Source, SplitScheme, TrainError, Value, train};

fn source(name: &str, n: u32, dim: usize, seed: u64) -> Source {
    let (graph, rows) = planted(n, dim, seed);
    let features = Features::dense(dim, rows.values).unwrap();
    Source { name: name.into(), graph: Arc::new(graph), features: Arc::new(features) }
}

fn sources() -> Vec<Source> {
    vec![source("a", 60, 6, 1), source("b", 50, 9, 2), source("c", 40, 3, 3)]
}

fn job(model: &str) -> Job {
    let job = Job::new(model).with("dim", 5).with("hidden", 8).with("layers", 2).with("seed", 4).with("lr", 0.01);
    match model {
        "gcope" => job.with("batch", 4),
        "graphglue" => job.with("batch", 90).with("generators", 4).with("dropout", 0.0),
        "sa2gfm" => job.with("inner", 10),
        _ => job,
    }
}

fn run(model: &str, sources: Vec<Source>, epochs: i64) -> Pretrained {
    let options = job(model).with("epochs", epochs).resolve_pretraining().unwrap();
    pretrain(sources, &options, &Unmonitored, &mut |_, _| {}).unwrap()
}

/// The models that are pre-trained.
fn models() -> impl Iterator<Item = &'static str> {
    crate::models().iter().filter(|spec| spec.is_pretrained()).map(|spec| spec.name)
}

#[test]
fn the_order_of_sources_and_the_number_of_threads_change_nothing() {
    for model in models() {
        let first = run(model, sources(), 3);
        let mut turned = sources();
        turned.rotate_left(1);
        assert_eq!(run(model, turned, 3).weights, first.weights, "{model}");
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = pool.install(|| run(model, sources(), 3));
            assert_eq!((again.weights, again.loss), (first.weights.clone(), first.loss), "{model}: {threads} threads");
        }
        let mut altered = sources();
        altered[1] = source("b", 50, 9, 7);
        assert_ne!(run(model, altered, 3).weights, first.weights, "{model}: another source makes another encoder");
    }
}

#[test]
fn the_loss_falls_and_no_epoch_leaves_what_was_drawn() {
    for model in models() {
        let options = job(model).with("epochs", 40).resolve_pretraining().unwrap();
        let mut losses = Vec::new();
        let done = pretrain(sources(), &options, &Unmonitored, &mut |_, loss| losses.push(loss)).unwrap();
        let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
        assert!(mean(&losses[35..]) < mean(&losses[..5]) - 0.01, "{model}: {losses:?}");
        assert_eq!((done.best_epoch, done.epochs_run, done.loss), (40, 40, losses.last().copied()));
        let none = run(model, sources(), 0);
        assert_eq!((none.best_epoch, none.epochs_run, none.loss), (0, 0, None));
        assert_eq!(none.parameters, done.parameters);
        let learnt = none.weights.iter().filter(|(name, _)| !name.starts_with("prototype."));
        assert_eq!(none.parameters, learnt.map(|(_, matrix)| matrix.values.len()).sum::<usize>());
        // Every parameter that has a gradient moves.
        let same = none.weights.iter().zip(&done.weights).filter(|(a, b)| a.1 == b.1).map(|(a, _)| &a.0);
        assert_eq!(same.collect::<Vec<_>>(), Vec::<&String>::new(), "{model}");
    }
}

/// The file of a pre-training, in memory.
fn saved(model: &str, epochs: i64) -> Saved {
    let options = job(model).with("epochs", epochs).resolve_pretraining().unwrap();
    let done = pretrain(sources(), &options, &Unmonitored, &mut |_, _| {}).unwrap();
    let mut description = json!({"options": options});
    let record = |name: &str| SourceRecord { graph: name.into(), hash: "1".into(), edges: "2".into() };
    SourceRecord::describe(&["a", "b", "c"].map(record), true, &mut description);
    Saved::new(&done.weights, description)
}

fn target(shots: usize) -> (GraphData, crate::Split) {
    let source = source("t", 70, 4, 21);
    let labels = (0..70).map(|v| Some(v % 2)).collect();
    let data = GraphData::new(source.graph, source.features, labels, 2).unwrap();
    let split = format!("kshot:{shots}").parse::<SplitScheme>().unwrap().split(&data, 1).unwrap();
    (data, split)
}

fn adapt(model: &str, saved: &Saved, own: &[(&str, Value)]) -> Result<Outcome, TrainError> {
    let mut job = Job::new(model).with("epochs", 30).with("lr", 0.02).with("load", "file").with("seed", 2);
    own.iter().for_each(|(name, value)| job.set(name, value.clone()));
    let options = saved.with_shape(&job, job.resolve()?)?;
    let (data, split) = target(5);
    train(Place::Cpu, Items::Nodes(&data, &split), Some(saved), &options, &Unmonitored, &mut |_| {})
}

/// What is learnt by each way to adapt.
fn adaptations(model: &str) -> &'static [&'static str] {
    if model == "gcope" { &["fine_tune", "head"] } else { &["prompt", "fine_tune", "head"] }
}

#[test]
fn an_adaptation_learns_what_it_says_and_nothing_else() {
    for model in models() {
        let encoder = saved(model, 5);
        for &adapt_by in adaptations(model) {
            // Logarithms of a metric have most in common: what tells classes apart is learnt behind that.
            let epochs = if model == "graphglue" { 200 } else { 30 };
            let done = adapt(model, &encoder, &[("adapt", adapt_by.into()), ("epochs", epochs.into())]).unwrap();
            assert!(done.test.accuracy.unwrap() > 0.6, "{model}, {adapt_by}: {:?}", done.test);
            let before = adapt(model, &encoder, &[("adapt", adapt_by.into()), ("epochs", 0.into())]).unwrap();
            for ((name, after), (_, before)) in done.weights.iter().zip(&before.weights) {
                let learnt = match adapt_by {
                    "prompt" => name.starts_with("prompt."),
                    "head" => name.starts_with("head."),
                    _ => name.starts_with("head.") || name.starts_with("encoder."),
                };
                assert!(learnt || after == before, "{model}, {adapt_by}: {name} is frozen");
            }
            assert_ne!(done.weights, before.weights, "{model}, {adapt_by}");
            // What was adapted is loaded as it is.
            let mut description = encoder.description().clone();
            description.as_object_mut().unwrap().remove("pretrained");
            let file = Saved::new(&done.weights, description);
            let again = adapt(model, &file, &[("adapt", adapt_by.into()), ("epochs", 0.into())]).unwrap();
            assert_eq!(again.logits, done.logits, "{model}, {adapt_by}");
        }
    }
}

/// Ten nodes without edges are the test part: what they have reaches other nodes by the reduction alone.
#[test]
fn features_of_test_nodes_stay_out_of_a_reduction_without_them() {
    let outputs = |model: &str, reduced_on: &str, stranger: f32| {
        let (graph, mut rows) = planted(70, 9, 21);
        rows.values.extend((0..90).map(|at| if at % 10 == 0 { stranger } else { 1.0 }));
        let edges: Vec<(u32, u32)> = graph.edges().collect();
        let graph = Arc::new(bonnet_graph::Graph::from_edges(80, &edges));
        let features = Arc::new(Features::dense(9, rows.values).unwrap());
        let data = GraphData::new(graph, features, (0..80).map(|v| Some(v % 2)).collect(), 2).unwrap();
        let split = crate::Split { train: (0..10).collect(), val: (10..70).collect(), test: (70..80).collect() };
        let encoder = saved(model, 2);
        let job = Job::new(model).with("epochs", 3).with("reduced_on", reduced_on).with("load", "file");
        let options = encoder.with_shape(&job, job.resolve().unwrap()).unwrap();
        let items = Items::Nodes(&data, &split);
        let done = train(Place::Cpu, items, Some(&encoder), &options, &Unmonitored, &mut |_| {}).unwrap();
        done.logits.values[..70 * 2].to_vec()
    };
    // Neighbours by features, which mdgfm and graphglue's generators find among all nodes, are another way.
    for model in models().filter(|model| !["mdgfm", "graphglue"].contains(model)) {
        assert!(outputs(model, "not_test", 1.0) == outputs(model, "not_test", 40.0), "{model}");
        assert!(outputs(model, "all", 1.0) != outputs(model, "all", 40.0), "{model}");
    }
}

#[test]
fn jobs_that_do_not_fit_say_why() {
    for model in models() {
        let encoder = saved(model, 0);
        let error = |own: &[(&str, Value)]| adapt(model, &encoder, own).unwrap_err().to_string();
        assert!(error(&[("hidden", 64.into())]).contains("hidden 8, the job has 64"), "{model}");
        assert!(error(&[("dim", 9.into())]).contains("dim 5, the job has 9"), "{model}");
        let (data, split) = target(5);
        let options = Job::new(model).resolve().unwrap();
        let items = Items::Nodes(&data, &split);
        let none = train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string();
        assert!(none.contains("load is `NULL`; valid: a file that pretrain saved"), "{none}");
        let one = crate::Split { train: vec![2, 4], val: vec![], test: vec![1] };
        let options = encoder.with_shape(&Job::new(model), options).unwrap();
        let one = train(Place::Cpu, Items::Nodes(&data, &one), Some(&encoder), &options, &Unmonitored, &mut |_| {});
        assert!(one.unwrap_err().to_string().contains("two classes or more"), "{model}");
        let wide = job(model).with("dim", 7).resolve_pretraining().unwrap();
        let narrow = vec![source("a", 6, 9, 1)];
        let rank = pretrain(narrow, &wide, &Unmonitored, &mut |_, _| {}).unwrap_err().to_string();
        assert!(rank.starts_with("a: dim is 7, but") && rank.contains("have rank 6"), "{rank}");
        let twice = pretrain(vec![source("a", 20, 9, 1), source("a", 20, 9, 2)], &wide, &Unmonitored, &mut |_, _| {});
        assert!(twice.unwrap_err().to_string().contains("each graph once"));
    }
    let wide = source("t", 70, 9, 21);
    let data = GraphData::new(wide.graph, wide.features, (0..70).map(|v| Some(v % 2)).collect(), 2).unwrap();
    let split = crate::Split { train: vec![0, 1, 2], val: vec![], test: (3..70).collect() };
    let encoder = saved("mdgpt", 0);
    let narrow = Job::new("mdgpt").with("load", "file").with("reduced_on", "not_test");
    let options = encoder.with_shape(&narrow, narrow.resolve().unwrap()).unwrap();
    let nodes = Items::Nodes(&data, &split);
    let error = train(Place::Cpu, nodes, Some(&encoder), &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("reduced_on is not_test"), "{error}");
    let error = adapt("gcope", &saved("gcope", 0), &[("adapt", "prompt".into())]).unwrap_err().to_string();
    assert!(error.contains("adapt is `prompt`; valid: fine_tune, head"), "{error}");
    let error = adapt("mdgpt", &saved("gcope", 0), &[]).unwrap_err().to_string();
    assert!(error.contains("those of gcope"), "{error}");
    let options = Job::new("gcn").resolve_pretraining().unwrap();
    let error = pretrain(sources(), &options, &Unmonitored, &mut |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("gcope, mdgpt, samgpt, mdgfm, graphglue, sa2gfm"), "{error}");
}
