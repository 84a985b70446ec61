//! The information that the label of a neighbour has about the label of a node.

use bonnet_graph::{Graph, Monitor, Stopped};

use crate::LabelPairs;
use crate::label_pairs::Ends;

/// The mutual information of the two labels of a random row, read in a random direction, over the entropy of one label:
/// I / H in [0, 1], with p(a, b) = (n(a, b) + n(b, a)) / 2|E| and p(a) = D_a / 2|E|. 0: the neighbour's label says
/// nothing; 1: it says all, whether or not it is the same. `None` without rows, or if all endpoints are in one class (0 / 0).
/// (LI, App. B of Luan et al., Are heterophilic GNNs and homophily metrics really effective?, whose Eq. 4 misprints it; LI_edge of Platonov et al., Characterizing graph
/// datasets for node classification, NeurIPS 2023.)
///
/// Terms are added in the order of their counts, so that the result does not depend on how the classes are numbered.
pub fn label_informativeness(pairs: &LabelPairs) -> Option<f64> {
    let counts = pairs.counts();
    let ends = Ends::of_counts(&counts);
    if ends.of_class.len() < 2 {
        return None;
    }
    let mut rows: Vec<(u32, u32, u64)> = counts.iter().map(|&(a, b, count)| (a.min(b), a.max(b), count)).collect();
    rows.sort_unstable();
    // For each unordered pair of classes: its endpoints; the count of one of its one or two ordered pairs; D_a D_b.
    let mut terms: Vec<(u64, u64, u128)> = rows
        .chunk_by(|x, y| (x.0, x.1) == (y.0, y.1))
        .map(|rows| {
            let (a, b) = (rows[0].0, rows[0].1);
            let n_rows: u64 = rows.iter().map(|row| row.2).sum();
            let ordered = if a == b { 2 * n_rows } else { n_rows };
            (2 * n_rows, ordered, u128::from(ends.of(a)) * u128::from(ends.of(b)))
        })
        .collect();
    terms.sort_unstable();
    let mut degrees: Vec<u64> = ends.of_class.iter().map(|class| class.1).collect();
    degrees.sort_unstable();

    let total = ends.total as f64;
    let information: f64 = terms
        .iter()
        .map(|&(ends_here, ordered, product)| {
            let ratio = (u128::from(ordered) * u128::from(ends.total)) as f64 / product as f64;
            ends_here as f64 / total * ratio.ln()
        })
        .sum();
    let entropy: f64 = degrees.iter().map(|&d| d as f64 / total * (total / d as f64).ln()).sum();
    // Rounding may leave the interval by a few units in the last place.
    Some((information / entropy).clamp(0.0, 1.0))
}

/// [`label_informativeness`] over the edges of an undirected graph whose endpoints both have a label. O(n + m).
///
/// # Panics
/// If `labels` has not one entry a node.
pub fn label_informativeness_of_graph(
    graph: &Graph,
    labels: &[Option<u32>],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    Ok(label_informativeness(&LabelPairs::of_graph(graph, labels, monitor)?))
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

    /// 2 - H(both labels) / H(one label), by the joint distribution over ordered pairs.
    fn by_joint_entropy(counts: &[(u32, u32, u64)], classes: usize) -> f64 {
        let mut joint = vec![vec![0.0; classes]; classes];
        for &(a, b, count) in counts {
            joint[a as usize][b as usize] += count as f64;
            joint[b as usize][a as usize] += count as f64;
        }
        let entropy = |cells: Vec<f64>| {
            let total: f64 = cells.iter().sum();
            -cells.iter().filter(|&&c| c > 0.0).map(|c| c / total * (c / total).ln()).sum::<f64>()
        };
        2.0 - entropy(joint.iter().flatten().copied().collect())
            / entropy(joint.iter().map(|r| r.iter().sum()).collect())
    }

    #[test]
    fn a_label_that_determines_its_neighbours_is_fully_informative() {
        assert_eq!(label_informativeness(&counted(&[(0, 0, 3), (1, 1, 5), (2, 2, 11)])), Some(1.0));
        let swapped = label_informativeness(&counted(&[(0, 1, 4), (2, 3, 9), (3, 2, 2)])).unwrap();
        assert!((swapped - 1.0).abs() < 1e-15, "{swapped}");
    }

    #[test]
    fn independent_labels_are_not_informative() {
        // Joint counts of ordered pairs 2 * [[9, 6], [6, 4]], the product of the shares 3/5 and 2/5.
        assert_eq!(label_informativeness(&counted(&[(0, 0, 9), (0, 1, 12), (1, 1, 4)])), Some(0.0));
    }

    #[test]
    fn a_table_worked_by_hand() {
        // Rows: three 0-0, one 0-1. D = (7, 1), T = 8. Joint: p00 = 6/8, p01 = p10 = 1/8.
        // I = 6/8 ln(48/49) + 2/8 ln(8/7); H = 7/8 ln(8/7) + 1/8 ln 8.
        let expected =
            (0.75 * (48f64 / 49.0).ln() + 0.25 * (8f64 / 7.0).ln()) / (0.875 * (8f64 / 7.0).ln() + 0.125 * 8f64.ln());
        let found = label_informativeness(&counted(&[(0, 0, 3), (0, 1, 1)])).unwrap();
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        // The same in 40 decimal digits.
        assert!((expected - 0.047_557_860_458_815).abs() < 1e-14, "{expected}");
    }

    #[test]
    fn one_class_or_no_rows_have_no_value() {
        assert_eq!(label_informativeness(&counted(&[(4, 4, 10)])), None);
        assert_eq!(label_informativeness(&LabelPairs::default()), None);
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_joint_entropy_and_ignores_numbers_and_directions(
            cells in proptest::collection::vec(0..50u64, 16),
            turned in any::<bool>(),
        ) {
            let counts: Vec<(u32, u32, u64)> =
                cells.iter().enumerate().filter(|c| *c.1 > 0).map(|(i, &c)| (i as u32 / 4, i as u32 % 4, c)).collect();
            let found = label_informativeness(&counted(&counts));
            // Three more numberings, one with gaps; all to the last bit.
            for number in [[3u32, 2, 1, 0], [1, 0, 3, 2], [7, 1000, 0, 70]] {
                let renumber = |&(a, b, c): &(u32, u32, u64)| {
                    let (a, b) = (number[a as usize], number[b as usize]);
                    if turned { (b, a, c) } else { (a, b, c) }
                };
                let renumbered: Vec<_> = counts.iter().map(renumber).collect();
                prop_assert_eq!(label_informativeness(&counted(&renumbered)), found);
            }
            if let Some(found) = found {
                prop_assert!((found - by_joint_entropy(&counts, 4)).abs() < 1e-12);
            }
        }
    }
}
