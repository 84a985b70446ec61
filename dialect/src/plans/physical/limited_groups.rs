//! Orderings of the input of groups of which a sort keeps the first.
//!
//! Where the input of a grouping is sorted by its keys, DataFusion 55 takes the order of the groups for that of `ORDER BY ...
//! LIMIT`, and moves the limit below the last stage of the grouping. There a group still has a row of each partition: LIMIT
//! counted such rows for groups, and lost others.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/24927>
//! Given: `SET datafusion.execution.target_partitions = 2`
//! Shows: `WITH s(x) AS (VALUES (3), (1), (2) ORDER BY 1 LIMIT 3), t AS (SELECT * FROM s UNION ALL SELECT * FROM s UNION ALL SELECT * FROM s) SELECT DISTINCT x FROM t ORDER BY x LIMIT 3` gives `1 / 2 / 3`

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

use super::adapter::AdapterExec;
use crate::plans::node_rules::PhysicalRule;

/// Hides the order of the rows from such a grouping, so that its groups are sorted, and then cut. It comes before the rules
/// that leave out sorts.
pub(crate) const LIMITED_GROUPS: PhysicalRule = PhysicalRule { name: "limited_groups", rewrite: hide_order };

fn hide_order(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let limited = plan.downcast_ref::<SortExec>().filter(|sort| sort.fetch().is_some());
    let Some(input) = limited.map(|sort| Arc::clone(sort.input())) else { return Ok(Transformed::no(plan)) };
    let input = input.transform_down(|node| match first_stage(&node) {
        // What is below another sort is no more in its order.
        _ if node.is::<SortExec>() => Ok(Transformed::new(node, false, TreeNodeRecursion::Jump)),
        Some(rows) => {
            let rows = Arc::new(AdapterExec::unordered(rows));
            Ok(Transformed::new(replace_children_if_necessary(node, vec![rows])?, true, TreeNodeRecursion::Jump))
        }
        None => Ok(Transformed::no(node)),
    })?;
    match input.transformed {
        true => Ok(Transformed::yes(replace_children_if_necessary(plan, vec![input.data])?)),
        false => Ok(Transformed::no(plan)),
    }
}

/// The input of the first of two stages of a grouping that goes by its order.
fn first_stage(node: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let aggregate = node.downcast_ref::<AggregateExec>()?;
    let ordered = *aggregate.input_order_mode() != InputOrderMode::Linear;
    (ordered && *aggregate.mode() == AggregateMode::Partial).then(|| Arc::clone(aggregate.input()))
}
