//! p-values of several tests, adjusted for their number.

/// A p-value that is none.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a p-value is {0}: expected numbers from 0 to 1")]
pub struct NoProbability(pub f64);

/// Holm's adjusted p-values: each the chance, at most, that any true hypothesis among those with p-values up to it is rejected
/// (Holm 1979). In ascending order, the i-th of m is the largest of (m - j + 1) p_j for j <= i, at most 1.
///
/// # Errors
/// For a value that is no number from 0 to 1. O(m log m) time.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, NoProbability> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut most = 0.0f64;
    for (i, &test) in order.iter().enumerate() {
        most = most.max((order.len() - i) as f64 * p_values[test]).min(1.0);
        adjusted[test] = most;
    }
    Ok(adjusted)
}

/// Benjamini and Hochberg's adjusted p-values: each the expected share, at most, of true hypotheses among those with values up to it,
/// for tests that are independent or positively dependent (Benjamini and Hochberg 1995). In ascending order, the i-th of m is the least of
/// m p_j / j for j >= i, at most 1.
///
/// # Errors
/// For a value that is no number from 0 to 1. O(m log m) time.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, NoProbability> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 1.0f64;
    for (i, &test) in order.iter().enumerate().rev() {
        least = least.min(order.len() as f64 * p_values[test] / (i + 1) as f64);
        adjusted[test] = least;
    }
    Ok(adjusted)
}

/// The places of the p-values in ascending order.
fn ascending(p_values: &[f64]) -> Result<Vec<usize>, NoProbability> {
    if let Some(&none) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(NoProbability(none));
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::super::golden::{Lcg, golden};
    use super::*;

    /// Random sets with ties, zeros and ones: the sum of the adjusted values, each weighted by its place, of
    /// statsmodels.stats.multitest.multipletests, by `holm` and by `fdr_bh`.
    #[test]
    fn they_agree_with_statsmodels() {
        let mut lcg = Lcg::new(4);
        for (row, expected) in golden("adjusted").into_iter().enumerate() {
            let (m, range) = (1 + lcg.below(20) as usize, 5 + lcg.below(200));
            let p_values: Vec<f64> = (0..m).map(|_| lcg.below(range + 1) as f64 / range as f64).collect();
            let weighted = |adjusted: Vec<f64>| adjusted.iter().zip(1..).map(|(p, i)| p * f64::from(i)).sum::<f64>();
            let found = [holm(&p_values), benjamini_hochberg(&p_values)].map(|adjusted| weighted(adjusted.unwrap()));
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected.unwrap()).abs() < 1e-10, "{row}: {found}, not {expected:?}");
            }
        }
    }

    #[test]
    fn they_are_the_papers_procedures() {
        // Benjamini and Hochberg 1995, Section 3.2: of 15 p-values four are rejected at 0.05 by theirs, three by Holm's.
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let rejected = |adjusted: Vec<f64>| adjusted.iter().filter(|p| **p <= 0.05).count();
        assert_eq!(rejected(benjamini_hochberg(&p_values).unwrap()), 4);
        assert_eq!(rejected(holm(&p_values).unwrap()), 3);
        assert_eq!(holm(&[0.5, 0.01, 0.01]).unwrap(), [0.5, 0.03, 0.03]);
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        assert_eq!(holm(&[]).unwrap(), [0.0; 0]);
        assert_eq!(holm(&[0.1, 1.5]), Err(NoProbability(1.5)));
        assert_eq!(benjamini_hochberg(&[-0.1]), Err(NoProbability(-0.1)));
        assert!(holm(&[f64::NAN]).is_err() && benjamini_hochberg(&[f64::NAN]).is_err());
    }
}
