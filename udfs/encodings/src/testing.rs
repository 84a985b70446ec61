//! Random small graphs for tests, and numbers that are nearly equal.

use bonnet_graph::random::below;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The nodes and rows of random graph number `seed`: up to 20 nodes, sparse and dense in turn, with loops and repeats.
pub(crate) fn rows(seed: u64) -> (usize, Vec<(u32, u32)>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |bound: u64| below(bound, || random.next_u64());
    let n = 1 + draw(20);
    let rows = draw([2 * n, n, n * n][seed as usize % 3]);
    (n as usize, (0..rows).map(|_| (draw(n) as u32, draw(n) as u32)).collect())
}

/// Fails unless two lists of numbers agree to a relative 1e-9.
#[track_caller]
pub(crate) fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let differs = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * a.abs().max(b.abs()).max(1.0);
    assert!(!found.iter().zip(expected).any(differs), "{what}: {found:?} is not {expected:?}");
}
