//! Function identities that do not hold for all arguments: those of `floor`, `date_part` and `log`, which
//! [`bonnet_values::guard_identities`] explains.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT 1.0 AS f`
//! Shows: `SELECT isnan(log(f, f)) FROM t` gives `true`

use std::sync::Arc;

use arrow::datatypes::{DataType, TimeUnit};
use bonnet_sql::InputColumns;
use bonnet_values::guard_identities;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable};

/// Calls a function without its identities where its arguments may break one.
pub(super) fn guard_function(expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = expr else { return Ok(Transformed::no(expr)) };
    let is_unsafe = match (func.name(), args.as_slice()) {
        ("floor", [of]) => of.is_volatile(),
        ("date_part", [_, of]) => {
            matches!(of.get_type(schema), Ok(DataType::Timestamp(TimeUnit::Nanosecond, _))) || of.is_volatile()
        }
        ("log", [base, of]) => [base, of].iter().all(|it| it.get_type(schema).is_ok_and(|it| !it.is_null())),
        _ => false,
    };
    let func = if is_unsafe { guard_identities(&func) } else { Arc::clone(&func) };
    Ok(Transformed::new_transformed(Expr::ScalarFunction(ScalarFunction { func, args }), is_unsafe))
}
