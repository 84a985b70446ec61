//! Friedman's test of treatments over blocks, and Nemenyi's comparison of their pairs.

use bonnet_graph::{Monitor, Stopped};

use super::gamma::chi_squared_above;
use super::studentized_range::{range_above, range_quantile};
use crate::ranks::compare;

/// Blocks that are ranked between two checks.
const BLOCK: usize = 1 << 10;

/// What Friedman's test found.
#[derive(Debug, Clone, PartialEq)]
pub struct Friedman {
    /// Friedman's chi-squared, corrected for ties; `None` where every block is one tie, for one treatment and for fewer
    /// than two blocks.
    pub statistic: Option<f64>,
    /// The p-value of the chi-squared distribution, in [0, 1].
    pub p_value: Option<f64>,
    /// The blocks.
    pub n: usize,
    /// The least p-value of so many blocks: of blocks that all agree, without ties.
    pub least_p: Option<f64>,
    /// The mean rank of each treatment over the blocks, the most first, ties averaged; empty without blocks.
    pub mean_ranks: Vec<f64>,
}

/// Friedman's test of the hypothesis that no treatment ranks before another over the blocks (Friedman 1937). `table` holds the values of
/// each block, `treatments` of them, block after block, without NaN; larger values come first, which the statistic does not tell.
///
/// 12 n / (k (k + 1)) times the sum over treatments of (mean rank - (k + 1) / 2)^2, divided by 1 - sum (t^3 - t) / (n (k^3 - k)) over the
/// ties of t values in a block; against k - 1 degrees of freedom. Sums of ranks are whole numbers: the order of blocks changes no digit.
/// O(n k log k) time, O(k) memory.
///
/// # Panics
/// If the values are not of whole blocks.
pub fn friedman_test(table: &[f64], treatments: usize, monitor: &dyn Monitor) -> Result<Friedman, Stopped> {
    assert!(treatments > 0 && table.len().is_multiple_of(treatments), "whole blocks");
    let (n, k) = (table.len() / treatments, treatments);
    // Twice the ranks are whole numbers.
    let mut sums = vec![0u64; k];
    let mut ties = 0i128;
    let mut order: Vec<usize> = (0..k).collect();
    for (i, block) in table.chunks(k).enumerate() {
        if i % BLOCK == 0 {
            monitor.check()?;
        }
        order.sort_unstable_by(|&i, &j| compare(block[j], block[i]));
        let mut before = 0;
        for tied in order.chunk_by(|&i, &j| compare(block[i], block[j]).is_eq()) {
            tied.iter().for_each(|&treatment| sums[treatment] += (2 * before + tied.len() + 1) as u64);
            let t = tied.len() as i128;
            ties += t * t * t - t;
            before += tied.len();
        }
    }
    let mean_ranks: Vec<f64> = match n {
        0 => Vec::new(),
        _ => sums.iter().map(|&sum| sum as f64 / (2.0 * n as f64)).collect(),
    };
    let freedom = k as f64 - 1.0;
    let (wide_n, wide_k) = (n as i128, k as i128);
    let untied = wide_n * (wide_k * wide_k * wide_k - wide_k) - ties;
    if n < 2 || k < 2 {
        return Ok(Friedman { statistic: None, p_value: None, n, least_p: None, mean_ranks });
    }
    let squares: i128 = sums.iter().map(|&sum| i128::from(sum) * i128::from(sum)).sum();
    let spread = 3 * (squares - wide_k * wide_n * wide_n * (wide_k + 1) * (wide_k + 1)) * (wide_k - 1);
    let statistic = (untied > 0).then(|| spread as f64 / untied as f64);
    Ok(Friedman {
        statistic,
        p_value: statistic.map(|statistic| chi_squared_above(statistic, freedom)),
        n,
        least_p: Some(chi_squared_above(n as f64 * freedom, freedom)),
        mean_ranks,
    })
}

/// Nemenyi's critical difference: mean ranks of `treatments` >= 2 over `blocks` >= 1 that are at least so far apart differ at the
/// significance `alpha` in (0, 1), all pairs taken together (Nemenyi 1963; Demsar 2006, Sec. 3.2.2).
pub fn critical_difference(treatments: usize, blocks: usize, alpha: f64) -> f64 {
    let k = u32::try_from(treatments).unwrap_or(u32::MAX);
    range_quantile(alpha, k) / std::f64::consts::SQRT_2 * deviation(treatments, blocks)
}

/// The p-value of a difference of two mean ranks of `treatments` >= 2 over `blocks` >= 1, all pairs taken together (Nemenyi 1963).
pub fn nemenyi_p(difference: f64, treatments: usize, blocks: usize) -> f64 {
    let k = u32::try_from(treatments).unwrap_or(u32::MAX);
    range_above(difference.abs() / deviation(treatments, blocks) * std::f64::consts::SQRT_2, k)
}

