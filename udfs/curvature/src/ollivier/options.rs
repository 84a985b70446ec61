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
    /// In proportion to e^(-length^`power`) on each neighbour, where edges have lengths; without them it is `Uniform`. (Ni, Lin, Luo and
    /// Gao, Community detection on networks with Ricci flow, 2019, Eq. 2.)
    Exponential,
}

impl Measure {
    /// All measures, the default first.
    pub const ALL: [Self; 5] =
        [Self::Uniform, Self::TwoHop, Self::RandomWalk, Self::TransitionPower, Self::Exponential];

    /// The name, as in `measure => name`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::TwoHop => "two_hop",
            Self::RandomWalk => "random_walk",
            Self::TransitionPower => "transition_power",
            Self::Exponential => "exponential",
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
    /// The power of the length in `Exponential`, finite and not negative; with 0 all neighbours have the same.
    pub power: f64,
}

impl Default for OllivierOptions {
    fn default() -> Self {
        Self { measure: Measure::default(), alpha: 0.0, steps: 2, power: 2.0 }
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
    /// The power of lengths is no such.
    #[error("power => {0}: expected a finite number that is not negative")]
    Power(f64),
    /// There is not one length for each edge: how many edges and how many values there are.
    #[error("{0} edges and {1} lengths: one is needed for each edge")]
    Length(usize, usize),
    /// The length of an edge is not a positive finite number: its endpoints and the value.
    #[error("the edge ({src}, {dst}) has the length {length}: expected a positive finite number")]
    BadLength {
        /// The smaller endpoint.
        src: u32,
        /// The larger endpoint.
        dst: u32,
        /// The value.
        length: f64,
    },
    /// A measure that is given is none: the node whose it is, and what is wrong.
    #[error("the measure of node {0} {1}")]
    Given(u32, GivenError),
    /// A pair names a node that the graph lacks: its position, counted from 0, and the node.
    #[error("pair {0} names the node {1}, which the graph lacks")]
    Node(usize, u32),
}

/// Why rows make no probability measure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GivenError {
    /// There are none.
    #[error("is missing: give masses that sum to 1 for every node of an edge")]
    Missing,
    /// A mass is negative or not finite: the other node and the mass.
    #[error("puts the mass {1} on node {0}: a mass is a finite number that is not negative")]
    Mass(u32, f64),
    /// The masses do not sum to 1: their sum.
    #[error("has masses that sum to {0}: they have to sum to 1")]
    Sum(f64),
    /// Mass lies where no path leads: the other node.
    #[error("puts mass on node {0}, to which no path leads")]
    NoPath(u32),
}

/// The most steps of a random walk.
const MOST_STEPS: usize = 1 << 20;

impl OllivierOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`OllivierError::Alpha`], [`OllivierError::Steps`] and [`OllivierError::Power`].
    pub fn check(&self) -> Result<(), OllivierError> {
        if !(0.0..=1.0).contains(&self.alpha) {
            return Err(OllivierError::Alpha(self.alpha));
        }
        let walks = matches!(self.measure, Measure::RandomWalk | Measure::TransitionPower);
        if walks && !(1..=MOST_STEPS).contains(&self.steps) {
            return Err(OllivierError::Steps(self.steps));
        }
        if !(self.power.is_finite() && self.power >= 0.0) {
            return Err(OllivierError::Power(self.power));
        }
        Ok(())
    }
}
