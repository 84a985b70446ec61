//! Scans of files and of tables in memory, whose NaN may have its sign set: x86 computes such a NaN for 0/0, and files and
//! frames store it.
//!
//! Shows: see `mod.rs`

use std::sync::Arc;

use bonnet_values::unsigned_nan_function;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use crate::plans::node_rules::PhysicalRule;

/// Drops the sign of NaN from floats that are scanned. It comes last, so that the other rules still find scans as leaves.
pub(crate) const SCANNED_NAN: PhysicalRule = PhysicalRule { name: "scanned_nan", rewrite: unify_nan };

fn unify_nan(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
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
