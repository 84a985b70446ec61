use std::sync::atomic::{AtomicUsize, Ordering};

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

use super::*;
use crate::{EpochRecord, Items, Outcome, Status, TrainError, train};

fn outcome(data: &GraphData, job: &Job, pruned: bool) -> Outcome {
    let options = TrainOptions { keep_embeddings: true, test_each_epoch: true, ..job.resolve().unwrap() };
    let split = split(data);
    let items = Items::Nodes(data, &split);
    match pruned {
        true => train(Place::Cpu, items, None, &options, &Unmonitored, &mut |_| {}).unwrap(),
        false => train_whole(items, &options),
    }
}

/// Everything of an outcome that must not vary.
fn fixed(outcome: Outcome) -> Outcome {
    Outcome { train_seconds: 0.0, test_seconds: 0.0, peak_memory: 0, ..outcome }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for sparse in [true, false] {
        let data = planted(900, sparse);
        for mut job in jobs().into_iter().chain(directed_jobs()) {
            job = with_layers(&job, 3).unwrap_or(job);
            job.set("epochs", 3);
            let results = [1, 2, 8].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                fixed(pool.install(|| outcome(&data, &job, true)))
            });
            assert!(results[0] == results[1] && results[0] == results[2], "{}, sparse {sparse}", job.model);
        }
    }
}

#[test]
fn pruning_changes_no_bit() {
    for sparse in [true, false] {
        let mut data = planted(900, sparse);
        // Few labels, so that pruning leaves much out.
        data.labels.iter_mut().enumerate().for_each(|(v, label)| *label = label.filter(|_| v % 40 < 3));
        for mut job in jobs().into_iter().chain(directed_jobs()) {
            job.set("epochs", 3);
            assert!(fixed(outcome(&data, &job, true)) == fixed(outcome(&data, &job, false)), "{}", job.model);
        }
    }
}

#[test]
fn every_model_learns_what_is_planted() {
    let data = planted(900, true);
    jobs().into_par_iter().for_each(|mut job| {
        // What models learn that read types is in `typed`; attention over many nodes takes longest, and needs fewer epochs.
        let is_typed = model(&job.model).unwrap().reads_types();
        let epochs = match job.model.as_str() {
            _ if is_typed => 2,
            "graphtrans" | "gophormer" | "goat" => 50,
            _ => 150,
        };
        job = job.with("hidden", 16).with("normalize", "row").with("epochs", epochs);
        // Most have learnt it long before.
        job.set("patience", 25);
        let outcome = outcome(&data, &job, true);
        let least = if job.model.starts_with("mlp") { 0.5 } else { 0.7 };
        let test = outcome.test.accuracy.unwrap();
        assert!(is_typed || test > least, "{}: {test}", job.model);
        assert_eq!(outcome.logits.values.len(), 900 * 3);
        assert!(outcome.peak_memory > 0 && outcome.test.macro_f1.is_some() && outcome.test.ap.is_none());
        // The input of the last layer, where that is not the features.
        let width = match job.model.as_str() {
            "gat" | "unimp" | "r_gat" | "hgt" | "han" | "shgn" | "unified_gt" | "h2g_former" | "graphtrans" => {
                Some(16 * job.resolve().unwrap().of_model().integer("heads").unwrap() as usize)
            }
            "mlp1" | "sgc" | "label_propagation" => None,
            "mixhop" => Some(3 * 16),
            "nagphormer" => Some(16 / 2),
            // Its option embedding.
            "cusp" => Some(48),
            // Points of three spaces, the sphere's with a coordinate more.
            "graphmore" => Some(3 * 16 + 1),
            "h2gcn" | "fsgnn" => Some(7 * 16),
            "lsgnn" => Some(6 * 16),
            // Points, with the coordinates of their spaces.
            "hgcn" if job.get("manifold").to_string() == "poincare" => Some(16),
            "hgnn" | "hgcn" | "hybonet" | "qgcn" => Some(17),
            "hat" => Some(8 * 16),
            _ => Some(16),
        };
        assert_eq!(outcome.embeddings.map(|e| e.columns), width, "{}", job.model);
    });
}

