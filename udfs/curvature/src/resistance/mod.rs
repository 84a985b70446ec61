//! Effective resistance and the curvatures made of it (Curvature Filtrations, Eq. 3 and 9; Devriendt and Lambiotte,
//! Discrete curvature on graphs from the effective resistance, 2022).
//!
//! A node is eliminated from a network by joining its neighbours: the star becomes a mesh, and no resistance between the
//! rest changes. Going back, a node's resistances follow from those between its neighbours: selected inversion, written for
//! resistances instead of a grounded inverse, so that nothing cancels against the distance to a ground. A pivot is the sum
//! of the conductances left at its node, never a difference (Grassmann, Taksar and Heyman 1985). First go the nodes of
//! degree 1 and 2 (`series`), which is all of a tree, a cycle or a ladder; the rest goes in fronts of dense matrices
//! (`fronts`) along the tree of a minimum degree ordering (`order`).

mod dense;
mod fronts;
mod order;
mod series;

#[cfg(test)]
mod tests;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use crate::arc_lengths::of_arcs;
use crate::ties;

/// The relative difference below which two resistances differ by rounding alone: twice what graphs of many symmetries show at
/// least, where errors grow with the degrees.
fn rounding(graph: &Graph) -> f64 {
    const LEAST: f64 = 1.0 / (1u64 << 48) as f64;
    LEAST * (1.0 + graph.targets().len() as f64 / (8 * graph.n_nodes().max(1)) as f64)
}

/// Why there are no resistances.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ResistanceError {
    /// The host ended the computation.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// There is not one resistance for each edge: how many edges and how many values there are.
    #[error("{0} edges and {1} resistances: one is needed for each edge")]
    Length(usize, usize),
    /// The resistance of an edge is not a positive finite number: its endpoints and the value.
    #[error("the edge ({src}, {dst}) has the resistance {resistance}: expected a positive finite number")]
    Resistance {
        /// The smaller endpoint.
        src: u32,
        /// The larger endpoint.
        dst: u32,
        /// The value.
        resistance: f64,
    },
    /// Resistances so large or so small that the numbers of 64 bits do not hold a result.
    #[error("the resistances are too large or too small to compute with: bring them to another unit")]
    Range,
}

/// The effective resistance between the endpoints of every edge, in the order of [`Graph::edges`]; in each component by itself.
///
/// `resistances` are those of the edges themselves, in the same order; without them, every edge has 1. A value is in
/// (0, its edge's own resistance], and the values over the own resistances sum to n less the number of components
/// (Foster 1949). Relative errors are a few 1e-16, also on long ladders, and 1e-16 times the degree on dense graphs. Values that
/// such errors tell apart are made equal: edges that a symmetry of the network maps to each other have one value to the last
/// bit, and so have the curvatures made of them.
///
/// O(n + m) for trees, cycles and series-parallel graphs; else the cost of a sparse Cholesky factorization and about twice
/// that: about n^1.5 for planar graphs, n^3 for dense ones. Holds the factor and the fronts on the way to the root.
///
/// # Errors
/// [`ResistanceError`].
pub fn effective_resistance(
    graph: &Graph,
    resistances: Option<&[f64]>,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, ResistanceError> {
    let conductances = match resistances {
        None => vec![1.0; graph.n_edges()],
        Some(values) if values.len() != graph.n_edges() => {
            return Err(ResistanceError::Length(graph.n_edges(), values.len()));
        }
        Some(values) => {
            let checked =
                |((src, dst), &resistance): ((u32, u32), &f64)| match resistance > 0.0 && resistance.is_finite() {
                    true => Ok(1.0 / resistance),
                    false => Err(ResistanceError::Resistance { src, dst, resistance }),
                };
            graph.edges().zip(values).map(checked).collect::<Result<Vec<_>, _>>()?
        }
    };
    let mut found = series::resistances(graph, conductances, monitor)?;
    if !found.iter().all(|value| value.is_finite() && *value > 0.0) {
        return Err(ResistanceError::Range);
    }
    let _reservation = Reservation::new(monitor, 8 * found.len())?;
    ties::merge(&mut found, rounding(graph));
    if let Some(own) = resistances {
        found.iter_mut().zip(own).for_each(|(value, own)| *value = value.min(*own));
    }
    Ok(found)
}

/// The resistance curvature of every node: 1 - half of the sum, over its edges, of the effective resistance over the own
/// one. The curvatures of a component sum to 1; an isolated node has 1.
///
/// Cost and errors as [`effective_resistance`].
///
/// # Errors
/// [`ResistanceError`].
pub fn node_resistance_curvature(
    graph: &Graph,
    resistances: Option<&[f64]>,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, ResistanceError> {
    nodes(graph, resistances, &effective_resistance(graph, resistances, monitor)?, monitor)
}

/// The resistance curvature of every edge, 2 (p_i + p_j) / R_ij with the curvatures p of its endpoints and the effective
/// resistance R between them (Eq. 3); in the order of [`Graph::edges`].
///
/// Cost and errors as [`effective_resistance`].
///
/// # Errors
/// [`ResistanceError`].
pub fn resistance_curvature(
    graph: &Graph,
    resistances: Option<&[f64]>,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, ResistanceError> {
    let effective = effective_resistance(graph, resistances, monitor)?;
    let nodes = nodes(graph, resistances, &effective, monitor)?;
    let of_edge = |((u, v), resistance)| 2.0 * (nodes[u as usize] + nodes[v as usize]) / resistance;
    Ok(graph.edges().zip(effective).map(of_edge).collect())
}

/// Every node sums its edges from the smallest value up, so that nodes with the same values have the same sum.
fn nodes(
    graph: &Graph,
    resistances: Option<&[f64]>,
    effective: &[f64],
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, ResistanceError> {
    let _reservation = Reservation::new(monitor, 8 * (graph.targets().len() + graph.n_nodes()))?;
    let shares = effective.iter().enumerate().map(|(id, value)| value / resistances.map_or(1.0, |own| own[id]));
    let mut relative = of_arcs(graph, shares);
    let of_node = |range: &[usize]| {
        let own = &mut relative[range[0]..range[1]];
        own.sort_unstable_by(f64::total_cmp);
        1.0 - 0.5 * own.iter().sum::<f64>()
    };
    Ok(graph.offsets().windows(2).map(of_node).collect())
}
