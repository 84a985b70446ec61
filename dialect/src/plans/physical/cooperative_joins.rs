//! Cooperative scheduling and cancellation of joins.
//!
//! A join of one batch may compare, and answer, billions of pairs of rows. Until it is done, its thread neither yields to
//! other tasks nor notices a timeout or a cancelled statement. DataFusion 55 makes scans yield, which suffices for
//! operators that answer no more rows than they read.
//!
//! Upstream: none known
//! Shows: no statement: time, no answer: a join of two ranges of 100,000 by an inequality notices neither a timeout nor the end of its statement.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder};

use super::wrapped_expression::{Purpose, WrappedExpression};
use crate::plans::node_rules::PhysicalRule;

/// The names of the operators that may answer more rows than they read.
const GROWING: [&str; 6] = [
    "HashJoinExec",
    "NestedLoopJoinExec",
    "CrossJoinExec",
    "SortMergeJoinExec",
    "PiecewiseMergeJoinExec",
    "UnnestExec",
];

/// Puts an operator that yields over every join, and makes the filter of a join, which may pass no row for minutes, fail
/// once its statement is cancelled.
pub(crate) const YIELDING_JOINS: PhysicalRule = PhysicalRule { name: "yielding_joins", rewrite: make_cooperative };

fn make_cooperative(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    Ok(match GROWING.contains(&plan.name()) {
        true => Transformed::yes(Arc::new(CooperativeExec::new(with_cancellation(plan)?)) as Arc<dyn ExecutionPlan>),
        false => Transformed::no(plan),
    })
}

/// A join whose filter, if it has one, checks for cancellation.
fn with_cancellation(join: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(hash) = join.downcast_ref::<HashJoinExec>()
        && let Some(filter) = hash.filter()
    {
        return hash.builder().with_filter(Some(cancellable_filter(filter))).build_exec();
    }
    if let Some(nested) = join.downcast_ref::<NestedLoopJoinExec>()
        && let Some(filter) = nested.filter()
    {
        let filter = cancellable_filter(filter);
        return Ok(Arc::new(NestedLoopJoinExecBuilder::from(nested).with_filter(Some(filter)).build()?));
    }
    Ok(join)
}

fn cancellable_filter(filter: &JoinFilter) -> JoinFilter {
    let expression = Arc::new(WrappedExpression::new(Arc::clone(filter.expression()), Purpose::Cancellation));
    JoinFilter::new(expression, filter.column_indices().to_vec(), Arc::clone(filter.schema()))
}
