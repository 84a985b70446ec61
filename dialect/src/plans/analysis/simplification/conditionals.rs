//! Lazy evaluation of CASE and `coalesce`: a branch is evaluated only for the rows that reach it.
//!
//! DataFusion 55 rewrites a boolean CASE to AND and OR, which evaluate both of their operands: `CASE WHEN x = 0 THEN false
//! ELSE 10 / x > 5 END` divided by zero. It replaces the comparison of a CASE of constants with a constant by the
//! conditions of the equal branches, and `coalesce` by a CASE. A CASE of integers it leaves alone, so boolean ones become
//! such.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/25143>
//! Given: `CREATE TABLE divisors AS SELECT * FROM (VALUES (0), (1)) AS t(x)`
//! Shows: `SELECT x, CASE WHEN x = 0 THEN false ELSE 10 / x > 5 END FROM divisors ORDER BY x` gives `0 | false / 1 | true`

use arrow::datatypes::DataType;
use bonnet_sql::InputColumns;
use bonnet_values::{coalesce_once, opaque};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{Case, Cast, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, cast};

use super::casts::{is_exact, is_row_dependent};
use crate::plans::expressions::{comparison_operands, is_copied_often, replace};

/// Makes a boolean CASE with a branch that may fail, or a condition that would be copied often, a CASE of integers, cast to BOOLEAN.
pub(super) fn rewrite_branches(expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Case(case)
            if case.expr.is_none()
                && is_boolean(&case, schema)
                && (case.when_then_expr.iter().any(|(when, _)| is_copied_often(when))
                    || guards_failure(&case, schema)) =>
        {
            let number = |value: Box<Expr>| Box::new(cast(*value, DataType::Int8));
            let branches = case.when_then_expr.into_iter().map(|(when, then)| (when, number(then)));
            let numbers =
                Case { expr: None, when_then_expr: branches.collect(), else_expr: case.else_expr.map(number) };
            Ok(Transformed::yes(cast(Expr::Case(numbers), DataType::Boolean)))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Makes a boolean `coalesce` with an argument that may fail one of integers, and evaluates volatile arguments once. Puts a
/// barrier around a CASE with a branch that may fail where it is compared with another value.
pub(super) fn rewrite_arguments(mut expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    if let Expr::ScalarFunction(ScalarFunction { func, args }) = &mut expr
        && matches!(func.name(), "coalesce" | "nvl" | "ifnull")
    {
        let Some((last, first)) = args.split_last() else { return Ok(Transformed::no(expr)) };
        if first.iter().any(Expr::is_volatile) {
            return Ok(Transformed::yes(coalesce_once(std::mem::take(args))));
        }
        let boolean = |value: &Expr| matches!(value.get_type(schema), Ok(DataType::Boolean));
        let fails = first.iter().skip(1).chain([last]).any(|value| any_may_fail(value, schema));
        // The CASE has each argument but the last twice.
        if !fails && first.iter().any(is_copied_often) {
            return Ok(Transformed::yes(coalesce_once(std::mem::take(args))));
        }
        if !fails || !args.iter().all(boolean) {
            return Ok(Transformed::no(expr));
        }
        let numbers = std::mem::take(args).into_iter().map(|value| cast(value, DataType::Int8)).collect();
        return Ok(Transformed::yes(cast(func.call(numbers), DataType::Boolean)));
    }
    let mut changed = false;
    for value in comparison_operands(&mut expr) {
        if matches!(value, Expr::Case(case) if guards_failure(case, schema)) {
            replace(value, opaque);
            changed = true;
        }
    }
    Ok(Transformed::new_transformed(expr, changed))
}

fn is_boolean(case: &Case, schema: &InputColumns) -> bool {
    case.when_then_expr.first().is_some_and(|(_, then)| matches!(then.get_type(schema), Ok(DataType::Boolean)))
}

/// Whether any part of a CASE behind its first condition may fail.
fn guards_failure(case: &Case, schema: &InputColumns) -> bool {
    let parts = case.when_then_expr.iter().flat_map(|(when, then)| [when, then]).chain(&case.else_expr);
    parts.skip(1).any(|part| any_may_fail(part, schema))
}

/// Whether the evaluation of an expression may fail.
fn any_may_fail(expr: &Expr, schema: &InputColumns) -> bool {
    expr.exists(|expr| Ok(may_fail(expr, schema))).unwrap_or(true)
}

/// Whether an operation itself may fail on some values of its operands.
fn may_fail(expr: &Expr, schema: &InputColumns) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    let is_float = |expr: &Expr| expr.get_type(schema).is_ok_and(|of| of.is_floating());
    match expr {
        Expr::BinaryExpr(BinaryExpr { op: Plus | Minus | Multiply | Divide | Modulo, .. }) | Expr::Negative(_) => {
            !is_float(expr)
        }
        Expr::Cast(Cast { expr: of, field }) => {
            let safe = |from: DataType| {
                field.data_type().is_floating() && from.is_numeric() || is_exact(&from, field.data_type())
            };
            is_row_dependent(of) && !of.get_type(schema).is_ok_and(safe)
        }
        Expr::ScalarFunction(_) | Expr::HigherOrderFunction(_) => true,
        _ => false,
    }
}
