//! Why a generator made no graph.

use std::fmt::Display;

use bonnet_graph::Stopped;

/// Why a generator made no graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An argument is out of its range.
    #[error("{generator}: {argument} is {value}, but must be {allowed}")]
    Argument {
        /// The generator's name.
        generator: &'static str,
        /// The argument's name.
        argument: &'static str,
        /// The given value.
        value: String,
        /// The range that is allowed.
        allowed: String,
    },
    /// The host stopped the work.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Checks one argument of one generator.
pub(crate) fn require(
    holds: bool,
    generator: &'static str,
    argument: &'static str,
    value: impl Display,
    allowed: impl Display,
) -> Result<(), Error> {
    if holds {
        return Ok(());
    }
    Err(Error::Argument { generator, argument, value: value.to_string(), allowed: allowed.to_string() })
}

/// Checks a number of nodes: from `least` to 4,294,967,295, so that every node is a `u32`.
pub(crate) fn require_nodes(
    generator: &'static str,
    argument: &'static str,
    n: usize,
    least: usize,
) -> Result<(), Error> {
    let most = u32::MAX as usize;
    let holds = (least..=most).contains(&n);
    require(holds, generator, argument, n, format_args!("from {least} to {most}"))
}

/// Checks a probability.
pub(crate) fn require_probability(generator: &'static str, argument: &'static str, p: f64) -> Result<(), Error> {
    require((0.0..=1.0).contains(&p), generator, argument, p, "a probability, from 0 to 1")
}
