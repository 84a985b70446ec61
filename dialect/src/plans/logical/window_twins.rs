//! Duplicate window functions of one window, such as `last_value(b OR b)` and `last_value(b)` once they are simplified.
//!
//! DataFusion 55 takes them for a common subexpression and moves it to a projection below the window, which cannot compute
//! window functions. So the window computes each function once, and a projection above it repeats the column.
//!
//! Upstream: none known
//! Given: `CREATE TABLE framed AS SELECT * FROM (VALUES (1, 5), (2, 0)) AS v(k, x)`
//! Shows: `SELECT k, last_value(x > 1 OR x > 1) OVER w, last_value(x > 1) OVER w FROM framed WINDOW w AS (ORDER BY k ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) ORDER BY k` gives `1 | false | false / 2 | false | false`

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Window};

use crate::plans::node_rules::LogicalRule;

/// Removes the duplicates. It comes before the elimination of common subexpressions.
pub(super) const WINDOW_TWINS: LogicalRule = LogicalRule { name: "window_twins", rewrite: remove_duplicates };

fn remove_duplicates(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Window(window) = plan else { return Ok(Transformed::no(plan)) };
    let mut columns: Vec<Expr> = window.input.schema().columns().into_iter().map(Expr::Column).collect();
    let mut functions: Vec<(Expr, Expr, Expr)> = Vec::with_capacity(window.window_expr.len());
    for (expr, (qualifier, field)) in window.window_expr.iter().zip(window.schema.iter().skip(columns.len())) {
        let bare = expr.clone().unalias();
        columns.push(match functions.iter().find(|(_, other, _)| *other == bare) {
            Some((_, _, column)) => column.clone().alias_qualified(qualifier.cloned(), field.name()),
            None => {
                let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
                functions.push((expr.clone(), bare, column.clone()));
                column
            }
        });
    }
    if functions.len() == window.window_expr.len() {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    }
    let functions = functions.into_iter().map(|(expr, _, _)| expr).collect();
    let once = LogicalPlan::Window(Window::try_new(functions, Arc::clone(&window.input))?);
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(once))?)))
}
