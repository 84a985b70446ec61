//! `nullif` and `CASE x WHEN`, which compare bits, as comparisons by `=`; and constants without the sign of a zero, since
//! conditions of them beside each other, `x >= 0.0 AND x > -0.0`, are made one by their bits.

use bonnet_sql::InputColumns;
use bonnet_standard::constant;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, lit, when};

use super::expressions::comparison;
use super::is_interval;

/// Whether values of an expression are written in several ways.
fn is_ambiguous(expr: &Expr, columns: &InputColumns) -> bool {
    expr.get_type(columns).is_ok_and(|of| of.is_floating() || is_interval(&of))
}

fn equal(left: &Expr, right: Expr, columns: &InputColumns) -> Expr {
    comparison(left.clone().eq(right), columns).data
}

pub(super) fn of_nullif(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(ScalarFunction { args, .. }) = &expr else { return Ok(Transformed::no(expr)) };
    match args.as_slice() {
        // What answers otherwise each time is not to be computed twice.
        [value, other] if is_ambiguous(value, columns) && is_ambiguous(other, columns) && !value.is_volatile() => {
            let null = lit(ScalarValue::try_from(value.get_type(columns)?)?);
            let case = when(equal(value, other.clone(), columns), null).otherwise(value.clone())?;
            Ok(Transformed::yes(case))
        }
        _ => Ok(Transformed::no(expr)),
    }
}

pub(super) fn of_case(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Case(Case { expr: Some(value), when_then_expr, else_expr })
            if is_ambiguous(&value, columns) && !value.is_volatile() =>
        {
            let compared = |(other, then): (Box<Expr>, _)| (Box::new(equal(&value, *other, columns)), then);
            let when_then_expr = when_then_expr.into_iter().map(compared).collect();
            Ok(Transformed::yes(Expr::Case(Case { expr: None, when_then_expr, else_expr })))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Makes a constant that is a negative zero the zero that it equals.
pub(super) fn unsign(value: &mut Expr) -> bool {
    // Constants are literals, literals with a sign, and casts of both.
    let zero = match value {
        Expr::Column(_) => None,
        ref value => constant(value).as_ref().and_then(unsigned_zero),
    };
    let changed = zero.is_some();
    if let Some(zero) = zero {
        *value = zero;
    }
    changed
}

fn unsigned_zero(value: &ScalarValue) -> Option<Expr> {
    match value {
        ScalarValue::Float64(Some(zero)) if *zero == 0.0 && zero.is_sign_negative() => Some(lit(0.0_f64)),
        ScalarValue::Float32(Some(zero)) if *zero == 0.0 && zero.is_sign_negative() => Some(lit(0.0_f32)),
        _ => None,
    }
}
