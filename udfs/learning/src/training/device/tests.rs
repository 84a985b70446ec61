//! Runs on candle's tensors against runs on the CPU: on the host, and on the GPU of the machine in a build for one.

use bonnet_graph::{Graph, Unmonitored};

use super::*;
use crate::tests::{directed_jobs, jobs, planted, split};
use crate::training::Training;
use crate::{EpochRecord, Items, Job, Outcome, Status, TrainError};

/// The devices of this machine.
fn devices() -> Vec<fn() -> Lease> {
    #[cfg_attr(not(feature = "cuda"), expect(unused_mut, reason = "a GPU is added"))]
    let mut devices: Vec<fn() -> Lease> = vec![Lease::host];
    #[cfg(feature = "cuda")]
    match Place::of("cuda") {
        Ok(_) => devices.push(|| Place::of("cuda").unwrap().device(0).unwrap().unwrap()),
        Err(why) => eprintln!("skipped on a GPU: {why}"),
    }
    devices
}

/// A run, with its epochs.
fn run(device: Option<Lease>, items: Items<'_>, job: &Job) -> Result<(Outcome, Vec<EpochRecord>), TrainError> {
    let options = crate::TrainOptions { keep_embeddings: true, test_each_epoch: true, ..job.resolve().unwrap() };
    let mut records = Vec::new();
    let mut observe = |record: &EpochRecord| records.push(record.clone());
    let (options, monitor, observe) = (&options, &Unmonitored, &mut observe);
    let outcome = Training { device, items, start: None, options, pruned: true, monitor, observe }.run()?;
    Ok((Outcome { train_seconds: 0.0, test_seconds: 0.0, peak_memory: 0, ..outcome }, records))
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "{what}: {b} for {a}");
}

