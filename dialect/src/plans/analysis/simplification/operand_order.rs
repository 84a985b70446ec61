//! Operand order of comparisons: constants stand on the right.
//!
//! With a constant on the left, DataFusion 55 takes `k = 0 AND 0 = k` for a contradiction, and `x >= 5 AND 5 < x` for `x >=
//! 5`. It swaps the operands itself in filters, but not in join conditions, which later come to stand beside those of
//! filters.
//!
//! Upstream: none known
//! Given: `CREATE TABLE side AS SELECT * FROM (VALUES (0, 1), (0, 2), (0, 3), (5, 4), (NULL, 5)) AS t(k, v)`
//! Shows: `SELECT count(*) FROM (SELECT a.k FROM side a LEFT JOIN side b ON a.k = b.k AND 0 = a.k)` gives `11`

use bonnet_sql::InputColumns;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{BinaryExpr, Expr};

use super::casts::is_row_dependent;
use crate::plans::expressions::is_comparison;

/// Swaps the operands of a comparison whose left one alone is a constant.
pub(super) fn move_constant_right(expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if is_comparison(op) && is_constant(&left) && is_row_dependent(&right) =>
        {
            match op.swap() {
                Some(op) => Transformed::yes(Expr::BinaryExpr(BinaryExpr { left: right, op, right: left })),
                None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
            }
        }
        other => Transformed::no(other),
    })
}

fn is_constant(expr: &Expr) -> bool {
    !matches!(expr, Expr::Column(_)) && !is_row_dependent(expr) && !expr.is_volatile()
}
