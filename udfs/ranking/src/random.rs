//! Seeded random permutations that are the same on every platform and for any number of threads.

use bonnet_graph::random::{below, shuffle};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Block `block` of the random numbers of a seed: blocks can be drawn in any order.
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64, block: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut bits = ChaCha8Rng::from_seed(key);
        bits.set_stream(block);
        Self(bits)
    }

    /// Uniform on `0..bound`, which is positive.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        below(bound, || self.0.next_u64())
    }

    /// Puts the values in a uniformly random order.
    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        shuffle(values, || self.0.next_u64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_equally_frequent() {
        let mut counts = std::collections::BTreeMap::new();
        let mut random = Random::new(7, 0);
        for _ in 0..6000 {
            let mut values = [0, 1, 2];
            random.shuffle(&mut values);
            *counts.entry(values).or_insert(0) += 1;
        }
        // Chi-squared with 5 degrees of freedom: 20.5 at one in a thousand.
        let chi2: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
        assert_eq!(counts.len(), 6);
        assert!(chi2 < 20.5, "{counts:?}");
    }

    #[test]
    fn a_seed_and_a_block_name_the_numbers() {
        let order = |seed, block| {
            let mut values: Vec<u32> = (0..20).collect();
            Random::new(seed, block).shuffle(&mut values);
            values
        };
        assert_eq!(order(1, 2), order(1, 2));
        assert_ne!(order(1, 2), order(1, 3));
        assert_ne!(order(1, 2), order(2, 2));
    }
}
