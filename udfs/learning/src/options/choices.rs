//! Options that are one of several names.

use serde::{Deserialize, Serialize};

use crate::ground::OptionError;

/// Gives an enum a name for each variant: `NAMES`, `name`, and `Display`, `FromStr` and serde through the names. The error of
/// `FromStr` lists them.
macro_rules! named {
    ($type:ty, $option:literal, $($name:literal => $variant:ident),+ $(,)?) => {
        impl $type {
            /// The names of all values.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name in a job.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
        impl std::str::FromStr for $type {
            type Err = OptionError;
            fn from_str(text: &str) -> Result<Self, OptionError> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(OptionError::invalid($option, text, &Self::NAMES.join(", "))),
                }
            }
        }
        crate::options::choices::text_serde!($type);
    };
}

/// serde through the string forms, which are those of SQL.
macro_rules! text_serde {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = OptionError;
            fn try_from(text: String) -> Result<Self, OptionError> {
                text.parse()
            }
        }
        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
    };
}

pub(crate) use {named, text_serde};

/// The task of a run; [`crate::ModelSpec::tasks`] lists those that a model can learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Task {
    /// A class for each node.
    #[default]
    NodeClassification,
    /// Whether two nodes are joined by an edge.
    LinkPrediction,
    /// A class for each graph of a collection.
    GraphClassification,
    /// A number for each graph of a collection.
    GraphRegression,
    /// A number for each node.
    NodeRegression,
}
named!(
    Task,
    "task",
    "node_classification" => NodeClassification,
    "link_prediction" => LinkPrediction,
    "graph_classification" => GraphClassification,
    "graph_regression" => GraphRegression,
    "node_regression" => NodeRegression,
);

impl Task {
    /// Whether the items are the graphs of a collection.
    pub fn is_of_graphs(self) -> bool {
        matches!(self, Self::GraphClassification | Self::GraphRegression)
    }

    /// Whether the items are nodes.
    pub fn is_of_nodes(self) -> bool {
        matches!(self, Self::NodeClassification | Self::NodeRegression)
    }
}

/// The tasks of nodes.
pub(crate) const NODES: &[Task] = &[Task::NodeClassification, Task::NodeRegression];
/// The tasks of pairs of nodes.
pub(crate) const LINKS: &[Task] = &[Task::LinkPrediction];
/// The tasks of one graph.
pub(crate) const ONE_GRAPH: &[Task] = &[Task::NodeClassification, Task::LinkPrediction];
/// The tasks of graphs.
pub(crate) const GRAPHS: &[Task] = &[Task::GraphClassification, Task::GraphRegression];
/// The tasks whose items are rows of a table: all but links.
pub(crate) const ITEMS: &[Task] =
    &[Task::NodeClassification, Task::GraphClassification, Task::GraphRegression, Task::NodeRegression];
/// The tasks that learn classes.
pub(crate) const CLASSES: &[Task] = &[Task::NodeClassification, Task::GraphClassification];
/// The tasks that rank items by a score: classes, and links.
pub(crate) const RANKED: &[Task] = &[Task::NodeClassification, Task::LinkPrediction, Task::GraphClassification];
/// The tasks that learn numbers.
pub(crate) const NUMBERS: &[Task] = &[Task::GraphRegression, Task::NodeRegression];
/// The tasks that read the outputs of nodes as embeddings.
pub(crate) const EMBEDDINGS: &[Task] = &[Task::LinkPrediction, Task::GraphClassification, Task::GraphRegression];

/// What a regression makes small: the mean over its items and the numbers of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RegressionLoss {
    /// The squared error, whose least is at the mean.
    #[default]
    SquaredError,
    /// The absolute error, whose least is at the median.
    AbsoluteError,
}
named!(RegressionLoss, "loss", "squared_error" => SquaredError, "absolute_error" => AbsoluteError);

/// The logit of an edge between two nodes with the outputs `a` and `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Decoder {
    /// `<a, b>` (Kipf and Welling 2016, Variational graph auto-encoders, Eq. 2).
    #[default]
    InnerProduct,
    /// `<a, b> / (|a| |b|)`, the inner product of unit vectors, in [-1, 1]; 0 where one is zero.
    Cosine,
    /// `(r - |a - b|^2) / t` with r = 2, t = 1: the Fermi-Dirac decoder (Krioukov et al. 2010; Chami et al. 2019, Sec. 4).
    Distance,
}
named!(Decoder, "decoder", "inner_product" => InnerProduct, "cosine" => Cosine, "distance" => Distance);

/// When the training pairs without an edge are drawn, in link prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Negatives {
    /// In every epoch anew.
    #[default]
    EachEpoch,
    /// Once, before the first epoch.
    Fixed,
}
named!(Negatives, "negatives", "each_epoch" => EachEpoch, "fixed" => Fixed);

/// The pooling of the outputs of a graph's nodes into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Pooling {
    /// The mean of the outputs.
    #[default]
    Mean,
    /// The sum of the outputs.
    Sum,
}
named!(Pooling, "pooling", "mean" => Mean, "sum" => Sum);
