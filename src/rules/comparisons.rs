//! What compares values.

use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

/// Whether an operator compares two values.
pub(super) fn compares(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

/// The values that an expression compares with each other.
pub(super) fn compared(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => vec![left.as_mut(), right.as_mut()],
        Expr::Between(between) => vec![between.expr.as_mut(), between.low.as_mut(), between.high.as_mut()],
        Expr::InList(list) => std::iter::once(list.expr.as_mut()).chain(&mut list.list).collect(),
        _ => Vec::new(),
    }
}
