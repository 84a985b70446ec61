//! Answers of SciPy, statsmodels and scikit-posthocs on random inputs, as `benches/peers/significance_fixtures.py` stored them.

/// The numbers of the inputs: a generator that a line of Python repeats. (Knuth's MMIX constants; the upper half.)
pub(super) struct Lcg(u64);

impl Lcg {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) % bound
    }
}

/// The rows of one kind of input, a thousand; `None` where the peer has no number.
pub(super) fn golden(kind: &str) -> Vec<Vec<Option<f64>>> {
    let lines = include_str!("golden.txt").lines().filter_map(|line| line.strip_prefix(kind));
    let rows: Vec<Vec<Option<f64>>> = lines
        .map(|line| line.split_whitespace().map(|word| word.parse::<f64>().ok().filter(|x| !x.is_nan())).collect())
        .collect();
    assert_eq!(rows.len(), 1000, "{kind}");
    rows
}

mod paired {
    use bonnet_graph::Unmonitored;

    use super::{Lcg, golden};
    use crate::{paired_t_test, wilcoxon_signed_rank};

    /// scipy.stats.ttest_rel and scipy.stats.wilcoxon, on 2 to 70 pairs with ties and zeros.
    #[test]
    fn tests_of_pairs_agree_with_scipy() {
        let mut lcg = Lcg::new(1);
        let mut exact = 0;
        for (row, expected) in golden("paired").into_iter().enumerate() {
            let (n, range) = (2 + lcg.below(69) as usize, [3, 9, 100_000][lcg.below(3) as usize]);
            let shift = lcg.below(3) as f64;
            let mut column = |shift: f64| (0..n).map(|_| lcg.below(range) as f64 + shift).collect::<Vec<f64>>();
            let (a, b) = (column(shift), column(0.0));
            let t = paired_t_test(&a, &b, &Unmonitored).unwrap();
            let w = wilcoxon_signed_rank(&a, &b, &Unmonitored).unwrap();
            exact += usize::from(w.exact);
            let equal = a == b;
            let found = [t.statistic, t.p_value, w.statistic, w.p_value];
            for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                match (found, expected) {
                    (Some(found), Some(expected)) => {
                        let near = found == expected || (found - expected).abs() <= 1e-9 * expected.abs();
                        assert!(near, "{row}, {i}: {found}, not {expected}");
                    }
                    // SciPy's p of equal pairs depends on their number; ours is 1.
                    (found, None) if equal => assert!(found.is_none_or(|p| p == 1.0), "{row}, {i}: {found:?}"),
                    (found, expected) => assert_eq!(found, expected, "{row}, {i}"),
                }
            }
        }
        // Both of Wilcoxon's distributions are met.
        assert!(exact > 200 && exact < 800, "{exact}");
    }
}
