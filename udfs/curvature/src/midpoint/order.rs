//! The order of nodes and anchors. Searches that start close together stay together, so that one word holds many of
//! them; neighbours that are close in memory are read together.

use bonnet_graph::{Monitor, Stopped};

use super::adjacency::Adjacency;
use super::lanes::LANES;

/// Above this distance between two nodes found by a double sweep, anchors of a batch are taken from balls.
const LONG: u32 = 40;

/// The shape of a connected graph, from a few searches.
pub(super) struct Shape {
    /// Every node, each near those before it.
    pub(super) order: Vec<u32>,
    /// No distance is larger than this.
    pub(super) bound: u32,
    /// Whether the graph has long distances; then `order` is made of balls.
    pub(super) long: bool,
    /// Whether no edge joins two nodes at the same distance from an anchor.
    pub(super) bipartite: bool,
}

/// Looks at a connected graph with at least one node. O(n + m log d).
pub(super) fn shape(graph: &Adjacency, monitor: &dyn Monitor) -> Result<Shape, Stopped> {
    let (first, distance) = breadth_first(graph, 0, false, monitor)?;
    let far = first.last().copied().unwrap_or(0);
    let bipartite = (0..graph.n_nodes() as u32)
        .all(|v| graph.neighbors(v).iter().all(|&y| distance[v as usize] != distance[y as usize]));
    let (order, distance) = breadth_first(graph, far, true, monitor)?;
    let reach = order.last().map_or(0, |&v| distance[v as usize]);
    let long = reach > LONG;
    let order = if long { balls(graph, &order) } else { order };
    Ok(Shape { order, bound: 2 * reach, long, bipartite })
}

/// The nodes in the order in which a search from `start` meets them, and their distances. With `by_degree`, neighbours
/// are met by rising degree (Cuthill and McKee).
fn breadth_first(
    graph: &Adjacency,
    start: u32,
    by_degree: bool,
    monitor: &dyn Monitor,
) -> Result<(Vec<u32>, Vec<u32>), Stopped> {
    let mut distance = vec![u32::MAX; graph.n_nodes()];
    let mut order = Vec::with_capacity(graph.n_nodes());
    distance[start as usize] = 0;
    order.push(start);
    let mut head = 0;
    while head < order.len() {
        if head % 4096 == 0 {
            monitor.check()?;
        }
        let v = order[head];
        head += 1;
        let met = order.len();
        for &y in graph.neighbors(v) {
            if distance[y as usize] == u32::MAX {
                distance[y as usize] = distance[v as usize] + 1;
                order.push(y);
            }
        }
        if by_degree {
            order[met..].sort_unstable_by_key(|&y| (graph.degree(y), y));
        }
    }
    Ok((order, distance))
}

/// Cuts the graph into balls of one batch each: a ball grows from the first node of `seeds` that is in none yet.
fn balls(graph: &Adjacency, seeds: &[u32]) -> Vec<u32> {
    let mut taken = vec![false; graph.n_nodes()];
    let mut order: Vec<u32> = Vec::with_capacity(graph.n_nodes());
    let mut head = 0;
    for &seed in seeds {
        if taken[seed as usize] {
            continue;
        }
        taken[seed as usize] = true;
        order.push(seed);
        // A full ball is left; what it had reached is free for the next seed.
        let full = (order.len() - 1) / LANES * LANES + LANES;
        head = head.max(order.len() - 1);
        while head < order.len() && order.len() < full {
            for &y in graph.neighbors(order[head]) {
                if !taken[y as usize] && order.len() < full {
                    taken[y as usize] = true;
                    order.push(y);
                }
            }
            head += 1;
        }
        if order.len() == full {
            head = full;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::{Graph, Unmonitored};

    fn of(n: usize, edges: &[(u32, u32)]) -> Shape {
        shape(&Adjacency::whole(&Graph::from_edges(n, edges)), &Unmonitored).unwrap()
    }

    #[test]
    fn every_node_has_one_place() {
        let path: Vec<(u32, u32)> = (0..2000).map(|v| (v, v + 1)).collect();
        let ring: Vec<(u32, u32)> = (0..31).map(|v| (v, (v + 1) % 31)).collect();
        for (n, edges, long, bipartite) in [(2001, &path, true, true), (31, &ring, false, false)] {
            let mut shape = of(n, edges);
            shape.order.sort_unstable();
            assert!(shape.order.iter().copied().eq(0..n as u32));
            assert_eq!((shape.long, shape.bipartite), (long, bipartite));
        }
        assert_eq!(of(31, &ring).bound, 30);
        assert_eq!(of(1, &[]).bound, 0);
    }

    #[test]
    fn a_batch_of_a_long_path_is_an_interval() {
        let path: Vec<(u32, u32)> = (0..4999).map(|v| (v, v + 1)).collect();
        for ball in of(5000, &path).order.chunks(LANES) {
            let (low, high) = (ball.iter().min().unwrap(), ball.iter().max().unwrap());
            assert_eq!((high - low) as usize, ball.len() - 1);
        }
    }
}