#[test]
fn parameters_are_counted_without_padding() {
    let data = planted(100, true);
    let counts = [("mlp", 20 * 16 + 16 + 16 * 3 + 3), ("gcn", 387), ("graphsage", 2 * (20 * 16 + 16 * 3) + 19)];
    for (name, count) in counts {
        let job = Job::new(name).with("hidden", 16).with("epochs", 1);
        assert_eq!(outcome(&data, &job, true).parameters, count, "{name}");
    }
    let job = Job::new("gat").with("epochs", 1);
    // 8 heads of 8: weights, two vectors and biases; then one head of 3.
    assert_eq!(outcome(&data, &job, true).parameters, 20 * 64 + 3 * 64 + 64 * 3 + 3 * 3);
}

#[test]
fn the_selected_epoch_follows_the_rule() {
    let data = planted(200, true);
    for (select_by, patience) in [("val_accuracy", None), ("val_accuracy", Some(7)), ("val_loss", Some(3))] {
        let mut job = Job::new("gcn").with("epochs", 80).with("patience", patience).with("select_by", select_by);
        job.set("seed", 2);
        let mut records: Vec<EpochRecord> = Vec::new();
        let options = job.resolve().unwrap();
        let outcome =
            train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |record| records.push(record.clone()))
                .unwrap();
        let figure = |r: &EpochRecord| match select_by {
            "val_loss" => -r.val_loss.unwrap(),
            _ => r.val.accuracy.unwrap(),
        };
        let best = records.iter().map(figure).fold(f64::NEG_INFINITY, f64::max);
        let tied: Vec<&EpochRecord> = records.iter().filter(|r| figure(r) == best).collect();
        let loss = tied.iter().map(|r| r.val_loss.unwrap()).fold(f64::INFINITY, f64::min);
        let selected = tied.iter().find(|r| r.val_loss.unwrap() == loss).unwrap();
        assert_eq!(outcome.best_epoch, selected.epoch);
        assert_eq!(outcome.val.accuracy, selected.val.accuracy);
        assert_eq!((outcome.epochs_run as usize, records.last().unwrap().epoch), (records.len(), outcome.epochs_run));
        match patience {
            None => assert_eq!(outcome.epochs_run, 80),
            Some(patience) => {
                // The first epoch that reached the best figure is the last improvement.
                assert_eq!(i64::from(outcome.epochs_run), (i64::from(tied[0].epoch) + patience).min(80));
                assert!(outcome.epochs_run < 80, "the case is meant to stop early");
            }
        }
    }
}

#[test]
fn the_last_epoch_is_the_answer_where_it_is_asked_for() {
    let data = planted(400, true);
    let job = Job::new("gcn").with("epochs", 40).with("dropout", 0.9).with("lr", 0.2);
    let last = outcome(&data, &job.clone().with("select_by", "last").with("patience", 2), true);
    assert_eq!((last.best_epoch, last.epochs_run), (40, 40));
    // Without a validation part nothing selects either: the same parameters.
    let options = TrainOptions { keep_embeddings: true, test_each_epoch: true, ..job.resolve().unwrap() };
    let blind = Split { val: vec![], ..split(&data) };
    let blind = train(Place::Cpu, Items::Nodes(&data, &blind), None, &options, &Unmonitored, &mut |_| {}).unwrap();
    assert_eq!(last.weights, blind.weights);
    let best = outcome(&data, &job, true);
    assert!(best.best_epoch < 40 && best.val.accuracy >= last.val.accuracy, "{} {:?}", best.best_epoch, best.val);
}

#[test]
fn optimisers_and_stand_ins_train() {
    let data = planted(300, true);
    for (optimizer, features) in [("adamw", "identity"), ("sgd", "degree"), ("adam", "random:12")] {
        let job =
            Job::new("gcn").with("optimizer", optimizer).with("features", features).with("epochs", 30).with("lr", 0.05);
        let mut losses = Vec::new();
        let options = job.resolve().unwrap();
        train_nodes(&data, &split(&data), &options, &Unmonitored, &mut |record| losses.push(record.train_loss))
            .unwrap();
        assert!(losses[29] < losses[0], "{optimizer} on {features}: {losses:?}");
    }
}

