//! An operator that passes on the rows of its input in their order: with strings as views or arrays, or with some or all of
//! the input's equivalence properties hidden from the operators above.

use std::fmt;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::equivalence::{AcrossPartitions, ConstExpr, EquivalenceClass};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PhysicalExpr,
    PlanProperties, ReplaceChildrenOptions,
};
use futures::StreamExt;

/// The operator.
#[derive(Debug)]
pub(super) struct AdapterExec {
    input: Arc<dyn ExecutionPlan>,
    hidden: Hidden,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// The equivalence properties of the input that the operator does not declare.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Hidden {
    Nothing,
    Constants,
    /// Orderings, constants and equal expressions.
    Everything,
}

impl AdapterExec {
    /// Casts strings and binaries to the types in `schema`, which differs from the input's in views and arrays alone.
    pub(super) fn cast_strings(input: Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Result<Self> {
        let known = input.equivalence_properties();
        // An expression computed from strings may have another type for strings of the other representation.
        let is_column = |expr: &Arc<dyn PhysicalExpr>| expr.is::<Column>();
        let mut properties = equivalences(known, schema, |class| class.iter().all(is_column))?;
        let constants = known.constants().into_iter().filter(|constant| is_column(&constant.expr));
        // The value of a constant may be a string of the other representation.
        properties.add_constants(constants.map(|constant| match constant.across_partitions {
            AcrossPartitions::Uniform(_) => ConstExpr::new(constant.expr, AcrossPartitions::Uniform(None)),
            AcrossPartitions::Heterogeneous => constant,
        }))?;
        Ok(Self::new(input, Hidden::Nothing, properties))
    }

    /// Hides which expressions are constant.
    pub(super) fn without_constants(input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        let known = input.equivalence_properties();
        let constants: Vec<_> = known.constants().into_iter().map(|constant| constant.expr).collect();
        let varying = |class: &EquivalenceClass| class.iter().all(|expr| !constants.contains(expr));
        let properties = equivalences(known, input.schema(), varying)?;
        Ok(Self::new(input, Hidden::Constants, properties))
    }

    /// Hides orderings, constants and equal expressions.
    pub(super) fn unordered(input: Arc<dyn ExecutionPlan>) -> Self {
        let nothing = EquivalenceProperties::new(input.schema());
        Self::new(input, Hidden::Everything, nothing)
    }

    fn new(input: Arc<dyn ExecutionPlan>, hidden: Hidden, equivalences: EquivalenceProperties) -> Self {
        let properties = PlanProperties::new(
            equivalences,
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        )
        .with_scheduling_type(input.properties().scheduling_type);
        Self { input, hidden, properties: Arc::new(properties), metrics: ExecutionPlanMetricsSet::new() }
    }
}

/// The known orderings, and those classes of equal expressions that a predicate selects.
fn equivalences(
    known: &EquivalenceProperties,
    schema: SchemaRef,
    selects: impl Fn(&EquivalenceClass) -> bool,
) -> Result<EquivalenceProperties> {
    let orderings: Vec<LexOrdering> = known.oeq_class().iter().cloned().collect();
    let mut properties = EquivalenceProperties::new_with_orderings(schema, orderings);
    for class in known.eq_group().iter().filter(|class| selects(class)) {
        for (one, other) in class.iter().zip(class.iter().skip(1)) {
            properties.add_equal_conditions(Arc::clone(one), Arc::clone(other))?;
        }
    }
    Ok(properties)
}

/// Whether a type is one of views, whose arrays share buffers.
pub(super) fn is_view(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8View | DataType::BinaryView)
}

impl DisplayAs for AdapterExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let views = self.schema().fields().iter().any(|field| is_view(field.data_type()));
        f.write_str(match (self.hidden, views) {
            (Hidden::Everything, _) => "AdapterExec: unordered",
            (Hidden::Constants, _) => "AdapterExec: no constants",
            (Hidden::Nothing, true) => "AdapterExec: views",
            (Hidden::Nothing, false) => "AdapterExec: arrays",
        })
    }
}

impl ExecutionPlan for AdapterExec {
    fn name(&self) -> &str {
        "AdapterExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), None) = (children.pop(), children.pop()) else {
            return internal_err!("AdapterExec has one child");
        };
        Ok(Arc::new(match self.hidden {
            Hidden::Everything => Self::unordered(input),
            Hidden::Constants => Self::without_constants(input)?,
            Hidden::Nothing => Self::cast_strings(input, self.schema())?,
        }))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let to = Arc::clone(&schema);
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let time = metrics.elapsed_compute().clone();
        let mut rows = self.input.execute(partition, context)?.map(move |batch| {
            let batch = batch?;
            let _timer = time.timer();
            let columns = batch.columns().iter().zip(to.fields());
            let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
                true => Ok(Arc::clone(column)),
                false => cast(column, field.data_type()),
            });
            // A batch may have no columns: where a join's condition reads one side alone, the rows of that side are
            // counted.
            let count = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&to), columns.collect::<Result<_, _>>()?, &count)?)
        });
        let rows = futures::stream::poll_fn(move |cx| metrics.record_poll(rows.poll_next_unpin(cx)));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
