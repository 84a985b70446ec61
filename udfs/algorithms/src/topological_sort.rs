//! Topological order of directed graphs without cycles.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bonnet_graph::{Digraph, Monitor, Reservation};

use crate::AlgorithmError;

/// The position of each node in an order in which every arc leads forwards: of all such orders, that whose first node is
/// smallest, then its second, and so on, so it is unique. Ours, not petgraph's `toposort`, whose order is any: Kahn
/// (1962) with a heap. O((n + m) log n).
///
/// # Errors
/// If arcs form a cycle, with its nodes; if the monitor stops it.
pub fn topological_sort(graph: &Digraph, monitor: &dyn Monitor) -> Result<Vec<u32>, AlgorithmError> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 16 * n)?;
    let mut entering = vec![0u32; n];
    graph.arcs().for_each(|(_, v)| entering[v as usize] += 1);
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..n as u32).filter(|&v| entering[v as usize] == 0).map(Reverse).collect();
    let mut place = vec![u32::MAX; n];
    let mut next = 0;
    while let Some(Reverse(v)) = ready.pop() {
        place[v as usize] = next;
        next += 1;
        if next.is_multiple_of(4096) {
            monitor.check()?;
        }
        for &w in graph.successors(v) {
            entering[w as usize] -= 1;
            if entering[w as usize] == 0 {
                ready.push(Reverse(w));
            }
        }
    }
    if next as usize == n {
        return Ok(place);
    }
    // Every node left has a predecessor that is left: walking back from one comes round to a node walked before.
    let left = |&v: &u32| place[v as usize] == u32::MAX;
    let mut seen = vec![false; n];
    let mut path: Vec<u32> = (0..n as u32).find(|v| left(v)).into_iter().collect();
    while let Some(&v) = path.last() {
        if std::mem::replace(&mut seen[v as usize], true) {
            break;
        }
        path.extend(graph.predecessors(v).iter().copied().find(|v| left(v)));
    }
    let again = path.pop();
    path.drain(..path.iter().position(|&v| Some(v) == again).unwrap_or(0));
    path.reverse();
    Err(AlgorithmError::nodes(
        "there is no topological order: arcs form a cycle. Take an arc out of it (feedback_arc_set finds some), or \
         order the strong components (condensation). The cycle",
        path,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;

    #[test]
    fn arcs_lead_forwards_and_ties_go_to_the_smallest_node() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            // Arcs from even to odd and upwards among alike: no cycle, yet not in the order of the numbers.
            let rank = |v: u32| (v % 2, v);
            let arcs: Vec<_> = rows.iter().map(|&(u, v)| if rank(u) < rank(v) { (u, v) } else { (v, u) }).collect();
            let graph = Digraph::from_arcs(n, &arcs);
            let place = topological_sort(&graph, &Unmonitored).unwrap();
            // Literally: of the nodes without a predecessor that is left, the smallest.
            let mut left: Vec<u32> = (0..n as u32).collect();
            for at in 0..n as u32 {
                let free = |v: &u32| !graph.arcs().any(|(u, w)| w == *v && left.contains(&u));
                let v = *left.iter().find(|v| free(v)).unwrap();
                assert_eq!(place[v as usize], at, "graph {seed}");
                left.retain(|&w| w != v);
            }
        }
    }

    #[test]
    fn a_cycle_is_named() {
        let graph = Digraph::from_arcs(6, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (4, 5)]);
        let Err(AlgorithmError::Nodes { nodes, .. }) = topological_sort(&graph, &Unmonitored) else { panic!() };
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [1, 2, 3]);
        let round = nodes.iter().zip(nodes.iter().cycle().skip(1));
        round.for_each(|(&u, &v)| assert!(graph.successors(u).contains(&v), "{nodes:?}"));
    }
}
