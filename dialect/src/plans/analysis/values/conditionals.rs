//! `nullif(x, y)` and `CASE x WHEN y`, whose kernels compare bits, as CASE expressions with comparisons by `=`.
//!
//! Shows: see `mod.rs`

use bonnet_sql::InputColumns;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, lit, when};

use super::canonicalization::{canonical_comparison, is_interval};

/// Whether equal values of an expression may have different bits.
fn is_ambiguous(expr: &Expr, columns: &InputColumns) -> bool {
    expr.get_type(columns).is_ok_and(|of| of.is_floating() || is_interval(&of))
}

fn equality(left: &Expr, right: Expr, columns: &InputColumns) -> Expr {
    canonical_comparison(left.clone().eq(right), columns).data
}

/// `nullif(x, y)` as `CASE WHEN x = y THEN NULL ELSE x END`.
pub(super) fn rewrite_nullif(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(ScalarFunction { args, .. }) = &expr else { return Ok(Transformed::no(expr)) };
    match args.as_slice() {
        // The CASE evaluates x twice, which a volatile expression does not allow.
        [value, other] if is_ambiguous(value, columns) && is_ambiguous(other, columns) && !value.is_volatile() => {
            let null = lit(ScalarValue::try_from(value.get_type(columns)?)?);
            let case = when(equality(value, other.clone(), columns), null).otherwise(value.clone())?;
            Ok(Transformed::yes(case))
        }
        _ => Ok(Transformed::no(expr)),
    }
}

/// `CASE x WHEN y THEN ...` as `CASE WHEN x = y THEN ...`.
pub(super) fn rewrite_case(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Case(Case { expr: Some(value), when_then_expr, else_expr })
            if is_ambiguous(&value, columns) && !value.is_volatile() =>
        {
            let condition = |(other, then): (Box<Expr>, _)| (Box::new(equality(&value, *other, columns)), then);
            let when_then_expr = when_then_expr.into_iter().map(condition).collect();
            Ok(Transformed::yes(Expr::Case(Case { expr: None, when_then_expr, else_expr })))
        }
        other => Ok(Transformed::no(other)),
    }
}
