//! The moments that batch normalisation uses without training, against those of the training simplices.

use super::equations::cell_models::{cellmp, moments, standardised};
use super::equations::complexes::{batch, bench, close, facets, named, set};
use super::equations::literal::{Matrix, relu, shift, times};
use super::*;
use crate::data::{ComplexSet, Complexes, Targets};
use crate::{Saved, train};
use bonnet_topology::SurfaceEnumeration;
use serde_json::json;

/// The 57 surfaces with at most 8 vertices; the classes are the Euler characteristics 2, 1 and 0.
fn surfaces() -> (ComplexSet, Split) {
    let (mut facets, mut labels) = (Vec::new(), Vec::new());
    let mut search = SurfaceEnumeration::new(8);
    while let Some(found) = search.step(&Unmonitored).unwrap() {
        for i in 0..found.len() {
            let triangles: Vec<Vec<i64>> =
                found.facets(i).chunks(3).map(|t| t.iter().map(|&v| v.into()).collect()).collect();
            // Two triangles have three edges.
            labels.push(Some((2 + triangles.len() / 2 - found.n_vertices(i)) as u32));
            facets.push(triangles);
        }
    }
    let numbers = |keep: fn(u32) -> bool| (0..facets.len() as u32).filter(|&number| keep(number)).collect();
    let split = Split { train: numbers(|n| n % 3 > 0), val: numbers(|n| n % 6 == 0), test: numbers(|n| n % 6 == 3) };
    (ComplexSet::new(Complexes::of(&facets).unwrap(), Targets::Classes(labels, 3)).unwrap(), split)
}

fn job(norm: &str) -> Job {
    let job =
        Job::new("cellmp").with("task", "graph_classification").with("features", "connectivity").with("norm", norm);
    job.with("hidden", 16).with("layers", 3).with("batch", 8).with("dropout", 0.0).with("lr", 0.01)
}

/// The outcome of a run, and the training and validation losses of its epochs.
fn run(data: (&ComplexSet, &Split), job: &Job, start: Option<&Saved>) -> (Outcome, Vec<[f64; 2]>) {
    let mut losses = Vec::new();
    let (items, options) = (Items::Complexes(data.0, data.1), job.resolve().unwrap());
    let mut observe = |epoch: &EpochRecord| losses.push([epoch.train_loss, epoch.val_loss.unwrap_or(f64::NAN)]);
    let outcome = train(Place::Cpu, items, start, &options, &Unmonitored, &mut observe).unwrap();
    (outcome, losses)
}

fn saved(outcome: &Outcome) -> Saved {
    Saved::new(&outcome.weights, json!({"options": {"model": "cellmp"}}))
}

#[test]
fn a_model_on_constant_columns_scores_on_validation_about_as_on_training() {
    // Every triangle of a closed surface has three neighbours: its column has a variance of 0.
    let (set, split) = surfaces();
    let losses = |job: Job| run((&set, &split), &job.with("epochs", 12), None).1;
    for [train, val] in losses(job("batch").with("lr", 1e-6)) {
        assert!((val / train - 1.0).abs() < 0.3, "{val} beside {train}");
    }
    for [train, val] in losses(job("batch")) {
        assert!(val < train + 1.0, "{val} beside {train}");
    }
    // The averages of steps whose weights were others are no moments of such columns.
    assert!(losses(job("batch_running")).iter().all(|[train, val]| *val > 100.0 * train));
}

#[test]
fn a_trained_cellmp_tells_the_euler_characteristics_of_new_surfaces_apart() {
    let (set, split) = surfaces();
    let (outcome, _) = run((&set, &split), &job("batch").with("epochs", 30), None);
    let (val, test) = (outcome.val.accuracy.unwrap(), outcome.test.accuracy.unwrap());
    assert!(val > 0.85 && test > 0.85, "{val}, {test}");
}

