//! Dominators in a flow graph.

use bonnet_graph::{Digraph, Monitor, Reservation, Stopped};

/// The immediate dominator of each node: the last node before it that is on every path to it from `root`. `None` for
/// the root and for nodes that no path from it leads to.
///
/// Ours, not petgraph's `dominators::simple_fast` with its hash maps, whose passes cannot be stopped: Cooper, Harvey
/// and Kennedy, A simple, fast dominance algorithm (2001). O(m) a pass; a few passes in practice, up to n.
///
/// # Errors
/// If the monitor stops it.
pub fn dominators(graph: &Digraph, root: u32, monitor: &dyn Monitor) -> Result<Vec<Option<u32>>, Stopped> {
    const NONE: u32 = u32::MAX;
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 24 * n + Digraph::bytes(n, graph.n_arcs()) / 4)?;
    // Nodes in the order in which a depth-first search leaves them.
    let mut order: Vec<u32> = Vec::new();
    let mut place = vec![NONE; n];
    let mut seen = vec![false; n];
    let mut path = vec![(root, 0)];
    seen[root as usize] = true;
    while let Some((v, next)) = path.last_mut() {
        match graph.successors(*v).get(*next) {
            Some(&w) => {
                *next += 1;
                if !std::mem::replace(&mut seen[w as usize], true) {
                    path.push((w, 0));
                }
            }
            None => {
                place[*v as usize] = order.len() as u32;
                order.push(*v);
                path.pop();
                if order.len().is_multiple_of(4096) {
                    monitor.check()?;
                }
            }
        }
    }
    // By positions, of which dominators have the higher.
    let last = order.len() - 1;
    let mut dominator = vec![NONE; order.len()];
    dominator[last] = last as u32;
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..last).rev() {
            if at.is_multiple_of(1024) {
                monitor.check()?;
            }
            let mut best = NONE;
            for &u in graph.predecessors(order[at]) {
                let mut other = place[u as usize];
                if other == NONE || dominator[other as usize] == NONE {
                    continue;
                }
                if best == NONE {
                    best = other;
                }
                while best != other {
                    if best < other {
                        best = dominator[best as usize];
                    } else {
                        other = dominator[other as usize];
                    }
                }
            }
            changed |= dominator[at] != best;
            dominator[at] = best;
        }
    }
    let mut answer = vec![None; n];
    (0..last).for_each(|at| answer[order[at] as usize] = Some(order[dominator[at] as usize]));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;
    use bonnet_graph::petgraph::algo::dominators::simple_fast;
    use bonnet_graph::petgraph::graph::NodeIndex;

    fn reached(graph: &Digraph, root: u32, removed: Option<u32>) -> Vec<bool> {
        let mut reached = vec![false; graph.n_nodes()];
        let mut stack: Vec<u32> = (Some(root) != removed).then_some(root).into_iter().collect();
        while let Some(v) = stack.pop() {
            if !std::mem::replace(&mut reached[v as usize], true) {
                stack.extend(graph.successors(v).iter().filter(|&&w| Some(w) != removed));
            }
        }
        reached
    }

    #[test]
    fn a_dominator_cuts_a_node_off_and_is_the_last_to_do_so() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Digraph::from_arcs(n, &rows);
            let found = dominators(&graph, 0, &Unmonitored).unwrap();
            let theirs = simple_fast(&graph, NodeIndex::new(0));
            let all = reached(&graph, 0, None);
            let cuts = |u: u32, v: u32| u != v && all[v as usize] && !reached(&graph, 0, Some(u))[v as usize];
            for v in 0..n as u32 {
                let strict: Vec<u32> = (0..n as u32).filter(|&u| all[u as usize] && cuts(u, v)).collect();
                let last = strict.iter().copied().find(|&u| strict.iter().all(|&w| w == u || cuts(w, u)));
                assert_eq!(found[v as usize], last, "graph {seed}, node {v}");
                let immediate = theirs.immediate_dominator(NodeIndex::new(v as usize)).map(|u| u.index() as u32);
                assert_eq!(found[v as usize], immediate);
            }
        }
    }
}
