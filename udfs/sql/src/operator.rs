//! The contract of everything that stands in FROM: what it reads, what it answers, and how it runs.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use bonnet_graph::Stopped;
use datafusion::common::{DataFusionError, Result};

use crate::options::Options;
use crate::run::Run;

/// A function in FROM: an edge, relation, run or generator function. Any `fn(&Call) -> Result<Binding>` is one.
///
/// A plan holds the function's name, its constants and its inputs; a plan that is read back elsewhere binds them again.
pub trait Operator: Send + Sync {
    /// Checks the call, parses its options, and says what it reads, what it answers and how it runs. Called at planning:
    /// no input is read.
    ///
    /// # Errors
    /// If the call is wrong: an option out of its range, a relation without a column.
    fn bind(&self, call: &Call) -> Result<Binding>;
}

impl<F: Fn(&Call) -> Result<Binding> + Send + Sync> Operator for F {
    fn bind(&self, call: &Call) -> Result<Binding> {
        self(call)
    }
}

/// The constants and the inputs' schemas of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The constants; those left out have their defaults.
    pub options: Options,
    /// The relations, in the order of the parameters; those left out are not here.
    pub inputs: Vec<InputSchema>,
}

/// The schema of a relation given for a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSchema {
    /// The parameter's name.
    pub name: String,
    /// The relation's columns.
    pub schema: SchemaRef,
}

impl Call {
    /// The position of the relation given for a parameter.
    pub fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|input| input.name == name)
    }
}

/// What runs a call: it has the parsed options.
type RunCall = dyn Fn(&mut Run) -> Result<()> + Send + Sync;

/// A call that was checked: what it reads and answers, and the run with its parsed options.
#[derive(Clone)]
pub struct Binding {
    /// The columns of the answer. An operator that carries an input lists that input's columns first.
    pub schema: SchemaRef,
    /// The columns that it reads, by input.
    pub reads: Vec<Vec<String>>,
    /// The input whose rows are carried through, with all its columns, in front of the answer's own.
    pub carries: Option<usize>,
    /// Whether the rows of a graph are computed from that graph alone: a collection may then be read in parts.
    pub(crate) by_graph: bool,
    /// The input that each of these parts reads whole.
    pub(crate) beside: Option<usize>,
    run: Arc<RunCall>,
}

impl Binding {
    /// A call that answers rows of `schema` from the columns `reads` of its inputs. `run` reads the inputs and emits the
    /// answer; it is called on a blocking thread, and its heavy work goes into [`Run::install`].
    pub fn new(
        schema: SchemaRef,
        reads: Vec<Vec<String>>,
        run: impl Fn(&mut Run) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { schema, reads, carries: None, by_graph: false, beside: None, run: Arc::new(run) }
    }

    /// The rows of this input are carried through.
    pub fn carrying(self, input: usize) -> Self {
        Self { carries: Some(input), ..self }
    }

    /// Says that a graph's rows follow from that graph alone, whatever other graphs the relations hold, and that they are
    /// emitted in the order of `graph_id`. Where all relations have a column `graph_id`, the call then runs on parts of
    /// them, each of whole graphs: on all cores, and with the memory of a part.
    pub fn by_graph(self) -> Self {
        Self { by_graph: true, ..self }
    }

    /// The same where this input is not about the graphs: each part of the others reads it whole.
    pub fn by_graph_beside(self, input: usize) -> Self {
        Self { beside: Some(input), ..self.by_graph() }
    }

    /// Reads the inputs and emits the answer.
    ///
    /// # Errors
    /// Those of the function.
    pub fn run(&self, run: &mut Run) -> Result<()> {
        (self.run)(run)
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding").field("schema", &self.schema).field("reads", &self.reads).finish_non_exhaustive()
    }
}

/// An error of usage: what was found, where, and what to do.
pub fn usage_error<T>(text: impl Into<String>) -> Result<T> {
    Err(DataFusionError::Plan(text.into()))
}

/// An error of a function's usage with the function's name in front.
pub fn named_error(function: &str, error: DataFusionError) -> DataFusionError {
    match error {
        DataFusionError::Plan(text) if !text.starts_with(function) => {
            DataFusionError::Plan(format!("{function}: {text}"))
        }
        other => other,
    }
}

/// An error in running: what was found, where, and what to do.
pub fn execution_error(text: impl Into<String>) -> DataFusionError {
    DataFusionError::Execution(text.into())
}

/// The error for a kernel that was stopped.
pub fn stopped(reason: Stopped) -> DataFusionError {
    match reason {
        Stopped::Cancelled => DataFusionError::Execution(reason.to_string()),
        Stopped::OutOfMemory(text) => DataFusionError::ResourcesExhausted(text),
    }
}

/// The error of a kernel, with the function's name; or that the kernel was stopped, if this is the error or its source.
pub fn kernel_error(function: &str, error: impl Error + 'static) -> DataFusionError {
    let reasons = [Some(&error as &(dyn Error + 'static)), error.source()];
    match reasons.into_iter().flatten().find_map(<dyn Error>::downcast_ref::<Stopped>) {
        Some(reason) => stopped(reason.clone()),
        None => execution_error(format!("{function}: {error}")),
    }
}

/// What a refusal of memory says, without the words that every such error begins with.
pub fn memory_text(error: &DataFusionError) -> String {
    match error {
        DataFusionError::ResourcesExhausted(text) => text.clone(),
        DataFusionError::Context(_, inner) => memory_text(inner),
        other => other.strip_backtrace(),
    }
}

/// Fails unless the relation given for `input` has all `columns`; the error lists those it has.
pub fn require_columns(function: &str, input: &InputSchema, columns: &[&str]) -> Result<()> {
    for column in columns {
        if input.schema.field_with_name(column).is_err() {
            let found = input.schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ");
            let want = columns.join(", ");
            return usage_error(format!(
                "{function}: {} has no column {column}; it takes a relation with the columns {want}, and this one has: \
                 {found}. Rename with (SELECT ... AS {column} ...)",
                input.name
            ));
        }
    }
    Ok(())
}
