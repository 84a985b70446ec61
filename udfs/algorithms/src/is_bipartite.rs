//! Whether the nodes of a graph have two sides.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

/// Whether the nodes fall into two sets without an edge inside either: no cycle has odd length. Ours (petgraph's
/// `is_bipartite_undirected` looks at the component of one node): breadth-first search, O(n + m).
///
/// # Errors
/// If the monitor stops it.
pub fn is_bipartite(graph: &Graph, monitor: &dyn Monitor) -> Result<bool, Stopped> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 5 * n)?;
    let mut side = vec![u8::MAX; n];
    let mut queue = Vec::with_capacity(n);
    for root in 0..n as u32 {
        if side[root as usize] != u8::MAX {
            continue;
        }
        side[root as usize] = 0;
        let mut head = queue.len();
        queue.push(root);
        while let Some(&v) = queue.get(head) {
            head += 1;
            if head.is_multiple_of(4096) {
                monitor.check()?;
            }
            for &w in graph.neighbors(v) {
                if side[w as usize] == u8::MAX {
                    side[w as usize] = 1 - side[v as usize];
                    queue.push(w);
                } else if side[w as usize] == side[v as usize] {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;

    #[test]
    fn a_graph_is_bipartite_where_some_two_colours_do() {
        let mut both = [0, 0];
        for seed in 0..400 {
            let (n, mut rows) = testing::rows(seed);
            let n = n.min(9);
            rows.retain(|&(u, v)| (u as usize) < n && (v as usize) < n);
            let graph = Graph::from_edges(n, &rows);
            let fits = |colors: u32| graph.edges().all(|(u, v)| (colors >> u ^ colors >> v) & 1 == 1);
            let expected = (0..1u32 << n).any(fits);
            assert_eq!(is_bipartite(&graph, &Unmonitored).unwrap(), expected, "graph {seed}");
            both[usize::from(expected)] += 1;
        }
        assert!(both[0] > 50 && both[1] > 50);
    }
}
