//! `INTERSECT ALL` and `EXCEPT ALL` by the number of equal rows.
//!
//! DataFusion 55 makes semi joins and anti joins of them, which keep all copies of a row or none. SQL wants as many as the
//! smaller side has, or as the left has more: so the copies on each side are numbered, and the number is one more key.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, JoinType, NullEquality, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder};

use super::by_node::LogicalRule;

/// Numbers the copies of rows.
pub(crate) const SET_OPERATIONS: LogicalRule = LogicalRule { name: "set_operations", rewrite: with_numbered_copies };

fn with_numbered_copies(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Join(join) if counts_copies(&join) => Ok(Transformed::yes(numbered(join)?)),
        other => Ok(Transformed::no(other)),
    }
}

/// Whether the join is one of the two: no other statement makes a semi join in which NULL equals NULL at this stage, and
/// where the left side is distinct already there is nothing to count.
fn counts_copies(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && !join.on.is_empty()
        && join.filter.is_none()
        && !matches!(join.left.as_ref(), LogicalPlan::Distinct(_))
}

fn numbered(join: Join) -> Result<LogicalPlan> {
    let (left_keys, right_keys): (Vec<Expr>, Vec<Expr>) = join.on.iter().cloned().unzip();
    let columns: Vec<Expr> = join.left.schema().columns().into_iter().map(Expr::Column).collect();
    let (left, left_number) = with_number(&join.left, left_keys, "__copy_left")?;
    let (right, right_number) = with_number(&join.right, right_keys, "__copy_right")?;
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

/// The plan with the number of each row among its equals, and the column in which it stands.
fn with_number(plan: &Arc<LogicalPlan>, keys: Vec<Expr>, name: &str) -> Result<(LogicalPlan, Expr)> {
    let number = row_number().partition_by(keys).build()?;
    let made = Expr::Column(Column::new_unqualified(number.schema_name().to_string()));
    let columns = plan.schema().columns().into_iter().map(Expr::Column).chain([made.alias(name)]);
    let plan = LogicalPlanBuilder::from(plan.as_ref().clone()).window(vec![number])?.project(columns)?.build()?;
    Ok((plan, Expr::Column(Column::new_unqualified(name))))
}
