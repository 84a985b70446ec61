//! Training on sampled neighbours beside training on the whole graph.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::gradients::check_directions;
use super::training::Host;
use super::*;
use crate::network::Operator;
use crate::network::sampling::Sampler;
use crate::{Items, Outcome, Saved, Status, TrainError, train};

/// The job in steps of `nodes` nodes that hear at most `fanout` neighbours; all if none.
fn in_steps(job: &Job, nodes: i64, fanout: Option<i64>) -> Job {
    job.clone().with("batch_nodes", nodes).with("fanout", fanout)
}

/// Every model that can be sampled.
fn sampled_jobs() -> Vec<Job> {
    jobs().into_iter().filter(|job| model(&job.model).unwrap().reach.is_some()).collect()
}

/// [`sampled_jobs`], and one that is given labels: which ones hangs on the rows of a sample.
fn jobs_with_labels() -> Vec<Job> {
    let mut jobs = sampled_jobs();
    let mut labelled = jobs.iter().find(|job| job.model == "unimp").unwrap().clone();
    labelled.set("label_rate", 0.6);
    jobs.push(labelled);
    jobs
}

fn outcome(data: &GraphData, job: &Job) -> Outcome {
    let options = TrainOptions { keep_embeddings: true, test_each_epoch: true, ..job.resolve().unwrap() };
    train_nodes(data, &split(data), &options, &Unmonitored, &mut |_| {}).unwrap()
}

/// Everything of an outcome that must not vary.
fn fixed(outcome: Outcome) -> Outcome {
    Outcome { train_seconds: 0.0, test_seconds: 0.0, peak_memory: 0, ..outcome }
}

#[test]
fn all_models_but_ten_can_be_sampled() {
    let without: Vec<&str> =
        crate::models::registry::graph_models().filter(|spec| spec.reach.is_none()).map(|spec| spec.name).collect();
    assert_eq!(
        without,
        [
            "label_propagation",
            "h2gcn",
            "linkx",
            "glognn",
            "cusp",
            "graphmore",
            "graphtrans",
            "gophormer",
            "han",
            "hinormer"
        ]
    );
}

#[test]
fn one_step_on_all_neighbours_is_a_step_on_the_whole_graph_bit_for_bit() {
    for sparse in [true, false] {
        let data = planted(900, sparse);
        for mut job in jobs_with_labels() {
            job.set("epochs", 4);
            if model(&job.model).unwrap().reach.unwrap()(&job.resolve().unwrap().of_model()).unwrap() == 0 {
                // Nodes without training part are not there: rows, and with them masks, have other numbers.
                continue;
            }
            let whole = fixed(outcome(&data, &job));
            for (fanout, sampler) in [(None, "neighbors"), (Some(900), "neighbors"), (Some(900), "hgt")] {
                let sampled = in_steps(&job, 1_000_000, fanout).with("sampler", sampler);
                let sampled = fixed(outcome(&data, &sampled));
                assert!(whole == sampled, "{}, {sampler}, sparse {sparse}", job.model);
            }
        }
    }
}

#[test]
fn one_step_on_few_nodes_is_a_step_on_the_whole_graph_to_rounding() {
    let mut data = planted(900, true);
    // Few labels: the neighbourhoods leave nodes out, so that sums run in other blocks.
    data.labels.iter_mut().enumerate().for_each(|(v, label)| *label = label.filter(|_| v % 100 < 3));
    for mut job in sampled_jobs() {
        job = job.with("dropout", 0.0).with("epochs", 3).with("optimizer", "sgd");
        if model(&job.model).unwrap().hyperparameters().any(|option| option.name == "attention_dropout") {
            job.set("attention_dropout", 0.0);
        }
        let (whole, sampled) = (outcome(&data, &job), outcome(&data, &in_steps(&job, 1_000_000, None)));
        for (of_whole, of_sampled) in whole.weights.iter().zip(&sampled.weights) {
            let largest = of_whole.1.values.iter().fold(0f32, |largest, x| largest.max(x.abs()));
            for (a, b) in of_whole.1.values.iter().zip(&of_sampled.1.values) {
                assert!((a - b).abs() <= 1e-5 * largest.max(1.0), "{} {}: {a} and {b}", job.model, of_whole.0);
            }
        }
    }
}

