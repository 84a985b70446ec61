//! Subqueries in `SELECT DISTINCT ON`, computed by a projection below it.
//!
//! DataFusion 55 plans DISTINCT ON as an aggregate, whose arguments and sort keys cannot contain subqueries.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1, 1), (1, 2), (2, 3)) AS v(a, b)`
//! Given: `CREATE TABLE u AS SELECT * FROM (VALUES (1, 7), (2, 8)) AS v(a, c)`
//! Shows: `SELECT DISTINCT ON (a) a, (SELECT max(c) FROM u WHERE u.a = t.a) AS m FROM t ORDER BY a, b` gives `1 | 7 / 2 | 8`

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Distinct, DistinctOn, Expr, LogicalPlan, LogicalPlanBuilder};

use crate::plans::node_rules::LogicalRule;

/// Moves expressions with subqueries from DISTINCT ON to a projection of its input.
pub(crate) const DISTINCT_SUBQUERIES: LogicalRule = LogicalRule { name: "distinct_subqueries", rewrite: rewrite_node };

fn rewrite_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Distinct(Distinct::On(distinct)) if expressions(&distinct).any(has_subquery) => {
            Ok(Transformed::yes(project_subqueries(distinct)?))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn expressions(distinct: &DistinctOn) -> impl Iterator<Item = &Expr> {
    let keys = distinct.sort_expr.iter().flatten().map(|key| &key.expr);
    distinct.on_expr.iter().chain(&distinct.select_expr).chain(keys)
}

fn has_subquery(expr: &Expr) -> bool {
    let is_subquery = |expr: &Expr| matches!(expr, Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_));
    expr.exists(|expr| Ok(is_subquery(expr))).unwrap_or(false)
}

fn project_subqueries(distinct: DistinctOn) -> Result<LogicalPlan> {
    let DistinctOn { on_expr, select_expr, sort_expr, input, .. } = distinct;
    let mut computed: Vec<Expr> = Vec::new();
    let mut column = |expr: Expr| {
        if !has_subquery(&expr) {
            return expr;
        }
        let expr = expr.unalias();
        let place = computed.iter().position(|other| *other == expr).unwrap_or_else(|| {
            computed.push(expr);
            computed.len() - 1
        });
        Expr::Column(Column::new_unqualified(format!("__distinct_on_{place}")))
    };
    let names = NamePreserver::new_for_projection();
    let on: Vec<Expr> = on_expr.into_iter().map(&mut column).collect();
    let select: Vec<Expr> = select_expr
        .into_iter()
        .map(|expr| {
            let name = names.save(&expr);
            name.restore(column(expr))
        })
        .collect();
    let sort = sort_expr.map(|keys| keys.into_iter().map(|key| key.with_expr(column(key.expr.clone()))).collect());
    let columns = input.schema().columns().into_iter().map(Expr::Column);
    let computed = computed.into_iter().enumerate();
    let columns: Vec<Expr> =
        columns.chain(computed.map(|(place, expr)| expr.alias(format!("__distinct_on_{place}")))).collect();
    let input = LogicalPlanBuilder::from(Arc::unwrap_or_clone(input)).project(columns)?.build()?;
    let distinct = DistinctOn::try_new(on, select, sort, Arc::new(input))?;
    Ok(LogicalPlan::Distinct(Distinct::On(distinct)))
}
