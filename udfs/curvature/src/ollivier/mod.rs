//! Ollivier-Ricci curvature of edges and of any pairs of nodes (Curvature Filtrations, Eq. 2).
//!
//! The curvature of i and j is 1 - W(i, j) / d(i, j): W is the cost of turning the measure of i into that of j where moving
//! a unit of mass costs the number of hops. Masses are whole numbers and costs are small ones, so the transport is exact
//! and comes down to a few maximum flows (`transport`): two on an edge with the uniform measure (`neighbors`; `short` where
//! its endpoints have few neighbours, as most have), one for every step between the smallest and the largest cost otherwise
//! (`reach`).

mod bits;
mod measure;
mod neighbors;
mod options;
mod reach;
mod schedule;
mod short;
mod transport;

#[cfg(test)]
mod tests;

use bonnet_graph::{Graph, Monitor};

use measure::Fraction;
pub use options::{Measure, OllivierError, OllivierOptions};

use bonnet_graph::isa::Isa;

/// The Ollivier-Ricci curvature of every edge, in the order of [`Graph::edges`].
///
/// Exact: whole masses, whole costs, one division. Where a measure or `alpha` is not made of simple fractions, a mass is
/// within a few 2^-60 of its value. Edges that a symmetry of the graph maps to each other have equal values to the last
/// bit, and so has an edge for any number of threads.
///
/// The uniform measure costs, for an edge with degrees p >= q, two maximum flows between p and q nodes over rows of p bits;
/// 37,000 edges of degree 150 take a tenth of a second. A thread holds O(m + p q) bytes. The wider measures cost one flow
/// for each of up to 2 x reach + 1 costs between all nodes within reach, and hold a bit for each pair of those.
///
/// # Errors
/// [`OllivierOptions::check`], and [`OllivierError::Stopped`] when the host wants no answer or grants no memory for it.
pub fn ollivier_ricci(
    graph: &Graph,
    options: &OllivierOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    options.check()?;
    let edges: Vec<(u32, u32)> = graph.edges().collect();
    let values = match Fraction::exactly(options.alpha) {
        Some(alpha) if options.measure == Measure::Uniform && neighbors::fits(graph, alpha) => {
            neighbors::curvatures(graph, &edges, alpha, Isa::detect(), monitor)?
        }
        _ => reach::curvatures(graph, &edges, options, monitor)?,
    };
    Ok(values)
}

/// The Ollivier-Ricci curvature of pairs of nodes, adjacent or not: one value a pair, in their order; NaN where no path
/// joins the two, and for a node with itself.
///
/// Pairs may repeat and name their nodes in either order; those of one node are computed together. Exact as
/// [`ollivier_ricci`], with equal values on edges. Each node that is the smaller one of some pair costs a search up to the
/// farthest of its partners, and each pair a flow for every cost between its measures.
///
/// # Errors
/// [`OllivierError::Node`], [`OllivierOptions::check`], and [`OllivierError::Stopped`].
pub fn ollivier_ricci_pairs(
    graph: &Graph,
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    options.check()?;
    for (row, &(u, v)) in pairs.iter().enumerate() {
        if u.max(v) as usize >= graph.n_nodes() {
            return Err(OllivierError::Node(row, u.max(v)));
        }
    }
    Ok(reach::curvatures(graph, pairs, options, monitor)?)
}

/// 1 - cost / (distance x total): one division of whole numbers.
fn curvature(cost: i128, distance: u32, total: i64) -> f64 {
    let most = i128::from(distance) * i128::from(total);
    (most - cost) as f64 / most as f64
}