#[test]
fn figures_and_outputs_of_a_sampled_run_are_those_of_the_whole_graph() {
    let data = planted(900, true);
    for mut job in jobs_with_labels() {
        job.set("epochs", 2);
        // 16 nodes and their samples: neighbourhoods are cut into many pieces.
        let sampled = outcome(&data, &in_steps(&job, 16, Some(2)));
        let saved = Saved::new(&sampled.weights, json!({"options": {"model": job.model}}));
        let mut options = TrainOptions { keep_embeddings: true, ..job.resolve().unwrap() };
        options.epochs = 0;
        let (data, split) = (&data, &split(&data));
        let items = Items::Nodes(data, split);
        let whole = train(Place::Cpu, items, Some(&saved), &options, &Unmonitored, &mut |_| {}).unwrap();
        assert!(whole.logits == sampled.logits && whole.embeddings == sampled.embeddings, "{}", job.model);
        assert!(whole.val == sampled.val && whole.test == sampled.test, "{}", job.model);
    }
}

#[test]
fn evaluation_on_samples_of_all_neighbours_is_that_on_the_graph() {
    let data = planted(900, true);
    for job in jobs_with_labels() {
        let job = in_steps(&job.with("epochs", 2), 50, None);
        let (graph, samples) = (outcome(&data, &job), outcome(&data, &job.clone().with("evaluate_on", "samples")));
        // Sums run in other blocks.
        for (a, b) in graph.logits.values.iter().zip(&samples.logits.values) {
            assert!((a - b).abs() <= 1e-4 * a.abs().max(1.0), "{}: {a} and {b}", job.model);
        }
    }
}

#[test]
fn evaluation_on_samples_is_the_same_in_each_epoch_and_whatever_parts_are_asked_for() {
    let data = planted(900, true);
    for job in jobs_with_labels() {
        let job = in_steps(&job.with("epochs", 3), 32, Some(2)).with("evaluate_on", "samples");
        let sees_neighbours = !job.resolve().unwrap().fanout.is_empty();
        for sampler in ["neighbors", "hgt"] {
            let job = job.clone().with("sampler", sampler);
            let run = |test_each_epoch: bool| {
                let options = TrainOptions { test_each_epoch, every_figure: true, ..job.resolve().unwrap() };
                let mut best = None;
                let mut observe = |record: &EpochRecord| {
                    if record.selected {
                        best = Some((record.val, record.test));
                    }
                };
                let outcome = fixed(train_nodes(&data, &split(&data), &options, &Unmonitored, &mut observe).unwrap());
                (outcome, best.unwrap())
            };
            let ((without, _), (with, (val, test))) = (run(false), run(true));
            assert!(without == with, "{}, {sampler}", job.model);
            assert!(val == with.val && test == with.test, "{}, {sampler}", job.model);
            let on_graph = fixed(outcome(&data, &job.clone().with("evaluate_on", "graph")));
            // A step does not hang on it.
            assert!(with.weights.len() == on_graph.weights.len(), "{}", job.model);
            assert_eq!(with.logits != on_graph.logits, sees_neighbours, "{}, {sampler}", job.model);
        }
    }
}

