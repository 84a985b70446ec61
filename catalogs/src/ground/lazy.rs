//! A scan that computes its rows when it is polled, and only the projected columns.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, Time};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};

use super::error::panic_text;
use super::leaf_plan::leaf_plan_methods;

/// Computes the rows of a table: just the columns that the query reads.
pub trait LazyRows: Debug + Send + Sync + 'static {
    /// The name of the source, for plans and for the memory pool: `cora.nodes`.
    fn describe(&self) -> String;

    /// About the most bytes that computing these columns holds at once.
    fn expected_bytes(&self, columns: &[usize]) -> usize;

    /// The rows, or a closure that computes them on a blocking thread.
    fn rows<'a>(&'a self, columns: &'a [usize], context: &'a Arc<TaskContext>) -> BoxFuture<'a, Result<TableRows>>;
}

/// Computes rows until its argument answers `false`.
pub type BlockingRead = Box<dyn FnOnce(&dyn Fn() -> bool) -> Result<Vec<RecordBatch>> + Send>;

/// The rows of a table.
pub enum TableRows {
    /// Rows that are here.
    Ready(Vec<RecordBatch>),
    /// Rows that take time: a closure that runs on a blocking thread and stops soon after its argument answers `false`.
    Blocking(BlockingRead),
}

/// Scans a [`LazyRows`] in one partition.
#[derive(Debug, Clone)]
pub struct LazyExec {
    source: Arc<dyn LazyRows>,
    projection: Vec<usize>,
    limit: Option<usize>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl LazyExec {
    /// A scan of the columns `projection` (all without one) of a source with this schema.
    pub fn try_new(
        source: Arc<dyn LazyRows>,
        schema: &SchemaRef,
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
    ) -> Result<Self> {
        let projection = projection.cloned().unwrap_or_else(|| (0..schema.fields().len()).collect());
        let projected = Arc::new(schema.project(&projection)?);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(projected),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(Self { source, projection, limit, properties: Arc::new(properties), metrics })
    }
}

impl DisplayAs for LazyExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "LazyExec: {}, projection=[{}]", self.source.describe(), columns.join(", "))?;
        match self.limit {
            Some(limit) => write!(f, ", fetch={limit}"),
            None => Ok(()),
        }
    }
}

/// Turns its flag off when the stream is dropped, so that the blocking thread stops.
pub(crate) struct StopOnDrop(pub Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl ExecutionPlan for LazyExec {
    fn name(&self) -> &str {
        "LazyExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    leaf_plan_methods!();

    fn supports_limit_pushdown(&self) -> bool {
        false
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(Self { limit, ..self.clone() }))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("LazyExec has one partition, partition {partition} is asked for");
        }
        let schema = self.schema();
        let (source, projection) = (Arc::clone(&self.source), self.projection.clone());
        let expected = Arc::clone(&schema);
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let time = metrics.elapsed_compute().clone();
        let batches = async move {
            let (rows, reservation) = compute(source, projection, context, time).await?;
            for batch in &rows {
                // The plan was made for the columns that the headers announced.
                if !same_columns(&expected, batch) {
                    let message = "the files changed while the statement was planned; run it again";
                    return Err(DataFusionError::Execution(message.to_owned()));
                }
            }
            Ok::<_, DataFusionError>(emit(rows, reservation))
        };
        let mut left = self.limit.unwrap_or(usize::MAX);
        let limited = stream::once(batches).try_flatten().try_take_while(move |batch: &RecordBatch| {
            let more = left > 0;
            left = left.saturating_sub(batch.num_rows());
            futures::future::ready(Ok(more))
        });
        let mut left = self.limit.unwrap_or(usize::MAX);
        let cut = limited.map_ok(move |batch| {
            let rows = batch.num_rows().min(left);
            left -= rows;
            if rows < batch.num_rows() { batch.slice(0, rows) } else { batch }
        });
        let mut rows = cut.boxed();
        let rows = stream::poll_fn(move |cx| metrics.record_poll(rows.poll_next_unpin(cx)));
        Ok(make_cooperative(Box::pin(RecordBatchStreamAdapter::new(schema, rows))))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// Whether a batch has the planned columns, whatever their metadata.
fn same_columns(schema: &SchemaRef, batch: &RecordBatch) -> bool {
    let found = batch.schema();
    schema.fields().len() == found.fields().len()
        && schema
            .fields()
            .iter()
            .zip(found.fields())
            .all(|(a, b)| a.name() == b.name() && a.data_type() == b.data_type())
}

/// Computes the rows with memory reserved: before, what they may take; after, what they do. Adds the time of a blocking thread
/// to `time`.
async fn compute(
    source: Arc<dyn LazyRows>,
    projection: Vec<usize>,
    context: Arc<TaskContext>,
    time: Time,
) -> Result<(Vec<RecordBatch>, MemoryReservation)> {
    let name = source.describe();
    let reservation = MemoryConsumer::new(&name).register(context.memory_pool());
    reservation.try_grow(source.expected_bytes(&projection))?;
    let timer = time.timer();
    let rows = source.rows(&projection, &context).await?;
    timer.done();
    let batches = match rows {
        TableRows::Ready(batches) => batches,
        TableRows::Blocking(read) => {
            let flag = Arc::new(AtomicBool::new(true));
            let _stop = StopOnDrop(Arc::clone(&flag));
            let task = SpawnedTask::spawn_blocking(move || {
                let _timer = time.timer();
                read(&|| flag.load(Ordering::Relaxed))
            });
            match task.join().await {
                Ok(batches) => batches?,
                Err(error) if error.is_panic() => {
                    let payload = error.into_panic();
                    let reason = panic_text(&*payload).unwrap_or("of an unknown kind");
                    let message = format!("reading {name} failed with an internal error: {reason}");
                    return Err(DataFusionError::Execution(message));
                }
                Err(_) => return Err(DataFusionError::Execution(format!("reading {name} was cancelled"))),
            }
        }
    };
    reservation.try_resize(batches.iter().map(RecordBatch::get_array_memory_size).sum())?;
    Ok((batches, reservation))
}

/// Yields the batches one by one, and releases each one's memory when the next is polled.
fn emit(
    batches: Vec<RecordBatch>,
    reservation: MemoryReservation,
) -> impl futures::Stream<Item = Result<RecordBatch>> + Send {
    stream::unfold((batches.into_iter(), reservation, 0), |(mut batches, reservation, given)| async move {
        reservation.shrink(given);
        let batch = batches.next()?;
        let bytes = batch.get_array_memory_size();
        Some((Ok(batch), (batches, reservation, bytes)))
    })
}
