//! Ranks in which ties share their average.

use bonnet_graph::Unmonitored;

use crate::order_codes::OrderCodes;

/// The ascending ranks from 1 to n; equal values share the average of the positions they take. O(n log n).
///
/// For scores, where larger is better, rank their negatives.
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    #[expect(clippy::expect_used, reason = "a sort that nobody watches is not stopped")]
    let codes = OrderCodes::new(values, &Unmonitored).expect("nobody stops it");
    let ranks = codes.doubled_ranks();
    codes.of_row.iter().map(|&code| ranks[code as usize] as f64 / 2.0).collect()
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
