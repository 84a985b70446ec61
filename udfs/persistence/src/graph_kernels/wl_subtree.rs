//! The Weisfeiler-Lehman subtree kernel.

use bonnet_graph::{Monitor, Stopped};

use super::features::Features;
use super::gram::PairValues;
use crate::colors::GraphSet;

/// The Weisfeiler-Lehman subtree kernel of all pairs of graphs (Shervashidze et al., Weisfeiler-Lehman Graph Kernels, JMLR 2011, Definition
/// 4 and Theorem 3): the inner product of how often each has each colour, before and after each of `rounds` rounds of colour
/// refinement. Without labels all nodes have one colour at first.
///
/// O(rounds (n + m)) for the colours, then a step for each feature that two graphs have in common. Exact below 2^53.
///
/// # Errors
/// The monitor stopped the work.
pub fn wl_subtree_kernel(set: &GraphSet, rounds: usize, monitor: &dyn Monitor) -> Result<PairValues, Stopped> {
    Features::of_colors(set, rounds, monitor)?.inner_products(monitor)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{graphs, round_colors};
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn values_are_those_of_the_definition() {
        for labelled in [false, true] {
            let set = graphs(200, labelled);
            let found = wl_subtree_kernel(&set, 4, &Unmonitored).unwrap();
            let colors = round_colors(&set, 4);
            for i in 0..set.len() {
                for j in 0..=i {
                    let pairs = set.nodes(i).flat_map(|u| set.nodes(j).map(move |v| (u, v)));
                    let expected: usize =
                        pairs.map(|(u, v)| colors.iter().filter(|colors| colors[u] == colors[v]).count()).sum();
                    assert_eq!(found.get(i, j), expected as f64, "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn normalised_values_are_cosines() {
        let found = wl_subtree_kernel(&graphs(20, true), 3, &Unmonitored).unwrap();
        let cosines = found.clone().normalized();
        for i in 0..20 {
            assert_eq!(cosines.get(i, i), 1.0);
            for j in 0..i {
                let expected = found.get(i, j) / (found.get(i, i) * found.get(j, j)).sqrt();
                assert_eq!(cosines.get(i, j), expected);
                assert!((0.0..=1.0 + 1e-15).contains(&expected));
            }
        }
    }
}
