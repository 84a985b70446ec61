//! Which neighbours are taken where there are more than the fanout.

use serde::{Deserialize, Serialize};

use super::choices::named;
use crate::ground::OptionError;

/// The neighbours that are taken where a node has more than the fanout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FanoutOrder {
    /// Uniformly without replacement.
    #[default]
    Uniform,
    /// Those with the latest times; of equal times those with the larger numbers.
    Latest,
}
named!(FanoutOrder, "fanout_order", "uniform" => Uniform, "latest" => Latest);
