//! Scans of files, whose errors name the file. DataFusion 55 says what is wrong, and of several files not with which; where a
//! package panics over a damaged one, the user was told of a task.

use std::sync::Arc;

use bonnet_catalogs::naming_files;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;

use bonnet_common::panics::is_of_file;
use bonnet_dialect::plans::PhysicalRule;

/// Makes scans name their files. It is the last rule, since the others look for the readers that it hides.
pub(crate) const FILE_FAULTS: PhysicalRule = PhysicalRule { name: "file_faults", rewrite };

fn rewrite(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let scan = plan.downcast_ref::<DataSourceExec>();
    let config = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
    match config.and_then(|config| naming_files(config, is_of_file)) {
        Some(named) => Ok(Transformed::yes(DataSourceExec::from_data_source(named))),
        None => Ok(Transformed::no(plan)),
    }
}