/// The same run here and there: the same figures but for rounding. Returns where it was.
fn agree(device: fn() -> Lease, items: Items<'_>, job: &Job) -> &'static str {
    let (here, records) = run(None, items, job).unwrap();
    let (there, others) = run(Some(device()), items, job).unwrap();
    let what = format!("{} {} {} on {}", job.model, job.get("task"), here.epochs_run, there.device);
    assert_eq!((here.epochs_run, here.parameters, records.len()), (there.epochs_run, there.parameters, others.len()));
    for (a, b) in records.iter().zip(&others) {
        close(a.train_loss, b.train_loss, 2e-3, &format!("{what}: training loss of epoch {}", a.epoch));
        close(a.val_loss.unwrap(), b.val_loss.unwrap(), 2e-3, &format!("{what}: validation loss of epoch {}", a.epoch));
        let some = |x: Option<f64>| x.unwrap_or(-1.0);
        // A prediction on the edge may tip: one of the ten nodes of a part, of which a GPU sums in another order.
        for (a, b) in [(a.val.accuracy, b.val.accuracy), (a.test.accuracy, b.test.accuracy)] {
            assert!((some(a) - some(b)).abs() < 0.101, "{what}: accuracy {b:?} for {a:?}");
        }
        assert_eq!(a.val.accuracy.is_some(), b.val.accuracy.is_some());
        assert_eq!((a.val.auc.is_some(), a.test.auc.is_some()), (b.val.auc.is_some(), b.test.auc.is_some()), "{what}");
    }
    if here.best_epoch == there.best_epoch {
        for (a, b) in here.weights.iter().zip(&there.weights) {
            assert_eq!((&a.0, a.1.columns, a.1.values.len()), (&b.0, b.1.columns, b.1.values.len()));
            // What is the same in all scores of a row changes no coefficient: Adam makes steps of the rounding of its gradient.
            if a.0.ends_with("key.bias") {
                continue;
            }
            for (x, y) in a.1.values.iter().zip(&b.1.values) {
                close(f64::from(*x), f64::from(*y), 1e-2, &format!("{what}: {}", a.0));
            }
        }
        let embeddings = (here.embeddings.as_ref(), there.embeddings.as_ref());
        assert_eq!(embeddings.0.map(|e| e.values.len()), embeddings.1.map(|e| e.values.len()), "{what}");
        for (a, b) in [(Some(&here.logits), Some(&there.logits)), embeddings] {
            for (x, y) in a.into_iter().zip(b).flat_map(|(a, b)| a.values.iter().zip(&b.values)) {
                close(f64::from(*x), f64::from(*y), 2e-2, &format!("{what}: outputs"));
            }
        }
    }
    there.device
}

#[test]
fn every_model_trains_on_a_device_as_on_the_cpu() {
    for device in devices() {
        for (number, job) in jobs().into_iter().chain(directed_jobs()).enumerate() {
            // Dense features are the input layer's alone, which the tests of definitions take on both.
            for sparse in if number < 3 { &[true, false][..] } else { &[true] } {
                let data = planted(60, *sparse);
                // A step from the first parameters, and one with masks and moments of its own.
                let job = job.clone().with("epochs", 2);
                let word = agree(device, Items::Nodes(&data, &split(&data)), &job);
                // A codebook moves on the CPU alone.
                let expected = if job.model == "goat" { "cpu" } else { device().word };
                assert_eq!(word, expected, "{}", job.model);
            }
        }
    }
}

#[test]
fn optimisers_weights_and_clipping_are_those_of_the_cpu() {
    for device in devices() {
        let data = planted(60, true);
        for optimizer in ["adam", "adamw", "sgd"] {
            let job = Job::new("gcn").with("optimizer", optimizer).with("epochs", 6).with("weight_decay", 0.01);
            let job = job.with("layers", 3).with("clip", 0.05).with("class_weights", "balanced");
            let job = job.with("schedule", "cosine").with("warmup", 3);
            assert_eq!(agree(device, Items::Nodes(&data, &split(&data)), &job), device().word);
        }
    }
}

#[test]
fn every_figure_is_that_of_the_cpu() {
    for device in devices() {
        let data = planted(60, false);
        for select_by in ["val_macro_f1", "val_auc", "val_loss"] {
            let job = Job::new("gat").with("select_by", select_by).with("epochs", 3);
            assert_eq!(agree(device, Items::Nodes(&data, &split(&data)), &job), device().word);
        }
    }
}

#[test]
fn links_and_graphs_in_one_batch_train_on_a_device_and_several_batches_on_the_cpu() {
    use crate::tests::graphs::kinds;
    use crate::tests::links::links;
    for device in devices() {
        let data = planted(40, true);
        let links = links(&data);
        for (model, decoder) in [("gcn", "inner_product"), ("graphsage", "distance")] {
            let job = Job::new(model).with("task", "link_prediction").with("epochs", 3).with("hidden", 9);
            let job = job.with("decoder", decoder);
            assert_eq!(agree(device, Items::Links(&data, &links), &job), device().word);
        }
        let set = kinds(false);
        let part = |from: u32| (from..90).step_by(3).collect::<Vec<u32>>();
        let parts = crate::Split { train: part(0), val: part(1), test: part(2) };
        let job = Job::new("gin").with("task", "graph_classification").with("features", "degree");
        let job = job.with("epochs", 2).with("hidden", 8);
        for (batch, word) in [(12, "cpu"), (30, device().word)] {
            assert_eq!(agree(device, Items::Graphs(&set, &parts), &job.clone().with("batch", batch)), word);
        }
    }
}

#[test]
fn a_run_on_a_device_is_the_same_run_again_and_beside_others() {
    let data = planted(60, true);
    let parts = split(&data);
    for device in devices() {
        for model in ["gat", "gcn", "unimp"] {
            let of = |seed: i64| {
                let job = Job::new(model).with("epochs", 5).with("seed", seed);
                run(Some(device()), Items::Nodes(&data, &parts), &job).unwrap()
            };
            let alone = [of(1), of(2)];
            assert!(alone[0] == of(1), "{model}");
            let (of, alone) = (&of, &alone);
            std::thread::scope(|scope| {
                for seed in [1, 2, 1, 2] {
                    scope.spawn(move || assert!(of(seed) == alone[seed as usize - 1], "{model}, seed {seed}"));
                }
            });
        }
    }
}

#[test]
fn a_graph_without_edges_is_the_cpus() {
    let data = planted(30, true);
    let empty = crate::GraphData::new(
        Graph::from_edges(30, &[]),
        (*data.features).clone(),
        data.labels.clone(),
        data.n_classes,
    );
    let data = empty.unwrap();
    for device in devices() {
        let job = Job::new("gcn").with("epochs", 2);
        assert_eq!(agree(device, Items::Nodes(&data, &split(&data)), &job), "cpu");
    }
}

#[test]
fn a_run_that_diverges_on_a_device_says_so() {
    for device in devices() {
        let data = planted(60, true);
        let job = Job::new("gcn").with("lr", 1e30).with("epochs", 20).with("optimizer", "sgd");
        let error = run(Some(device()), Items::Nodes(&data, &split(&data)), &job).unwrap_err();
        assert_eq!(error.status(), Some(Status::Diverged), "{error}");
    }
}

#[cfg(feature = "cuda")]
#[test]
fn a_gpu_without_room_says_so_and_the_next_run_goes_on() {
    let device = match Place::of("cuda") {
        Ok(place) => place.device(0).unwrap().unwrap(),
        Err(why) => return eprintln!("skipped on a GPU: {why}"),
    };
    let zeros = candle_core::Tensor::zeros(1 << 45, candle_core::DType::F32, &device.device);
    assert_eq!(TrainError::from(zeros.unwrap_err()).status(), Some(Status::OutOfMemory));
    let (data, lease) = (planted(60, true), || Place::of("cuda").unwrap().device(0).unwrap().unwrap());
    agree(lease, Items::Nodes(&data, &split(&data)), &Job::new("gcn").with("epochs", 3));
}
