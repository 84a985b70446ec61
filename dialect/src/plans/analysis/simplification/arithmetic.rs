//! Arithmetic identities that hold for some types only: DataFusion 55 takes `-x` for the bitwise complement of x, and the
//! remainder of a decimal divided by 1 for 0.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT 1.25::decimal(6, 2) AS d`
//! Shows: `SELECT d % 1 FROM t` gives `0.25`

use bonnet_sql::InputColumns;
use bonnet_values::{nullable, opaque};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};

use crate::plans::expressions::replace;

/// Hides a sign from the bitwise operator beside it, and the dividend of a remainder from the rule that it is not NULL.
pub(super) fn protect_signs_and_remainders(mut expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let mut changed = false;
    match &mut expr {
        Expr::Negative(of) if matches!(of.as_ref(), Expr::BinaryExpr(inner) if is_bitwise(inner.op)) => {
            replace(of, opaque);
            changed = true;
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_bitwise(*op) => {
            for side in [left, right] {
                if matches!(side.as_ref(), Expr::Negative(_)) {
                    replace(side, opaque);
                    changed = true;
                }
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Modulo, .. }) => {
            changed = left.get_type(schema).is_ok_and(|of| of.is_decimal()) && !left.nullable(schema).unwrap_or(true);
            if changed {
                replace(left, nullable);
            }
        }
        _ => {}
    }
    Ok(Transformed::new_transformed(expr, changed))
}

fn is_bitwise(op: Operator) -> bool {
    matches!(op, Operator::BitwiseAnd | Operator::BitwiseOr | Operator::BitwiseXor)
}
