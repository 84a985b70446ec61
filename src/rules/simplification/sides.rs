//! Constants on the right of comparisons: with one on the left DataFusion takes `k = 0 AND 0 = k` for a contradiction, and
//! `x >= 5 AND 5 < x` for `x >= 5`. It turns them itself in filters, but not in joins, from where conditions come to stand
//! beside those of filters.

use bonnet_sql::InputColumns;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{BinaryExpr, Expr};

use super::casts::varies;
use crate::rules::comparisons::compares;

pub(super) fn constant_on_the_right(expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(op) && is_constant(&left) && varies(&right) => {
            match op.swap() {
                Some(op) => Transformed::yes(Expr::BinaryExpr(BinaryExpr { left: right, op, right: left })),
                None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
            }
        }
        other => Transformed::no(other),
    })
}

fn is_constant(expr: &Expr) -> bool {
    !matches!(expr, Expr::Column(_)) && !varies(expr) && !expr.is_volatile()
}
