//! Wilcoxon's signed-rank test.

use bonnet_graph::Monitor;

use super::differences::{PairedError, differences, reserve};
use super::normal::normal_two_sided;
use crate::merge::sort;

/// Up to this many pairs the distribution is enumerated, where no two differences are of one size and none is 0.
const EXACT: usize = 50;
/// Up to this many it is enumerated with ties and zeros.
const EXACT_WITH_TIES: usize = 13;

/// What Wilcoxon's signed-rank test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// The smaller of the sums of ranks of positive and of negative differences; `None` without pairs.
    pub statistic: Option<f64>,
    /// The two-sided p-value, in [0, 1].
    pub p_value: Option<f64>,
    /// The pairs that differ: equal ones are left out.
    pub n: usize,
    /// The least p-value of so many pairs: of differences that are all of one sign.
    pub least_p: Option<f64>,
    /// Whether `p_value` is of the exact distribution over all signs; else it is of the normal one.
    pub exact: bool,
}

/// Wilcoxon's signed-rank test of the hypothesis that the differences a - b are symmetric about 0 (Wilcoxon 1945). Pairs that are
/// equal are left out, sizes of differences that are equal share the average of their ranks.
///
/// The choices are SciPy's defaults (`scipy.stats.wilcoxon` 1.17): p is exact for up to 50 pairs of which none is equal and no two differ
/// by the same size, and for up to 13 pairs of any kind; beyond, it is that of the normal distribution, with the correction of the variance
/// for ties and without a correction for continuity. Where all pairs are equal, p is 1.
///
/// Exact: O(n^3) time for at most 50; else O(n log n) time; O(n) memory.
///
/// # Panics
/// If the slices differ in length.
pub fn wilcoxon_signed_rank(a: &[f64], b: &[f64], monitor: &dyn Monitor) -> Result<SignedRank, PairedError> {
    let mut reservation = reserve(a.len(), monitor)?;
    let d = differences(a, b, monitor)?;
    reservation.grow(3 * size_of::<f64>() * d.len())?;
    let pairs = d.len();
    let mut d: Vec<f64> = d.into_iter().filter(|d| *d != 0.0).collect();
    let n = d.len();
    sort(&mut d, |a, b| a.abs() < b.abs(), monitor)?;
    let groups = || d.chunk_by(|a, b| a.abs() == b.abs());
    // Twice the ranks are whole numbers, and so are all sums.
    let (mut before, mut of_positive, mut ties, mut tied) = (0u128, 0u128, 0u128, false);
    for group in groups() {
        let t = group.len() as u128;
        of_positive += (2 * before + t + 1) * group.iter().filter(|d| **d > 0.0).count() as u128;
        ties += t * t * t - t;
        tied |= t > 1;
        before += t;
    }
    let all = n as u128 * (n as u128 + 1);
    let least = of_positive.min(all - of_positive);
    let exact = match tied || n < pairs {
        true => pairs <= EXACT_WITH_TIES,
        false => pairs <= EXACT,
    } || n == 0;
    let (p_value, least_p) = if exact {
        let ranks = groups().scan(0, |before, group| {
            let rank = 2 * *before + group.len() + 1;
            *before += group.len();
            Some(std::iter::repeat_n(rank, group.len()))
        });
        let counts = sums_of_subsets(ranks.flatten());
        let share = |up_to: u128| {
            let count: u64 = counts.iter().take(up_to as usize + 1).sum();
            (2.0 * count as f64 / (n as f64).exp2()).min(1.0)
        };
        (share(least), share(0))
    } else {
        let (n, mean) = (n as f64, 0.25 * all as f64);
        let deviation = ((n * (n + 1.0) * (2.0 * n + 1.0) - 0.5 * ties as f64) / 24.0).sqrt();
        let two_sided = |doubled: u128| normal_two_sided((mean - 0.5 * doubled as f64) / deviation);
        (two_sided(least), two_sided(0))
    };
    let known = pairs > 0;
    Ok(SignedRank {
        statistic: known.then_some(0.5 * least as f64),
        p_value: known.then_some(p_value),
        n,
        least_p: known.then_some(least_p),
        exact,
    })
}

