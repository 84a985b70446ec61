//! Operators of a collection that are made once.

use std::sync::atomic::Ordering;

use super::complexes::{facets, set};
use crate::tests::training::Host;
use crate::tests::*;

#[test]
fn a_run_without_room_for_the_operators_of_all_complexes_makes_those_of_each_step() {
    // Many complexes beside those of a step.
    let set = set(&facets().into_iter().cycle().take(800).collect::<Vec<_>>());
    let split = Split { train: (0..300).collect(), val: (300..400).collect(), test: (400..800).collect() };
    for model in ["sccn", "scn"] {
        let job = Job::new(model).with("task", "graph_classification").with("features", "random:3").with("epochs", 2);
        let job = if model == "scn" { job } else { job.with("hidden", 2).with("layers", 1) };
        let options = job.with("batch", 16).resolve().unwrap();
        let run = |host: &Host| {
            let items = Items::Complexes(&set, &split);
            let outcome = crate::train(Place::Cpu, items, None, &options, host, &mut |_| {}).unwrap();
            assert_eq!(host.bytes.load(Ordering::SeqCst), 0);
            outcome
        };
        let held = run(&Host::new(usize::MAX, usize::MAX));
        // Less than what is held on top of a step.
        let made = run(&Host::new(held.peak_memory - held.peak_memory / 20, usize::MAX));
        assert!(made.peak_memory < held.peak_memory, "{model}");
        assert_eq!((&made.weights, &made.logits), (&held.weights, &held.logits), "{model}");
    }
}
