//! The result of a generator.

/// A simple undirected graph with what its model says about the nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generated {
    /// The number of nodes; they are `0..n_nodes`.
    pub n_nodes: usize,
    /// Every edge once, as `(u, v)` with `u < v`, in ascending order.
    pub edges: Vec<(u32, u32)>,
    /// The class of each node, if the model has classes.
    pub labels: Option<Vec<i64>>,
    /// The width of a node's features and the features of all nodes, row by row: `n_nodes * width` numbers.
    pub features: Option<(usize, Vec<f32>)>,
}

impl Generated {
    /// A graph without labels and features.
    pub(crate) fn unlabelled(n_nodes: usize, edges: Vec<(u32, u32)>) -> Self {
        Self { n_nodes, edges, labels: None, features: None }
    }

    /// The bytes that the graph holds.
    pub fn bytes(&self) -> usize {
        self.edges.capacity() * size_of::<(u32, u32)>()
            + self.labels.as_ref().map_or(0, |labels| labels.capacity() * size_of::<i64>())
            + self.features.as_ref().map_or(0, |(_, values)| values.capacity() * size_of::<f32>())
    }
}

/// Checks for the tests of all generators.
#[cfg(test)]
pub(crate) mod tests {
    use super::Generated;
    use bonnet_graph::{Graph, connected_components};

    /// Fails unless the edges are sorted, distinct, without loops and within the nodes.
    pub fn assert_simple(generated: &Generated) {
        assert!(generated.edges.iter().all(|&(u, v)| u < v && (v as usize) < generated.n_nodes));
        assert!(generated.edges.is_sorted_by(|a, b| a < b));
    }

    /// The graph as compressed sparse rows.
    pub fn graph(generated: &Generated) -> Graph {
        assert_simple(generated);
        Graph::from_edges(generated.n_nodes, &generated.edges)
    }

    /// Fails unless the graph is strongly regular: n nodes of degree k; adjacent ones have lambda neighbours in common,
    /// others mu.
    pub fn assert_strongly_regular(generated: &Generated, (n, k, lambda, mu): (usize, usize, usize, usize)) {
        let graph = graph(generated);
        assert_eq!(graph.n_nodes(), n);
        for u in 0..n as u32 {
            assert_eq!(graph.degree(u), k);
            for v in (0..n as u32).filter(|v| *v != u) {
                let common = graph.neighbors(u).iter().filter(|w| graph.has_edge(v, **w)).count();
                assert_eq!(common, if graph.has_edge(u, v) { lambda } else { mu }, "{u} {v}");
            }
        }
    }

    /// The number of connected components.
    pub fn n_components(generated: &Generated) -> usize {
        connected_components(&graph(generated)).sizes.len()
    }

    /// A 64-bit FNV-1a hash of everything that a generator gave: what the golden tests pin.
    pub fn fingerprint(generated: &Generated) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut feed = |word: u64| {
            for byte in word.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        };
        feed(generated.n_nodes as u64);
        for &(u, v) in &generated.edges {
            feed(u64::from(u) << 32 | u64::from(v));
        }
        for &label in generated.labels.iter().flatten() {
            feed(label as u64);
        }
        if let Some((width, values)) = &generated.features {
            feed(*width as u64);
            values.iter().for_each(|value| feed(u64::from(value.to_bits())));
        }
        hash
    }
}
