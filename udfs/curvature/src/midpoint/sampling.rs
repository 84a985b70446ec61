//! The seeded sample of anchors.

/// SplitMix64 (Steele, Lea and Flood 2014): a counter run through a mixing function. It is ours, so that a seed gives
/// the same sample whatever the version of any library.
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound`, which is positive: draws in the last, incomplete run of `bound` values are repeated.
    fn below(&mut self, bound: u64) -> u64 {
        let excess = (u64::MAX % bound + 1) % bound;
        loop {
            let draw = self.next();
            if draw <= u64::MAX - excess {
                return draw % bound;
            }
        }
    }

    /// The first `count` positions of a uniform permutation of `population` (Fisher and Yates). O(population).
    ///
    /// `count` is at most the length of `population`.
    pub(crate) fn sample(&mut self, mut population: Vec<u32>, count: usize) -> Vec<u32> {
        for i in 0..count {
            let j = i + self.below((population.len() - i) as u64) as usize;
            population.swap(i, j);
        }
        population.truncate(count);
        population
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_its_published_first_values() {
        // The sequence of seed 1234567 that its authors' code prints.
        let mut generator = SplitMix64::new(1_234_567);
        let values: Vec<u64> = (0..3).map(|_| generator.next()).collect();
        assert_eq!(values, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn samples_are_distinct_and_every_member_is_as_likely() {
        let mut generator = SplitMix64::new(7);
        let mut hits = [0u32; 10];
        for _ in 0..10_000 {
            let mut sample = generator.sample((0..10).collect(), 3);
            sample.iter().for_each(|&x| hits[x as usize] += 1);
            sample.sort_unstable();
            sample.dedup();
            assert_eq!(sample.len(), 3);
        }
        // 3,000 expected each; the standard deviation is 46.
        assert!(hits.iter().all(|hit| hit.abs_diff(3000) < 230), "{hits:?}");
    }
}