#[test]
fn gradients_that_are_added_up_are_those_of_one_step() {
    let data = planted(900, true);
    let mut parts = split(&data);
    parts.train.truncate(parts.train.len() / 3 * 3);
    let all = parts.train.len() as i64;
    // Three steps of as many nodes, whose mean losses have three times the gradient of that of all.
    let run = |job: Job, nodes: i64, fanout: Option<i64>| {
        let options = in_steps(&job, nodes, fanout).resolve().unwrap();
        fixed(train_nodes(&data, &parts, &options, &Unmonitored, &mut |_| {}).unwrap())
    };
    let plain = Job::new("gcn").with("dropout", 0.0).with("optimizer", "sgd").with("weight_decay", 0.0);
    let plain = plain.with("epochs", 4).with("accumulate", 3);
    let together = run(plain.clone().with("lr", 0.3), all, None);
    let one_by_one = run(plain.with("lr", 0.1), all / 3, None);
    for (a, b) in together.logits.values.iter().zip(&one_by_one.logits.values) {
        assert!((a - b).abs() < 1e-5, "{a} and {b}");
    }
    // More than an epoch has: its last step moves the parameters all the same.
    let added = |steps: i64| run(Job::new("gcn").with("epochs", 2).with("accumulate", steps), all / 3, Some(3));
    assert!(added(3) == added(100) && added(3) != added(2) && added(2) != added(1));
}

#[test]
fn an_epoch_of_all_its_steps_is_an_epoch() {
    let data = planted(900, true);
    let run = |steps: Option<i64>| {
        let job = in_steps(&Job::new("gcn").with("epochs", 2), 100, Some(3));
        fixed(outcome(&data, &job.with("epoch_steps", steps)))
    };
    let steps = split(&data).train.len().div_ceil(100) as i64;
    assert!(steps > 1 && run(Some(steps)) == run(None) && run(Some(steps)) != run(Some(steps - 1)));
}

#[test]
fn the_number_of_threads_changes_no_bit_of_a_sampled_run() {
    let data = planted(900, true);
    for mut job in jobs_with_labels() {
        job.set("epochs", 2);
        let job = in_steps(&job, 100, Some(3));
        let results = [1, 8].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            fixed(pool.install(|| outcome(&data, &job)))
        });
        assert!(results[0] == results[1], "{}", job.model);
        let other = fixed(outcome(&data, &job.clone().with("seed", 4)));
        assert!(results[0].logits != other.logits, "{}", job.model);
    }
}

#[test]
fn gradients_on_a_sample_agree_with_finite_differences() {
    let data = planted(300, true);
    let train = split(&data).train;
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let mut sampler = Sampler::new(&data.graph, &mut reservation).unwrap();
    let all: Vec<u32> = (0..300).collect();
    let sample = Arc::new(sampler.sample(&all, &[3], 1, &mut reservation).unwrap());
    for job in sampled_jobs() {
        let job = with_layers(&job, 2).unwrap_or(job);
        let messages = Messages::Sampled(Arc::clone(&sample));
        check_directions(&mut Bench::with_messages(&data, messages, &job.resolve().unwrap(), &train), &job.model);
    }
}

