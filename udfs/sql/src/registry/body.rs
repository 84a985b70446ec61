//! The bodies of functions: a trait for each shape of answer.

use std::fmt::{self, Debug};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bonnet_columns::GroupedRows;
use bonnet_graph::Monitor;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use crate::host::Host;
use crate::registry::generated_graph::GeneratedGraph;
use crate::registry::generator_inputs::GeneratorInputs;
use crate::registry::operator::Operator;
use crate::registry::options::Options;
use crate::runs::input_graph::InputGraph;

/// The shape of a function's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One value per row.
    Scalar,
    /// One value per group: usually per graph.
    Aggregate,
    /// One value per row, from its place among the ordered rows of its window.
    Window,
    /// One value per edge, as a window function and as a relation.
    Edge,
    /// A relation, made of relations and graphs.
    Relation,
    /// A row per job of a relation of jobs.
    Run,
    /// A graph, made of constants or of a relation of parameters.
    Generator,
}

impl Kind {
    /// Its name in `bonnet.functions`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Aggregate => "aggregate",
            Self::Window => "window",
            Self::Edge => "edge",
            Self::Relation => "relation",
            Self::Run => "run",
            Self::Generator => "generator",
        }
    }

    /// Whether such a function stands in FROM.
    pub fn in_from(self) -> bool {
        !matches!(self, Self::Scalar | Self::Aggregate | Self::Window)
    }
}

/// The body of a function.
#[derive(Clone)]
pub enum Body {
    /// One value per row.
    Scalar(Arc<dyn ScalarFunction>),
    /// One value per row, of what the session or the plan knows beside the arguments.
    NativeScalar(Arc<ScalarUDF>),
    /// One value per group.
    Aggregate(Arc<dyn AggregateFunction>),
    /// One value per group, of a type that depends on the arguments'.
    NativeAggregate(Arc<AggregateUDF>),
    /// One value per group, from all its rows at once.
    Rows(Arc<dyn RowsFunction>),
    /// One value per row of an ordered window.
    Window(Arc<dyn WindowFunction>),
    /// One value per edge.
    Edge(Arc<dyn EdgeFunction>),
    /// A relation.
    Relation(Arc<dyn Operator>),
    /// A row per job.
    Run(Arc<dyn Operator>),
    /// A graph.
    Generator(Arc<dyn Generator>),
}

impl Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().name())
    }
}

impl Body {
    /// The shape of the answer.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Scalar(_) | Self::NativeScalar(_) => Kind::Scalar,
            Self::Aggregate(_) | Self::NativeAggregate(_) | Self::Rows(_) => Kind::Aggregate,
            Self::Window(_) => Kind::Window,
            Self::Edge(_) => Kind::Edge,
            Self::Relation(_) => Kind::Relation,
            Self::Run(_) => Kind::Run,
            Self::Generator(_) => Kind::Generator,
        }
    }
}

/// A function of one row.
pub trait ScalarFunction: Debug + Send + Sync {
    /// The type of a value of arguments of these types.
    fn data_type(&self, given: &[DataType]) -> Result<DataType>;

    /// One value per row; all columns have the same length and their parameters' types. Called in the kernel threads
    /// where there is much to do; `monitor` is that of the running statement.
    fn evaluate(&self, columns: &[ArrayRef], monitor: &dyn Monitor) -> Result<ArrayRef>;
}

/// A function of a group of rows.
pub trait AggregateFunction: Debug + Send + Sync {
    /// The type of a value.
    fn data_type(&self) -> DataType;

    /// The state of an empty group.
    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>>;
}

/// The state of an aggregate over the rows seen so far.
pub trait AggregateState: Debug + Send + Sync {
    /// Adds rows: the column parameters, in their order.
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()>;

    /// Adds the rows of another state, which [`AggregateState::to_bytes`] wrote.
    fn merge(&mut self, bytes: &[u8]) -> Result<()>;

    /// The state, for another to merge.
    fn to_bytes(&self) -> Result<Vec<u8>>;

    /// The value of the group. Called in the kernel threads where the state is large; `monitor` is that of the running
    /// statement.
    fn value(&self, monitor: &dyn Monitor) -> Result<ScalarValue>;

    /// The bytes held.
    fn size(&self) -> usize;
}

/// A function of a group of rows that needs them all at once.
pub trait RowsFunction: Debug + Send + Sync {
    /// The type of a value.
    fn data_type(&self) -> DataType;

    /// The kernel for these options.
    ///
    /// # Errors
    /// For an option out of its range.
    fn bind(&self, options: &Options) -> Result<RowsKernel>;

    /// Whether rows with a NULL are seen too; by default they do not count.
    fn keeps_nulls(&self) -> bool {
        false
    }
}

/// Computes a value for each group, NULL for a group without rows. Called in the kernel threads where there is much to
/// do; the monitor is that of the running statement.
pub type RowsKernel = Box<dyn Fn(&GroupedRows, &dyn Monitor) -> Result<ArrayRef> + Send + Sync>;

/// A function of the order of a partition's rows: all rows are seen, frames are refused, and it takes no arguments.
pub trait WindowFunction: Debug + Send + Sync {
    /// The type of a value.
    fn data_type(&self) -> DataType;

    /// One value per row of a partition. `peers` cuts the `rows` rows, which are in the window's order, into runs that
    /// the order does not tell apart.
    fn evaluate(&self, rows: usize, peers: &[Range<usize>]) -> Result<ArrayRef>;
}

/// A function of the edges of one graph.
pub trait EdgeFunction: Debug + Send + Sync {
    /// The type of a value.
    fn data_type(&self) -> DataType;

    /// The kernel for these options. Called at planning.
    ///
    /// # Errors
    /// For an option out of its range.
    fn bind(&self, options: &Options) -> Result<EdgeKernel>;
}

/// Computes one value for each of [`InputGraph::arcs`], NULL for a loop. Called in the kernel threads, for many graphs at
/// once.
pub type EdgeKernel = Box<dyn Fn(&InputGraph, &Host) -> Result<ArrayRef> + Send + Sync>;

/// A function that makes a graph of constants, and of what its relations and its graph hold.
pub trait Generator: Debug + Send + Sync {
    /// The columns that are read of the relation given for a parameter; those without a `?` have to be there. A parameter
    /// that is a graph has the relations `nodes` and `edges`.
    fn reads(&self, _parameter: &str) -> &'static [&'static str] {
        &[]
    }

    /// Makes the graph. The options are checked against the parameters' types.
    fn generate(&self, options: &Options, inputs: &GeneratorInputs, monitor: &dyn Monitor) -> Result<GeneratedGraph>;
}
