//! Regression of nodes, and features on the scale of the training nodes.

use super::*;
use crate::ground::Matrix;
use crate::{Saved, Targets};

/// 60 nodes without edges, `y = 3 x1 - 2 x2 + 5` of features on scales of their own.
fn line() -> (GraphData, Targets, Split) {
    let mut stream = Stream::new(4);
    let rows: Vec<[f32; 2]> =
        (0..60).map(|_| [100.0 + 10.0 * stream.normal() as f32, 0.01 * stream.normal() as f32]).collect();
    let values = rows.iter().map(|x| Some(3.0 * f64::from(x[0]) - 200.0 * f64::from(x[1]) + 5.0)).collect();
    let features = Features::dense(2, rows.concat()).unwrap();
    let data = GraphData::new(Graph::from_edges(60, &[]), features, vec![None; 60], 0).unwrap();
    let part = |from: u32, to: u32| (from..to).collect::<Vec<u32>>();
    (data, Targets::Values(values), Split { train: part(0, 36), val: part(36, 48), test: part(48, 60) })
}

fn job(normalize: &str) -> Job {
    let job = Job::new("mlp1").with("task", "node_regression").with("normalize", normalize).with("dropout", 0.0);
    job.with("weight_decay", 0.0).with("lr", 0.5).with("epochs", 2000)
}

fn run(start: Option<&Saved>, job: &Job) -> Result<Outcome, TrainError> {
    let (data, targets, split) = line();
    let items = Items::NodeValues(&data, &targets, &split);
    crate::train(Place::Cpu, items, start, &job.resolve().unwrap(), &Unmonitored, &mut |_| {})
}

#[test]
fn a_linear_layer_on_standardised_features_finds_the_plane_that_made_the_numbers() {
    let found = run(None, &job("standard")).unwrap();
    assert!(found.test.mae.unwrap() < 0.05 && found.test.r2.unwrap() > 0.999_99, "{:?}", found.test);
    assert!((found.test.rmse.unwrap().powi(2) - found.test.mse.unwrap()).abs() < 1e-9);
    // On their own scales the two columns are too far apart for one learning rate.
    assert!(run(None, &job("none")).unwrap().test.r2.unwrap() < found.test.r2.unwrap());
}

#[test]
fn the_scale_is_saved_and_loaded_with_the_parameters() {
    let first = run(None, &job("standard")).unwrap();
    let names: Vec<&str> = first.weights.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["0.weight", "0.bias", "features.mean", "features.deviation"]);
    let options = serde_json::json!({"options": job("standard").resolve().unwrap()});
    let saved = Saved::new(&first.weights, options.clone());
    let asked = |normalize: &str| job(normalize).with("epochs", 0).with("load", "file");
    let again = run(Some(&saved), &asked("standard")).unwrap();
    assert_eq!(again.logits, first.logits, "the same bits");
    assert_eq!(again.epochs_run, 0);
    let error = run(Some(&saved), &asked("none")).unwrap_err().to_string();
    assert!(error.contains("have normalize standard, the job has none"), "{error}");
    let without: Vec<(String, Matrix)> = first.weights[..2].to_vec();
    let error = run(Some(&Saved::new(&without, options)), &asked("standard")).unwrap_err().to_string();
    assert!(error.contains("have normalize none, the job has standard"), "{error}");
}

#[test]
fn numbers_that_cannot_be_learnt_are_refused() {
    let (data, _, split) = line();
    let error = |targets: Targets| {
        let items = Items::NodeValues(&data, &targets, &split);
        let options = job("none").resolve().unwrap();
        crate::train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).unwrap_err().to_string()
    };
    assert_eq!(error(Targets::Values(vec![Some(1.0); 59])), "there are 60 nodes, but targets for 59");
    let mut values = vec![Some(1.0); 60];
    values[50] = None;
    assert!(error(Targets::Values(values.clone())).contains("node 50 of the split is not a labelled node"));
    values[50] = Some(f64::INFINITY);
    assert!(error(Targets::Values(values)).contains("the target of node 50 is inf"));
    assert!(error(Targets::Classes(vec![Some(0); 60], 1)).contains("items are those of node_classification"));
}

#[test]
fn a_regression_on_samples_covers_the_training_nodes() {
    let data = planted(120, true);
    let targets = Targets::Values((0..120).map(|v| Some(f64::from(v % 3))).collect());
    let split = split(&data);
    let train = |batch: Value| {
        let job = Job::new("gcn").with("task", "node_regression").with("epochs", 30).with("batch_nodes", batch);
        let items = Items::NodeValues(&data, &targets, &split);
        crate::train(Place::Cpu, items, None, &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap()
    };
    for batch in [Value::Null, Value::Integer(16)] {
        let found = train(batch);
        assert!(found.test.r2.unwrap() > 0.2, "classes hang on neighbours and features: {:?}", found.test);
    }
}
