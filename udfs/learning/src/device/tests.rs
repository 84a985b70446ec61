//! Runs on devices against runs on the CPU, and the kernels that no layer has.

use std::sync::Arc;

use bonnet_graph::{Graph, Unmonitored};

use super::host::HostDevice;
use super::*;
use crate::kernels::RowSet;
use crate::kernels::edge::{Store, max_sources, max_sources_gradient};
use crate::network::{Messages, Operator};
use crate::random::Stream;
use crate::tests::{jobs, planted, split};
use crate::train::Training;
use crate::{EpochRecord, Items, Job, Outcome, Status, TrainError};

/// The devices of this machine: the host where there is a C++ compiler, and a GPU in a build for one.
pub(crate) fn devices() -> Vec<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    if let Some(host) = HostDevice::new(usize::MAX / 2) {
        devices.push(Box::new(host));
    }
    #[cfg(feature = "cuda")]
    match cuda::Gpu::first() {
        Ok(gpu) => devices.push(Box::new(gpu.queue().unwrap())),
        Err(why) => eprintln!("skipped on a GPU: {why}"),
    }
    devices
}

/// The kernels that the text defines, in its order.
fn defined(text: &str) -> Vec<&str> {
    let starts = text.split("extern \"C\" __global__ void ").skip(1);
    starts.map(|rest| rest.split('(').next().unwrap()).collect()
}

#[test]
fn the_kernels_of_the_text_are_those_that_are_known() {
    assert_eq!(defined(include_str!("kernels.cu")).len(), KERNELS.len());
    let mut known = KERNELS.to_vec();
    let mut defined = defined(include_str!("kernels.cu"));
    known.sort_unstable();
    defined.sort_unstable();
    assert_eq!(known, defined);
}

/// A run, with its epochs.
fn run(device: Option<&dyn Device>, items: Items<'_>, job: &Job) -> Result<(Outcome, Vec<EpochRecord>), TrainError> {
    let options = crate::TrainOptions { keep_embeddings: true, test_each_epoch: true, ..job.resolve().unwrap() };
    let mut records = Vec::new();
    let mut observe = |record: &EpochRecord| records.push(record.clone());
    let (options, monitor, observe) = (&options, &Unmonitored, &mut observe);
    let outcome = Training { device, items, start: None, options, pruned: true, monitor, observe }.run()?;
    Ok((Outcome { train_seconds: 0.0, test_seconds: 0.0, ..outcome }, records))
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "{what}: {b} for {a}");
}

