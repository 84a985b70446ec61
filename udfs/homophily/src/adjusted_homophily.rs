//! Edge homophily, adjusted for the sizes of the classes.

use bonnet_graph::{Graph, Monitor, Stopped};

use crate::LabelPairs;
use crate::label_pairs::Ends;

/// (H_edge - sum p_k^2) / (1 - sum p_k^2), where p_k = D_k / 2|E| is the share of the rows' ends in class k: 1 if every
/// row stays within a class, 0 on average if endpoints are joined at random. `None` without rows, or if all endpoints are in one
/// class (0 / 0). (H_adj, Eq. 2 of Luan et al., Are heterophilic GNNs and homophily metrics really effective?; Platonov et al., Characterizing graph datasets for node
/// classification, NeurIPS 2023.)
///
/// The fraction is formed in integers, (2 S T - sum D_k^2) / (T^2 - sum D_k^2) with S equal rows and T = 2|E|, so that
/// the result is exact but for the last rounding.
pub fn adjusted_homophily(pairs: &LabelPairs) -> Option<f64> {
    let counts = pairs.counts();
    let ends = Ends::of_counts(&counts);
    let equal: u64 = counts.iter().filter(|(a, b, _)| a == b).map(|(_, _, count)| count).sum();
    adjusted(equal, ends.of_class.iter().map(|class| class.1))
}

/// The metric by the number of equal rows and the ends of each class.
pub(crate) fn adjusted(equal: u64, ends: impl Iterator<Item = u64>) -> Option<f64> {
    let (total, squares) = ends.fold((0i128, 0i128), |(total, squares), d| {
        let d = i128::from(d);
        (total + d, squares + d * d)
    });
    let numerator = 2 * i128::from(equal) * total - squares;
    let denominator = total * total - squares;
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

/// [`adjusted_homophily`] over the edges of an undirected graph whose endpoints both have a label. O(n + m).
///
/// # Panics
/// If `labels` has not one entry a node.
pub fn adjusted_homophily_of_graph(
    graph: &Graph,
    labels: &[Option<u32>],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    Ok(adjusted_homophily(&LabelPairs::of_graph(graph, labels, monitor)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(counts: &[(u32, u32, u64)]) -> LabelPairs {
        let mut pairs = LabelPairs::default();
        counts.iter().for_each(|&(a, b, count)| pairs.add(a, b, count));
        pairs
    }

    #[test]
    fn rows_within_classes_give_one_and_balanced_two_colourings_minus_one() {
        assert_eq!(adjusted_homophily(&counted(&[(0, 0, 3), (1, 1, 5)])), Some(1.0));
        assert_eq!(adjusted_homophily(&counted(&[(0, 1, 3), (1, 0, 5)])), Some(-1.0));
    }

    #[test]
    fn a_table_worked_by_hand() {
        // Rows: three 0-0, one 0-1. H_edge = 3/4, D = (7, 1) of 8: sum p^2 = 50/64. (48 - 50) / (64 - 50) = -1/7.
        assert_eq!(adjusted_homophily(&counted(&[(0, 0, 3), (0, 1, 1)])), Some(-1.0 / 7.0));
        // Independent ends: H_edge = 13/25 = (3/5)^2 + (2/5)^2.
        assert_eq!(adjusted_homophily(&counted(&[(0, 0, 9), (0, 1, 12), (1, 1, 4)])), Some(0.0));
    }

    #[test]
    fn one_class_or_no_rows_have_no_value() {
        assert_eq!(adjusted_homophily(&counted(&[(4, 4, 10)])), None);
        assert_eq!(adjusted_homophily(&LabelPairs::default()), None);
    }

    #[test]
    fn counts_near_the_limit_do_not_overflow() {
        let huge = 1u64 << 60;
        assert_eq!(adjusted_homophily(&counted(&[(0, 0, huge), (1, 1, huge)])), Some(1.0));
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_definition_in_floats(cells in proptest::collection::vec(0..1000u64, 25)) {
            let counts: Vec<(u32, u32, u64)> =
                cells.iter().enumerate().filter(|c| *c.1 > 0).map(|(i, &c)| (i as u32 / 5, i as u32 % 5, c)).collect();
            if let Some(found) = adjusted_homophily(&counted(&counts)) {
                let rows: f64 = counts.iter().map(|c| c.2 as f64).sum();
                let equal: f64 = counts.iter().filter(|c| c.0 == c.1).map(|c| c.2 as f64).sum();
                let mut p = [0.0; 5];
                for &(a, b, count) in &counts {
                    p[a as usize] += count as f64 / (2.0 * rows);
                    p[b as usize] += count as f64 / (2.0 * rows);
                }
                let by_chance: f64 = p.iter().map(|p| p * p).sum();
                prop_assert!((found - (equal / rows - by_chance) / (1.0 - by_chance)).abs() < 1e-12);
            }
        }
    }
}
