//! Arcs without which no cycle is left.

use bonnet_graph::petgraph::algo::greedy_feedback_arc_set;
use bonnet_graph::petgraph::visit::EdgeRef;
use bonnet_graph::{Monitor, Reservation, Stopped, watched};

use crate::Network;

/// Which arcs are in a feedback arc set, in the order of [`Network::out`]: without them no cycle is left. Few arcs, not
/// always the fewest: at most m / 2 - n / 6 of a graph without arcs both ways. By petgraph's `greedy_feedback_arc_set`:
/// Eades, Lin and Smyth, A fast and effective heuristic for the feedback arc set problem (1993). O(n + m).
///
/// # Errors
/// If the monitor stops it.
pub fn feedback_arc_set(network: Network<'_>, monitor: &dyn Monitor) -> Result<Vec<bool>, Stopped> {
    let arcs = network.out.n_arcs();
    let _reservation = Reservation::new(monitor, 200 * network.n_nodes() + 33 * arcs)?;
    let found: Vec<usize> = watched(network.arcs_view(), monitor, |view| {
        greedy_feedback_arc_set(view).map(|arc| arc.id().index()).collect()
    })?;
    let mut chosen = vec![false; arcs];
    found.into_iter().for_each(|at| chosen[at] = true);
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{testing, topological_sort};
    use bonnet_graph::{Digraph, Unmonitored};

    #[test]
    fn no_cycle_is_left_and_few_arcs_go() {
        let (mut arcs_taken, mut fewest_of_all) = (0, 0);
        for seed in 0..300 {
            let (n, mut rows) = testing::rows(seed);
            let n = n.min(8);
            rows.retain(|&(u, v)| (u as usize) < n && (v as usize) < n);
            let graph = Digraph::from_arcs(n, &rows);
            let reversed = graph.reversed();
            let chosen = feedback_arc_set(Network::directed(&graph, &reversed), &Unmonitored).unwrap();
            let rest: Vec<_> = graph.arcs().zip(&chosen).filter(|(_, out)| !**out).map(|(arc, _)| arc).collect();
            let rest = Digraph::from_arcs(n, &rest);
            assert!(topological_sort(&rest, &Unmonitored).is_ok(), "graph {seed}");
            // The fewest arcs backwards over all orders, by sets of the nodes placed so far.
            let mut fewest = vec![usize::MAX; 1 << n];
            fewest[0] = 0;
            for placed in 0..1usize << n {
                for v in (0..n).filter(|v| placed >> v & 1 == 0) {
                    let back = graph.successors(v as u32).iter().filter(|&&w| placed >> w & 1 == 1).count();
                    let through = fewest[placed] + back;
                    let next = &mut fewest[placed | 1 << v];
                    *next = (*next).min(through);
                }
            }
            let taken = chosen.iter().filter(|&&out| out).count();
            let fewest = fewest[(1 << n) - 1];
            assert!(taken >= fewest && (fewest > 0 || taken == 0), "graph {seed}: {taken}, {fewest}");
            arcs_taken += taken;
            fewest_of_all += fewest;
        }
        assert!(arcs_taken * 4 <= fewest_of_all * 5, "{arcs_taken} arcs where {fewest_of_all} do");
    }
}
