//! The change of the learning rate over the epochs: the option `schedule`.

use serde::{Deserialize, Serialize};

use super::choices::named;
use crate::ground::OptionError;

/// The change of the learning rate after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Decay {
    /// Not at all.
    #[default]
    Constant,
    /// Half a cosine from 1 to 0 (Loshchilov and Hutter 2017, Eq. 5, one period, least rate 0).
    Cosine,
}
named!(Decay, "schedule", "constant" => Constant, "cosine" => Cosine);
