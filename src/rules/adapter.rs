//! A node between two others, through which the same rows go in the same order: their strings in another form, or with less
//! or nothing said about them.

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
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PhysicalExpr,
    PlanProperties, ReplaceChildrenOptions,
};
use futures::StreamExt;

/// The node.
#[derive(Debug)]
pub(super) struct AdapterExec {
    input: Arc<dyn ExecutionPlan>,
    hides: Hides,
    properties: Arc<PlanProperties>,
}

/// What is not said about the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Hides {
    Nothing,
    Constants,
    Everything,
}

impl AdapterExec {
    /// Strings and binaries as `schema` has them, which is that of the rows but for views and arrays.
    pub(super) fn strings(input: Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Result<Self> {
        let known = input.equivalence_properties();
        // A function of strings gives what it is declared to give of those below alone.
        let is_column = |expr: &Arc<dyn PhysicalExpr>| expr.is::<Column>();
        let mut same = equivalences(known, schema, |class| class.iter().all(is_column))?;
        let constants = known.constants().into_iter().filter(|constant| is_column(&constant.expr));
        // What a constant is may be a string in the other form.
        same.add_constants(constants.map(|constant| match constant.across_partitions {
            AcrossPartitions::Uniform(_) => ConstExpr::new(constant.expr, AcrossPartitions::Uniform(None)),
            AcrossPartitions::Heterogeneous => constant,
        }))?;
        Ok(Self::new(input, Hides::Nothing, same))
    }

    /// The rows without a word about what is the same in all of them.
    pub(super) fn without_constants(input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        let known = input.equivalence_properties();
        let constants: Vec<_> = known.constants().into_iter().map(|constant| constant.expr).collect();
        let varying = |class: &EquivalenceClass| class.iter().all(|expr| !constants.contains(expr));
        let same = equivalences(known, input.schema(), varying)?;
        Ok(Self::new(input, Hides::Constants, same))
    }

    /// The rows without a word about their order, or about what is the same in all of them.
    pub(super) fn unordered(input: Arc<dyn ExecutionPlan>) -> Self {
        let nothing = EquivalenceProperties::new(input.schema());
        Self::new(input, Hides::Everything, nothing)
    }

    fn new(input: Arc<dyn ExecutionPlan>, hides: Hides, equivalences: EquivalenceProperties) -> Self {
        let properties = PlanProperties::new(
            equivalences,
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        )
        .with_scheduling_type(input.properties().scheduling_type);
        Self { input, hides, properties: Arc::new(properties) }
    }
}

/// The orders of the rows, and the columns that are equal in each of them, of the classes that are chosen.
fn equivalences(
    known: &EquivalenceProperties,
    schema: SchemaRef,
    chosen: impl Fn(&EquivalenceClass) -> bool,
) -> Result<EquivalenceProperties> {
    let orderings: Vec<LexOrdering> = known.oeq_class().iter().cloned().collect();
    let mut same = EquivalenceProperties::new_with_orderings(schema, orderings);
    for class in known.eq_group().iter().filter(|class| chosen(class)) {
        for (one, other) in class.iter().zip(class.iter().skip(1)) {
            same.add_equal_conditions(Arc::clone(one), Arc::clone(other))?;
        }
    }
    Ok(same)
}

/// Whether values of a type share the buffers of others.
pub(super) fn is_view(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8View | DataType::BinaryView)
}

impl DisplayAs for AdapterExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let views = self.schema().fields().iter().any(|field| is_view(field.data_type()));
        f.write_str(match (self.hides, views) {
            (Hides::Everything, _) => "AdapterExec: unordered",
            (Hides::Constants, _) => "AdapterExec: no constants",
            (Hides::Nothing, true) => "AdapterExec: views",
            (Hides::Nothing, false) => "AdapterExec: arrays",
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
        Ok(Arc::new(match self.hides {
            Hides::Everything => Self::unordered(input),
            Hides::Constants => Self::without_constants(input)?,
            Hides::Nothing => Self::strings(input, self.schema())?,
        }))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let to = Arc::clone(&schema);
        let rows = self.input.execute(partition, context)?.map(move |batch| {
            let batch = batch?;
            let columns = batch.columns().iter().zip(to.fields());
            let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
                true => Ok(Arc::clone(column)),
                false => cast(column, field.data_type()),
            });
            // There may be none: a join whose condition is all on one side counts the rows of that side.
            let count = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&to), columns.collect::<Result<_, _>>()?, &count)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