/// The number of subsets of at most 50 whole numbers by their sum.
fn sums_of_subsets(values: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut counts = vec![1u64];
    for value in values {
        let old = counts.len();
        counts.resize(old + value, 0);
        for sum in (0..old).rev() {
            counts[sum + value] += counts[sum];
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    use super::*;

    fn test(d: &[f64]) -> SignedRank {
        wilcoxon_signed_rank(d, &vec![0.0; d.len()], &Unmonitored).unwrap()
    }

    #[test]
    fn it_is_darwins_maize() {
        // The heights of 15 pairs of plants, crossed less self-fertilised, in eighths of an inch (Fisher 1935, Section 17);
        // scipy.stats.wilcoxon 1.17.1 gives 24 and 0.041259765625.
        let d = [6.0, 8.0, 14.0, 16.0, 23.0, 24.0, 28.0, 29.0, 41.0, -48.0, 49.0, 56.0, 60.0, -67.0, 75.0];
        let found = test(&d);
        assert_eq!((found.statistic, found.n, found.exact), (Some(24.0), 15, true));
        assert!((found.p_value.unwrap() - 0.041_259_765_625).abs() < 1e-15);
        assert_eq!(found.least_p, Some(2.0 / 32768.0));
    }

    #[test]
    fn five_pairs_are_never_significant_at_five_percent() {
        let found = test(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((found.statistic, found.p_value, found.least_p), (Some(0.0), Some(0.0625), Some(0.0625)));
    }

    #[test]
    fn equal_pairs_are_left_out() {
        let found = test(&[0.0, -0.0, 3.0, 1.0]);
        assert_eq!((found.n, found.p_value, found.exact), (2, Some(0.5), true));
        let equal = test(&[0.0; 20]);
        assert_eq!((equal.statistic, equal.p_value, equal.n, equal.least_p), (Some(0.0), Some(1.0), 0, Some(1.0)));
        let none = SignedRank { statistic: None, p_value: None, n: 0, least_p: None, exact: true };
        assert_eq!(test(&[]), none);
    }

    #[test]
    fn the_normal_distribution_takes_over_where_scipys_does() {
        let rising = |n: i32| (1..=n).map(|i| f64::from(if i % 3 == 0 { -i } else { i })).collect::<Vec<_>>();
        assert!(test(&rising(50)).exact && !test(&rising(51)).exact);
        let tied = |n: usize| [rising(n as i32 - 1), vec![1.0]].concat();
        assert!(test(&tied(13)).exact && !test(&tied(14)).exact);
        // A normal p is bounded, too: all signs alike.
        let one_sided = test(&(1..=60).map(f64::from).collect::<Vec<_>>());
        assert_eq!(one_sided.p_value, one_sided.least_p);
    }

    proptest! {
        #[test]
        fn the_exact_p_is_the_share_of_signs(d in prop::collection::vec(-4..5i32, 1..11)) {
            let values: Vec<f64> = d.iter().map(|&d| f64::from(d)).collect();
            let sizes: Vec<f64> = values.iter().copied().filter(|d| *d != 0.0).map(f64::abs).collect();
            let ranks = crate::average_ranks(&sizes);
            let sum = |signs: &dyn Fn(usize) -> bool| (0..ranks.len()).filter(|&i| signs(i)).map(|i| ranks[i]).sum::<f64>();
            let signed: Vec<bool> = values.iter().filter(|d| **d != 0.0).map(|d| *d > 0.0).collect();
            let total: f64 = ranks.iter().sum();
            let observed = sum(&|i| signed[i]);
            let least = observed.min(total - observed);
            let at_most = (0..1u32 << ranks.len()).filter(|signs| sum(&|i| signs >> i & 1 == 1) <= least).count();
            let p = (2.0 * at_most as f64 / f64::from(1u32 << ranks.len())).min(1.0);
            let found = test(&values);
            prop_assert_eq!((found.statistic, found.p_value), (Some(least), Some(p)));
        }
    }
}
