//! The node of a plan that calls a function in FROM: logical and physical.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool};

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchema, DFSchemaRef, DataFusionError, Result, internal_datafusion_err, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::distribution_requirements::InputDistributionRequirements;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions, SchedulingType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::StreamExt;
use tokio::sync::mpsc;

use crate::shared::SharedRun;
use crate::statement::Statement;
use crate::{Binding, Call, Function, GraphResolver, Host, InputSchema, KernelContext, Options, Run, named_error};

/// A call of a function in FROM, with its relations as inputs of the plan.
#[derive(Debug, Clone)]
pub struct RelationNode {
    pub(crate) function: Arc<Function>,
    pub(crate) options: Options,
    /// The parameters that the inputs are given for.
    pub(crate) input_names: Vec<String>,
    pub(crate) inputs: Vec<LogicalPlan>,
    /// The columns of the answer that are read; `None` for all. Never set on a node that carries an input.
    pub(crate) columns: Option<Vec<usize>>,
    /// The number of the run that this node shares with equal nodes of the statement.
    pub(crate) shared: Option<usize>,
    pub(crate) binding: Binding,
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
        let schema = match (binding.carries, &columns) {
            (Some(input), _) => {
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
            (None, None) => DFSchema::try_from(binding.schema.as_ref().clone())?,
            (None, Some(columns)) => DFSchema::try_from(binding.schema.project(columns)?)?,
        };
        Ok(Self { function, options, input_names, inputs, columns, shared, binding, schema: Arc::new(schema) })
    }

