//! The columns that a filter gives on, taken out of it before projections are pushed down once more.
//!
//! DataFusion 55 pushes a projection below a filter as if the filter gave all its columns (`FilterExec::
//! try_swapping_with_projection`). After the first round it gives only some, in another order: the second round took one
//! column for another, and failed where their names differ.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};

/// A rule that sees the columns of filters chosen by projections above them.
#[derive(Debug)]
pub(super) struct WholeFilters(pub(super) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for WholeFilters {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(|plan| match plan.downcast_ref::<FilterExec>() {
            Some(filter) => Ok(projected(filter)?.map_or_else(|| Transformed::no(Arc::clone(&plan)), Transformed::yes)),
            None => Ok(Transformed::no(plan)),
        })?;
        self.0.optimize(plan.data, config)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// The filter below a projection to its columns; `None` where it gives all.
fn projected(filter: &FilterExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(columns) = filter.projection() else { return Ok(None) };
    let schema = filter.input().schema();
    let columns: Vec<ProjectionExpr> = columns
        .iter()
        .map(|&at| {
            let name = schema.field(at).name();
            ProjectionExpr::new(Arc::new(Column::new(name, at)), name.clone())
        })
        .collect();
    let whole = FilterExecBuilder::from(filter).apply_projection(None)?.build()?;
    Ok(Some(Arc::new(ProjectionExec::try_new(columns, Arc::new(whole))?)))
}
