//! How the nodes around those of a step are drawn.

use serde::{Deserialize, Serialize};

use super::choices::named;
use crate::ground::OptionError;

/// How the nodes around those of a step are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SamplerKind {
    /// Of each node that is reached so many neighbours in each relation (Hamilton, Ying and Leskovec 2017, Algorithm 2).
    #[default]
    Neighbors,
    /// Hop by hop so many nodes of each type, those with many ties to what is there before others (Hu et al. 2020, Algorithm 1).
    Hgt,
}
named!(SamplerKind, "sampler", "neighbors" => Neighbors, "hgt" => Hgt);
