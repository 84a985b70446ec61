//! From the endpoints of an edge to its number.

use bonnet_graph::Graph;

/// Numbers the edges of a graph in the order of [`Graph::edges`].
///
/// Holds 16 bytes a node; made in O(n log d), for a largest degree d.
#[derive(Debug)]
pub struct EdgeIds<'a> {
    graph: &'a Graph,
    /// The number of edges whose smaller endpoint is below `u`.
    first: Vec<usize>,
    /// Where the neighbours above `u` begin in [`Graph::targets`].
    above: Vec<usize>,
}

impl<'a> EdgeIds<'a> {
    /// The numbers of the edges of `graph`.
    pub fn new(graph: &'a Graph) -> Self {
        let mut first = Vec::with_capacity(graph.n_nodes() + 1);
        let mut above = Vec::with_capacity(graph.n_nodes());
        let mut edges = 0;
        for (u, ends) in (0..).zip(graph.offsets().windows(2)) {
            let below = graph.neighbors(u).partition_point(|&v| v < u);
            first.push(edges);
            above.push(ends[0] + below);
            edges += ends[1] - ends[0] - below;
        }
        first.push(edges);
        Self { graph, first, above }
    }

    /// The number of the edge between `u` and `v`; `None` where there is none. O(log d).
    pub fn of(&self, u: u32, v: u32) -> Option<usize> {
        let (u, v) = (u.min(v), u.max(v));
        if v as usize >= self.graph.n_nodes() {
            return None;
        }
        let larger = self.to_larger(u);
        let start = self.above[u as usize];
        let position = self.graph.targets()[start..start + larger.len()].binary_search(&v).ok()?;
        Some(larger.start + position)
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
        let larger = self.to_larger(u);
        larger.contains(&id) && self.graph.targets()[self.above[u as usize] + id - larger.start] == v
    }

    /// The numbers of the edges from `u` to its larger neighbours, in the order of these.
    pub fn to_larger(&self, u: u32) -> std::ops::Range<usize> {
        self.first[u as usize]..self.first[u as usize + 1]
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
