//! `INTERSECT ALL` and `EXCEPT ALL` of multisets.
//!
//! DataFusion 55 plans them as semi joins and anti joins, which keep all copies of a row or none. SQL keeps the lesser
//! number of copies, or the difference of their numbers. So the copies of a row are numbered on each side, and the number
//! is one more key of the join.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/12955> <https://github.com/apache/datafusion/issues/12956>
//! Shows: `SELECT * FROM (VALUES (1), (1), (1), (2)) AS a INTERSECT ALL SELECT * FROM (VALUES (1), (1), (3)) AS b` gives `1 / 1`
//! Shows: `SELECT * FROM (VALUES (1), (1), (1)) AS a EXCEPT ALL SELECT * FROM (VALUES (1)) AS b` gives `1 / 1`

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, JoinType, NullEquality, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder};

use crate::plans::node_rules::LogicalRule;

/// Adds the numbers of copies to the keys of such joins.
pub(crate) const SET_OPERATIONS: LogicalRule = LogicalRule { name: "set_operations", rewrite: rewrite_node };

fn rewrite_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Join(join) if is_set_operation(&join) => Ok(Transformed::yes(join_numbered_copies(join)?)),
        other => Ok(Transformed::no(other)),
    }
}

/// Whether a join is one of the two operations: nothing else is planned as a null-safe semi join or anti join at this
/// stage. One whose left side is DISTINCT has no copies to number.
fn is_set_operation(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && !join.on.is_empty()
        && join.filter.is_none()
        && !matches!(join.left.as_ref(), LogicalPlan::Distinct(_))
}

fn join_numbered_copies(join: Join) -> Result<LogicalPlan> {
    let (left_keys, right_keys): (Vec<Expr>, Vec<Expr>) = join.on.iter().cloned().unzip();
    let columns: Vec<Expr> = join.left.schema().columns().into_iter().map(Expr::Column).collect();
    let (left, left_number) = number_copies(&join.left, left_keys, "__copy_left")?;
    let (right, right_number) = number_copies(&join.right, right_keys, "__copy_right")?;
    let mut on = join.on;
    on.push((left_number, right_number));
    let join = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        None,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    LogicalPlanBuilder::from(LogicalPlan::Join(join)).project(columns)?.build()
}

/// The plan with a column that numbers the copies of each row, and that column.
fn number_copies(plan: &Arc<LogicalPlan>, keys: Vec<Expr>, name: &str) -> Result<(LogicalPlan, Expr)> {
    let number = row_number().partition_by(keys).build()?;
    let computed = Expr::Column(Column::new_unqualified(number.schema_name().to_string()));
    let columns = plan.schema().columns().into_iter().map(Expr::Column).chain([computed.alias(name)]);
    let plan = LogicalPlanBuilder::from(plan.as_ref().clone()).window(vec![number])?.project(columns)?.build()?;
    Ok((plan, Expr::Column(Column::new_unqualified(name))))
}
