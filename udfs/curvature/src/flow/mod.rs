//! Discrete Ricci flow: edges of negative curvature grow, edges of positive curvature shrink (Ollivier 2009; Ni, Lin, Luo and Gao,
//! Community detection on networks with Ricci flow, 2019).

mod communities;
#[cfg(test)]
mod tests;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

pub use communities::{FlowCommunities, flow_communities};

use crate::ollivier::{Answer, Duals, Measure, OllivierError, OllivierOptions, of_lengths};

/// An edge that is shorter than this part of the mean has collapsed.
const COLLAPSED: f64 = 1e-9;

/// Options of [`ricci_flow`].
#[derive(Debug, Clone, PartialEq)]
pub struct FlowOptions {
    /// The number of steps.
    pub steps: usize,
    /// The length of a step, above 0 and at most 1: an edge of length w and curvature k gets the length w (1 - rate k).
    pub rate: f64,
    /// Whether lengths are scaled after each step so that their mean is 1.
    pub normalized: bool,
    /// What is cut, and when.
    pub surgery: Option<Surgery>,
    /// Of the curvature.
    pub curvature: OllivierOptions,
}

/// Cutting long edges as the flow goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surgery {
    /// After every so many steps, at least 1.
    pub every: usize,
    /// Edges longer than so many mean lengths are cut.
    pub cutoff: f64,
}

impl Default for FlowOptions {
    fn default() -> Self {
        let curvature = OllivierOptions { measure: Measure::Exponential, alpha: 0.5, ..OllivierOptions::default() };
        Self { steps: 20, rate: 1.0, normalized: true, surgery: None, curvature }
    }
}

/// Why there is no flow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FlowError {
    /// The host ended the computation.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// That of the curvature.
    #[error("{0}")]
    Curvature(OllivierError),
    /// The length of a step is none.
    #[error("rate => {0}: expected a number above 0 and at most 1")]
    Rate(f64),
    /// Surgery that cuts all or nothing.
    #[error("cutoff => {0}: expected a positive finite number of mean lengths")]
    Cutoff(f64),
    /// Surgery after no step.
    #[error("surgery => 0: expected a whole number of at least 1")]
    Every,
}

impl From<OllivierError> for FlowError {
    fn from(error: OllivierError) -> Self {
        match error {
            OllivierError::Stopped(reason) => Self::Stopped(reason),
            error => Self::Curvature(error),
        }
    }
}

impl FlowOptions {
    fn check(&self) -> Result<(), FlowError> {
        self.curvature.check()?;
        if !(self.rate > 0.0 && self.rate <= 1.0) {
            return Err(FlowError::Rate(self.rate));
        }
        if let Some(Surgery { every, cutoff }) = self.surgery {
            if every == 0 {
                return Err(FlowError::Every);
            }
            if !(cutoff > 0.0 && cutoff.is_finite()) {
                return Err(FlowError::Cutoff(cutoff));
            }
        }
        Ok(())
    }
}

/// The flow after some steps: one entry for each edge that is still there, in the order of [`Graph::edges`].
#[derive(Debug, Clone, PartialEq)]
pub struct FlowStep {
    /// How many steps were made.
    pub step: usize,
    /// The edges, by their numbers in the graph at the start.
    pub edges: Vec<u32>,
    /// Their lengths.
    pub lengths: Vec<f64>,
    /// Their curvatures at these lengths; NaN for an edge that has collapsed.
    pub curvatures: Vec<f64>,
    /// Whether the surgery after this step cuts them.
    pub cut: Vec<bool>,
}

