//! The physical node of a call in FROM.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_datafusion_err, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::distribution_requirements::InputDistributionRequirements;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions, SchedulingType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, Time};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::StreamExt;
use tokio::runtime::Handle;

use crate::execution::graph_partitions::ByGraph;
use crate::execution::launch::Launch;
use crate::execution::shared_run::SharedRun;
use crate::graphs::GraphResolver;
use crate::graphs::table_version::WholeTable;
use crate::host::KernelContext;
use crate::plans::node::{bind, call, describe};
use crate::registry::Function;
use crate::registry::operator::Binding;
use crate::registry::options::Options;

/// The physical call: one output partition, every input read as one; or, of a collection of graphs, by partitions of
/// whole graphs.
#[derive(Debug)]
pub struct RelationExec {
    pub(crate) function: Arc<Function>,
    pub(crate) options: Options,
    pub(crate) input_names: Vec<String>,
    pub(crate) inputs: Vec<Arc<dyn ExecutionPlan>>,
    /// The columns of the answer that this node gives.
    pub(crate) columns: Option<Vec<usize>>,
    /// The columns that the run computes: more than `columns` where the run is shared.
    pub(crate) computed: Option<Vec<usize>>,
    pub(crate) shared: Option<(usize, Arc<SharedRun>)>,
    pub(crate) graphs: Arc<dyn GraphResolver>,
    pub(crate) binding: Binding,
    /// The tables that the inputs are, where they are tables as they stand: their graphs may be cached.
    sources: Vec<Option<WholeTable>>,
    /// Where the columns `graph_id` are, if the call computes each graph apart.
    by_graph: Option<ByGraph>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
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
        let schema = binding.projected(columns.as_deref())?;
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        let by_graph = ByGraph::of(&binding, &schemas);
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
            sources: Vec::new(),
            by_graph,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The same with the tables that its inputs are.
    pub(crate) fn with_sources(self, sources: Vec<Option<WholeTable>>) -> Self {
        Self { sources, ..self }
    }

    /// Starts the run, or one for each partition of graphs.
    fn start(&self, context: &Arc<TaskContext>, time: &Time) -> Result<SendableRecordBatchStream> {
        let launch = self.launch(context, time)?;
        let computed = self.computed.as_deref();
        match &self.by_graph {
            None => launch.whole(self.binding.projected(computed)?),
            Some(by_graph) => by_graph.start(&launch, computed),
        }
    }

    fn launch(&self, context: &Arc<TaskContext>, time: &Time) -> Result<Launch> {
        let kernels = context
            .session_config()
            .get_extension::<KernelContext>()
            .ok_or_else(|| internal_datafusion_err!("the session lends no kernel threads"))?;
        Ok(Launch {
            name: self.function.name,
            inputs: self.inputs.clone(),
            binding: self.binding.clone(),
            sources: self.sources.clone(),
            computed: self.computed.clone(),
            kernels: kernels.as_ref().clone(),
            graphs: Arc::clone(&self.graphs),
            context: Arc::clone(context),
            runtime: Handle::current(),
            cancelled: Arc::default(),
            computed_for: time.clone(),
        })
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
        match &self.by_graph {
            Some(by_graph) => by_graph.distribution(),
            None => InputDistributionRequirements::new(vec![Distribution::SinglePartition; self.inputs.len()]),
        }
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        match &self.by_graph {
            Some(by_graph) => by_graph.ordering(),
            None => vec![None; self.inputs.len()],
        }
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
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let mut rows = self.rows(context, metrics.elapsed_compute())?;
        let schema = rows.schema();
        let rows = futures::stream::poll_fn(move |cx| metrics.record_poll(rows.poll_next_unpin(cx)));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

impl RelationExec {
    /// The rows; what they take to compute is added to `time`.
    fn rows(&self, context: Arc<TaskContext>, time: &Time) -> Result<SendableRecordBatchStream> {
        let Some((_, shared)) = &self.shared else { return self.start(&context, time) };
        let computed = self.binding.projected(self.computed.as_deref())?;
        let rows = shared.read(Arc::clone(&computed), Arc::clone(&context), || self.start(&context, time))?;
        let schema = self.schema();
        let positions = schema.fields().iter().map(|field| computed.index_of(field.name()));
        if self.columns.is_none() {
            return Ok(rows);
        }
        let positions = positions.collect::<Result<Vec<_>, _>>()?;
        let rows = rows.map(move |batch| Ok(batch?.project(&positions)?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn with_inputs(
        &self,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        shared: Option<(usize, Arc<SharedRun>)>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let exec = Self::try_new(
            Arc::clone(&self.function),
            self.options.clone(),
            self.input_names.clone(),
            inputs,
            self.columns.clone(),
            if shared.is_some() { self.computed.clone() } else { self.columns.clone() },
            shared,
            Arc::clone(&self.graphs),
        )?;
        Ok(Arc::new(exec.with_sources(self.sources.clone())))
    }
}
