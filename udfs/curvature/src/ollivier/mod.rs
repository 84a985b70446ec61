//! Ollivier-Ricci curvature of edges and of any pairs of nodes (Curvature Filtrations, Eq. 2).
//!
//! The curvature of i and j is 1 - W(i, j) / d(i, j): W is the cost of turning the measure of i into that of j where moving
//! a unit of mass costs the number of hops. Masses are whole numbers and costs are small ones, so the transport is exact
//! and comes down to a few maximum flows (`transport`): two on an edge with the uniform measure (`neighbors`; `short` where
//! its endpoints have few neighbours, as most have), one for every step between the smallest and the largest cost otherwise
//! (`reach`).
//!
//! Where edges have lengths, costs are those of shortest paths (`lengths`), and the transport is solved with duals: over the pairs that are
//! closer than the way by one of the two (`profits`), or over all (`costs`). Measures may be given (`given`).

mod bits;
mod costs;
mod given;
mod lengths;
mod limit;
mod masses;
mod measure;
mod neighbors;
mod options;
mod profits;
mod reach;
mod schedule;
mod short;
mod transport;

#[cfg(test)]
mod length_tests;
#[cfg(test)]
mod tests;

use bonnet_graph::{Graph, Monitor, Reservation};

pub use given::NodeMeasures;
pub(crate) use lengths::Duals;
pub use limit::{lin_lu_yau, lin_lu_yau_pairs};
use masses::Fraction;
pub use options::{GivenError, Measure, OllivierError, OllivierOptions};

use crate::arc_lengths::of_arcs;
use crate::search::Roads;
use crate::ties;
use bonnet_graph::isa::Isa;

/// A graph with a metric and measures of its own: the triple of Curvature Filtrations, Sec. 3.1.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredGraph<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The length of every edge, positive and finite, in the order of [`Graph::edges`]: distances are those of shortest paths.
    /// `None`: hops.
    pub lengths: Option<&'a [f64]>,
    /// The measures of nodes, in place of [`OllivierOptions::measure`]; of these `alpha` stays at the node.
    pub measures: Option<&'a NodeMeasures>,
}

impl<'a> From<&'a Graph> for MeasuredGraph<'a> {
    /// Hops, and measures by the options.
    fn from(graph: &'a Graph) -> Self {
        Self { graph, lengths: None, measures: None }
    }
}

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
/// With lengths the curvature is 1 - W(i, j) / d(i, j), where the distance d of two neighbours is less than the edge's length
/// if a shorter path leads around it. Values are within some 1e-15 of the exact ones; those that rounding alone tells apart are
/// made equal. The edges of their end of higher degree share a search from each of its p neighbours, which goes on only where it finds a
/// node closer than by that end; of the pairs that are found so, a transport takes a shortest augmenting path for each node with mass, over
/// few of them mostly. Where neighbourhoods reach most of the graph, one search from each node takes the place of these: 8 n^2 bytes, at most
/// a GiB, and only where the host grants them; where most pairs are closer than by the end, a path is found in O(p q).
///
/// # Errors
/// [`OllivierOptions::check`], [`OllivierError::Length`], [`OllivierError::BadLength`], and [`OllivierError::Stopped`] when the
/// host wants no answer or grants no memory for it.
pub fn ollivier_ricci<'a>(
    space: impl Into<MeasuredGraph<'a>>,
    options: &OllivierOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    let space = space.into();
    options.check()?;
    let edges: Vec<(u32, u32)> = space.graph.edges().collect();
    let uniform = matches!(options.measure, Measure::Uniform | Measure::Exponential);
    match Fraction::exactly(options.alpha) {
        Some(alpha)
            if uniform
                && space.lengths.is_none()
                && space.measures.is_none()
                && neighbors::fits(space.graph, alpha) =>
        {
            Ok(neighbors::curvatures(space.graph, &edges, alpha, Isa::detect(), monitor)?)
        }
        _ => values(space, &edges, options, Answer::Curvature, monitor),
    }
}

