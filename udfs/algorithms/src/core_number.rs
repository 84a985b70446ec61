//! Core numbers.

use bonnet_graph::{Graph, Monitor, Reservation, Steps, Stopped};

/// Nodes between two looks at the monitor.
const TOGETHER: usize = 1 << 14;

/// The core number of every node: the largest k for which the node is in a subgraph whose nodes all have degree k or more
/// within it.
///
/// For k = 0, 1, ..., nodes with k neighbours left are taken out until there are none (the order of Batagelj and Zaversnik, An
/// O(m) algorithm for cores decomposition of networks, 2003, with a list of the nodes left in place of their buckets: a node is
/// looked at once for each k up to its own). O(n + m) time, 12 n bytes.
///
/// # Errors
/// If the monitor stops it.
pub fn core_number(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let n = graph.n_nodes();
    let _reservation = Reservation::new(monitor, 12 * n)?;
    let mut degree: Vec<u32> = (0..n as u32).map(|v| graph.degree(v) as u32).collect();
    let mut left: Vec<u32> = (0..n as u32).collect();
    let mut out: Vec<u32> = Vec::new();
    let mut visits = 0usize;
    let mut steps = Steps::new(monitor, n);
    while let Some(k) = left.iter().map(|&v| degree[v as usize]).min() {
        // A node that is out keeps the degree k: those left have more.
        out.extend(left.iter().filter(|&&v| degree[v as usize] == k));
        while let Some(v) = out.pop() {
            visits += 1;
            if visits.is_multiple_of(TOGETHER) {
                monitor.check()?;
                steps.reach(visits);
            }
            for &u in graph.neighbors(v) {
                let d = &mut degree[u as usize];
                if *d > k {
                    *d -= 1;
                    if *d == k {
                        out.push(u);
                    }
                }
            }
        }
        left.retain(|&v| degree[v as usize] > k);
    }
    Ok(degree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;

    /// For each k, nodes of degree below k are taken out until none is left.
    fn by_definition(graph: &Graph) -> Vec<u32> {
        let n = graph.n_nodes();
        let mut core = vec![0; n];
        for k in 1..n {
            let mut inside = vec![true; n];
            while let Some(v) = (0..n)
                .find(|&v| inside[v] && graph.neighbors(v as u32).iter().filter(|&&u| inside[u as usize]).count() < k)
            {
                inside[v] = false;
            }
            (0..n).filter(|&v| inside[v]).for_each(|v| core[v] = k as u32);
        }
        core
    }

    #[test]
    fn cores_are_what_is_left_when_nodes_of_small_degree_go() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            assert_eq!(core_number(&graph, &Unmonitored).unwrap(), by_definition(&graph), "graph {seed}");
        }
        assert!(core_number(&Graph::from_edges(0, &[]), &Unmonitored).unwrap().is_empty());
    }
}
