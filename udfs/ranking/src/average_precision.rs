//! Average precision.

use bonnet_graph::{Monitor, Stopped};

use crate::binary_ranking::BinaryRanking;

/// The average precision: the sum over the distinct scores, falling, of the gain in recall times the precision among the
/// items that score at least as much. Items with equal scores enter together; nothing is interpolated. In (0, 1]; `None`
/// without positives. Scores are any numbers but NaN. (`average_precision_score` of scikit-learn.)
///
/// O(n) time for whole numbers in a range not much wider than n, else O(n log n); O(n) memory.
///
/// # Errors
/// If the monitor stops the work.
pub fn average_precision(scores: &[f64], positive: &[bool], monitor: &dyn Monitor) -> Result<Option<f64>, Stopped> {
    let ranking = BinaryRanking::new(scores, positive, monitor)?;
    let (mut sum, mut hits, mut items) = (0.0, 0, 0);
    for (positives, negatives) in ranking.at_score.into_iter().rev().filter(|at| at.0 + at.1 > 0) {
        hits += positives;
        items += positives + negatives;
        sum += positives as f64 / ranking.positives as f64 * (hits as f64 / items as f64);
    }
    Ok((ranking.positives > 0).then_some(sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(rows: &[(f64, bool)]) -> Option<f64> {
        let (scores, positive): (Vec<f64>, Vec<bool>) = rows.iter().copied().unzip();
        average_precision(&scores, &positive, &Unmonitored).unwrap()
    }

    #[test]
    fn closed_forms() {
        // The example of scikit-learn's average_precision_score: 1/2 of recall at precision 1, and 1/2 at 2/3.
        assert_eq!(of(&[(0.1, false), (0.4, false), (0.35, true), (0.8, true)]), Some(0.5 + 0.5 * (2.0 / 3.0)));
        assert_eq!(of(&[(1.0, false), (1.0, true), (1.0, true)]), Some(2.0 / 3.0));
        assert_eq!(of(&[(0.3, true), (0.1, true)]), Some(1.0));
        assert_eq!([of(&[]), of(&[(0.3, false), (0.1, false)])], [None; 2]);
    }

    proptest! {
        #[test]
        fn it_is_the_sum_of_precisions_at_the_steps_of_recall(
            rows in prop::collection::vec((-4..4i32, any::<bool>()), 0..60), step in prop_oneof![Just(1.0), Just(0.1)],
        ) {
            let rows: Vec<(f64, bool)> = rows.into_iter().map(|(score, positive)| (f64::from(score) * step, positive)).collect();
            let all = rows.iter().filter(|row| row.1).count() as f64;
            let mut thresholds: Vec<f64> = rows.iter().map(|row| row.0).collect();
            thresholds.sort_by(|a, b| b.total_cmp(a));
            thresholds.dedup();
            let (mut sum, mut recall) = (0.0, 0.0);
            for threshold in thresholds {
                let chosen: Vec<_> = rows.iter().filter(|row| row.0 >= threshold).collect();
                let hits = chosen.iter().filter(|row| row.1).count() as f64;
                sum += (hits / all - recall) * hits / chosen.len() as f64;
                recall = hits / all;
            }
            match of(&rows) {
                Some(found) => prop_assert!((found - sum).abs() < 1e-12),
                None => prop_assert_eq!(all, 0.0),
            }
        }
    }
}
