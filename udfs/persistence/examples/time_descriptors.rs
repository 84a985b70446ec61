//! Times of the descriptors and of the discrepancy: `cargo run -p bonnet-persistence --no-default-features --example
//! time_descriptors`. Each is the least of five runs in rayon's global pool.

use std::hint::black_box;
use std::time::Instant;

use bonnet_graph::{Graph, Unmonitored};
use bonnet_persistence::{Kernel, clustering_histogram, laplacian_spectrum, mmd, orbit_counts};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn time<T>(what: &str, mut work: impl FnMut() -> T) {
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        black_box(work());
        least = least.min(start.elapsed().as_secs_f64());
    }
    println!("{what}: {:.2} ms", 1e3 * least);
}

/// Preferential attachment: each new node is joined to ends of edges drawn at random.
fn attachment(n: u32, links: usize) -> Graph {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut edges: Vec<(u32, u32)> = vec![(0, 1)];
    for node in 2..n {
        for _ in 0..links {
            let (u, v) = edges[random.next_u64() as usize % edges.len()];
            let end = if random.next_u64() & 1 == 0 { u } else { v };
            if end != node {
                edges.push((node, end));
            }
        }
    }
    Graph::from_edges(n as usize, &edges)
}

fn dense(n: u32, one_in: u64) -> Graph {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
    Graph::from_edges(n as usize, &pairs.filter(|_| random.next_u64() % one_in == 0).collect::<Vec<_>>())
}

fn main() {
    for (name, graph) in [
        ("attachment, 100,000 nodes", attachment(100_000, 5)),
        ("random, 1,000 nodes, p = 1/4", dense(1_000, 4)),
        ("random, 500 nodes, p = 1/3", dense(500, 3)),
    ] {
        let name = format!("{name}, {} edges", graph.n_edges());
        time(&format!("orbit_counts, {name}"), || orbit_counts(&graph, &Unmonitored));
        time(&format!("clustering_histogram, {name}"), || clustering_histogram(&graph, &Unmonitored));
        if graph.n_nodes() <= 1_000 {
            time(&format!("laplacian_spectrum, {name}"), || laplacian_spectrum(&graph, &Unmonitored));
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut sample = || -> Vec<Vec<f64>> {
        (0..1_000).map(|_| (0..100).map(|_| random.next_u64() as f64 / 2f64.powi(64)).collect()).collect()
    };
    let (a, b) = (sample(), sample());
    for (name, kernel) in
        [("gaussian", Kernel::Gaussian { sigma: 1.0 }), ("gaussian_emd", Kernel::GaussianEmd { sigma: 1.0 })]
    {
        time(&format!("mmd, {name}, 1,000 against 1,000 vectors of 100"), || mmd(&a, &b, kernel, false, &Unmonitored));
    }
}
