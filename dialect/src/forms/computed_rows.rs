//! Subqueries in VALUES, `VALUES (1, (SELECT max(a) FROM t))`: DataFusion plans the rows, and cannot run them. Such rows are
//! selected one after the other.
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
    let SetExpr::Values(Values { rows, .. }) = body else { return };
    let mut rows = std::mem::take(rows).into_iter().map(row);
    let Some(first) = rows.next() else { return };
    *body = rows.fold(first, |above, below| SetExpr::SetOperation {
        op: SetOperator::Union,
        set_quantifier: SetQuantifier::All,
        left: Box::new(above),
        right: Box::new(below),
    });
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
