//! Orderings and constants of the input of GROUPING SETS, ROLLUP and CUBE, hidden from the aggregate.
//!
//! DataFusion 55 assumes that a key which is constant in the input, as in `WHERE n = 1 GROUP BY ROLLUP (n)`, is constant
//! among the groups as well, and likewise for a key by which the input is sorted. But some groups have NULL in its place:
//! an ORDER BY of the key was left out, and LIMIT gave other rows.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/24421> <https://github.com/apache/datafusion/pull/24422>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (1), (2)) AS v(a)`
//! Shows: `SELECT a, count(*) FROM t WHERE a = 1 GROUP BY ROLLUP (a) ORDER BY 1 DESC NULLS LAST` gives `1 | 2 / NULL | 2`

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;

use super::adapter::AdapterExec;
use crate::plans::node_rules::PhysicalRule;

/// Hides orderings and constants from such an aggregate. It comes before the rules that leave out sorts.
pub(crate) const GROUPING_ORDER: PhysicalRule = PhysicalRule { name: "grouping_order", rewrite: hide_order };

fn hide_order(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    match plan.downcast_ref::<AggregateExec>() {
        Some(aggregate) if aggregate.group_expr().has_grouping_set() => {
            let rows = Arc::new(AdapterExec::unordered(Arc::clone(aggregate.input())));
            Ok(Transformed::yes(replace_children_if_necessary(plan, vec![rows])?))
        }
        _ => Ok(Transformed::no(plan)),
    }
}
