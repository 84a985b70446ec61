//! The errors of data, options, saved parameters and runs.

use std::fmt;

use bonnet_graph::Stopped;
use serde::{Deserialize, Serialize};

/// An error in the data of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// Features that are malformed; says where.
    #[error("{0}")]
    Features(String),
    /// Training on given features where there are none; says what to do.
    #[error("the graph has no features; {0}")]
    NoFeatures(String),
    /// A list with one entry a node has another length.
    #[error("there are {nodes} nodes, but {what} for {found}")]
    Length {
        /// The content of the list.
        what: &'static str,
        /// The number of nodes.
        nodes: usize,
        /// The length of the list.
        found: usize,
    },
    /// A list with one entry a graph has another length.
    #[error("there are {graphs} graphs, but targets for {found}")]
    Targets {
        /// The number of graphs.
        graphs: usize,
        /// The length of the list.
        found: usize,
    },
    /// A graph's target that cannot be learnt; says which.
    #[error("{0}")]
    GraphTarget(String),
    /// A complex that cannot be trained on; says which and why.
    #[error("{0}")]
    Complex(String),
    /// Positional encodings that the graph does not have.
    #[error("encodings: {encoding}{}: {why}", graph.map_or(String::new(), |graph| format!(" of graph {graph}")))]
    Encoding {
        /// The kind.
        encoding: &'static str,
        /// The number of the graph in a collection, if it is one.
        graph: Option<usize>,
        /// The cause, and what to do.
        why: String,
    },
    /// An edge between two graphs of a collection.
    #[error("an edge joins the nodes {from} and {to} of two graphs")]
    Across {
        /// A node.
        from: u32,
        /// Its neighbour in another graph.
        to: u32,
    },
    /// A node whose type is none.
    #[error("node {node} has type {kind}, but there {}", if *types == 1 { "is 1 type".to_owned() } else { format!("are {types} types") })]
    NodeType {
        /// The node.
        node: usize,
        /// The number of its type.
        kind: u32,
        /// The number of types.
        types: usize,
    },
    /// An edge that ends at no node.
    #[error("an edge ends at node {node}, but there are {nodes} nodes")]
    End {
        /// The endpoint.
        node: u32,
        /// The number of nodes.
        nodes: usize,
    },
    /// A label that is no class.
    #[error("node {node} has class {class}, but there are {classes} classes")]
    Class {
        /// The node.
        node: usize,
        /// Its label.
        class: u32,
        /// The number of classes.
        classes: usize,
    },
}

/// An option that is not obeyed; the message lists what is valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// A value that the option does not take.
    #[error("{option} is `{value}`; valid: {valid}")]
    Invalid {
        /// The option.
        option: String,
        /// The value given.
        value: String,
        /// The values it takes.
        valid: String,
    },
    /// An option that the task does not read.
    #[error("{option} is `{value}`, which the task {task} does not read: leave it out")]
    Unread {
        /// The option.
        option: &'static str,
        /// The value given.
        value: String,
        /// The task.
        task: &'static str,
    },
    /// A hyperparameter that the model does not have.
    #[error("the model {model} has no hyperparameter `{name}`; it has: {valid}")]
    Unknown {
        /// The model.
        model: String,
        /// The name given.
        name: String,
        /// The model's hyperparameters.
        valid: String,
    },
}

impl OptionError {
    pub(crate) fn invalid(option: &str, value: impl fmt::Display, valid: &str) -> Self {
        Self::Invalid { option: option.into(), value: value.to_string(), valid: valid.into() }
    }
}

/// An error of saving or loading parameters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SaveError {
    /// The file system.
    #[error("{path}: {why}")]
    File {
        /// The file or folder.
        path: String,
        /// Its message.
        why: String,
    },
    /// A file that holds no parameters of ours.
    #[error("{path} holds no saved parameters: {why}")]
    Malformed {
        /// The file.
        path: String,
        /// The reason.
        why: String,
    },
    /// Parameters of another model.
    #[error("the saved parameters are those of {saved}, but the job needs those of {needed}")]
    Model {
        /// The saved model.
        saved: String,
        /// That of the job.
        needed: String,
    },
    /// Parameters of other sizes.
    #[error("the saved parameters of {model} are not those that the job needs: {difference}")]
    Mismatch {
        /// The model.
        model: String,
        /// The first matrices that differ, how many more do, and the remedy where one is known.
        difference: String,
    },
    /// Parameters of the same shapes in another space.
    #[error("the saved parameters have {name} {saved}, the job has {needed}: load them with {name} => {saved}")]
    Geometry {
        /// The option that differs.
        name: &'static str,
        /// Its saved value.
        saved: String,
        /// That of the job.
        needed: String,
    },
}