/// The Ollivier-Ricci curvature of pairs of nodes, adjacent or not: one value a pair, in their order; NaN where no path
/// joins the two, and for a node with itself.
///
/// Pairs may repeat and name their nodes in either order; those of one node are computed together. Exact as
/// [`ollivier_ricci`], with equal values on edges. Each node that is the smaller one of some pair costs a search up to the
/// farthest of its partners, and each pair a flow for every cost between its measures.
///
/// # Errors
/// [`OllivierError::Node`], and those of [`ollivier_ricci`].
pub fn ollivier_ricci_pairs<'a>(
    space: impl Into<MeasuredGraph<'a>>,
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    values(space.into(), pairs, options, Answer::Curvature, monitor)
}

/// The Wasserstein-1 distance between the measures of the two nodes of every pair, in the order of the pairs: the least cost of
/// turning one into the other; 0 for a node with itself, NaN where no path joins the two.
///
/// The curvature of a pair is 1 less this over the distance. Cost as [`ollivier_ricci_pairs`].
///
/// # Errors
/// [`OllivierError::Node`], and those of [`ollivier_ricci`].
pub fn ollivier_wasserstein<'a>(
    space: impl Into<MeasuredGraph<'a>>,
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    let mut found = values(space.into(), pairs, options, Answer::Wasserstein, monitor)?;
    found.iter_mut().zip(pairs).filter(|(_, (u, v))| u == v).for_each(|(value, _)| *value = 0.0);
    Ok(found)
}

fn values(
    space: MeasuredGraph<'_>,
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    answer: Answer,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    let MeasuredGraph { graph, lengths, measures } = space;
    options.check()?;
    for (row, &(u, v)) in pairs.iter().enumerate() {
        if u.max(v) as usize >= graph.n_nodes() {
            return Err(OllivierError::Node(row, u.max(v)));
        }
    }
    let Some(lengths) = lengths else {
        return Ok(reach::values(graph, pairs, options, measures, answer, monitor)?);
    };
    if lengths.len() != graph.n_edges() {
        return Err(OllivierError::Length(graph.n_edges(), lengths.len()));
    }
    let bad = |(_, length): &((u32, u32), &f64)| !(**length > 0.0 && length.is_finite());
    if let Some(((src, dst), &length)) = graph.edges().zip(lengths).find(bad) {
        return Err(OllivierError::BadLength { src, dst, length });
    }
    of_lengths(space, lengths, pairs, options, answer, None, monitor)
}

/// The same where `lengths` are known to be good, or 0, as those of a flow may come to be. From `duals` of the same pairs over lengths
/// like these, it goes faster.
pub(crate) fn of_lengths(
    space: MeasuredGraph<'_>,
    lengths: &[f64],
    pairs: &[(u32, u32)],
    options: &OllivierOptions,
    answer: Answer,
    duals: Option<&Duals>,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, OllivierError> {
    let MeasuredGraph { graph, measures, .. } = space;
    let _reservation = Reservation::new(monitor, 8 * (graph.targets().len() + graph.n_nodes()))?;
    let lengths = of_arcs(graph, lengths.iter().copied());
    let roads = Roads { graph, lengths: &lengths };
    let mut found = lengths::values(roads, pairs, options, measures, answer, duals, monitor)?;
    ties::merge_near(&mut found, ROUNDING, 1.0);
    Ok(found)
}

/// The difference below which two values of transports over real lengths differ by rounding.
const ROUNDING: f64 = 1.0 / (1u64 << 46) as f64;

/// What is wanted of a transport.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    /// 1 - cost / (distance x total).
    Curvature,
    /// cost / total.
    Wasserstein,
}

impl Answer {
    fn of_hops(self, cost: i128, distance: u32, total: i64) -> f64 {
        match self {
            Self::Curvature => curvature(cost, distance, total),
            Self::Wasserstein => cost as f64 / total as f64,
        }
    }

    fn of_lengths(self, cost: f64, distance: f64, total: i64) -> f64 {
        let total = total as f64;
        match self {
            Self::Curvature => (distance * total - cost) / (distance * total),
            Self::Wasserstein => cost / total,
        }
    }
}

/// 1 - cost / (distance x total): one division of whole numbers.
fn curvature(cost: i128, distance: u32, total: i64) -> f64 {
    let most = i128::from(distance) * i128::from(total);
    (most - cost) as f64 / most as f64
}
