//! Random small graphs for tests: with loops, repeats, isolated nodes and several components.

use std::ops::Range;

use crate::Network;
use bonnet_graph::random::below;
use bonnet_graph::{Digraph, Graph};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The nodes and rows of random graph number `seed`: up to 20 nodes, sparse and dense in turn.
pub(crate) fn rows(seed: u64) -> (usize, Vec<(u32, u32)>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |bound: u64| below(bound, || random.next_u64());
    let n = 1 + draw(20);
    let rows = draw(match seed % 3 {
        0 => 2 * n,
        1 => n,
        _ => n * n,
    });
    let rows = (0..rows).map(|_| (draw(n) as u32, draw(n) as u32)).collect();
    (n as usize, rows)
}

/// Calls back with the random graph of each number, once undirected and once with its rows as arcs.
pub(crate) fn each_network(seeds: Range<u64>, mut check: impl FnMut(u64, Network<'_>)) {
    for seed in seeds {
        let (n, rows) = rows(seed);
        check(seed, Network::undirected(&Graph::from_edges(n, &rows)));
        let out = Digraph::from_arcs(n, &rows);
        check(seed, Network::directed(&out, &out.reversed()));
    }
}

/// Fails unless two lists of numbers agree to a relative 1e-9.
#[track_caller]
pub(crate) fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        let near = (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0) || (a.is_nan() && b.is_nan()) || a == b;
        assert!(near, "{what}: at {i}: {a} is not {b}\n{found:?}\n{expected:?}");
    }
}

/// The hops between all pairs of nodes, by repeated relaxation of all arcs; `None` where no path leads.
pub(crate) fn distances(network: Network<'_>) -> Vec<Vec<Option<u32>>> {
    let n = network.n_nodes();
    let mut distances = vec![vec![None; n]; n];
    for (source, row) in distances.iter_mut().enumerate() {
        row[source] = Some(0);
        for _ in 0..n {
            for u in 0..n {
                let Some(d) = row[u] else { continue };
                for &v in network.out.of(u as u32) {
                    row[v as usize] = Some(row[v as usize].map_or(d + 1, |old: u32| old.min(d + 1)));
                }
            }
        }
    }
    distances
}
