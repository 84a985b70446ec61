//! Ollivier-Ricci curvature of the edges that carry messages, and of their nodes.

use std::sync::Arc;

use bonnet_curvature::{OllivierError, OllivierOptions, ollivier_ricci};
use bonnet_graph::{Graph, Reservation, Stopped};

use super::messages::Messages;
use crate::ground::BuildError;

/// The curvature of every edge of a problem's graph, with half of the mass staying at its node.
#[derive(Debug)]
pub struct NodeCurvature {
    graph: Arc<Graph>,
    /// Of each entry of [`Graph::targets`].
    of_entries: Vec<f64>,
    /// Of each node the mean over its edges; 0 without any.
    pub of_nodes: Vec<f64>,
}

impl NodeCurvature {
    /// Computes the curvatures: see [`ollivier_ricci`] for the cost. 8 bytes a node and entry are reserved.
    ///
    /// # Errors
    /// If there is a sample of the graph alone, or the host stops it.
    pub fn new(messages: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        let graph = Arc::clone(messages.whole()?);
        reservation.grow(8 * (graph.n_nodes() + graph.targets().len() + graph.n_edges()))?;
        let options = OllivierOptions { alpha: 0.5, ..OllivierOptions::default() };
        let of_edges = ollivier_ricci(&*graph, &options, reservation.monitor()).map_err(stopped)?;
        let of_entries = entries(&graph, &of_edges);
        let row = |v: usize| &of_entries[graph.offsets()[v]..graph.offsets()[v + 1]];
        let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len().max(1) as f64;
        let of_nodes = (0..graph.n_nodes()).map(|v| mean(row(v))).collect();
        Ok(Self { graph, of_entries, of_nodes })
    }

    /// The edges, each with the weight that a function gives of its curvature.
    pub fn weighted(&self, weight: impl Fn(f64) -> f64) -> Messages {
        Messages::from(&self.graph).weighted(self.of_entries.iter().map(|&curvature| weight(curvature)).collect())
    }
}

/// The options are those of this file: what remains is the host's.
fn stopped(error: OllivierError) -> BuildError {
    match error {
        OllivierError::Stopped(stopped) => stopped.into(),
        error => Stopped::OutOfMemory(error.to_string()).into(),
    }
}

/// A number of each edge, in the order of [`Graph::edges`], for each entry of [`Graph::targets`].
pub(super) fn entries(graph: &Graph, of_edges: &[f64]) -> Vec<f64> {
    let mut next: Vec<usize> = graph.offsets()[..graph.n_nodes()].to_vec();
    let mut out = vec![0.0; graph.targets().len()];
    // Edges ascend by their smaller endpoint, so that both rows fill in ascending order of the other endpoint.
    for ((u, v), &value) in graph.edges().zip(of_edges) {
        for end in [u, v] {
            out[next[end as usize]] = value;
            next[end as usize] += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    #[test]
    fn both_entries_of_an_edge_have_its_number() {
        let graph = Graph::from_edges(5, &[(0, 3), (0, 1), (1, 3), (2, 3)]);
        let of_edges: Vec<f64> = graph.edges().map(|(u, v)| f64::from(10 * u + v)).collect();
        let of_entries = entries(&graph, &of_edges);
        for v in 0..5 {
            let entries = graph.offsets()[v]..graph.offsets()[v + 1];
            for (&u, &value) in graph.targets()[entries.clone()].iter().zip(&of_entries[entries]) {
                let v = v as u32;
                assert_eq!(value, f64::from(10 * u.min(v) + u.max(v)));
            }
        }
    }

    #[test]
    fn a_triangle_bends_up_and_a_path_is_flat_in_its_middle() {
        // Of lazy walks that stay with probability 1/2: 1 - W on each edge, by hand.
        let of = |n: usize, edges: &[(u32, u32)]| {
            let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
            let messages = Messages::from(&Arc::new(Graph::from_edges(n, edges)));
            NodeCurvature::new(&messages, &mut reservation).unwrap()
        };
        // The measures 1/2, 1/4, 1/4 of two nodes of a triangle differ by 1/4 at each of the two: curvature 3/4.
        let triangle = of(4, &[(0, 1), (1, 2), (0, 2)]);
        assert_eq!(triangle.of_nodes, [0.75, 0.75, 0.75, 0.0]);
        // On the path 0-1-2-3 the middle edge moves everything by 1, curvature 0; the ends have 1/2.
        assert_eq!(of(4, &[(0, 1), (1, 2), (2, 3)]).of_nodes, [0.5, 0.25, 0.25, 0.5]);
        let weighted = triangle.weighted(|curvature| 2.0 * curvature);
        assert_eq!((weighted.strength(0), weighted.weights(3)), (3.0, Some(&[][..])));
    }
}
