//! Constants of the null-supplying side of an outer join, hidden from the join.
//!
//! DataFusion 55 assumes that a column which is constant on that side, by `ON a.k = b.k AND b.d = DATE '2020-01-31'` or as
//! a literal of a subquery, is constant among the joined rows as well (`EquivalenceGroup::join`). But rows without a match
//! have NULL in its place: an ORDER BY of the column was left out, in a query and in a window.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (5), (6)) AS v(k)`
//! Shows: `SELECT b.one, a.k FROM t AS a FULL JOIN (SELECT k, 1 AS one FROM t WHERE k > 4) AS b ON a.k = b.k ORDER BY b.one NULLS LAST, a.k` gives `1 | 5 / 1 | 6 / NULL | 1`

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{JoinType, Result};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::adapter::AdapterExec;
use crate::plans::node_rules::PhysicalRule;

/// Hides such constants. It comes before the rules that leave out sorts.
pub(crate) const OUTER_JOINS: PhysicalRule = PhysicalRule { name: "outer_joins", rewrite: hide_constants };

fn hide_constants(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let Some(join_type) = join_type(&plan) else { return Ok(Transformed::no(plan)) };
    let null_supplying = match join_type {
        JoinType::Left => [false, true],
        JoinType::Right => [true, false],
        JoinType::Full => [true, true],
        _ => return Ok(Transformed::no(plan)),
    };
    let mut changed = false;
    let mut sides = Vec::with_capacity(2);
    for (side, null_supplying) in plan.children().into_iter().zip(null_supplying) {
        let hides = null_supplying && !side.equivalence_properties().constants().is_empty();
        changed |= hides;
        sides.push(match hides {
            true => Arc::new(AdapterExec::without_constants(Arc::clone(side))?),
            false => Arc::clone(side),
        });
    }
    match changed {
        true => Ok(Transformed::yes(replace_children_if_necessary(plan, sides)?)),
        false => Ok(Transformed::no(plan)),
    }
}

fn join_type(plan: &Arc<dyn ExecutionPlan>) -> Option<JoinType> {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return Some(*join.join_type());
    }
    if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
        return Some(*join.join_type());
    }
    plan.downcast_ref::<SortMergeJoinExec>().map(|join| join.join_type())
}
