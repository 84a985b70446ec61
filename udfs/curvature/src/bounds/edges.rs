//! What is said of the edges of a graph as it is.

use bonnet_graph::{Graph, Monitor, Reservation, connected_components};

use super::component::{Component, spectral_gap};
use super::{Bound, BoundsError, Statement};
use crate::{OllivierOptions, effective_resistance, ollivier_ricci};

/// For every edge, in the order of [`Graph::edges`], what Lemma 1 says of its Ollivier-Ricci curvature with the uniform measure, of which
/// `alpha` stays, and Proposition 1 of its effective resistance; each component by itself.
///
/// The cost of both, and 24 k^2 bytes and k^3 operations for the spectral gap of a component of k nodes.
///
/// # Errors
/// [`BoundsError`].
pub fn edge_bounds(graph: &Graph, alpha: f64, monitor: &dyn Monitor) -> Result<Vec<Bound>, BoundsError> {
    let options = OllivierOptions { alpha, ..OllivierOptions::default() };
    let curvatures = ollivier_ricci(graph, &options, monitor)?;
    let resistances = effective_resistance(graph, None, monitor)?;
    let _reservation = Reservation::new(monitor, 128 * graph.n_edges() + 16 * graph.n_nodes())?;
    let components = connected_components(graph);
    let mut gaps = vec![f64::NAN; components.sizes.len()];
    for v in 0..graph.n_nodes() as u32 {
        let gap = &mut gaps[components.of_node[v as usize] as usize];
        if gap.is_nan() && graph.degree(v) > 0 {
            *gap = spectral_gap(&Component::of(graph, v).graph, monitor)?;
        }
    }
    // All that moves is on neighbours.
    let jump = 1.0 - alpha;
    let mut bounds = Vec::with_capacity(2 * graph.n_edges());
    for (id, (src, dst)) in graph.edges().enumerate() {
        let inverse = 1.0 / graph.degree(src) as f64 + 1.0 / graph.degree(dst) as f64;
        let gap = gaps[components.of_node[src as usize] as usize];
        bounds.push(Bound {
            statement: Statement::Jump,
            src,
            dst,
            lower: f64::NEG_INFINITY,
            value: curvatures[id],
            upper: 2.0 * jump,
        });
        bounds.push(Bound {
            statement: Statement::Commute,
            src,
            dst,
            lower: 0.5 * inverse,
            value: resistances[id],
            upper: inverse / gap,
        });
    }
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lemma_1_and_proposition_1_hold(edges in proptest::collection::vec((0u32..10, 0u32..10), 0..40), alpha in 0u32..5) {
            let graph = Graph::from_edges(10, &edges);
            let bounds = edge_bounds(&graph, f64::from(alpha) / 4.0, &Unmonitored).unwrap();
            prop_assert_eq!(bounds.len(), 2 * graph.n_edges());
            for bound in bounds {
                prop_assert_eq!(bound.holds(), Some(true), "{:?}", bound);
            }
        }
    }

    #[test]
    fn one_edge_meets_both_sides() {
        let bounds = edge_bounds(&Graph::from_edges(3, &[(0, 1)]), 0.0, &Unmonitored).unwrap();
        // The eigenvalues of one edge are 1 and -1.
        assert_eq!((bounds[1].lower, bounds[1].value, bounds[1].upper), (1.0, 1.0, 1.0));
        assert_eq!((bounds[0].value, bounds[0].upper), (0.0, 2.0));
    }
}
