//! Hides orderings and constants of the rows from GROUPING SETS, ROLLUP and CUBE, whose groups have NULLs among the keys.
//!
//! DataFusion 55 believes a key that is the same in all rows, `WHERE n = 1 GROUP BY ROLLUP (n)`, or by which they are
//! sorted, to be so among the groups as well, of which some have NULL in its place: an ORDER BY of it was left out, and
//! LIMIT gave other rows.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;

use super::adapter::AdapterExec;
use super::by_node::PhysicalRule;

/// Hides it from such an aggregate. It comes before the rules that leave out sorts.
pub(crate) const GROUPING_ORDER: PhysicalRule = PhysicalRule { name: "grouping_order", rewrite: without_order };

fn without_order(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    match plan.downcast_ref::<AggregateExec>() {
        Some(aggregate) if aggregate.group_expr().has_grouping_set() => {
            let rows = Arc::new(AdapterExec::unordered(Arc::clone(aggregate.input())));
            Ok(Transformed::yes(replace_children_if_necessary(plan, vec![rows])?))
        }
        _ => Ok(Transformed::no(plan)),
    }
}