    /// The function called.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// The generator and its constants, where the call makes one graph: what `CREATE GRAPH` keeps.
    pub fn generator(&self) -> Option<(&Arc<dyn crate::Generator>, &Options)> {
        let of_many = || self.input_names.iter().any(|name| name == crate::generator::PARAMETERS);
        match &self.function.body {
            crate::Body::Generator(generator) if !of_many() => Some((generator, &self.options)),
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

    /// The same call answering only these columns of the whole answer.
    pub(crate) fn with_columns(&self, columns: Vec<usize>) -> Result<Self> {
        let inputs = self.input_names.iter().cloned().zip(self.inputs.iter().cloned()).collect();
        Self::try_new(Arc::clone(&self.function), self.options.clone(), inputs, Some(columns), self.shared)
    }
}

fn bind(function: &Function, call: &Call) -> Result<Binding> {
    let operator =
        function.operator().ok_or_else(|| internal_datafusion_err!("{} does not stand in FROM", function.name))?;
    operator.bind(call).map_err(|error| named_error(function.name, error))
}

fn call<'a>(options: &Options, names: &[String], schemas: impl Iterator<Item = &'a Schema>) -> Call {
    let inputs = names
        .iter()
        .zip(schemas)
        .map(|(name, schema)| InputSchema { name: name.clone(), schema: Arc::new(schema.clone()) })
        .collect();
    Call { options: options.clone(), inputs }
}

/// What makes two calls the same call.
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
        // What binding looks at has not changed.
        if inputs.iter().zip(&self.inputs).all(|(new, old)| new.schema() == old.schema()) {
            return Ok(Self {
                function: Arc::clone(&self.function),
                options: self.options.clone(),
                input_names: self.input_names.clone(),
                inputs,
                columns: self.columns.clone(),
                shared: self.shared,
                binding: self.binding.clone(),
                schema: Arc::clone(&self.schema),
            });
        }
        let inputs = self.input_names.iter().cloned().zip(inputs).collect();
        Self::try_new(Arc::clone(&self.function), self.options.clone(), inputs, self.columns.clone(), self.shared)
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

fn describe(
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

/// The physical call: one output partition, every input read as one.
#[derive(Debug)]
pub struct RelationExec {
    pub(crate) function: Arc<Function>,
    pub(crate) options: Options,
    pub(crate) input_names: Vec<String>,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    /// The columns of the answer that this node gives.
    pub(crate) columns: Option<Vec<usize>>,
    /// The columns that the run computes: more than `columns` where the run is shared.
    pub(crate) computed: Option<Vec<usize>>,
    pub(crate) shared: Option<(usize, Arc<SharedRun>)>,
    pub(crate) graphs: Arc<dyn GraphResolver>,
    binding: Binding,
    properties: Arc<PlanProperties>,
}

impl RelationExec {
    #[expect(clippy::too_many_arguments, reason = "the parts of the node, each once")]
    pub(crate) fn try_new(
        function: Arc<Function>,
        options: Options,
        input_names: Vec<String>,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        columns: Option<Vec<usize>>,
        computed: Option<Vec<usize>>,
        shared: Option<(usize, Arc<SharedRun>)>,
        graphs: Arc<dyn GraphResolver>,
    ) -> Result<Self> {
        let schemas: Vec<SchemaRef> = inputs.iter().map(|input| input.schema()).collect();
        let binding = bind(&function, &call(&options, &input_names, schemas.iter().map(AsRef::as_ref)))?;
        let schema = match &columns {
            Some(columns) => Arc::new(binding.schema.project(columns)?),
            None => Arc::clone(&binding.schema),
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Ok(Self {
            function,
            options,
            input_names,
            inputs,
            columns,
            computed,
            shared,
            graphs,
            binding,
            properties: Arc::new(properties),
        })
    }

    /// The columns that the run computes.
    fn computed_schema(&self) -> Result<SchemaRef> {
        Ok(match &self.computed {
            Some(columns) => Arc::new(self.binding.schema.project(columns)?),
            None => Arc::clone(&self.binding.schema),
        })
    }

    /// Starts the run: the operator works on a blocking thread and sends its rows here.
    fn start(&self, context: &Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let kernels = context
            .session_config()
            .get_extension::<KernelContext>()
            .ok_or_else(|| internal_datafusion_err!("the session lends no kernel threads"))?;
        let host = Host::new(self.function.name, context, &kernels);
        let (output, mut rows) = mpsc::channel(4);
        let schema = self.computed_schema()?;
        let cancelled = CancelOnDrop(host.cancelled());
        let binding = self.binding.clone();
        let mut run = Run {
            inputs: self
                .inputs
                .iter()
                .map(|input| input.execute(0, Arc::clone(context)).map(Some))
                .collect::<Result<_>>()?,
            output: output.clone(),
            schema: Arc::clone(&self.binding.schema),
            columns: self.computed.clone(),
            host: Arc::new(host),
            kernels: kernels.as_ref().clone(),
            graphs: Arc::clone(&self.graphs),
            context: Arc::clone(context),
            runtime: tokio::runtime::Handle::current(),
        };
        let name = self.function.name;
        let statement = Statement::current();
        tokio::task::spawn_blocking(move || {
            let work = || Statement::enter(statement, || binding.run(&mut run));
            // A panic is a defect of ours; the session must outlive it.
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(work));
            drop(run);
            let error = match outcome {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(panic) => DataFusionError::Execution(format!(
                    "{name} failed by a defect of the engine, please report it: {}",
                    panic_text(panic.as_ref())
                )),
            };
            // Nobody is there to read the error when the query was dropped.
            let _ = output.blocking_send(Err(error));
        });
        let stream = futures::stream::poll_fn(move |cx| {
            let _ = &cancelled;
            rows.poll_recv(cx)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, atomic::Ordering::Relaxed);
    }
}

/// What a panic said.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}

impl DisplayAs for RelationExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = self.shared.as_ref().map(|(run, _)| *run);
        f.write_str("RelationExec: ")?;
        describe(f, &self.function, &self.options, self.columns.as_deref(), &self.binding.schema, run)
    }
}

impl ExecutionPlan for RelationExec {
    fn name(&self) -> &str {
        "RelationExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition; self.inputs.len()])
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_inputs(children, self.shared.clone())
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_inputs(children, self.shared.clone())
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        // A recursive query runs its step again on other rows: nothing may be kept from the last time.
        self.with_inputs(self.inputs.clone(), None)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("{} has one partition, not {partition}", self.function.name);
        }
        let Some((_, shared)) = &self.shared else { return self.start(&context) };
        let computed = self.computed_schema()?;
        let rows = shared.read(Arc::clone(&computed), Arc::clone(&context), || self.start(&context))?;
        let schema = self.schema();
        let positions = schema.fields().iter().map(|field| computed.index_of(field.name()));
        if self.columns.is_none() {
            return Ok(rows);
        }
        let positions = positions.collect::<Result<Vec<_>, _>>()?;
        let rows = rows.map(move |batch| Ok(batch?.project(&positions)?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

impl RelationExec {
    fn with_inputs(
        &self,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        shared: Option<(usize, Arc<SharedRun>)>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::try_new(
            Arc::clone(&self.function),
            self.options.clone(),
            self.input_names.clone(),
            inputs,
            self.columns.clone(),
            if shared.is_some() { self.computed.clone() } else { self.columns.clone() },
            shared,
            Arc::clone(&self.graphs),
        )?))
    }
}
