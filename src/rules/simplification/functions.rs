//! Functions whose identities do not always hold, and BETWEEN of what is drawn anew each time it is read.

use std::sync::Arc;

use arrow::datatypes::{DataType, TimeUnit};
use bonnet_sql::InputColumns;
use bonnet_standard::{between_once, guarded};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable};

pub(super) fn guarded_identities(expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = expr else { return Ok(Transformed::no(expr)) };
    let concerned = match (func.name(), args.as_slice()) {
        ("floor", [of]) => of.is_volatile(),
        ("date_part", [_, of]) => {
            matches!(of.get_type(schema), Ok(DataType::Timestamp(TimeUnit::Nanosecond, _))) || of.is_volatile()
        }
        ("log", [base, of]) => [base, of].iter().all(|it| it.get_type(schema).is_ok_and(|it| !it.is_null())),
        _ => false,
    };
    let func = if concerned { guarded(&func) } else { Arc::clone(&func) };
    Ok(Transformed::new_transformed(Expr::ScalarFunction(ScalarFunction { func, args }), concerned))
}

pub(super) fn drawn_once(expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::Between(between) if between.expr.is_volatile() => Transformed::yes(between_once(between)),
        other => Transformed::no(other),
    })
}
