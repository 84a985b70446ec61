//! The variation of a model's rank.

use crate::ranks::compare;

/// The sample deviation (n - 1) of ranks; `None` for fewer than two. (CurvBench, App. G: rank volatility.)
///
/// The values are summed in ascending order: the order of the rows changes no digit. O(n log n) time, O(n) memory.
pub fn rank_volatility(ranks: &[f64]) -> Option<f64> {
    let mut ranks = ranks.to_vec();
    ranks.sort_unstable_by(|&a, &b| compare(a, b));
    if ranks.len() < 2 {
        return None;
    }
    let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
    let squares: f64 = ranks.iter().map(|rank| (rank - mean).powi(2)).sum();
    Some((squares / (ranks.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sample_deviation() {
        // numpy.std(ddof=1) of the ranks of HAT in CurvBench's Table 14; printed as 5.61.
        assert!((rank_volatility(&[12.0, 12.0, 1.0, 4.0, 1.0]).unwrap() - 31.5_f64.sqrt()).abs() < 1e-14);
        assert_eq!(rank_volatility(&[3.0, 3.0, 3.0]), Some(0.0));
        assert_eq!(rank_volatility(&[3.0]), None);
        assert_eq!(rank_volatility(&[]), None);
    }

    #[test]
    fn the_order_of_rows_changes_no_digit() {
        let ranks = [0.1, 7.3, 2.2, 9.9, 4.7];
        let turned: Vec<f64> = ranks.iter().rev().copied().collect();
        assert_eq!(rank_volatility(&ranks), rank_volatility(&turned));
    }
}
