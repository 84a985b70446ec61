//! Samples without replacement.

use std::collections::HashSet;

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::random::Random;

/// Draws between two checks of the monitor.
const BLOCK: u64 = 1 << 14;

/// `count` different numbers of `0..bound`, each set of them equally likely, in ascending order (Bentley and Floyd,
/// Programming pearls: a sample of brilliance, 1987). O(count log count) time, 40 bytes a number while it works.
pub(crate) fn distinct_below(
    bound: u64,
    count: u64,
    random: &mut Random,
    monitor: &dyn Monitor,
) -> Result<Vec<u64>, Stopped> {
    debug_assert!(count <= bound);
    let _held = Reservation::new(monitor, usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(40))?;
    let mut seen = HashSet::with_capacity(count as usize);
    for last in bound - count..bound {
        if last % BLOCK == 0 {
            monitor.check()?;
        }
        let drawn = random.below(last + 1);
        if !seen.insert(drawn) {
            seen.insert(last);
        }
    }
    let mut sample: Vec<u64> = seen.into_iter().collect();
    sample.sort_unstable();
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;
    use bonnet_graph::Unmonitored;
    use std::collections::BTreeMap;

    #[test]
    fn every_subset_is_equally_likely() {
        let mut random = Random::new(1, Stream::PerturbRemove);
        let mut counts: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        for _ in 0..20_000 {
            let sample = distinct_below(6, 3, &mut random, &Unmonitored).unwrap();
            assert!(sample.is_sorted_by(|a, b| a < b) && sample[2] < 6);
            *counts.entry(sample).or_default() += 1;
        }
        assert_eq!(counts.len(), 20);
        let chi_square: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 43.8, "{chi_square}: the 99.9 % point of 19 degrees of freedom is 43.8");
    }

    #[test]
    fn all_and_none_can_be_drawn() {
        let mut random = Random::new(1, Stream::PerturbRemove);
        assert_eq!(distinct_below(4, 4, &mut random, &Unmonitored).unwrap(), [0, 1, 2, 3]);
        assert!(distinct_below(0, 0, &mut random, &Unmonitored).unwrap().is_empty());
    }
}
