//! Scans of Parquet files whose errors name the file, where it is one of a Delta table.

use std::fmt;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::error::ArrowError;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, StatisticsArgs};
use futures::StreamExt;

use super::data_files::of_files;
use crate::ground::blocking::blocking;
use crate::ground::file_path::path_of;
use crate::ground::leaf_plan::leaf_plan_methods;

/// The rule that looks for the damaged file where a scan fails. The last of all: others look for the scans, and make them anew.
#[derive(Debug)]
pub struct DamagedFiles;

impl PhysicalOptimizerRule for DamagedFiles {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(plan.transform_up(|plan| Ok(watched(plan)))?.data)
    }

    fn name(&self) -> &str {
        "damaged_files"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn watched(plan: Arc<dyn ExecutionPlan>) -> Transformed<Arc<dyn ExecutionPlan>> {
    let scan = plan.downcast_ref::<DataSourceExec>();
    let config = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
    let is_parquet = |config: &&FileScanConfig| config.file_source().file_type() == "parquet";
    let Some(config) = config.filter(is_parquet).filter(|config| config.object_store_url.as_str() == "file:///") else {
        return Transformed::no(plan);
    };
    let files = config.file_groups.iter().flat_map(|group| group.iter());
    let mut files: Vec<_> = files.map(|it| (path_of(&it.object_meta.location), it.object_meta.size)).collect();
    // Parts of a file are read side by side.
    files.sort_unstable();
    files.dedup();
    Transformed::yes(Arc::new(WatchedScan { scan: plan, files: files.into() }))
}

/// A scan, which it also looks like.
#[derive(Debug, Clone)]
struct WatchedScan {
    scan: Arc<dyn ExecutionPlan>,
    files: Arc<[(PathBuf, u64)]>,
}

impl DisplayAs for WatchedScan {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scan.fmt_as(format, f)
    }
}

impl ExecutionPlan for WatchedScan {
    fn name(&self) -> &str {
        self.scan.name()
    }

    fn downcast_delegate(&self) -> Option<&dyn ExecutionPlan> {
        Some(self.scan.as_ref())
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.scan.properties()
    }

    leaf_plan_methods!();

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let scan = Arc::clone(&self.scan).reset_state()?;
        Ok(Arc::new(Self { scan, ..self.as_ref().clone() }))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.scan.metrics()
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        self.scan.statistics_from_inputs(inputs, args)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.scan.execute(partition, context)?;
        let (schema, files) = (rows.schema(), Arc::clone(&self.files));
        let rows = AssertUnwindSafe(rows).catch_unwind().then(move |batch| {
            let files = Arc::clone(&files);
            async move {
                match batch {
                    Ok(Err(error)) if may_be_damage(&error) => Err(damage(files).await.unwrap_or(error)),
                    Ok(batch) => batch,
                    Err(panic) => match damage(files).await {
                        Some(error) => Err(error),
                        None => resume_unwind(panic),
                    },
                }
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

async fn damage(files: Arc<[(PathBuf, u64)]>) -> Option<DataFusionError> {
    blocking(move || Ok(of_files(&files))).await.ok().flatten()
}

/// Whether an error may come of a file rather than of what is computed of its rows.
fn may_be_damage(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::ParquetError(_)
        | DataFusionError::ObjectStore(_)
        | DataFusionError::IoError(_)
        | DataFusionError::External(_) => true,
        DataFusionError::ArrowError(error, _) => matches!(
            error.as_ref(),
            ArrowError::ParquetError(_) | ArrowError::IoError(..) | ArrowError::ExternalError(_)
        ),
        _ => false,
    }
}
