//! How long counting takes: `cargo run --release -p bonnet-homophily --no-default-features --example time_counting`.

use std::time::Instant;

use bonnet_homophily::{LabelPairs, NeighborMatches, adjusted_homophily, label_informativeness, node_homophily};

fn main() {
    let n_rows = 50_000_000usize;
    let mut state = 1u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((u128::from(state) * u128::from(bound)) >> 64) as u32
    };
    for classes in [2, 10, 60, 1000, 100_000] {
        // One batch of 5 M rows, counted over and over as if it came from a reader.
        let batch = n_rows / 10;
        let source: Vec<u32> = (0..batch).map(|_| below(classes)).collect();
        let target: Vec<u32> = (0..batch).map(|_| below(classes)).collect();
        let start = Instant::now();
        let mut pairs = LabelPairs::default();
        (0..n_rows / batch).for_each(|_| pairs.add_batch(&source, &target));
        let counting = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let values = (adjusted_homophily(&pairs), label_informativeness(&pairs));
        let finishing = start.elapsed().as_secs_f64();
        println!(
            "{n_rows} rows, {classes:>6} classes: counting {counting:.3} s, finishing {finishing:.3} s, {values:?}"
        );
    }
    let nodes: Vec<u32> = (0..n_rows / 10).map(|_| below(1_000_000)).collect();
    let labels: Vec<u32> = (0..n_rows / 10).map(|_| below(10)).collect();
    let start = Instant::now();
    let mut matches = NeighborMatches::default();
    (0..10).for_each(|_| matches.add_batch(&nodes, &labels, &nodes));
    let value = node_homophily(&matches, None);
    println!("{n_rows} rows, 1000000 nodes: {:.3} s, {value:?}", start.elapsed().as_secs_f64());
}