/// The deviation of the difference of two mean ranks, where no treatment ranks before another.
fn deviation(treatments: usize, blocks: usize) -> f64 {
    let (k, n) = (treatments as f64, blocks as f64);
    (k * (k + 1.0) / (6.0 * n)).sqrt()
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::super::golden::{Lcg, golden};
    use super::*;

    fn test(table: &[f64], treatments: usize) -> Friedman {
        friedman_test(table, treatments, &Unmonitored).unwrap()
    }

    /// Random tables with ties: statistic and p of scipy.stats.friedmanchisquare, and the p of the first pair of
    /// scikit_posthocs.posthoc_nemenyi_friedman.
    #[test]
    fn it_agrees_with_scipy_and_scikit_posthocs() {
        let mut lcg = Lcg::new(2);
        for (row, expected) in golden("friedman").into_iter().enumerate() {
            let (n, k) = (2 + lcg.below(14) as usize, 3 + lcg.below(6) as usize);
            let range = 2 + lcg.below(30);
            let table: Vec<f64> = (0..n * k).map(|_| lcg.below(range) as f64).collect();
            let found = test(&table, k);
            let pair = nemenyi_p(found.mean_ranks[0] - found.mean_ranks[1], k, n);
            for (found, expected) in [found.statistic, found.p_value, Some(pair)].into_iter().zip(expected) {
                match (found, expected) {
                    (Some(found), Some(expected)) => {
                        assert!(
                            (found - expected).abs() <= 1e-9 * expected.abs() + 1e-11,
                            "{row}: {found}, not {expected}"
                        );
                    }
                    (found, expected) => assert_eq!(found, expected, "{row}"),
                }
            }
        }
    }

    #[test]
    fn it_is_the_example_of_rounding_first_base() {
        // Hollander and Wolfe 1973, Table 7.1: three ways of 22 players; R's friedman.test says 11.143 and 0.003805.
        #[rustfmt::skip]
        let seconds = [
            5.40, 5.50, 5.55, 5.85, 5.70, 5.75, 5.20, 5.60, 5.50, 5.55, 5.50, 5.40, 5.90, 5.85, 5.70, 5.45, 5.55, 5.60,
            5.40, 5.40, 5.35, 5.45, 5.50, 5.35, 5.25, 5.15, 5.00, 5.85, 5.80, 5.70, 5.25, 5.20, 5.10, 5.65, 5.55, 5.45,
            5.60, 5.35, 5.45, 5.05, 5.00, 4.95, 5.50, 5.50, 5.40, 5.45, 5.55, 5.50, 5.55, 5.55, 5.35, 5.45, 5.50, 5.55,
            5.50, 5.45, 5.25, 5.65, 5.60, 5.40, 5.70, 5.65, 5.55, 6.30, 6.30, 6.25,
        ];
        let found = test(&seconds, 3);
        assert!((found.statistic.unwrap() - 11.142857142857132).abs() < 1e-12, "{found:?}");
        assert!((found.p_value.unwrap() - 0.003805040775511383).abs() < 1e-14, "{found:?}");
    }

    #[test]
    fn the_critical_difference_is_demsars() {
        // Demsar 2006, Sec. 3.2.4: 1.25 at 5 % for four classifiers on 14 data sets.
        assert!((critical_difference(4, 14, 0.05) - 1.25).abs() < 0.005);
    }

    #[test]
    fn the_least_p_is_of_blocks_that_agree() {
        let table: Vec<f64> = (0..5).flat_map(|_| [3.0, 1.0, 2.0]).collect();
        let found = test(&table, 3);
        assert_eq!((found.statistic, &found.mean_ranks[..]), (Some(10.0), &[1.0, 3.0, 2.0][..]));
        assert_eq!(found.p_value, found.least_p);
        assert!((found.p_value.unwrap() - (-5.0f64).exp()).abs() < 1e-15);
    }

    #[test]
    fn ties_alone_one_block_and_one_treatment_have_no_statistic() {
        assert_eq!(test(&[1.0; 12], 3).statistic, None);
        assert!(test(&[1.0; 12], 3).least_p.is_some());
        assert_eq!((test(&[1.0, 2.0], 2).statistic, test(&[1.0, 2.0], 1).statistic), (None, None));
        assert_eq!(test(&[], 3), Friedman { statistic: None, p_value: None, n: 0, least_p: None, mean_ranks: vec![] });
    }

    #[test]
    fn the_critical_difference_is_where_p_is_alpha() {
        for (k, n, alpha) in [(2, 7, 0.05), (5, 12, 0.1), (30, 9, 0.01)] {
            let difference = critical_difference(k, n, alpha);
            assert!((nemenyi_p(difference, k, n) / alpha - 1.0).abs() < 1e-12);
        }
    }
}
