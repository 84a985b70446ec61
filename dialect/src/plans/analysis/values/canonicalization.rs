//! Canonical forms: functions that give equal floats and equal intervals one representation.
//!
//! Shows: see `mod.rs`

use arrow::datatypes::{DataType, IntervalUnit};
use bonnet_sql::InputColumns;
use bonnet_values::{canonical, constant, interval_length, is_canonical, unsigned_nan};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, lit};

use crate::plans::expressions::{comparison_operands, replace};

/// Whether a type is that of intervals of months, days and nanoseconds.
pub(super) fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(IntervalUnit::MonthDayNano))
}

/// Whether an expression computes a float, which may be a NaN with its sign set.
pub(super) fn is_computed_float(expr: &Expr, columns: &InputColumns) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    let computes = |expr: &Expr| match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => matches!(op, Plus | Minus | Multiply | Divide | Modulo),
        Expr::Cast(Cast { expr: of, .. }) | Expr::TryCast(TryCast { expr: of, .. }) => {
            of.get_type(columns).is_ok_and(|of| of.is_string())
        }
        Expr::Negative(_) | Expr::ScalarFunction(_) => true,
        _ => false,
    };
    !is_canonical(expr)
        && expr.exists(|expr| Ok(computes(expr))).unwrap_or(false)
        && expr.get_type(columns).is_ok_and(|of| of.is_floating())
}

/// Puts a computed float, or an interval, in canonical form; `false` for any other value.
pub(super) fn canonicalize(value: &mut Expr, columns: &InputColumns) -> bool {
    if is_computed_float(value, columns) {
        replace(value, unsigned_nan);
        return true;
    }
    let interval = value.get_type(columns).is_ok_and(|of| is_interval(&of));
    if interval {
        replace(value, canonical);
    }
    interval
}

/// A comparison whose operands, floats or intervals, are equal exactly if their bits are.
pub(super) fn canonical_comparison(mut expr: Expr, columns: &InputColumns) -> Transformed<Expr> {
    let mut values = comparison_operands(&mut expr);
    // All operands have one type, and that of a literal is the quickest to find.
    let literal = values.iter().find(|value| matches!(value, Expr::Literal(..)));
    let Some(of) = literal.or(values.first()).and_then(|value| value.get_type(columns).ok()) else {
        return Transformed::no(expr);
    };
    let mut changed = false;
    if of.is_floating() {
        for value in &mut values {
            changed |= drop_sign_of_zero(value);
            if is_computed_float(value, columns) {
                replace(value, unsigned_nan);
                changed = true;
            }
        }
    } else if is_interval(&of) {
        let intervals = values.iter().all(|value| value.get_type(columns).is_ok_and(|of| is_interval(&of)));
        for value in values.iter_mut().filter(|_| intervals) {
            replace(value, interval_length);
            changed = true;
        }
    }
    Transformed::new_transformed(expr, changed)
}

/// Replaces a constant that is a negative zero by the positive one: DataFusion merges conditions on constants, such as
/// `x >= 0.0 AND x > -0.0`, by comparing the bits of the constants.
fn drop_sign_of_zero(value: &mut Expr) -> bool {
    // Constants are literals, literals with a sign, and casts of both.
    let zero = match value {
        Expr::Column(_) => None,
        ref value => constant(value).as_ref().and_then(positive_zero),
    };
    let changed = zero.is_some();
    if let Some(zero) = zero {
        *value = zero;
    }
    changed
}

/// The positive zero of the type of a negative one; `None` for any other value.
fn positive_zero(value: &ScalarValue) -> Option<Expr> {
    match value {
        ScalarValue::Float64(Some(zero)) if *zero == 0.0 && zero.is_sign_negative() => Some(lit(0.0_f64)),
        ScalarValue::Float32(Some(zero)) if *zero == 0.0 && zero.is_sign_negative() => Some(lit(0.0_f32)),
        _ => None,
    }
}
