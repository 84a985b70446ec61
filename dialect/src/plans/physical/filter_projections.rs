//! Projections embedded in filters, taken out of them before projection pushdown runs a second time.
//!
//! DataFusion 55 pushes a projection below a filter as if the filter passed on all columns of its input (`FilterExec::
//! try_swapping_with_projection`). But the first run may have embedded a projection in the filter, which selects and
//! reorders them: the second run took one column for another, and failed where their names differ.
//!
//! Upstream: none known
//! Given: `CREATE TABLE framed AS SELECT * FROM (VALUES (1, 5), (3, 7)) AS v(k, x)`
//! Shows: `SELECT a.k, nullif(b.x, a.x) AS c, a.s FROM (SELECT k, x::varchar AS s, x FROM framed) AS a LEFT JOIN (SELECT x::varchar AS s, x FROM framed) AS b ON true WHERE right(b.s, 1) LIKE '7%' ORDER BY 1` gives `1 | 7 | 5 / 3 | NULL | 7`

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};

/// DataFusion's pushdown of projections, which sees filters without an embedded projection, and a projection above instead.
#[derive(Debug)]
pub(super) struct WholeFilters(pub(super) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for WholeFilters {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(|plan| match plan.downcast_ref::<FilterExec>() {
            Some(filter) => {
                Ok(without_projection(filter)?.map_or_else(|| Transformed::no(Arc::clone(&plan)), Transformed::yes))
            }
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

/// A filter with its embedded projection above it; `None` if it has none.
fn without_projection(filter: &FilterExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
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
