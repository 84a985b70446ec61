//! The NaN of tables, which may have its sign set: 0/0 does on x86, where files and frames are written.

use std::sync::Arc;

use bonnet_standard::unsigned_nan_function;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use crate::rules::by_node::PhysicalRule;

/// Gives the floats of files, and of tables in memory, one NaN. It comes last: what is below is still a scan to the others.
pub(crate) const SCANNED_NAN: PhysicalRule = PhysicalRule { name: "scanned_nan", rewrite: with_one_nan };

fn with_one_nan(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let schema = plan.schema();
    if !plan.is::<DataSourceExec>() || !schema.fields().iter().any(|field| field.data_type().is_floating()) {
        return Ok(Transformed::no(plan));
    }
    let (function, options) = (unsigned_nan_function(), Arc::new(ConfigOptions::default()));
    let columns = schema.fields().iter().enumerate().map(|(at, field)| {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), at));
        let expr = match field.data_type().is_floating() {
            true => Arc::new(ScalarFunctionExpr::try_new(
                Arc::clone(&function),
                vec![column],
                &schema,
                Arc::clone(&options),
            )?),
            false => column,
        };
        Ok(ProjectionExpr::new(expr, field.name().clone()))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(Transformed::yes(Arc::new(ProjectionExec::try_new(columns, plan)?)))
}
