//! Independent trials with one probability, walked from success to success.

use std::ops::Range;

use bonnet_graph::Stopped;

use crate::random::{Random, ln, ln_of_complement};

/// An endless row of independent trials that succeed with probability p. The number of failures before a success is
/// geometric, floor(ln U / ln(1 - p)), so that walking costs O(1) a success (Batagelj and Brandes 2005).
pub(crate) struct Trials {
    random: Random,
    log_failure: f64,
    /// The failures that are still to come before the next success.
    failures: u64,
}

impl Trials {
    pub fn new(p: f64, random: Random) -> Self {
        let mut trials = Self { random, log_failure: ln_of_complement(p), failures: 0 };
        trials.failures = trials.draw();
        trials
    }

    fn draw(&mut self) -> u64 {
        if self.log_failure == 0.0 {
            return u64::MAX;
        }
        (ln(self.random.unit()) / self.log_failure) as u64
    }

    /// Makes one trial for each of `positions` and calls `success` with those that succeed, in ascending order.
    pub fn over(
        &mut self,
        positions: Range<u64>,
        mut success: impl FnMut(u64) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let mut position = positions.start;
        while self.failures < positions.end - position {
            position += self.failures;
            success(position)?;
            position += 1;
            self.failures = self.draw();
        }
        self.failures -= positions.end - position;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn successes(p: f64, pieces: &[Range<u64>]) -> Vec<u64> {
        let mut found = Vec::new();
        let mut trials = Trials::new(p, Random::new(5, Stream::ErdosRenyi));
        for piece in pieces {
            trials
                .over(piece.clone(), |position| {
                    found.push(position);
                    Ok(())
                })
                .unwrap();
        }
        found
    }

    #[test]
    fn pieces_give_what_the_whole_gives() {
        let whole = successes(0.3, std::slice::from_ref(&(0..1000)));
        assert_eq!(successes(0.3, &[0..1, 1..1, 1..500, 500..502, 502..1000]), whole);
        assert!((200..400).contains(&whole.len()));
    }

    #[test]
    fn certain_trials_always_succeed_and_impossible_ones_never() {
        assert_eq!(successes(1.0, std::slice::from_ref(&(3..8))), [3, 4, 5, 6, 7]);
        assert!(successes(0.0, &[0..1 << 62, 0..1 << 62]).is_empty());
        assert!(successes(f64::from_bits(1), &[0..1 << 62, 0..1 << 62]).is_empty());
    }

    #[test]
    fn gaps_are_geometric() {
        let found = successes(0.25, std::slice::from_ref(&(0..400_000)));
        let mut gaps = [0u32; 5];
        found.windows(2).for_each(|pair| gaps[((pair[1] - pair[0] - 1) as usize).min(4)] += 1);
        let total = f64::from(gaps.iter().sum::<u32>());
        let chi_square: f64 = [0.25, 0.1875, 0.140625, 0.10546875, 0.31640625]
            .iter()
            .zip(gaps)
            .map(|(p, seen)| (f64::from(seen) - p * total).powi(2) / (p * total))
            .sum();
        assert!(chi_square < 18.5, "{chi_square}: the 99.9 % point of 4 degrees of freedom is 18.5");
    }
}
