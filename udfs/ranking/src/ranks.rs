//! Ranks in which ties share their average.

use bonnet_graph::{Monitor, Stopped, Unmonitored};

use crate::merge::sort;

/// Twice the ascending ranks from 1, equal values sharing their average: whole numbers, so that what is summed over
/// ranks is exact and does not depend on the order of the rows. `-0.0` equals `0.0`; NaN must not be among the values.
/// O(n log n) time, O(n) memory.
pub(crate) fn doubled_ranks(values: &[f64], monitor: &dyn Monitor) -> Result<Vec<u64>, Stopped> {
    // The values travel with their places: sorting places alone would look each value up at random.
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    sort(&mut order, |a, b| compare(a.0, b.0), monitor)?;
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    for peers in order.chunk_by(|a, b| compare(a.0, b.0).is_eq()) {
        // The places are start + 1 ..= start + len: their average, doubled, is the sum of the first and the last.
        let doubled = (2 * start + peers.len() + 1) as u64;
        peers.iter().for_each(|&(_, i)| ranks[i] = doubled);
        start += peers.len();
    }
    Ok(ranks)
}

/// The ascending ranks from 1 to n; equal values share the average of the places they take. O(n log n).
///
/// For scores, where larger is better, rank their negatives.
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let doubled = doubled_ranks(values, &Unmonitored).expect("nobody stops it");
    doubled.into_iter().map(|doubled| doubled as f64 / 2.0).collect()
}

/// The order of numbers in which `-0.0` and `0.0` are one.
pub(crate) fn compare(a: f64, b: f64) -> std::cmp::Ordering {
    (a + 0.0).total_cmp(&(b + 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_average_of_their_places() {
        // scipy.stats.rankdata of the same values.
        assert_eq!(average_ranks(&[0.0, 2.0, 3.0, 2.0]), [1.0, 2.5, 4.0, 2.5]);
        assert_eq!(average_ranks(&[7.0, 7.0, 7.0]), [2.0, 2.0, 2.0]);
        assert_eq!(average_ranks(&[-0.0, 0.0, -1.0]), [2.5, 2.5, 1.0]);
        assert_eq!(average_ranks(&[]), [0.0; 0]);
    }

    #[test]
    fn ranks_sum_to_that_of_the_places() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 11)).collect();
        assert_eq!(average_ranks(&values).iter().sum::<f64>(), 5050.0);
    }
}
