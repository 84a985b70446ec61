//! CASE computes its branches for those rows alone whose they are, and so does `coalesce`, which becomes one. DataFusion makes
//! AND and OR of a CASE of booleans, and those compute both of their sides: `CASE WHEN x = 0 THEN false ELSE 10 / x > 5 END`
//! divided by zero. Of a CASE of constants beside a constant it makes the conditions of the equal ones.

use arrow::datatypes::DataType;
use bonnet_sql::InputColumns;
use bonnet_standard::{coalesce_once, opaque};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{Case, Cast, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, cast};

use super::casts::{is_exact, varies};
use super::replace;
use crate::rules::comparisons::compared;

/// A CASE of booleans of which a branch may fail, as one of numbers.
pub(super) fn lazy_branches(expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Case(case) if case.expr.is_none() && is_boolean(&case, schema) && guards(&case, schema) => {
            let number = |value: Box<Expr>| Box::new(cast(*value, DataType::Int8));
            let branches = case.when_then_expr.into_iter().map(|(when, then)| (when, number(then)));
            let numbers =
                Case { expr: None, when_then_expr: branches.collect(), else_expr: case.else_expr.map(number) };
            Ok(Transformed::yes(cast(Expr::Case(numbers), DataType::Boolean)))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// `coalesce` of booleans of which one may fail, as one of numbers; one of what is drawn by chance, drawn once; and a CASE that
/// guards, beside what it is compared with.
pub(super) fn lazy_arguments(mut expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    if let Expr::ScalarFunction(ScalarFunction { func, args }) = &mut expr
        && matches!(func.name(), "coalesce" | "nvl")
    {
        let Some((last, first)) = args.split_last() else { return Ok(Transformed::no(expr)) };
        if first.iter().any(Expr::is_volatile) {
            return Ok(Transformed::yes(coalesce_once(std::mem::take(args))));
        }
        let boolean = |value: &Expr| matches!(value.get_type(schema), Ok(DataType::Boolean));
        let fails = first.iter().skip(1).chain([last]).any(|value| any_may_fail(value, schema));
        if !fails || !args.iter().all(boolean) {
            return Ok(Transformed::no(expr));
        }
        let numbers = std::mem::take(args).into_iter().map(|value| cast(value, DataType::Int8)).collect();
        return Ok(Transformed::yes(cast(func.call(numbers), DataType::Boolean)));
    }
    let mut changed = false;
    for value in compared(&mut expr) {
        if matches!(value, Expr::Case(case) if guards(case, schema)) {
            replace(value, opaque);
            changed = true;
        }
    }
    Ok(Transformed::new_transformed(expr, changed))
}

fn is_boolean(case: &Case, schema: &InputColumns) -> bool {
    case.when_then_expr.first().is_some_and(|(_, then)| matches!(then.get_type(schema), Ok(DataType::Boolean)))
}

/// Whether anything behind the first condition may fail.
fn guards(case: &Case, schema: &InputColumns) -> bool {
    let parts = case.when_then_expr.iter().flat_map(|(when, then)| [when, then]).chain(&case.else_expr);
    parts.skip(1).any(|part| any_may_fail(part, schema))
}

fn any_may_fail(expr: &Expr, schema: &InputColumns) -> bool {
    expr.exists(|expr| Ok(may_fail(expr, schema))).unwrap_or(true)
}

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
            varies(of) && !of.get_type(schema).is_ok_and(safe)
        }
        Expr::ScalarFunction(_) | Expr::HigherOrderFunction(_) => true,
        _ => false,
    }
}
