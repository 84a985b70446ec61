//! Training options in a step, and initial values of parameters.

use serde_json::json;

use super::*;
use crate::{EpochRecord, Items, Matrix, Outcome, SaveError, Saved, TrainError, train};

fn outcome(data: &GraphData, job: &Job) -> Outcome {
    train_nodes(data, &split(data), &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap()
}

/// One step of gradient descent, whose momentum starts at 0: along the gradient, times the learning rate.
fn descent(epochs: i64) -> Job {
    let plain =
        Job::new("gcn").with("optimizer", "sgd").with("lr", 0.05).with("weight_decay", 0.0).with("dropout", 0.0);
    plain.with("epochs", epochs).with("hidden", 8)
}

/// The parameters before any step, in the order of the outcome's.
fn initial(data: &GraphData, job: &Job) -> Vec<f32> {
    let options = job.resolve().unwrap();
    let bench = Bench::new(data, &options, &[0]);
    let values = bench.model.layout().initialise(options.seed);
    bench.model.layout().blocks().iter().flat_map(|block| block.positions()).map(|at| values[at]).collect()
}

fn flat(weights: &[(String, Matrix)]) -> Vec<f32> {
    weights.iter().flat_map(|(_, matrix)| matrix.values.clone()).collect()
}

fn moved(data: &GraphData, job: &Job) -> Vec<f64> {
    let after = flat(&outcome(data, job).weights);
    after.iter().zip(initial(data, job)).map(|(a, b)| f64::from(a - b)).collect()
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn a_clipped_step_is_as_long_as_the_limit_and_keeps_its_direction() {
    let data = planted(150, true);
    let free = moved(&data, &descent(1));
    let gradient = norm(&free) / 0.05;
    let clipped = moved(&data, &descent(1).with("clip", Value::Real(gradient / 4.0)));
    assert!((norm(&clipped) / norm(&free) - 0.25).abs() < 1e-4);
    let cosine = free.iter().zip(&clipped).map(|(a, b)| a * b).sum::<f64>() / norm(&free) / norm(&clipped);
    assert!(cosine > 1.0 - 1e-6);
    assert_eq!(moved(&data, &descent(1).with("clip", Value::Real(gradient * 2.0))), free, "a loose limit is none");
}

#[test]
fn a_warm_up_shortens_the_first_steps_and_a_cosine_the_last() {
    let data = planted(150, true);
    let free = moved(&data, &descent(1));
    let warm = moved(&data, &descent(1).with("warmup", Value::Integer(3)));
    assert!((norm(&warm) / norm(&free) - 0.25).abs() < 1e-4);
    // The first step of a cosine is whole; of two, the second is half as long.
    let cosine = |epochs| descent(epochs).with("schedule", Value::Text("cosine".into()));
    assert_eq!(moved(&data, &cosine(1)), free);
    let unwatched = |job: &Job| {
        let parts = Split { val: vec![], ..split(&data) };
        let options = job.resolve().unwrap();
        flat(&train_nodes(&data, &parts, &options, &Unmonitored, &mut |_| {}).unwrap().weights)
    };
    let one = unwatched(&descent(1));
    let step = |job: &Job| -> Vec<f64> { unwatched(job).iter().zip(&one).map(|(a, b)| f64::from(a - b)).collect() };
    let (whole, half) = (step(&descent(2)), step(&cosine(2)));
    assert!((norm(&half) / norm(&whole) - 0.5).abs() < 1e-4);
}

#[test]
fn balanced_classes_weigh_the_same_in_the_loss() {
    // Class 0 has many nodes, the others few.
    let mut data = planted(400, true);
    data.labels.iter_mut().enumerate().for_each(|(v, label)| {
        *label = label.map(|class| if v % 10 < 8 { 0 } else { class });
    });
    let job = Job::new("gcn").with("dropout", 0.0).with("epochs", 1).with("class_weights", "balanced");
    let mut records: Vec<EpochRecord> = Vec::new();
    let (options, parts) = (job.resolve().unwrap(), split(&data));
    train_nodes(&data, &parts, &options, &Unmonitored, &mut |record| records.push(record.clone())).unwrap();
    // By definition: the mean over the classes of the mean loss of a class, on the initial outputs.
    let mut bench = Bench::new(&data, &options, &parts.train);
    let parameters = bench.model.layout().initialise(0);
    bench.loss(&parameters);
    let mut means = [(0.0, 0.0); 3];
    for &v in &parts.train {
        let z: Vec<f64> = bench.model.outputs()[v as usize * 8..][..3].iter().map(|&z| f64::from(z)).collect();
        let class = data.labels[v as usize].unwrap() as usize;
        means[class].0 += z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[class];
        means[class].1 += 1.0;
    }
    let expected = means.iter().map(|(sum, count)| sum / count).sum::<f64>() / 3.0;
    assert!((records[0].train_loss - expected).abs() < 1e-6, "{} for {expected}", records[0].train_loss);
    // Weights that are given, in the order of the classes: the weighted mean over the nodes.
    let job = job.clone().with("class_weights", "1,5,0.5");
    let mut given: Vec<EpochRecord> = Vec::new();
    train_nodes(&data, &parts, &job.resolve().unwrap(), &Unmonitored, &mut |record| given.push(record.clone()))
        .unwrap();
    let weighted = means.iter().zip([1.0, 5.0, 0.5]).map(|((sum, count), weight)| (weight * sum, weight * count));
    let (sum, total) = weighted.fold((0.0, 0.0), |all: (f64, f64), one| (all.0 + one.0, all.1 + one.1));
    assert!((given[0].train_loss - sum / total).abs() < 1e-6, "{} for {}", given[0].train_loss, sum / total);
    let few = job.clone().with("class_weights", "1,5").resolve().unwrap();
    let few = train_nodes(&data, &parts, &few, &Unmonitored, &mut |_| {}).unwrap_err().to_string();
    assert!(few.contains("`1,5`; valid: a weight for each of the 3 classes"), "{few}");
    // And what it is for: the rare classes are found more often.
    let recall = |weights: &str| {
        let mut job = job.clone().with("class_weights", Value::Text(weights.into()));
        job.set("epochs", 60);
        outcome(&data, &job).test.macro_f1.unwrap()
    };
    assert!(recall("balanced") > recall("none"), "{} {}", recall("balanced"), recall("none"));
}

#[test]
fn saved_parameters_give_the_same_outputs_and_another_start() {
    let data = planted(150, true);
    for job in jobs().into_iter().filter(|job| ["mlp", "gcn", "graphsage", "gat"].contains(&job.model.as_str())) {
        let first = outcome(&data, &job.clone().with("epochs", 8));
        let saved = Saved::new(&first.weights, json!({"options": {"model": job.model}}));
        let parts = split(&data);
        let resume = |epochs: i64| {
            let job = job.clone().with("epochs", epochs).with("load", "file").with("seed", 77);
            let options = job.resolve().unwrap();
            let items = Items::Nodes(&data, &parts);
            train(Place::Cpu, items, Some(&saved), &options, &Unmonitored, &mut |_| {}).unwrap()
        };
        let again = resume(0);
        assert_eq!((&again.logits, &again.weights), (&first.logits, &first.weights), "{}", job.model);
        assert_eq!((again.best_epoch, again.epochs_run, again.test), (0, 0, first.test));
        assert_ne!(resume(1).weights, first.weights);

        let other = job.clone().with("hidden", 6).resolve().unwrap();
        let items = Items::Nodes(&data, &parts);
        let error = train(Place::Cpu, items, Some(&saved), &other, &Unmonitored, &mut |_| {}).unwrap_err();
        assert!(matches!(error, TrainError::Saved(SaveError::Mismatch { .. })), "{error}");
    }
}
