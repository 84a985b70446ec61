//! The measures that are transported, and the ranges of their options.

use bonnet_graph::Stopped;

/// A probability measure at a node (Curvature Filtrations, Sec. 2.3 and App. F).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// One over the degree on each neighbour.
    #[default]
    Uniform,
    /// 0.5 on the node, 0.125 on each neighbour and 0.025 on each second neighbour, made to sum to one.
    TwoHop,
    /// The mean of the distributions of a random walk after 0, 1, ..., `steps` steps (Eq. 20).
    RandomWalk,
    /// The distribution of a random walk after `steps` steps: a row of a power of the transition matrix.
    TransitionPower,
}

impl Measure {
    /// All measures, the default first.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::TwoHop, Self::RandomWalk, Self::TransitionPower];

    /// The name, as in `measure => name`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::TwoHop => "two_hop",
            Self::RandomWalk => "random_walk",
            Self::TransitionPower => "transition_power",
        }
    }

    /// The measure of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }
}

/// The measures that are transported.
#[derive(Debug, Clone, PartialEq)]
pub struct OllivierOptions {
    /// The measure at a node.
    pub measure: Measure,
    /// The share of the mass that stays at the node, in [0, 1]; the rest follows the measure.
    pub alpha: f64,
    /// The steps of a random walk, at least 1; of the measures `RandomWalk` and `TransitionPower` alone.
    pub steps: usize,
}

impl Default for OllivierOptions {
    fn default() -> Self {
        Self { measure: Measure::default(), alpha: 0.0, steps: 2 }
    }
}

/// Why there are no Ollivier curvatures.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OllivierError {
    /// The host ended the computation.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// The share of the mass that stays is no share.
    #[error("alpha => {0}: expected a number from 0 to 1")]
    Alpha(f64),
    /// A random walk without a step.
    #[error("steps => {0}: expected a whole number from 1 to {MOST_STEPS}")]
    Steps(usize),
    /// A pair names a node that the graph lacks: its position, counted from 0, and the node.
    #[error("pair {0} names the node {1}, which the graph lacks")]
    Node(usize, u32),
}

/// The most steps of a random walk.
const MOST_STEPS: usize = 1 << 20;

impl OllivierOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`OllivierError::Alpha`] and [`OllivierError::Steps`].
    pub fn check(&self) -> Result<(), OllivierError> {
        if !(0.0..=1.0).contains(&self.alpha) {
            return Err(OllivierError::Alpha(self.alpha));
        }
        let walks = matches!(self.measure, Measure::RandomWalk | Measure::TransitionPower);
        if walks && !(1..=MOST_STEPS).contains(&self.steps) {
            return Err(OllivierError::Steps(self.steps));
        }
        Ok(())
    }
}
