//! Truss numbers.

use std::sync::atomic::{AtomicU32, Ordering};

use bonnet_graph::{Graph, Monitor, Reservation, Steps, Stopped};

use crate::triangles::ByDegree;

/// Edges between two looks at the monitor.
const TOGETHER: usize = 1 << 10;

/// The truss number of every arc of [`Graph::targets`] (both arcs of an edge have the same): the largest k for which its
/// edge is in a subgraph whose edges all are in k - 2 triangles or more within it; at least 2.
///
/// Wang and Cheng, Truss decomposition in massive networks (2012), algorithm 2: the edge with the fewest triangles left is
/// taken out. O(m sqrt(m)) for the triangles, O(sum of min(degree) log(degree)) for the order; `40 m` bytes.
///
/// # Errors
/// If the monitor stops it.
pub fn truss_number(graph: &Graph, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let (n, m) = (graph.n_nodes(), graph.n_edges());
    let _reservation = Reservation::new(monitor, 16 * n + 40 * m)?;
    let arcs = ByDegree::new(graph);
    let mut support = arcs.support(n, monitor)?;
    let edge_of = arcs.edge_of_arcs(graph);
    let mut ends = vec![(0u32, 0u32); m];
    for u in 0..n as u32 {
        let start = graph.offsets()[u as usize];
        for (at, &v) in graph.neighbors(u).iter().enumerate().filter(|&(_, &v)| u < v) {
            ends[edge_of[start + at] as usize] = (u, v);
        }
    }
    // Buckets of edges by the triangles that they have left, as in the decomposition into cores.
    let largest = support.iter().copied().max().unwrap_or(0) as usize;
    let mut begin = vec![0u32; largest + 2];
    support.iter().for_each(|&s| begin[s as usize + 1] += 1);
    for s in 0..=largest {
        begin[s + 1] += begin[s];
    }
    let mut next = begin.clone();
    let (mut order, mut place) = (vec![0u32; m], vec![0u32; m]);
    for (edge, &s) in support.iter().enumerate() {
        let at = &mut next[s as usize];
        order[*at as usize] = edge as u32;
        place[edge] = *at;
        *at += 1;
    }
    let mut gone = vec![false; m];
    let mut steps = Steps::new(monitor, m);
    for i in 0..m {
        if i.is_multiple_of(TOGETHER) {
            monitor.check()?;
            steps.reach(i);
        }
        let edge = order[i];
        let own = support[edge as usize];
        gone[edge as usize] = true;
        let (u, v) = ends[edge as usize];
        let (u, v) = if graph.degree(u) <= graph.degree(v) { (u, v) } else { (v, u) };
        let (of_u, of_v) = (graph.offsets()[u as usize], graph.offsets()[v as usize]);
        for (at, w) in graph.neighbors(u).iter().enumerate() {
            let first = edge_of[of_u + at];
            if gone[first as usize] {
                continue;
            }
            let Ok(found) = graph.neighbors(v).binary_search(w) else { continue };
            let second = edge_of[of_v + found];
            if gone[second as usize] {
                continue;
            }
            for other in [first, second] {
                let s = support[other as usize];
                if s > own {
                    let (from, to) = (place[other as usize], begin[s as usize]);
                    let front = order[to as usize];
                    order.swap(from as usize, to as usize);
                    place[front as usize] = from;
                    place[other as usize] = to;
                    begin[s as usize] += 1;
                    support[other as usize] = s - 1;
                }
            }
        }
    }
    Ok(edge_of.into_iter().map(|edge| support[edge as usize] + 2).collect())
}

impl ByDegree {
    /// The number of triangles of each of its arcs.
    fn support(&self, n: usize, monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
        let counts: Vec<AtomicU32> = (0..self.n_arcs()).map(|_| AtomicU32::new(0)).collect();
        self.for_each(n, monitor, |arcs| {
            arcs.into_iter().for_each(|arc| {
                counts[arc].fetch_add(1, Ordering::Relaxed);
            });
        })?;
        Ok(counts.into_iter().map(AtomicU32::into_inner).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use bonnet_graph::Unmonitored;

    /// For each k, edges in fewer than k - 2 triangles are taken out until none is left.
    fn by_definition(graph: &Graph) -> Vec<u32> {
        let mut truss = vec![2; 2 * graph.n_edges()];
        for k in 3..graph.n_nodes() as u32 + 1 {
            let mut left = graph.clone();
            loop {
                let triangles = |u: u32, v: u32| left.neighbors(u).iter().filter(|&&w| left.has_edge(v, w)).count();
                let edges: Vec<_> = left.edges().filter(|&(u, v)| triangles(u, v) as u32 >= k - 2).collect();
                if edges.len() == left.n_edges() {
                    break;
                }
                left = Graph::from_edges(graph.n_nodes(), &edges);
            }
            let mut at = 0;
            for u in 0..graph.n_nodes() as u32 {
                for &v in graph.neighbors(u) {
                    if left.has_edge(u, v) {
                        truss[at] = k;
                    }
                    at += 1;
                }
            }
        }
        truss
    }

    #[test]
    fn trusses_are_what_is_left_when_edges_of_few_triangles_go() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            assert_eq!(truss_number(&graph, &Unmonitored).unwrap(), by_definition(&graph), "graph {seed}");
        }
    }
}
