//! Logical expressions: replacement in place, and the operands of comparisons.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

/// Puts the result of a function of an expression in the place of the expression.
pub(super) fn replace(expr: &mut Expr, with: impl FnOnce(Expr) -> Expr) {
    *expr = with(std::mem::take(expr));
}

/// More parts than an expression has that is written down twice without a thought.
const LARGE: usize = 64;

/// Whether an expression has so many parts that a rule which copies it would make too many of several such in each other.
pub(super) fn is_large(expr: &Expr) -> bool {
    let mut parts = 0;
    let counted = expr.apply(|_| {
        parts += 1;
        Ok(if parts > LARGE { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    counted.is_err() || parts > LARGE
}

/// So many expressions in each other of which DataFusion copies a part make few copies.
const COPYING: usize = 3;

/// Whether an expression has so many that DataFusion writes with a part of them twice, BETWEEN, CASE and `coalesce`, that one more
/// copy of it would be one too many: each doubles those within.
pub(super) fn is_copied_often(expr: &Expr) -> bool {
    let mut copying = 0;
    let counted = expr.apply(|part| {
        copying += usize::from(match part {
            Expr::Between(_) | Expr::Case(_) => true,
            Expr::ScalarFunction(call) => matches!(call.name(), "coalesce" | "nvl" | "ifnull"),
            _ => false,
        });
        Ok(if copying > COPYING { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    counted.is_err() || copying > COPYING
}

/// Whether an operator compares two values.
pub(super) fn is_comparison(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

/// The values that an expression compares with each other; none if it is no comparison.
pub(super) fn comparison_operands(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => vec![left.as_mut(), right.as_mut()],
        Expr::Between(between) => vec![between.expr.as_mut(), between.low.as_mut(), between.high.as_mut()],
        Expr::InList(list) => std::iter::once(list.expr.as_mut()).chain(&mut list.list).collect(),
        _ => Vec::new(),
    }
}
