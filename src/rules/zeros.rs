//! `0.0` and `-0.0` are equal, whatever compares them.
//!
//! DataFusion 55 knows it of `=`, `<`, `IN`, `GROUP BY` and joins. `nullif`, `CASE x WHEN`, and the keys of windows and sorts
//! compare bits: the first two become comparisons by `=`, and the keys get a zero added, which takes the sign from a zero
//! alone. The last key of a sort stays: no other is behind it, for which it matters. Conditions of constants beside each
//! other, `x >= 0.0 AND x > -0.0`, are made one by bits as well: constants in comparisons lose the sign of a zero.

use arrow::datatypes::DataType;
use bonnet_standard::constant;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Sort, lit, when};

use super::by_node::{LogicalRule, map_expressions};
use super::comparisons::compared;

/// Rewrites such comparisons of floats.
pub(crate) const ZEROS: LogicalRule = LogicalRule { name: "zeros", rewrite: with_equal_zeros };

fn with_equal_zeros(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    if let LogicalPlan::Sort(sort) = plan {
        return by_values(sort);
    }
    if !compares_bits(&plan)? {
        return Ok(Transformed::no(plan));
    }
    map_expressions(plan, |expr, schema| expr.transform_up(|expr| by_value(expr, schema)))
}

/// Whether the plan's own expressions hold one of those that are rewritten, of whatever type.
fn compares_bits(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(|expr| {
        found = expr.exists(|expr| {
            Ok(match expr {
                Expr::ScalarFunction(function) => function.name() == "nullif",
                Expr::Case(case) => case.expr.is_some(),
                Expr::WindowFunction(_) | Expr::Negative(_) => true,
                Expr::Literal(value, _) => unsigned_zero(value).is_some(),
                _ => false,
            })
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

fn by_value(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let float = |expr: &Expr| Ok::<_, datafusion::error::DataFusionError>(expr.get_type(schema)?.is_floating());
    match expr {
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == "nullif" => match args.as_slice() {
            // What answers otherwise each time is not to be computed twice.
            [value, other] if float(value)? && float(other)? && !value.is_volatile() => {
                let null = lit(ScalarValue::try_from(value.get_type(schema)?)?);
                let case = when(value.clone().eq(other.clone()), null).otherwise(value.clone())?;
                Ok(Transformed::yes(case))
            }
            _ => Ok(Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args }))),
        },
        Expr::Case(Case { expr: Some(value), when_then_expr, else_expr }) => {
            if !float(&value)? || value.is_volatile() {
                let case = Case { expr: Some(value), when_then_expr, else_expr };
                return Ok(Transformed::no(Expr::Case(case)));
            }
            let compared = |(other, then): (Box<Expr>, Box<Expr>)| (Box::new(value.as_ref().clone().eq(*other)), then);
            let when_then_expr = when_then_expr.into_iter().map(compared).collect();
            Ok(Transformed::yes(Expr::Case(Case { expr: None, when_then_expr, else_expr })))
        }
        Expr::WindowFunction(mut window) => {
            let params = &mut window.params;
            let keys = params.partition_by.iter_mut().chain(params.order_by.iter_mut().map(|key| &mut key.expr));
            let mut changed = false;
            for key in keys {
                changed |= unsign(key, schema)?;
            }
            let window = Expr::WindowFunction(window);
            Ok(if changed { Transformed::yes(window) } else { Transformed::no(window) })
        }
        other => Ok(with_unsigned_zeros(other)),
    }
}

/// A comparison without the signs of the zeros in it.
fn with_unsigned_zeros(mut expr: Expr) -> Transformed<Expr> {
    let mut changed = false;
    for value in compared(&mut expr) {
        if let Some(zero) = constant(value).as_ref().and_then(unsigned_zero) {
            *value = zero;
            changed = true;
        }
    }
    Transformed::new_transformed(expr, changed)
}

/// The zero that a negative zero equals.
fn unsigned_zero(value: &ScalarValue) -> Option<Expr> {
    match value {
        ScalarValue::Float64(Some(zero)) if *zero == 0.0 && zero.is_sign_negative() => Some(lit(0.0_f64)),
        ScalarValue::Float32(Some(zero)) if *zero == 0.0 && zero.is_sign_negative() => Some(lit(0.0_f32)),
        _ => None,
    }
}

/// The sort by the values of its keys.
fn by_values(mut sort: Sort) -> Result<Transformed<LogicalPlan>> {
    let mut changed = false;
    if let Some((_, keys)) = sort.expr.split_last_mut() {
        for key in keys {
            changed |= unsign(&mut key.expr, sort.input.schema())?;
        }
    }
    let sort = LogicalPlan::Sort(sort);
    Ok(if changed { Transformed::yes(sort) } else { Transformed::no(sort) })
}

/// Takes the sign from the zeros of a key, if it is a float.
fn unsign(key: &mut Expr, schema: &DFSchema) -> Result<bool> {
    let zero = match key.get_type(schema)? {
        DataType::Float64 => lit(0.0_f64),
        DataType::Float32 => lit(0.0_f32),
        _ => return Ok(false),
    };
    *key = key.clone() + zero;
    Ok(true)
}
