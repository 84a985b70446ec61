//! Subqueries in VALUES, `VALUES (1, (SELECT max(a) FROM t))`: DataFusion plans the rows, and cannot run them. Rows with one are
//! selected each.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT 7 AS a`
//! Shows: `SELECT x, y FROM (VALUES (1, (SELECT a FROM t)), (2, 3)) AS v(x, y)` gives `1 | 7 / 2 | 3`

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Parens, SelectItem, SetExpr, SetOperator, SetQuantifier, Values,
};

use crate::syntax::tree::ast;
use crate::syntax::tree::walk::find;

/// Puts `SELECT ... UNION ALL SELECT ...` in the place of each VALUES of a query with a subquery in it.
pub(crate) fn select(mut body: &mut SetExpr) {
    // A chain of hundreds is as deep on its left side.
    while let SetExpr::SetOperation { left, right, .. } = body {
        select(right);
        body = left;
    }
    if matches!(body, SetExpr::Values(values) if values.rows.iter().any(is_computed)) {
        replace(body);
    }
}

// Apart, so that its rows take no stack at each level of a query.
#[inline(never)]
fn replace(body: &mut SetExpr) {
    let SetExpr::Values(Values { explicit_row, value_keyword, rows }) = body else { return };
    let (explicit_row, value_keyword) = (*explicit_row, *value_keyword);
    let mut parts: Vec<SetExpr> = Vec::new();
    for values in std::mem::take(rows) {
        match parts.last_mut() {
            _ if is_computed(&values) => parts.push(row(values)),
            Some(SetExpr::Values(Values { rows, .. })) => rows.push(values),
            _ => parts.push(SetExpr::Values(Values { explicit_row, value_keyword, rows: vec![values] })),
        }
    }
    // With the types of their values: those of an INSERT would have the types of its table, which the union changes again.
    parts.iter_mut().for_each(ast::set_values_apart);
    if let Some(all) = union_all(parts) {
        *body = all;
    }
}

/// The rows of all parts, by a tree of as few levels as can be.
fn union_all(mut parts: Vec<SetExpr>) -> Option<SetExpr> {
    if parts.len() < 2 {
        return parts.pop();
    }
    let behind = parts.split_off(parts.len() / 2);
    Some(SetExpr::SetOperation {
        op: SetOperator::Union,
        set_quantifier: SetQuantifier::All,
        left: Box::new(union_all(parts)?),
        right: Box::new(union_all(behind)?),
    })
}

/// Whether a row has a subquery.
fn is_computed(row: &Parens<Vec<Expr>>) -> bool {
    let is_subquery = |expr: &Expr| matches!(expr, Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. });
    row.content.iter().any(|value| find(value, &is_subquery).is_some())
}

/// A row of VALUES as a query of one row, with the names that VALUES gives.
fn row(values: Parens<Vec<Expr>>) -> SetExpr {
    let named = |(at, expr)| SelectItem::ExprWithAlias { expr, alias: ast::quoted(format!("column{}", at + 1)) };
    let items = values.content.into_iter().enumerate().map(named).collect();
    let mut query = ast::select(items, ast::table(ObjectName(vec![])), vec![]);
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.from.clear();
    }
    *query.body
}
