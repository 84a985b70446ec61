//! The Wasserstein Weisfeiler-Lehman distance.

use bonnet_graph::{Monitor, Stopped};

use super::features::Features;
use super::gram::PairValues;
use crate::colors::GraphSet;

/// Why graphs have no distance.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WlWassersteinError {
    /// A graph without nodes is no distribution.
    #[error("there is a graph without nodes: it has no distribution of nodes to compare")]
    NoNodes(usize),
    /// The host stopped the work.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

/// The Wasserstein Weisfeiler-Lehman distance of all pairs of graphs, for categorical labels (Togninalli et al., Wasserstein
/// Weisfeiler-Lehman Graph Kernels, NeurIPS 2019, Definitions 4 and 5 and Eq. 3): the least mean distance at which the nodes of one graph,
/// of equal weights, are moved to those of the other, two nodes being apart by the share of the rounds 0 to `rounds` of colour refinement
/// in which their colours differ. From 0 to 1.
///
/// Colours of a round refine those of the round before, so nodes are the leaves of a tree and the least cost is what has to cross
/// each of its edges: 1 less the mean over rounds of the share that both graphs have of each colour. Exact integers up to one division;
/// a step for each colour that two graphs have in common, where a general solver of transports takes O(n^3 log n).
///
/// # Errors
/// A graph has no nodes, or the monitor stopped the work.
pub fn wl_wasserstein_distance(
    set: &GraphSet,
    rounds: usize,
    monitor: &dyn Monitor,
) -> Result<PairValues, WlWassersteinError> {
    if let Some(empty) = (0..set.len()).find(|&i| set.nodes(i).is_empty()) {
        return Err(WlWassersteinError::NoNodes(empty));
    }
    let sizes: Vec<u64> = (0..set.len()).map(|i| set.nodes(i).len() as u64).collect();
    let features = Features::of_colors(set, rounds, monitor)?;
    let term = |(a, i): (u64, usize), (b, j): (u64, usize)| {
        let (a, b) = (u128::from(a) * u128::from(sizes[j]), u128::from(b) * u128::from(sizes[i]));
        a.min(b)
    };
    let value = |common: u128, i: usize, j: usize| {
        let all = u128::from(sizes[i]) * u128::from(sizes[j]) * (rounds as u128 + 1);
        (all - common) as f64 / all as f64
    };
    Ok(features.sums(term, value, monitor)?)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{graphs, least_matching, round_colors};
    use super::*;
    use crate::colors::testing::set;
    use bonnet_graph::Unmonitored;

    #[test]
    fn values_are_those_of_a_best_matching() {
        // Each node so often that both graphs have as many, and a transport is a matching; of graphs of up to 4 nodes.
        for labelled in [false, true] {
            let set = graphs(200, labelled);
            let found = wl_wasserstein_distance(&set, 3, &Unmonitored).unwrap();
            let colors = round_colors(&set, 3);
            let mut compared = 0;
            for i in 0..set.len() {
                for j in 0..i {
                    let (n, m) = (set.nodes(i).len(), set.nodes(j).len());
                    if n > 4 || m > 4 {
                        continue;
                    }
                    let often = |nodes: std::ops::Range<usize>, times: usize| {
                        nodes.flat_map(move |v| std::iter::repeat_n(v, times)).collect::<Vec<_>>()
                    };
                    let all = (n.max(m)..=n * m).find(|all| all % n == 0 && all % m == 0).unwrap();
                    let (rows, columns) = (often(set.nodes(i), all / n), often(set.nodes(j), all / m));
                    let apart = |u: usize, v: usize| {
                        colors.iter().filter(|colors| colors[u] != colors[v]).count() as f64 / colors.len() as f64
                    };
                    let costs: Vec<Vec<f64>> =
                        rows.iter().map(|&u| columns.iter().map(|&v| apart(u, v)).collect()).collect();
                    let expected = least_matching(&costs) / all as f64;
                    assert!((found.get(i, j) - expected).abs() < 1e-12, "{i} {j}: {} {expected}", found.get(i, j));
                    compared += 1;
                }
            }
            assert!(compared > 1000);
        }
    }

    #[test]
    fn alike_graphs_are_at_0_and_strangers_at_1() {
        let edge = (2, vec![(0, 1)]);
        let pair = set(&[edge.clone(), (4, vec![(0, 1), (2, 3)]), edge], Some(vec![0, 0, 0, 0, 0, 0, 1, 1]));
        let found = wl_wasserstein_distance(&pair, 2, &Unmonitored).unwrap();
        assert_eq!((found.get(0, 0), found.get(0, 1), found.get(0, 2), found.get(1, 2)), (0.0, 0.0, 1.0, 1.0));
        let empty = set(&[(1, vec![]), (0, vec![])], None);
        assert_eq!(wl_wasserstein_distance(&empty, 2, &Unmonitored), Err(WlWassersteinError::NoNodes(1)));
    }
}
