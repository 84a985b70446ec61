//! Ranks of which only the first k count.

/// The rank itself up to `k`; behind it, one shared lower tier: the rank k + 1, or with `n` ranked items their average
/// rank (k + 1 + n) / 2. Both rank alike: [`crate::spearman`] and [`crate::kendall_tau`] see only the order, and the ties
/// in it. (The top-k truncated ranking of CurvBench, Sec. 5.1 and App. E.4.)
pub fn truncated_rank(rank: f64, k: f64, n: Option<f64>) -> f64 {
    if rank <= k { rank } else { n.map_or(k + 1.0, |n| (k + 1.0 + n) / 2.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_tier_shares_one_rank() {
        let truncated = |n| [1.0, 2.0, 3.0, 4.0, 5.0].map(|rank| truncated_rank(rank, 3.0, n));
        assert_eq!(truncated(None), [1.0, 2.0, 3.0, 4.0, 4.0]);
        // With n, the average rank that ranking the truncated ranks anew gives.
        assert_eq!(truncated(Some(5.0)).to_vec(), crate::average_ranks(&truncated(None)));
    }

    #[test]
    fn a_tie_across_the_border_is_behind_it() {
        assert_eq!(truncated_rank(3.5, 3.0, Some(12.0)), 8.0);
    }
}
