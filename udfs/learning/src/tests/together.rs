//! Runs side by side against the same runs alone.

use std::sync::atomic::Ordering;

use super::training::Host;
use super::*;
use crate::training::SIDE_BY_SIDE;
use crate::{Run, most_together, together_key, train, train_together};

type Recorded = (Result<Outcome, TrainError>, Vec<EpochRecord>);
/// The same with the text of an error, since a loss that is no number equals none.
type Fixed = (Result<Outcome, String>, Vec<EpochRecord>);

/// Everything that must not vary, and how many were side by side.
fn fixed((outcome, records): Recorded) -> (Fixed, usize) {
    let together = outcome.as_ref().map_or(0, |outcome| outcome.trained_together);
    let of =
        |outcome| Outcome { train_seconds: 0.0, test_seconds: 0.0, peak_memory: 0, trained_together: 0, ..outcome };
    ((outcome.map(of).map_err(|error| error.to_string()), records), together)
}

fn resolved(job: &Job) -> TrainOptions {
    TrainOptions { keep_embeddings: true, test_each_epoch: true, ..job.resolve().unwrap() }
}

fn together(runs: &[(Items<'_>, TrainOptions)], monitor: &dyn Monitor) -> Vec<Recorded> {
    let mut records = vec![Vec::new(); runs.len()];
    let mut observed: Vec<_> =
        records.iter_mut().map(|to| move |record: &EpochRecord| to.push(record.clone())).collect();
    let run = runs.iter().zip(&mut observed);
    let run = run.map(|((items, options), observe)| Run { items: *items, options, monitor, observe });
    let outcomes = train_together(Place::Cpu, run.collect());
    drop(observed);
    outcomes.into_iter().zip(records).collect()
}

fn alone((items, options): &(Items<'_>, TrainOptions)) -> Recorded {
    let mut records = Vec::new();
    let outcome = train(Place::Cpu, *items, None, options, &Unmonitored, &mut |record| records.push(record.clone()));
    (outcome, records)
}

/// Trains runs together and each alone: the same. Gives how many were side by side with each.
fn compare(runs: &[(Items<'_>, TrainOptions)], what: &str) -> Vec<usize> {
    let mut sizes = Vec::new();
    for (at, (got, run)) in together(runs, &Unmonitored).into_iter().zip(runs).enumerate() {
        let (got, size) = fixed(got);
        assert!(got == fixed(alone(run)).0, "{what}, run {at} of {}", runs.len());
        sizes.push(size);
    }
    sizes
}

/// Runs that differ in everything in which they may: two of one seed, masks of others between them, none at all.
fn various(job: &Job) -> Vec<TrainOptions> {
    let of = |seed: i64, lr: f64, decay: f64, dropout: f64| {
        resolved(&job.clone().with("seed", seed).with("lr", lr).with("weight_decay", decay).with("dropout", dropout))
    };
    vec![
        of(1, 0.01, 0.0, 0.5),
        of(1, 0.05, 5e-4, 0.5),
        of(2, 0.01, 5e-4, 0.0),
        of(3, 0.02, 1e-2, 0.25),
        of(1, 0.1, 0.0, 0.25),
    ]
}

#[test]
fn each_of_several_runs_has_the_bits_that_it_has_alone() {
    for sparse in [true, false] {
        let data = planted(700, sparse);
        let split = split(&data);
        for model in SIDE_BY_SIDE {
            for (hidden, optimizer) in [(5, "adam"), (16, "adamw"), (30, "sgd")] {
                let job = Job::new(model).with("hidden", hidden).with("optimizer", optimizer).with("epochs", 5);
                let job = job.with("clip", 1.0).with("warmup", 2).with("class_weights", "balanced");
                let runs: Vec<_> = various(&job).into_iter().map(|run| (Items::Nodes(&data, &split), run)).collect();
                assert_eq!(compare(&runs, &format!("{model}, sparse {sparse}, {hidden} wide")), [5; 5], "{model}");
            }
        }
    }
}

#[test]
fn operators_that_are_not_their_transposes_and_more_layers_change_nothing() {
    let data = planted(500, true);
    let split = split(&data);
    for model in ["gcn", "appnp", "sgc"] {
        let job = Job::new(model).with("hidden", 8).with("epochs", 4).with("affinity", "random_walk");
        let runs: Vec<_> = various(&job).into_iter().map(|run| (Items::Nodes(&data, &split), run)).collect();
        assert_eq!(compare(&runs, model), [5; 5]);
    }
    for model in ["gcn", "graphsage", "mlp"] {
        let job = Job::new(model).with("hidden", 8).with("epochs", 4).with("layers", 3).with("normalize", "row");
        let runs: Vec<_> = various(&job).into_iter().map(|run| (Items::Nodes(&data, &split), run)).collect();
        assert_eq!(compare(&runs, model), [5; 5]);
    }
}

#[test]
fn a_run_that_ends_early_or_diverges_leaves_the_others_as_they_are() {
    let data = planted(600, true);
    let split = split(&data);
    let job = Job::new("gcn").with("hidden", 8).with("epochs", 60).with("patience", 3).with("normalize", "row");
    let mut runs: Vec<_> = various(&job).into_iter().map(|run| (Items::Nodes(&data, &split), run)).collect();
    runs.push((Items::Nodes(&data, &split), TrainOptions { lr: 1e30, ..runs[3].1.clone() }));
    assert_eq!(compare(&runs, "patience")[..5], [6; 5]);
    let ends: Vec<Option<u32>> = runs.iter().map(|run| alone(run).0.ok().map(|outcome| outcome.epochs_run)).collect();
    let mut distinct = ends.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 2 && ends.contains(&None), "they end in different epochs: {ends:?}");
}

#[test]
fn runs_of_other_splits_are_side_by_side_where_they_need_few_more_rows() {
    let data = planted(600, true);
    let drawn = |scheme: &str, seed| scheme.parse::<SplitScheme>().unwrap().split(&data, seed).unwrap();
    let options = various(&Job::new("gcn").with("hidden", 8).with("epochs", 5));
    for (scheme, side_by_side) in [("random:60/20/20", true), ("kshot:2/all", false)] {
        let splits: Vec<Split> = (0..5).map(|seed| drawn(scheme, seed)).collect();
        let runs: Vec<_> =
            splits.iter().zip(&options).map(|(split, run)| (Items::Nodes(&data, split), run.clone())).collect();
        assert_eq!(compare(&runs, scheme), if side_by_side { [5; 5] } else { [1; 5] }, "{scheme}");
    }
    // Without validation items the last epoch counts.
    let all: Vec<u32> = (0..600).collect();
    let split = Split::given(&data, &all[..300], &[], &all[300..]).unwrap();
    let runs: Vec<_> = options.into_iter().map(|run| (Items::Nodes(&data, &split), run)).collect();
    assert_eq!(compare(&runs, "no validation"), [5; 5]);
}

#[test]
fn what_is_not_shared_is_trained_alone() {
    let (data, other) = (planted(300, true), planted(300, true));
    let (split, of_other) = (split(&data), split(&other));
    let base = Job::new("gcn").with("hidden", 8).with("epochs", 3);
    let key = |job: &Job| together_key(&resolved(job));
    assert!(
        key(&base).is_some() && key(&base) == key(&base.clone().with("lr", 0.3).with("seed", 9).with("dropout", 0.1))
    );
    let others: [(&str, Value); 7] = [
        ("optimizer", Value::from("sgd")),
        ("hidden", Value::from(16)),
        ("layers", Value::from(3)),
        ("affinity", Value::from("random_walk")),
        ("features", Value::from("identity")),
        ("normalize", Value::from("row")),
        ("class_weights", Value::from("balanced")),
    ];
    let mut runs = vec![(Items::Nodes(&data, &split), resolved(&base))];
    for (option, value) in others {
        let job = base.clone().with(option, value);
        assert!(key(&job).is_some() && key(&job) != key(&base), "{option}");
        runs.push((Items::Nodes(&data, &split), resolved(&job)));
    }
    // Another graph, though its edges are the same.
    runs.push((Items::Nodes(&other, &of_other), resolved(&base)));
    assert_eq!(compare(&runs, "others"), vec![1; runs.len()]);
    let alone: [(&str, Value); 3] = [
        ("features", Value::from("random:4")),
        ("normalize", Value::from("standard")),
        ("batch_nodes", Value::from(50)),
    ];
    for (option, value) in alone {
        assert_eq!(key(&base.clone().with(option, value)), None, "{option}");
    }
    // A program knows the masks of the option dropout by their probability.
    let appnp = |dropout: f64| key(&Job::new("appnp").with("alpha", 0.3).with("dropout", dropout));
    assert!(appnp(0.3) != appnp(0.4) && appnp(0.4) == appnp(0.5));
    // A model whose layers do not take several runs.
    assert_eq!(key(&Job::new("gat")), None);
}

#[test]
fn the_models_whose_layers_take_several_runs_are_those_that_are_named() {
    let data = planted(60, true);
    for job in jobs() {
        let options = job.resolve().unwrap();
        let takes = Bench::new(&data, &options, &[0, 1, 2]).model.takes_runs();
        assert_eq!(takes, SIDE_BY_SIDE.contains(&options.model.as_str()), "{}", options.model);
    }
}

#[test]
fn wide_runs_are_alone_and_narrow_ones_many() {
    let most = |model: &str, hidden: i64| most_together(&resolved(&Job::new(model).with("hidden", hidden)));
    assert_eq!([most("gcn", 5), most("gcn", 16), most("gcn", 24), most("gcn", 64), most("gcn", 300)], [8, 4, 2, 1, 1]);
    assert_eq!(most("sgc", 64), 8);
}

#[test]
fn memory_decides_how_many_are_side_by_side_and_a_cancelled_call_ends_them_all() {
    let data = planted(900, true);
    let split = split(&data);
    let options = resolved(&Job::new("gcn").with("hidden", 8).with("epochs", 3));
    let runs: Vec<_> =
        (0..8).map(|seed| (Items::Nodes(&data, &split), TrainOptions { seed, ..options.clone() })).collect();
    let expected: Vec<Fixed> = runs.iter().map(|run| fixed(alone(run)).0).collect();
    let mut sizes = Vec::new();
    let peak = alone(&runs[0]).0.unwrap().peak_memory;
    for limit in [peak + peak / 4, 4 * peak, 100 * peak] {
        let host = Host::new(limit, usize::MAX);
        let got: Vec<_> = together(&runs, &host).into_iter().map(fixed).collect();
        assert!(got.iter().zip(&expected).all(|((got, _), expected)| got == expected), "{limit} bytes");
        assert_eq!(host.bytes.load(Ordering::SeqCst), 0, "all is given back");
        sizes.push(got[0].1);
    }
    assert!(sizes.is_sorted() && sizes[0] < 8 && sizes[2] == 8, "{sizes:?}");
    for checks in [0, 20, 150] {
        let outcomes = together(&runs, &Host::new(usize::MAX, checks));
        assert!(outcomes.iter().all(|(outcome, _)| matches!(outcome, Err(TrainError::Cancelled))), "{checks} checks");
    }
}

/// Cora's size: words and edges that are few for most and many for some, the sizes of the public split.
fn of_citations() -> GraphData {
    let (nodes, words, mut stream) = (2708, 1433, Stream::new(key(&[1])));
    let mut skewed = |n: usize| (n as f64 * stream.uniform().powi(2)) as u32;
    let edges: Vec<(u32, u32)> = (0..5278).map(|i| (skewed(nodes), (i % nodes) as u32)).collect();
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for _ in 0..nodes {
        let mut own: Vec<u32> = (0..18).map(|_| skewed(words)).collect();
        own.sort_unstable();
        own.dedup();
        columns.extend(own);
        offsets.push(columns.len());
    }
    let values = vec![1.0; columns.len()];
    let features = Features::Sparse(SparseRows::new(words, offsets, columns, values).unwrap());
    let labels = (0..nodes).map(|v| Some((v % 7) as u32)).collect();
    GraphData::new(Graph::from_edges(nodes, &edges), features, labels, 7).unwrap()
}

/// Seconds of processor that this program has used, in hundredths.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<f64>().unwrap() / 100.0
}

/// `cargo test -p bonnet-dependencies --lib -p bonnet-learning -- --ignored --nocapture processor_time`: milliseconds of an epoch
/// of a run, by how many are side by side; four learning rates of each seed, then seeds alone.
#[test]
#[ignore = "a measurement"]
fn processor_time_of_runs_side_by_side() {
    let data = of_citations();
    let range = |from: u32, to: u32| (from..to).collect::<Vec<u32>>();
    let split = Split::given(&data, &range(0, 140), &range(140, 640), &range(1708, 2708)).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for (model, hidden) in
        [("gcn", 16), ("gcn", 64), ("gcn", 32), ("sgc", 64), ("appnp", 16), ("mlp", 16), ("graphsage", 16)]
    {
        for rates in [4, 1] {
            let base = Job::new(model).with("hidden", hidden).with("epochs", 60).with("normalize", "row");
            let run = |run: i64| {
                let job = base.clone().with("seed", run / rates).with("lr", 0.004 * (1 + run % rates) as f64);
                (Items::Nodes(&data, &split), job.resolve().unwrap())
            };
            let runs: Vec<_> = (0..16).map(run).collect();
            print!("{model} {hidden}, {rates} rates a seed:");
            for size in [1, 2, 4, 8, 16] {
                let before = processor();
                pool.install(|| runs.chunks(size).for_each(|runs| drop(together(runs, &Unmonitored))));
                print!("  {size}: {:.3}", (processor() - before) * 1e3 / (16.0 * 60.0));
            }
            println!();
        }
    }
}
