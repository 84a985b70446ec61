//! What figures and outputs are computed on where steps run on samples.

use serde::{Deserialize, Serialize};

use super::choices::named;
use crate::ground::OptionError;

/// What the passes without training run on where steps run on samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EvaluateOn {
    /// The whole graph, as far as an output sees.
    #[default]
    Graph,
    /// Samples as those of a step, which are the same in each epoch.
    Samples,
}
named!(EvaluateOn, "evaluate_on", "graph" => Graph, "samples" => Samples);
