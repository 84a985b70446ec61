//! Shortest paths with negative weights.

use bonnet_graph::Monitor;

use super::tree::{NONE, Tree};
use crate::{AlgorithmError, Network};

/// Bellman and Ford's search, from the start that [`Tree::start`] set: in each round, the arcs of the nodes whose
/// distance fell in the last. O(n m) at worst.
pub(super) fn search(tree: &mut Tree, network: Network<'_>, monitor: &dyn Monitor) -> Result<(), AlgorithmError> {
    let n = network.n_nodes();
    let mut fell = vec![tree.source];
    let mut queued = vec![false; n];
    for round in 0.. {
        let mut next = Vec::new();
        for &u in &fell {
            queued[u as usize] = false;
        }
        for (at, &u) in fell.iter().enumerate() {
            if at.is_multiple_of(1024) {
                monitor.check()?;
            }
            for (v, weight) in network.out.weighted(u) {
                let through = tree.distance[u as usize] + weight;
                if through < tree.distance[v as usize] {
                    tree.reach(v, u, through);
                    if !std::mem::replace(&mut queued[v as usize], true) {
                        next.push(v);
                    }
                }
            }
        }
        if next.is_empty() {
            return Ok(());
        }
        // A distance that falls in round n is along n arcs, more than any path has.
        if round + 1 >= n {
            return Err(negative_cycle(tree, &next));
        }
        fell = next;
    }
    Ok(())
}

/// The cycle that the parents of a node close, whose distance still fell after n rounds.
fn negative_cycle(tree: &Tree, fell: &[u32]) -> AlgorithmError {
    let n = tree.parent.len();
    let mut nodes = Vec::new();
    for &start in fell {
        // n steps back from there are on the cycle, if the parents lead to one.
        let mut v = start;
        for _ in 0..n {
            v = if v == NONE { NONE } else { tree.parent[v as usize] };
        }
        if v != NONE {
            let last = v;
            loop {
                nodes.push(v);
                v = tree.parent[v as usize];
                if v == last {
                    break;
                }
            }
            break;
        }
    }
    nodes.reverse();
    AlgorithmError::nodes(
        "there are no shortest paths: a cycle of negative length is reached, and every round makes a path shorter (an \
         edge of negative weight that is read both ways is such a cycle). The cycle",
        nodes,
    )
}