/// An error of building a model.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// An option of the run.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A negative weight where weights are divided by their sums.
    #[error("the edge from node {from} to node {to} has the weight {weight}: weights of normalised sums are 0 or more")]
    Weight {
        /// The source of its messages.
        from: u32,
        /// The node that receives them.
        to: u32,
        /// Its weight.
        weight: f64,
    },
    /// The host.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// Positional codes that were not found.
    #[error(transparent)]
    Spectrum(#[from] bonnet_topology::SpectrumError),
}

/// The end of a run: the column `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// With figures.
    Ok,
    /// The host granted no memory.
    OutOfMemory,
    /// The loss was no longer finite.
    Diverged,
    /// The data or the options do not allow the run.
    Error,
}

impl Status {
    /// `ok`, `out_of_memory`, `diverged` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::OutOfMemory => "out_of_memory",
            Self::Diverged => "diverged",
            Self::Error => "error",
        }
    }
}

/// The error that ended a run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// The data cannot be trained on.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An option is not obeyed.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The split has no labelled training node.
    #[error("the split has no labelled training node")]
    NoTrainingNodes,
    /// The split has no graph with a target to train on, or no edge.
    #[error("the split has no training {0}")]
    NothingToTrain(&'static str),
    /// A node of the split does not exist or has no label.
    #[error("node {0} of the split is not a labelled node of the graph")]
    NotLabelled(u32),
    /// A graph of the split does not exist or has no target.
    #[error("graph {0} of the split is not a graph with a target")]
    NoTarget(u32),
    /// A pair of a split of edges that does not fit the graph.
    #[error("the pair {0}, {1} of the split {2}")]
    Pair(u32, u32, &'static str),
    /// The graph of training edges has every edge.
    #[error("every pair of nodes is a training edge: there are no non-edges to train against")]
    Complete,
    /// The options are for another task than the items.
    #[error("the options are for {asked}, but the items are those of {given}")]
    WrongTask {
        /// The task of the options.
        asked: &'static str,
        /// The task of the items.
        given: &'static str,
    },
    /// A negative weight where a model divides weights by their sums.
    #[error("the edge from node {from} to node {to} has the weight {weight}: weights of normalised sums are 0 or more")]
    NegativeWeight {
        /// The source of its messages.
        from: u32,
        /// The node that receives them.
        to: u32,
        /// Its weight.
        weight: f64,
    },
    /// A model on graphs and a collection of complexes, or the other way round.
    #[error("{model} reads {}", if *complexes { "complexes: give them as complexes => a relation with id and facets" } else { "graphs: join the edges of the complexes" })]
    Input {
        /// The model.
        model: &'static str,
        /// Whether it reads complexes.
        complexes: bool,
    },
    /// The saved parameters do not fit.
    #[error(transparent)]
    Saved(#[from] SaveError),
    /// Training or validation loss was infinite or not a number.
    #[error("the {part} loss of epoch {epoch} is {loss}; try a smaller lr (it is {lr}) or normalize => 'row'")]
    Diverged {
        /// `training` or `validation`.
        part: &'static str,
        /// The epoch, counted from 1.
        epoch: u32,
        /// The loss.
        loss: f64,
        /// The learning rate.
        lr: f64,
    },
    /// The host granted no memory.
    #[error("{0}")]
    OutOfMemory(String),
    /// The device failed.
    #[error("the device failed: {0}")]
    Device(String),
    /// The host wants no answer any more.
    #[error("the query was cancelled")]
    Cancelled,
}

impl TrainError {
    /// The status of the row that reports the error; none where the whole query ends.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Diverged { .. } => Some(Status::Diverged),
            Self::OutOfMemory(_) => Some(Status::OutOfMemory),
            Self::Cancelled => None,
            _ => Some(Status::Error),
        }
    }
}

impl From<Stopped> for TrainError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Cancelled => Self::Cancelled,
            Stopped::OutOfMemory(text) => Self::OutOfMemory(text),
        }
    }
}

impl From<BuildError> for TrainError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Option(error) => Self::Option(error),
            BuildError::Weight { from, to, weight } => Self::NegativeWeight { from, to, weight },
            BuildError::Stopped(stopped) => stopped.into(),
            BuildError::Spectrum(error) => match error {
                bonnet_topology::SpectrumError::Faces(bonnet_topology::FacesError::Stopped(stopped)) => stopped.into(),
                error => Self::Data(DataError::Complex(error.to_string())),
            },
        }
    }
}
