//! Operators, the functions in FROM: their calls, and the bindings of calls to schemas and runs.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use crate::error::usage_error;
use crate::registry::options::Options;
use crate::runs::run::Run;

/// A function in FROM: an edge, relation, run or generator function. Any `fn(&Call) -> Result<Binding>` is one.
///
/// A plan holds the function's name, its constants and its inputs; a plan that is read back elsewhere binds them again.
pub trait Operator: Send + Sync {
    /// Checks the call and parses its options; the binding has the columns read, the schema of the answer and the run.
    /// Called at planning: no input is read.
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

/// The run of a call, with its parsed options.
type RunCall = dyn Fn(&mut Run) -> Result<()> + Send + Sync;

/// A checked call: the columns that it reads, the schema of its answer, and the run with its parsed options.
#[derive(Clone)]
pub struct Binding {
    /// The columns of the answer. An operator that carries an input lists that input's columns first.
    pub schema: SchemaRef,
    /// The columns that it reads, by input.
    pub reads: Vec<Vec<String>>,
    /// The input whose rows are carried through, with all its columns, in front of the answer's own.
    pub carries: Option<usize>,
    /// The column of the graphs' ids, where the rows of a graph are computed from that graph alone: a collection may then be
    /// read in parts.
    pub(crate) by_graph: Option<String>,
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
        Self { schema, reads, carries: None, by_graph: None, beside: None, run: Arc::new(run) }
    }

    /// The rows of this input are carried through.
    pub fn carrying(self, input: usize) -> Self {
        Self { carries: Some(input), ..self }
    }

    /// Says that a graph's rows follow from that graph alone, whatever other graphs the relations hold, and that they are
    /// emitted in the order of `graph_id`, which rows that are carried through are read in. Where all relations have a
    /// column `graph_id`, the call then runs on parts of them, each of whole graphs: on all cores, and with the memory of a
    /// part.
    pub fn by_graph(self) -> Self {
        self.by_graph_of("graph_id")
    }

    /// The same where ids stand in another column.
    pub(crate) fn by_graph_of(self, column: &str) -> Self {
        Self { by_graph: Some(column.to_owned()), ..self }
    }

    /// The same where this input is not about the graphs: each part of the others reads it whole.
    pub fn by_graph_beside(self, input: usize) -> Self {
        Self { beside: Some(input), ..self.by_graph() }
    }

    /// The columns of the answer at these places; all without any.
    pub(crate) fn projected(&self, columns: Option<&[usize]>) -> Result<SchemaRef> {
        Ok(match columns {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        })
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