/// Lets the lengths of the edges flow, and hands each state to `each`, the first before any step; answers the last.
///
/// A step gives every edge the length w (1 - rate k) with its Ollivier-Ricci curvature k, then scales all lengths to the mean 1.
/// Lengths start at `lengths`, positive and finite, or at 1. As curvature is at most 1, no length becomes negative; an edge that
/// becomes shorter than 1e-9 of the mean collapses: its length is 0 from then on, its ends are one place, and its curvature is NaN.
/// Surgery cuts edges longer than `cutoff` mean lengths after every so many steps; the next step starts from the curvatures
/// without them. Components flow side by side, scaled together.
///
/// Each step, and each surgery, costs the curvatures of all edges with lengths ([`crate::ollivier_ricci`]); where the host grants the memory,
/// each starts from the duals of the one before. 60 bytes an edge, and for the duals 8 for each neighbour of its end of higher degree.
///
/// # Errors
/// [`FlowError`], and those of `each`.
pub fn ricci_flow(
    graph: &Graph,
    lengths: Option<&[f64]>,
    options: &FlowOptions,
    monitor: &dyn Monitor,
    each: &mut dyn FnMut(&FlowStep) -> Result<(), Stopped>,
) -> Result<FlowStep, FlowError> {
    options.check()?;
    if let Some(lengths) = lengths {
        if lengths.len() != graph.n_edges() {
            return Err(OllivierError::Length(graph.n_edges(), lengths.len()).into());
        }
        let bad = |(_, length): &((u32, u32), &f64)| !(**length > 0.0 && length.is_finite());
        if let Some(((src, dst), &length)) = graph.edges().zip(lengths).find(bad) {
            return Err(OllivierError::BadLength { src, dst, length }.into());
        }
    }
    let _reservation =
        Reservation::new(monitor, 60 * graph.n_edges() + Graph::bytes(graph.n_nodes(), graph.n_edges()))?;
    let ends: Vec<(u32, u32)> = graph.edges().collect();
    // The graph that surgery has left.
    let mut cut_graph: Option<Graph> = None;
    let mut state = FlowStep {
        step: 0,
        edges: (0..graph.n_edges() as u32).collect(),
        lengths: lengths.map_or_else(|| vec![1.0; graph.n_edges()], <[f64]>::to_vec),
        curvatures: Vec::new(),
        cut: vec![false; graph.n_edges()],
    };
    // The transports of a step end close to those of the step before. Without the memory they start from nothing.
    let held = Reservation::new(monitor, Duals::bytes(graph)).ok();
    let some = |edges: usize| held.is_some().then(|| Duals::new(edges));
    let mut duals = some(graph.n_edges());
    let curvatures = |graph: &Graph, lengths: &[f64], duals: &Option<Duals>| {
        let edges: Vec<(u32, u32)> = graph.edges().collect();
        of_lengths(graph.into(), lengths, &edges, &options.curvature, Answer::Curvature, duals.as_ref(), monitor)
    };
    loop {
        monitor.check()?;
        let now = cut_graph.as_ref().unwrap_or(graph);
        state.curvatures = curvatures(now, &state.lengths, &duals)?;
        let surgery = options.surgery.filter(|surgery| state.step > 0 && state.step.is_multiple_of(surgery.every));
        if let Some(Surgery { cutoff, .. }) = surgery {
            let mean = state.lengths.iter().sum::<f64>() / state.lengths.len() as f64;
            state.cut.iter_mut().zip(&state.lengths).for_each(|(cut, length)| *cut = *length > cutoff * mean);
        }
        each(&state)?;
        if state.step == options.steps {
            return Ok(state);
        }
        if state.cut.iter().any(|cut| *cut) {
            let kept: Vec<usize> = (0..state.edges.len()).filter(|&i| !state.cut[i]).collect();
            state.edges = kept.iter().map(|&i| state.edges[i]).collect();
            state.lengths = kept.iter().map(|&i| state.lengths[i]).collect();
            state.cut = vec![false; kept.len()];
            let left: Vec<(u32, u32)> = state.edges.iter().map(|&id| ends[id as usize]).collect();
            let less = cut_graph.insert(Graph::from_edges(graph.n_nodes(), &left));
            duals = some(state.edges.len());
            state.curvatures = curvatures(less, &state.lengths, &duals)?;
        }
        for (length, curvature) in state.lengths.iter_mut().zip(&state.curvatures) {
            if !curvature.is_nan() {
                *length *= 1.0 - options.rate * curvature;
            }
        }
        let count = state.lengths.len() as f64;
        let mut mean = state.lengths.iter().sum::<f64>() / count;
        state.lengths.iter_mut().filter(|length| **length < COLLAPSED * mean).for_each(|length| *length = 0.0);
        if options.normalized && mean > 0.0 {
            mean = state.lengths.iter().sum::<f64>() / count;
            state.lengths.iter_mut().for_each(|length| *length /= mean);
        }
        state.step += 1;
    }
}
