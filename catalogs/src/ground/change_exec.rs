//! A DELETE or an UPDATE and its plan: rows change when it runs, not when it is planned, so that EXPLAIN changes nothing.

use std::fmt;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::Session;
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::future::BoxFuture;

use super::leaf_plan::leaf_plan_methods;

/// The change of rows that a DELETE or an UPDATE states.
#[derive(Debug, Clone)]
pub(crate) struct RowChange {
    /// Conditions that all have to hold.
    pub filters: Vec<Expr>,
    /// The new values of columns; none for DELETE.
    pub assignments: Option<Vec<(String, Expr)>>,
}

impl RowChange {
    /// The rows for which all conditions hold go.
    pub fn delete(filters: Vec<Expr>) -> Self {
        Self { filters, assignments: None }
    }

    /// The rows for which all conditions hold get new values.
    pub fn update(assignments: Vec<(String, Expr)>, filters: Vec<Expr>) -> Self {
        Self { filters, assignments: Some(assignments) }
    }

    /// The statement's verb.
    pub fn verb(&self) -> &'static str {
        if self.assignments.is_some() { "UPDATE" } else { "DELETE" }
    }
}

/// The state of a session, with all that a change needs when it runs.
pub(crate) fn session_state(session: &dyn Session) -> Result<SessionState> {
    let state = session.as_any().downcast_ref::<SessionState>();
    state.cloned().ok_or_else(|| internal_datafusion_err!("a table is changed by a session of another kind"))
}

/// Changes the rows of a table and answers their number.
type Run = dyn Fn(Arc<TaskContext>) -> BoxFuture<'static, Result<u64>> + Send + Sync;

/// A DELETE or an UPDATE; answers the number of rows that it changed.
pub(crate) struct ChangeExec {
    shown: String,
    run: Box<Run>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
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
        let metrics = ExecutionPlanMetricsSet::new();
        Self { shown, run: Box::new(run), properties: Arc::new(properties), metrics }
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

    leaf_plan_methods!();

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (count, schema) = ((self.run)(context), self.schema());
        let answer = {
            let schema = Arc::clone(&schema);
            let metrics = BaselineMetrics::new(&self.metrics, partition);
            async move {
                let timer = metrics.elapsed_compute().timer();
                let count = count.await?;
                timer.done();
                metrics.record_output(1);
                Ok(RecordBatch::try_new(schema, vec![Arc::new(UInt64Array::from(vec![count]))])?)
            }
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::once(answer))))
    }
}
