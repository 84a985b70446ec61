//! The area under the ROC curve.

use bonnet_graph::{Monitor, Stopped};

use crate::binary_ranking::BinaryRanking;

/// The area under the ROC curve: the probability that a positive item scores above a negative one, ties counting half. In
/// [0, 1]; `None` without positives or without negatives. Scores are any numbers but NaN. Pairs are counted in whole
/// numbers, so the order of the items changes no digit. (Hanley and McNeil 1982; `roc_auc_score` of scikit-learn.)
///
/// O(n) time for whole numbers in a range not much wider than n, else O(n log n); O(n) memory.
///
/// # Errors
/// If the monitor stops the work.
pub fn auc(scores: &[f64], positive: &[bool], monitor: &dyn Monitor) -> Result<Option<f64>, Stopped> {
    let ranking = BinaryRanking::new(scores, positive, monitor)?;
    // Twice the pairs that the positive wins, ties counting once.
    let (mut pairs, mut below) = (0u128, 0);
    for (positives, negatives) in ranking.at_score {
        pairs += u128::from(positives) * u128::from(2 * below + negatives);
        below += negatives;
    }
    let all = 2.0 * ranking.positives as f64 * ranking.negatives as f64;
    Ok((all > 0.0).then(|| pairs as f64 / all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(rows: &[(f64, bool)]) -> Option<f64> {
        let (scores, positive): (Vec<f64>, Vec<bool>) = rows.iter().copied().unzip();
        auc(&scores, &positive, &Unmonitored).unwrap()
    }

    #[test]
    fn closed_forms() {
        // The example of scikit-learn's roc_auc_score.
        assert_eq!(of(&[(0.1, false), (0.4, false), (0.35, true), (0.8, true)]), Some(0.75));
        assert_eq!(of(&[(1.0, false), (1.0, true), (1.0, true)]), Some(0.5));
        assert_eq!(of(&[(f64::NEG_INFINITY, true), (f64::INFINITY, false)]), Some(0.0));
        assert_eq!(of(&[(-0.0, true), (0.0, false)]), Some(0.5));
        assert_eq!([of(&[]), of(&[(0.3, true)]), of(&[(0.3, false), (0.1, false)])], [None; 3]);
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_pairs_in_which_the_positive_wins(
            rows in prop::collection::vec((-4..4i32, any::<bool>()), 0..60), step in prop_oneof![Just(1.0), Just(0.1)],
        ) {
            let rows: Vec<(f64, bool)> = rows.into_iter().map(|(score, positive)| (f64::from(score) * step, positive)).collect();
            let (mut won, mut pairs) = (0.0, 0.0);
            for (a, _) in rows.iter().filter(|row| row.1) {
                for (b, _) in rows.iter().filter(|row| !row.1) {
                    pairs += 1.0;
                    won += if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
                }
            }
            prop_assert_eq!(of(&rows), (pairs > 0.0).then(|| won / pairs));
            let reversed: Vec<_> = rows.iter().rev().copied().collect();
            prop_assert_eq!(of(&reversed), of(&rows));
        }
    }
}
