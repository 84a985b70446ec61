//! From the endpoints of an edge to its number.

use bonnet_graph::Graph;

/// Numbers the edges of a graph in the order of [`Graph::edges`].
///
/// Holds 8 bytes a node; made in O(n log d), for a largest degree d.
#[derive(Debug)]
pub struct EdgeIds<'a> {
    graph: &'a Graph,
    /// The number of edges whose smaller endpoint is below `u`.
    first: Vec<usize>,
}

impl<'a> EdgeIds<'a> {
    /// The numbers of the edges of `graph`.
    pub fn new(graph: &'a Graph) -> Self {
        let mut first = Vec::with_capacity(graph.n_nodes() + 1);
        let mut edges = 0;
        for u in 0..graph.n_nodes() as u32 {
            let neighbors = graph.neighbors(u);
            first.push(edges);
            edges += neighbors.len() - neighbors.partition_point(|&v| v < u);
        }
        first.push(edges);
        Self { graph, first }
    }

    /// The number of the edge between `u` and `v`; `None` where there is none. O(log d).
    pub fn of(&self, u: u32, v: u32) -> Option<usize> {
        let (u, v) = (u.min(v), u.max(v));
        if v as usize >= self.graph.n_nodes() {
            return None;
        }
        let position = self.larger(u).binary_search(&v).ok()?;
        Some(self.first[u as usize] + position)
    }

    /// The numbers of the edges of many rows: O(1) for one that follows its predecessor in the order of [`Graph::edges`], O(log d) else.
    pub fn of_rows<'r>(&'r self, rows: &'r [(u32, u32)]) -> impl Iterator<Item = Option<usize>> + 'r {
        let mut next = 0;
        rows.iter().map(move |&(u, v)| {
            let id = if self.is(next, u, v) { Some(next) } else { self.of(u, v) };
            next = id.map_or(next, |id| id + 1);
            id
        })
    }

    /// Whether the edge between `u` and `v` has this number.
    fn is(&self, id: usize, u: u32, v: u32) -> bool {
        let (u, v) = (u.min(v), u.max(v));
        if v as usize >= self.graph.n_nodes() {
            return false;
        }
        let ids = self.to_larger(u);
        ids.contains(&id) && self.larger(u)[id - ids.start] == v
    }

    /// The numbers of the edges from `u` to its larger neighbours, in the order of these.
    pub fn to_larger(&self, u: u32) -> std::ops::Range<usize> {
        self.first[u as usize]..self.first[u as usize + 1]
    }

    /// The larger neighbours of `u`, which end its list.
    fn larger(&self, u: u32) -> &'a [u32] {
        let neighbors = self.graph.neighbors(u);
        &neighbors[neighbors.len() - self.to_larger(u).len()..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_the_edges_and_strangers_have_none() {
        let graph = Graph::from_edges(5, &[(0, 3), (3, 1), (1, 0), (3, 4), (2, 3)]);
        let ids = EdgeIds::new(&graph);
        for (id, (u, v)) in graph.edges().enumerate() {
            assert_eq!((ids.of(u, v), ids.of(v, u)), (Some(id), Some(id)));
        }
        assert_eq!(ids.to_larger(3), 4..5);
        let edges: Vec<_> = graph.edges().collect();
        let rows: Vec<_> =
            edges.iter().flat_map(|&(u, v)| [(u, v), (v, u), (0, 2), (9, 9), (v, u)]).chain(edges.clone()).collect();
        assert!(ids.of_rows(&rows).eq(rows.iter().map(|&(u, v)| ids.of(u, v))));
        assert_eq!((ids.of(0, 2), ids.of(1, 1), ids.of(0, 9), ids.of(9, 9)), (None, None, None, None));
    }
}
