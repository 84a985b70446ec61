//! The node of a plan that calls a function in FROM.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{DFSchema, DFSchemaRef, Result, internal_datafusion_err, internal_err};
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};

use crate::adapters::edge::EdgeOperator;
use crate::adapters::generator::{GeneratorOperator, PARAMETERS};
use crate::error::named_error;
use crate::registry::Function;
use crate::registry::body::{Body, Generator};
use crate::registry::operator::{Binding, Call, InputSchema, Operator};
use crate::registry::options::Options;

/// A call of a function in FROM, with its relations as inputs of the plan. Each rule of the optimizer copies it.
#[derive(Debug, Clone)]
pub struct RelationNode {
    pub(crate) function: Arc<Function>,
    pub(crate) options: Arc<Options>,
    /// The parameters that the inputs are given for.
    pub(crate) input_names: Arc<[String]>,
    pub(crate) inputs: Vec<LogicalPlan>,
    /// The columns of the answer that are read; `None` for all. Never set on a node that carries an input.
    pub(crate) columns: Option<Vec<usize>>,
    /// The number of the run that this node shares with equal nodes of the statement.
    pub(crate) shared: Option<usize>,
    pub(crate) binding: Arc<Binding>,
    schema: DFSchemaRef,
}

impl RelationNode {
    /// Binds a call of `function`.
    ///
    /// # Errors
    /// As the function says, where it is called wrongly.
    pub fn try_new(
        function: Arc<Function>,
        options: Options,
        inputs: Vec<(String, LogicalPlan)>,
        columns: Option<Vec<usize>>,
        shared: Option<usize>,
    ) -> Result<Self> {
        let (input_names, inputs): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        let binding =
            bind(&function, &call(&options, &input_names, inputs.iter().map(|input| input.schema().as_arrow())))?;
        let schema = match binding.carries {
            Some(input) => {
                // The carried columns keep the qualifiers of their input.
                let own = binding.schema.fields().iter().skip(inputs[input].schema().fields().len());
                let fields = inputs[input]
                    .schema()
                    .iter()
                    .map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)))
                    .chain(own.map(|field| (None, Arc::clone(field))))
                    .collect();
                DFSchema::new_with_metadata(fields, Default::default())?
            }
            None => DFSchema::try_from(binding.projected(columns.as_deref())?)?,
        };
        Ok(Self {
            function,
            options: Arc::new(options),
            input_names: input_names.into(),
            inputs,
            columns,
            shared,
            binding: Arc::new(binding),
            schema: Arc::new(schema),
        })
    }

    /// The function called.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// The generator and its constants, where the call makes one graph: what `CREATE GRAPH` keeps.
    pub fn generator(&self) -> Option<(&Arc<dyn Generator>, &Options)> {
        let of_many = || self.input_names.iter().any(|name| name == PARAMETERS);
        match &self.function.body {
            Body::Generator(generator) if !of_many() => Some((generator, &self.options)),
            _ => None,
        }
    }

    /// The relations of the call with the parameters that they are given for.
    pub fn relations(&self) -> impl Iterator<Item = (&str, &LogicalPlan)> {
        self.input_names.iter().map(String::as_str).zip(&self.inputs)
    }

    /// The same call with the run shared as number `run`.
    pub(crate) fn shared_as(&self, run: usize) -> Self {
        Self { shared: Some(run), ..self.clone() }
    }

    /// The constants of the call.
    pub(crate) fn options(&self) -> Options {
        self.options.as_ref().clone()
    }

    /// The same call answering only these columns of the whole answer.
    pub(crate) fn with_columns(&self, columns: Vec<usize>) -> Result<Self> {
        let inputs = self.input_names.iter().cloned().zip(self.inputs.iter().cloned()).collect();
        Self::try_new(Arc::clone(&self.function), self.options(), inputs, Some(columns), self.shared)
    }
}

/// The operator that a function's FROM spelling runs; `None` for scalars, aggregates and window functions.
fn operator(function: &Function) -> Option<Arc<dyn Operator>> {
    match &function.body {
        Body::Scalar(_)
        | Body::NativeScalar(_)
        | Body::Aggregate(_)
        | Body::NativeAggregate(_)
        | Body::Rows(_)
        | Body::Window(_) => None,
        Body::Edge(edge) => Some(Arc::new(EdgeOperator::new(function.name, Arc::clone(edge)))),
        Body::Relation(operator) | Body::Run(operator) => Some(Arc::clone(operator)),
        Body::Generator(generator) => Some(Arc::new(GeneratorOperator::new(function, generator))),
    }
}