#[test]
fn sums_over_sampled_neighbours_estimate_those_over_all_without_bias() {
    let data = planted(120, true);
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let mut sampler = Sampler::new(&data.graph, &mut reservation).unwrap();
    let all: Vec<u32> = (0..120).collect();
    let x: Vec<f64> = (0..120).map(|v| f64::from(v).sin()).collect();
    type Make = fn(&Messages, &mut Reservation<'_>) -> Result<Operator, crate::BuildError>;
    let operators: [Make; 5] = [
        Operator::symmetric,
        Operator::symmetric_without_loops,
        Operator::mean_with_loops,
        Operator::mean,
        |messages, reservation| Ok(Operator::sum(messages, reservation)?),
    ];
    for (number, make) in operators.into_iter().enumerate() {
        let product = |messages: &Messages| -> Vec<f64> {
            let operator = make(messages, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap();
            let csr = operator.csr();
            let row = |v: usize| (csr.offsets[v]..csr.offsets[v + 1]).map(|e| (csr.columns[e], csr.values[e]));
            (0..120).map(|v| row(v).map(|(u, value)| f64::from(value) * x[u as usize]).sum()).collect()
        };
        let exact = product(&Messages::from(&data.graph));
        const DRAWS: u64 = 400;
        let (mut sums, mut squares) = (vec![0.0; 120], vec![0.0; 120]);
        for draw in 0..DRAWS {
            let sample = sampler.sample(&all, &[2], draw, &mut reservation).unwrap();
            for (v, value) in product(&Messages::Sampled(Arc::new(sample))).into_iter().enumerate() {
                (sums[v], squares[v]) = (sums[v] + value, squares[v] + value * value);
            }
        }
        let n = DRAWS as f64;
        for v in 0..120 {
            let mean = sums[v] / n;
            let error = ((squares[v] / n - mean * mean).max(0.0) / n).sqrt();
            let off = (mean - exact[v]).abs();
            assert!(off < 5.0 * error + 1e-6, "operator {number}, node {v}: {mean} +- {error} for {}", exact[v]);
        }
    }
}

#[test]
fn sampled_training_learns_about_as_well() {
    let data = planted(450, true);
    // One of each kind: that a step on all neighbours is one on the whole graph is tested of every model.
    let of_each_kind = ["gcn", "graphsage", "gat", "appnp", "r_gcn", "hgt"];
    for mut job in sampled_jobs().into_iter().filter(|job| of_each_kind.contains(&job.model.as_str())) {
        job = job.with("hidden", 16).with("normalize", "row");
        job.set("epochs", 100);
        let whole = outcome(&data, &job).test.accuracy.unwrap();
        job.set("epochs", 25);
        let sampled = outcome(&data, &in_steps(&job, 64, Some(4))).test.accuracy.unwrap();
        assert!(sampled > whole - 0.08, "{}: {sampled} beside {whole}", job.model);
    }
}

#[test]
fn memory_is_bounded_by_the_steps_and_not_by_the_graph() {
    let n = 60_000;
    let mut stream = Stream::new(key(&[5]));
    let edges: Vec<(u32, u32)> = (0..3 * n).map(|_| (stream.below(n) as u32, stream.below(n) as u32)).collect();
    let features = Features::dense(8, (0..8 * n).map(|_| stream.normal() as f32).collect()).unwrap();
    let labels = (0..n).map(|v| (v % 50 == 0).then_some((v / 50 % 2) as u32)).collect();
    let data = GraphData::new(Graph::from_edges(n, &edges), features, labels, 2).unwrap();
    for name in ["gcn", "graphsage", "gat"] {
        let job = Job::new(name).with("epochs", 1);
        let peak = |job: &Job| {
            let options = job.resolve().unwrap();
            train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |_| {}).unwrap().peak_memory
        };
        let (whole, sampled) = (peak(&job), peak(&in_steps(&job, 128, Some(5))));
        assert!(sampled * 3 < whole, "{name}: {sampled} bytes in steps, {whole} on the whole graph");
    }
}

#[test]
fn a_sampled_run_that_stops_gives_everything_back() {
    let data = planted(300, true);
    for job in sampled_jobs() {
        let options = in_steps(&job.with("epochs", 3), 50, Some(2)).resolve().unwrap();
        let run = |host: &Host| train_nodes(&data, &split(&data), &options, host, &mut |_| {});
        let full = run(&Host::new(usize::MAX, usize::MAX)).unwrap().peak_memory;
        for limit in [0, full / 4, full / 2] {
            let host = Host::new(limit, usize::MAX);
            let status = run(&host).unwrap_err().status();
            assert_eq!(
                (status, host.bytes.load(Ordering::SeqCst)),
                (Some(Status::OutOfMemory), 0),
                "{}",
                options.model
            );
        }
        for checks in [0, 1, 5, 17, 60] {
            let host = Host::new(usize::MAX, checks);
            assert_eq!(run(&host).unwrap_err(), TrainError::Cancelled, "{}", options.model);
            assert_eq!(host.bytes.load(Ordering::SeqCst), 0);
        }
    }
}
