//! Hides orderings and constants of the rows from GROUPING SETS, ROLLUP and CUBE, whose groups have NULLs among the keys.
//!
//! DataFusion 55 believes a key that is the same in all rows, `WHERE n = 1 GROUP BY ROLLUP (n)`, or by which they are
//! sorted, to be so among the groups as well, of which some have NULL in its place: an ORDER BY of it was left out, and
//! LIMIT gave other rows.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;

use super::adapter::AdapterExec;

/// Hides it from such an aggregate. It comes before the rules that leave out sorts.
#[derive(Debug, Default)]
pub(crate) struct GroupingOrder;

impl PhysicalOptimizerRule for GroupingOrder {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(|plan| match plan.downcast_ref::<AggregateExec>() {
            Some(aggregate) if aggregate.group_expr().has_grouping_set() => {
                let rows = Arc::new(AdapterExec::unordered(Arc::clone(aggregate.input())));
                Ok(Transformed::yes(replace_children_if_necessary(plan, vec![rows])?))
            }
            _ => Ok(Transformed::no(plan)),
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &str {
        "grouping_order"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