pub(crate) fn bind(function: &Function, call: &Call) -> Result<Binding> {
    let operator =
        operator(function).ok_or_else(|| internal_datafusion_err!("{} does not stand in FROM", function.name))?;
    operator.bind(call).map_err(|error| named_error(function.name, error))
}

pub(crate) fn call<'a>(options: &Options, names: &[String], schemas: impl Iterator<Item = &'a Schema>) -> Call {
    let inputs = names
        .iter()
        .zip(schemas)
        .map(|(name, schema)| InputSchema { name: name.clone(), schema: Arc::new(schema.clone()) })
        .collect();
    Call { options: options.clone(), inputs }
}

/// The parts by which two calls are compared.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'a> {
    function: &'a str,
    options: &'a Options,
    input_names: &'a [String],
    inputs: &'a [LogicalPlan],
    columns: Option<&'a [usize]>,
    shared: Option<usize>,
}

impl RelationNode {
    fn identity(&self) -> Identity<'_> {
        Identity {
            function: self.function.name,
            options: &self.options,
            input_names: &self.input_names,
            inputs: &self.inputs,
            columns: self.columns.as_deref(),
            shared: self.shared,
        }
    }
}

impl PartialEq for RelationNode {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for RelationNode {}

impl Hash for RelationNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl PartialOrd for RelationNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other {
            return Some(Ordering::Equal);
        }
        Some(self.function.name.cmp(other.function.name)).filter(|order| order.is_ne())
    }
}

impl UserDefinedLogicalNodeCore for RelationNode {
    fn name(&self) -> &str {
        self.function.name
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.inputs.iter().collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, &self.function, &self.options, self.columns.as_deref(), &self.binding.schema, self.shared)
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        if !exprs.is_empty() || inputs.len() != self.inputs.len() {
            return internal_err!("{}: the plan was rewritten with other inputs", self.function.name);
        }
        // Binding reads only the schemas of the inputs, which have not changed.
        if inputs.iter().zip(&self.inputs).all(|(new, old)| new.schema() == old.schema()) {
            return Ok(Self {
                function: Arc::clone(&self.function),
                options: Arc::clone(&self.options),
                input_names: Arc::clone(&self.input_names),
                inputs,
                columns: self.columns.clone(),
                shared: self.shared,
                binding: Arc::clone(&self.binding),
                schema: Arc::clone(&self.schema),
            });
        }
        let inputs = self.input_names.iter().cloned().zip(inputs).collect();
        Self::try_new(Arc::clone(&self.function), self.options(), inputs, self.columns.clone(), self.shared)
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let necessary = |(i, input): (usize, &LogicalPlan)| {
            let width = input.schema().fields().len();
            let mut columns: Vec<usize> = self.binding.reads[i]
                .iter()
                .filter_map(|name| input.schema().as_arrow().fields().iter().position(|field| field.name() == name))
                .collect();
            if self.binding.carries == Some(i) {
                // Readers of a shared run want different columns: carry them all.
                match self.shared {
                    Some(_) => columns.extend(0..width),
                    None => columns.extend(output_columns.iter().copied().filter(|&column| column < width)),
                }
            }
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        Some(self.inputs.iter().enumerate().map(necessary).collect())
    }
}

/// Writes a call as EXPLAIN shows it.
pub(crate) fn describe(
    f: &mut fmt::Formatter<'_>,
    function: &Function,
    options: &Options,
    columns: Option<&[usize]>,
    schema: &SchemaRef,
    shared: Option<usize>,
) -> fmt::Result {
    write!(f, "{}({options})", function.name)?;
    if let Some(columns) = columns {
        let names: Vec<&str> = columns.iter().map(|&column| schema.field(column).name().as_str()).collect();
        write!(f, " columns=[{}]", names.join(", "))?;
    }
    if let Some(run) = shared {
        write!(f, " run={run}")?;
    }
    Ok(())
}