/// The same run here and there: the same figures but for rounding.
fn agree(device: &dyn Device, items: Items<'_>, job: &Job) -> &'static str {
    let (here, records) = run(None, items, job).unwrap();
    let (there, others) = run(Some(device), items, job).unwrap();
    let what = format!("{} {} {} on {}", job.model, job.get("task"), here.epochs_run, there.device);
    assert_eq!((here.epochs_run, here.parameters, records.len()), (there.epochs_run, there.parameters, others.len()));
    for (a, b) in records.iter().zip(&others) {
        close(a.train_loss, b.train_loss, 2e-3, &format!("{what}: training loss of epoch {}", a.epoch));
        close(a.val_loss.unwrap(), b.val_loss.unwrap(), 2e-3, &format!("{what}: validation loss of epoch {}", a.epoch));
        let some = |x: Option<f64>| x.unwrap_or(-1.0);
        // A prediction on the edge may tip.
        close(some(a.val.accuracy), some(b.val.accuracy), 0.05, &what);
        close(some(a.test.accuracy), some(b.test.accuracy), 0.05, &what);
        assert_eq!(a.val.accuracy.is_some(), b.val.accuracy.is_some());
        assert_eq!((a.val.auc.is_some(), a.test.auc.is_some()), (b.val.auc.is_some(), b.test.auc.is_some()), "{what}");
    }
    if here.best_epoch == there.best_epoch {
        for (a, b) in here.weights.iter().zip(&there.weights) {
            assert_eq!((&a.0, a.1.columns, a.1.values.len()), (&b.0, b.1.columns, b.1.values.len()));
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

/// Models with a layer that has no kernels: they stay on the CPU and say so.
const ON_THE_CPU: [&str; 3] = ["glognn", "gbk_gnn", "lsgnn"];

#[test]
fn every_model_trains_on_a_device_as_on_the_cpu() {
    for device in devices() {
        for (number, job) in jobs().into_iter().enumerate() {
            // Dense features are the input layer's alone, which the tests of layers run on both.
            for sparse in if number < 3 { &[true, false][..] } else { &[true] } {
                let data = planted(60, *sparse);
                // A step from the first parameters, and one with masks and moments of its own.
                let job = job.clone().with("epochs", 2);
                let word = agree(&*device, Items::Nodes(&data, &split(&data)), &job);
                let expected = if ON_THE_CPU.contains(&job.model.as_str()) { "cpu" } else { device.name() };
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
            assert_eq!(agree(&*device, Items::Nodes(&data, &split(&data)), &job), device.name());
        }
    }
}

#[test]
fn figures_without_kernels_are_computed_on_the_host() {
    for device in devices() {
        let data = planted(60, false);
        for select_by in ["val_macro_f1", "val_auc", "val_loss"] {
            let job = Job::new("gat").with("select_by", select_by).with("epochs", 3);
            assert_eq!(agree(&*device, Items::Nodes(&data, &split(&data)), &job), device.name());
        }
    }
}

#[test]
fn links_and_graphs_train_on_a_device() {
    use crate::tests::{graphs::kinds, links::links};
    for device in devices() {
        let data = planted(40, true);
        let links = links(&data);
        for model in ["gcn", "graphsage"] {
            let job = Job::new(model).with("task", "link_prediction").with("epochs", 3).with("hidden", 9);
            assert_eq!(agree(&*device, Items::Links(&data, &links), &job), device.name());
        }
        let set = kinds(false);
        let part = |from: u32| (from..90).step_by(3).collect::<Vec<u32>>();
        let parts = crate::Split { train: part(0), val: part(1), test: part(2) };
        let job = Job::new("gin").with("task", "graph_classification").with("features", "degree");
        let job = job.with("epochs", 2).with("hidden", 8).with("batch", 12);
        assert_eq!(agree(&*device, Items::Graphs(&set, &parts), &job), device.name());
    }
}

#[test]
fn a_run_on_a_device_is_the_same_run_again() {
    for device in devices() {
        let data = planted(60, true);
        let parts = split(&data);
        for model in ["gat", "gcn", "unimp"] {
            let job = Job::new(model).with("epochs", 5);
            let items = Items::Nodes(&data, &parts);
            let (first, second) =
                (run(Some(&*device), items, &job).unwrap(), run(Some(&*device), items, &job).unwrap());
            assert!(first == second, "{model}");
        }
    }
}

#[test]
fn a_device_without_room_is_a_status_and_the_next_run_goes_on() {
    let Some(device) = HostDevice::new(usize::MAX / 2) else { return };
    let data = planted(60, true);
    let parts = split(&data);
    let items = Items::Nodes(&data, &parts);
    let job = Job::new("gat").with("epochs", 3);
    let needed = run(Some(&device), items, &job).unwrap().0;
    assert!(device.used() == 0 && device.launches() > 0);
    // Wherever the room ends, before the first epoch or after the last.
    for share in [0, 1, 30, 60, 90, 99] {
        let small = HostDevice::new(needed.peak_memory * share / 100).unwrap();
        let error = run(Some(&small), items, &job).map(|(outcome, _)| outcome.peak_memory);
        if let Err(error) = &error {
            assert_eq!(error.status(), Some(Status::OutOfMemory), "{share} %: {error}");
        }
        assert!(error.is_err() || share >= 90, "{share} %");
        assert_eq!(small.used(), 0, "what a failed run held is given back");
        let tiny = Job::new("mlp").with("epochs", 1).with("hidden", 1).with("layers", 1);
        assert!(share < 60 || run(Some(&small), items, &tiny).is_ok(), "{share} %");
    }
}

#[test]
fn a_model_without_kernels_asks_a_device_for_no_room() {
    let Some(full) = HostDevice::new(0) else { return };
    let data = planted(40, true);
    let parts = split(&data);
    for model in ON_THE_CPU {
        let job = Job::new(model).with("epochs", 2);
        let (outcome, _) = run(Some(&full), Items::Nodes(&data, &parts), &job).unwrap();
        assert_eq!((outcome.device, full.launches()), ("cpu", 0), "{model}");
    }
}

#[cfg(feature = "cuda")]
#[test]
fn a_gpu_without_room_says_so_and_the_next_run_goes_on() {
    let gpu = match cuda::Gpu::first() {
        Ok(gpu) => gpu,
        Err(why) => return eprintln!("skipped on a GPU: {why}"),
    };
    let (queue, data) = (gpu.queue().unwrap(), planted(60, true));
    let error = queue.allocate(1 << 50).unwrap_err();
    assert!(matches!(&error, DeviceError::OutOfMemory(text) if text.contains("free")), "{error}");
    let parts = split(&data);
    agree(&queue, Items::Nodes(&data, &parts), &Job::new("gcn").with("epochs", 3));
}

#[test]
fn runs_at_once_are_the_runs_alone() {
    let data = planted(60, true);
    let parts = split(&data);
    let of = |device: &dyn Device, seed: u64| {
        let job = Job::new("gcn").with("epochs", 5).with("seed", seed as i64);
        run(Some(device), Items::Nodes(&data, &parts), &job).unwrap()
    };
    let alone: Vec<_> = devices().iter().map(|device| [of(&**device, 1), of(&**device, 2)]).collect();
    let (of, alone) = (&of, &alone);
    std::thread::scope(|scope| {
        for seed in [1, 2, 1, 2] {
            scope.spawn(move || {
                for (device, alone) in devices().iter().zip(alone) {
                    assert!(of(&**device, seed) == alone[seed as usize - 1], "seed {seed} on {}", device.name());
                }
            });
        }
    });
}

#[test]
fn a_run_that_diverges_on_a_device_says_so() {
    for device in devices() {
        let data = planted(60, true);
        let job = Job::new("gcn").with("lr", 1e30).with("epochs", 20).with("optimizer", "sgd");
        let error = run(Some(&*device), Items::Nodes(&data, &split(&data)), &job).unwrap_err();
        assert_eq!(error.status(), Some(Status::Diverged), "{error}");
    }
}

#[test]
fn the_largest_of_a_segment_and_its_gradient_are_those_of_the_cpu() {
    let (n, width) = (50usize, 40usize);
    let mut stream = Stream::new(4);
    let edges: Vec<(u32, u32)> = (0..120).map(|_| (stream.below(n) as u32, stream.below(n - 3) as u32)).collect();
    let graph = Arc::new(Graph::from_edges(n, &edges));
    let mut reservation = bonnet_graph::Reservation::new(&Unmonitored, 0).unwrap();
    let operator = Arc::new(Operator::edges(&Messages::from(&graph), &mut reservation).unwrap());
    // Few values, so that several sources are the largest.
    let x: Vec<f32> = (0..n * width).map(|_| stream.below(5) as f32 - 2.0).collect();
    let d: Vec<f32> = (0..n * width).map(|_| stream.normal() as f32).collect();
    let set = RowSet::new(n, (0..n as u32).filter(|row| row % 4 != 1).collect());
    let (mut out, mut which) = (vec![0f32; n * width], vec![u32::MAX; n * width]);
    max_sources(&set, operator.incoming(), &x, width, &mut out, &mut which, &Unmonitored).unwrap();
    let by_source = operator.transposed_rows(&set, &mut reservation).unwrap();
    let (mut d_x, all) = (d.clone(), RowSet::all(n));
    let how = Store::Add;
    max_sources_gradient(&all, by_source.outgoing(), &which, &d, width, how, &mut d_x, &Unmonitored).unwrap();
    for device in devices() {
        let mut memory = Memory::new(&*device);
        let offsets = |operator: &Operator| operator.offsets().iter().map(|&at| at as u32).collect::<Vec<u32>>();
        let rows = memory.hold(set.rows()).unwrap();
        let (starts, columns) =
            (memory.hold(&offsets(&operator)).unwrap(), memory.hold(operator.incoming().sources).unwrap());
        let (back, targets) =
            (memory.hold(&offsets(&by_source)).unwrap(), memory.hold(by_source.outgoing().targets).unwrap());
        let (x, g) = (memory.hold(&x).unwrap(), memory.hold(&d).unwrap());
        let (values, sources) = (memory.zeros(n * width).unwrap(), memory.hold(&vec![u32::MAX; n * width]).unwrap());
        let gradient = memory.hold(&d).unwrap();
        let forward = args![rows, set.len(), starts, columns, x, width, values, sources];
        let backward = args![None, n, back, targets, sources, g, width, true, gradient];
        let launch = |kernel, rows: usize, args| Launch { kernel, blocks: rows.div_ceil(WARPS) as u32, args };
        let launches = vec![launch("segment_max", set.len(), forward), launch("segment_max_gradient", n, backward)];
        device.run(&mut Tape::new(launches)).unwrap();
        let (mut got, mut got_which, mut got_d) = (vec![0f32; n * width], vec![0u32; n * width], vec![0f32; n * width]);
        memory.read(values, &mut got).unwrap();
        memory.read(sources, &mut got_which).unwrap();
        memory.read(gradient, &mut got_d).unwrap();
        assert!(got == out && got_which == which, "on {}", device.name());
        assert!(got_d.iter().zip(&d_x).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}