#[test]
fn scores_are_normalised_by_the_moments_of_all_training_simplices_under_the_final_weights() {
    let (set, split) = surfaces();
    let (outcome, _) = run((&set, &split), &job("batch").with("epochs", 2).with("dropout", 0.4), None);
    let weight = |name: &str| -> Matrix {
        let (_, matrix) = outcome.weights.iter().find(|(own, _)| own == name).unwrap();
        matrix.values.chunks(matrix.columns).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect()
    };
    // The first normalisation of vertices reads their features through two linear layers.
    let options = job("batch").resolve().unwrap();
    let training = batch(&set, &split.train, &options);
    let rows = training.features(0);
    let x: Matrix = rows.values.chunks(rows.width).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect();
    let z = shift(&times(&x, &weight("embed.0.weight")), &weight("embed.0.bias"));
    let [mean, variance] = moments(&times(&z, &weight("0.0.below.0.weight")));
    close(&weight("0.0.below.0.norm.mean"), &[mean], "mean");
    close(&weight("0.0.below.0.norm.variance"), &[variance], "variance");
}

#[test]
fn a_training_complex_that_is_the_only_one_is_scored_by_its_own_moments_without_dropout() {
    let facets = facets();
    let job =
        job("batch").with("features", "random:3").with("dropout", 0.5).with("epochs", 4).with("batch", Value::Null);
    let job = job.with("hidden", 13).with("layers", 2);
    let options = job.resolve().unwrap();
    for (train, val) in [(0, vec![1]), (1, vec![])] {
        let all = set(&facets[..2]);
        let (outcome, _) = run((&all, &Split { train: vec![train], val, test: vec![] }), &job, None);
        let bench = bench(&all, &options);
        let parameters = saved(&outcome).parameters("cellmp", &[bench.model.layout()]).unwrap();
        let weight = |name: &str| named(&bench, &parameters, name);
        let block = |z: &Matrix, name: &str| {
            let z = times(z, &weight(&format!("{name}.weight")));
            let [mean, variance] = moments(&z);
            relu(&standardised(&weight, &z, [&mean, &variance], &format!("{name}.norm")))
        };
        let alone = batch(&all, &[train], &options);
        let x: Vec<Matrix> = (0..=2)
            .map(|k| {
                let rows = alone.features(k);
                rows.values.chunks(rows.width).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect()
            })
            .collect();
        let found = outcome.logits.row(train as usize).iter().map(|&x| f64::from(x)).collect();
        close(&[found], &[cellmp(&weight, &alone, &x, false, &block)], "scores");
    }
}

#[test]
fn measured_moments_are_the_same_bits_for_any_number_of_threads() {
    let (set, split) = surfaces();
    let outcomes = [1, 2, 8].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (outcome, losses) = pool.install(|| run((&set, &split), &job("batch").with("epochs", 4), None));
        (outcome.weights, outcome.logits, losses)
    });
    assert!(outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2]);
}

#[test]
fn a_saved_model_without_measured_moments_is_used_as_it_is() {
    let (set, split) = surfaces();
    let (running, _) = run((&set, &split), &job("batch_running").with("epochs", 3), None);
    let load = job("batch").with("load", "file").with("epochs", 0);
    let (loaded, _) = run((&set, &split), &load, Some(&saved(&running)));
    assert_eq!((&loaded.logits, &loaded.weights), (&running.logits, &running.weights));
    // Both are trained alike: moments enter no step.
    let (measured, _) = run((&set, &split), &job("batch").with("epochs", 1), None);
    let (running, _) = run((&set, &split), &job("batch_running").with("epochs", 1), None);
    // Those of triangles, which are all alike, may be 0 in both.
    let mut other_moments = 0;
    for ((name, a), (_, b)) in measured.weights.iter().zip(&running.weights) {
        let is_moment = name.ends_with("norm.mean") || name.ends_with("norm.variance");
        assert!(is_moment || a == b, "{name}");
        other_moments += usize::from(a != b);
    }
    assert!(other_moments > measured.weights.len() / 4, "{other_moments}");
}
