//! The plan of a DELETE or an UPDATE: rows change when it runs, not when it is planned, so that EXPLAIN changes nothing.

use std::fmt;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties, ReplaceChildrenOptions,
};
use futures::future::BoxFuture;

/// Changes the rows of a table and answers their number.
type Run = dyn Fn(Arc<TaskContext>) -> BoxFuture<'static, Result<u64>> + Send + Sync;

/// A DELETE or an UPDATE; answers the number of rows that it changed.
pub(crate) struct ChangeExec {
    shown: String,
    run: Box<Run>,
    properties: Arc<PlanProperties>,
}

impl ChangeExec {
    /// A change that EXPLAIN shows as `shown`.
    pub fn new(
        shown: String,
        run: impl Fn(Arc<TaskContext>) -> BoxFuture<'static, Result<u64>> + Send + Sync + 'static,
    ) -> Self {
        let schema = Arc::new(Schema::new(vec![Field::new("count", DataType::UInt64, false)]));
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { shown, run: Box::new(run), properties: Arc::new(properties) }
    }
}

impl fmt::Debug for ChangeExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeExec").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl DisplayAs for ChangeExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl ExecutionPlan for ChangeExec {
    fn name(&self) -> &str {
        "ChangeExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (count, schema) = ((self.run)(context), self.schema());
        let answer = {
            let schema = Arc::clone(&schema);
            async move { Ok(RecordBatch::try_new(schema, vec![Arc::new(UInt64Array::from(vec![count.await?]))])?) }
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::once(answer))))
    }
}
