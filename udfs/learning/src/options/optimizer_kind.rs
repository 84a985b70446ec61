//! The optimiser: the option `optimizer`.

use serde::{Deserialize, Serialize};

use super::choices::named;
use crate::ground::OptionError;

/// The optimisers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum OptimizerKind {
    /// Adam (Kingma and Ba 2015, Algorithm 1) with beta = (0.9, 0.999), epsilon = 1e-8; weight decay is an L2 term of the
    /// gradient, as in the graph papers and in PyTorch's `Adam`.
    #[default]
    Adam,
    /// Adam with decoupled decay (Loshchilov and Hutter 2019, Algorithm 2).
    AdamW,
    /// Gradient descent with momentum 0.9 as PyTorch's `SGD` defines it; weight decay is an L2 term of the gradient.
    Sgd,
}

named!(OptimizerKind, "optimizer", "adam" => Adam, "adamw" => AdamW, "sgd" => Sgd);