#[test]
fn another_seed_gives_another_run_and_the_same_seed_the_same() {
    let data = planted(200, true);
    let run = |seed| fixed(outcome(&data, &Job::new("gcn").with("seed", seed).with("epochs", 3), true));
    assert!(run(1) == run(1));
    assert!(run(1).logits != run(2).logits);
}

#[test]
fn many_jobs_in_one_pool_end_and_agree_with_one_after_the_other() {
    use rayon::prelude::*;
    let data = planted(900, true);
    let list: Vec<Job> = (0..20).flat_map(|_| jobs()).collect();
    let all = |job: &Job| fixed(outcome(&data, &job.clone().with("epochs", 2), true)).logits;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let parallel: Vec<_> = pool.install(|| list.par_iter().map(all).collect());
    let serial: Vec<_> = jobs().iter().map(all).collect();
    for (i, logits) in parallel.iter().enumerate() {
        assert!(*logits == serial[i % serial.len()]);
    }
}

/// A host with a budget of bytes and of checks.
pub(super) struct Host {
    pub bytes: AtomicUsize,
    limit: usize,
    checks: AtomicUsize,
}

impl Host {
    pub fn new(limit: usize, checks: usize) -> Self {
        Self { bytes: AtomicUsize::new(0), limit, checks: AtomicUsize::new(checks) }
    }
}

impl Monitor for Host {
    fn check(&self) -> Result<(), Stopped> {
        let left = self.checks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| Stopped::Cancelled)
    }

    fn reserve(&self, bytes: usize) -> Result<(), Stopped> {
        if self.bytes.load(Ordering::SeqCst) + bytes > self.limit {
            return Err(Stopped::OutOfMemory(format!("{bytes} bytes were refused")));
        }
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
        Ok(())
    }

    fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::SeqCst);
    }
}

#[test]
fn a_refused_reservation_is_a_status_and_everything_is_given_back() {
    let data = planted(300, true);
    for job in jobs() {
        // The peak is that of any epoch.
        let options = job.with("epochs", 3).resolve().unwrap();
        let host = Host::new(usize::MAX, usize::MAX);
        let full = train_nodes(&data, &split(&data), &options, &host, &mut |_| {}).unwrap().peak_memory;
        assert_eq!(host.bytes.load(Ordering::SeqCst), 0);
        // Sums below a page are not asked for: the peak is a little less than what was held.
        for limit in [0, full / 2, full - full / 8] {
            let host = Host::new(limit, usize::MAX);
            let error = train_nodes(&data, &split(&data), &options, &host, &mut |_| {}).unwrap_err();
            assert_eq!((error.status(), host.bytes.load(Ordering::SeqCst)), (Some(Status::OutOfMemory), 0));
        }
    }
}

#[test]
fn a_cancelled_run_stops_wherever_it_is() {
    let data = planted(300, true);
    for job in jobs() {
        for checks in [0, 1, 2, 5, 17, 50] {
            let host = Host::new(usize::MAX, checks);
            let options = job.resolve().unwrap();
            let error = train_nodes(&data, &split(&data), &options, &host, &mut |_| {}).unwrap_err();
            assert_eq!((&error, error.status()), (&TrainError::Cancelled, None));
            assert_eq!(host.bytes.load(Ordering::SeqCst), 0);
        }
    }
}

#[test]
fn a_run_whose_loss_explodes_has_diverged() {
    let data = planted(200, true);
    // Without parameters there is no loss to explode.
    for mut job in jobs().into_iter().filter(|job| job.model != "label_propagation") {
        job = job.with("lr", 1e30).with("optimizer", "sgd").with("epochs", 20);
        let error = train_nodes(&data, &split(&data), &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap_err();
        assert_eq!(error.status(), Some(Status::Diverged), "{}: {error}", job.model);
        assert!(error.to_string().contains("smaller lr"), "{error}");
    }
}
