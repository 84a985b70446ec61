//! CASE computes its branches for those rows alone whose they are. DataFusion makes AND and OR of a CASE of booleans, and
//! those compute both of their sides: `CASE WHEN x = 0 THEN false ELSE 10 / x > 5 END` divided by zero.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Case, Cast};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, cast};

use super::casts::{is_exact, varies};

/// A CASE of booleans of which a branch may fail, as one of numbers.
pub(super) fn lazy_branches(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
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

fn is_boolean(case: &Case, schema: &DFSchema) -> bool {
    case.when_then_expr.first().is_some_and(|(_, then)| matches!(then.get_type(schema), Ok(DataType::Boolean)))
}

/// Whether anything behind the first condition may fail.
fn guards(case: &Case, schema: &DFSchema) -> bool {
    let parts = case.when_then_expr.iter().flat_map(|(when, then)| [when, then]).chain(&case.else_expr);
    parts.skip(1).any(|part| part.exists(|expr| Ok(may_fail(expr, schema))).unwrap_or(true))
}

fn may_fail(expr: &Expr, schema: &DFSchema) -> bool {
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
