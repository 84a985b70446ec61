//! How long the heavy kernels take: `cargo run --release -p bonnet-ranking --no-default-features --example time_ranking`.

use std::time::Instant;

use bonnet_graph::{Graph, Unmonitored};
use bonnet_ranking::{
    Metric, Points, RegroupingOptions, Scale, embedding_distortion, frechet_distance, kendall_tau, order_gap,
    regrouping_test, spearman,
};

fn timed<T>(what: &str, work: impl Fn() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..3 {
        let start = Instant::now();
        last = Some(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what}: {best:.4} s");
    last.expect("three runs")
}

fn main() {
    let mut state = 1u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((u128::from(state) * u128::from(bound)) >> 64) as u32
    };
    let n = 1_000_000;
    let x: Vec<f64> = (0..n).map(|_| f64::from(below(100_000))).collect();
    let y: Vec<f64> = (0..n).map(|_| f64::from(below(100_000))).collect();
    timed("spearman, 10^6 rows with ties", || spearman(&x, &y, &Unmonitored).ok());
    timed("kendall_tau, 10^6 rows with ties", || kendall_tau(&x, &y, &Unmonitored).ok());

    let curve = |values: &[f64]| -> Vec<(f64, f64)> { (0..10_000).map(|i| (i as f64, values[i])).collect() };
    let (a, b) = (curve(&x), curve(&y));
    let _ = timed("frechet_distance, 10^4 points each", || frechet_distance(&a, &b, &Unmonitored));

    let groups: Vec<u32> = (0..18).map(|i| i / 6).collect();
    let pairs: Vec<(u32, u32, f64)> =
        (0..18).flat_map(|b| (0..b).map(move |a| (a, b))).map(|(a, b)| (a, b, f64::from(below(1000)))).collect();
    let exact = timed("regrouping_test, 18 items in sixes, exact", || {
        regrouping_test(&groups, &pairs, &RegroupingOptions::default(), &Unmonitored)
    });
    println!("  {} partitions", exact.map_or(0, |test| test.partitions));
    let sampled = RegroupingOptions { limit: 0, ..RegroupingOptions::default() };
    let _ = timed("regrouping_test, 18 items, 100,000 samples", || {
        regrouping_test(&groups, &pairs, &sampled, &Unmonitored)
    });

    let values: Vec<Option<f64>> = x[..500 * 200].iter().copied().map(Some).collect();
    let groups: Vec<u32> = (0..200).map(|i| i % 5).collect();
    let _ =
        timed("order_gap, 500 models, 200 items, 5 regimes", || order_gap(&values, &groups, 0.0, false, &Unmonitored));

    let edges: Vec<(u32, u32)> =
        (1..3000u32).flat_map(|v| [(v, below(u64::from(v))), (v, below(u64::from(v)))]).collect();
    let graph = Graph::from_edges(3000, &edges);
    let coordinates: Vec<f64> = (0..3000 * 16).map(|_| f64::from(below(1000)) / 8000.0).collect();
    for (name, metric) in [("euclidean", Metric::Euclidean), ("poincare", Metric::Poincare)] {
        let points = Points::new(metric, 1.0, 16, coordinates.clone()).expect("points in the ball");
        let found = timed(&format!("embedding_distortion, 3,000 nodes, 16 {name} coordinates"), || {
            embedding_distortion(&graph, &points, Scale::Best, &Unmonitored)
        });
        println!("  {} quadruples", found.map_or(0, |found| found.quadruples));
    }
}
