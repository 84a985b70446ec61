//! Core numbers.

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

/// Nodes between two looks at the monitor.
const TOGETHER: usize = 1 << 14;

/// The core number of every node: the largest k for which the node is in a subgraph whose nodes all have degree k or more
/// within it.
///
/// Batagelj and Zaversnik, An O(m) algorithm for cores decomposition of networks (2003): nodes lie in buckets by the degree
/// that they have left, and the least is taken out. O(n + m) time, 16 n bytes.
///
/// # Errors
/// If the monitor stops it.
pub fn core_number(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let n = graph.n_nodes();
    let _room = Reservation::new(monitor, 16 * n)?;
    let mut degree: Vec<u32> = (0..n as u32).map(|v| graph.degree(v) as u32).collect();
    let largest = degree.iter().copied().max().unwrap_or(0) as usize;
    // Where the bucket of each degree begins in `order`.
    let mut begin = vec![0u32; largest + 2];
    degree.iter().for_each(|&d| begin[d as usize + 1] += 1);
    for d in 0..=largest {
        begin[d + 1] += begin[d];
    }
    let mut order = vec![0u32; n];
    let mut place = vec![0u32; n];
    let mut next = begin.clone();
    for (v, &d) in degree.iter().enumerate() {
        let at = &mut next[d as usize];
        order[*at as usize] = v as u32;
        place[v] = *at;
        *at += 1;
    }
    for i in 0..n {
        if i.is_multiple_of(TOGETHER) {
            monitor.check()?;
        }
        let v = order[i];
        let own = degree[v as usize];
        for &u in graph.neighbors(v) {
            let d = degree[u as usize];
            if d > own {
                // The first of its bucket changes places with it, and the bucket begins one later.
                let (from, to) = (place[u as usize], begin[d as usize]);
                let first = order[to as usize];
                order.swap(from as usize, to as usize);
                place[first as usize] = from;
                place[u as usize] = to;
                begin[d as usize] += 1;
                degree[u as usize] = d - 1;
            }
        }
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
