//! Expressions that compare values: dispatch by their kind, and IN, ANY and ALL of subqueries.
//!
//! Shows: see `mod.rs`

use std::sync::Arc;

use bonnet_sql::InputColumns;
use bonnet_values::{interval_length, unsigned_nan};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{InSubquery, ScalarFunction, SetComparison};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Projection, Subquery};

use super::canonicalization::{canonical_comparison, canonicalize, is_computed_float, is_interval};
use super::{aggregates, conditionals, sort_keys};
use crate::plans::expressions::{is_comparison, replace};

/// Whether an expression is of a kind that [`rewrite`] looks at, whatever its type.
pub(super) fn applies_to(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => is_comparison(*op),
        Expr::ScalarFunction(call) => matches!(call.name(), "nullif" | "greatest" | "least"),
        Expr::Case(case) => case.expr.is_some(),
        Expr::Between(_)
        | Expr::InList(_)
        | Expr::InSubquery(_)
        | Expr::SetComparison(_)
        | Expr::AggregateFunction(_)
        | Expr::WindowFunction(_) => true,
        _ => false,
    }
}

/// Makes such an expression compare by value.
pub(super) fn rewrite(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Case(_) => conditionals::rewrite_case(expr, columns),
        Expr::ScalarFunction(ref call) if call.name() == "nullif" => conditionals::rewrite_nullif(expr, columns),
        Expr::ScalarFunction(ScalarFunction { func, mut args }) if matches!(func.name(), "greatest" | "least") => {
            let mut changed = false;
            for arg in &mut args {
                changed |= canonicalize(arg, columns);
            }
            Ok(Transformed::new_transformed(Expr::ScalarFunction(ScalarFunction { func, args }), changed))
        }
        Expr::AggregateFunction(aggregate) => Ok(aggregates::rewrite_aggregate(aggregate, columns)),
        Expr::WindowFunction(window) => aggregates::rewrite_window(*window, columns)?
            .transform_data(|window| sort_keys::rewrite_window(window, columns)),
        Expr::InSubquery(InSubquery { mut expr, mut subquery, negated }) => {
            let changed = rewrite_membership(&mut expr, &mut subquery, columns)?;
            Ok(Transformed::new_transformed(Expr::InSubquery(InSubquery { expr, subquery, negated }), changed))
        }
        Expr::SetComparison(SetComparison { mut expr, mut subquery, op, quantifier }) => {
            let changed = rewrite_membership(&mut expr, &mut subquery, columns)?;
            let comparison = SetComparison { expr, subquery, op, quantifier };
            Ok(Transformed::new_transformed(Expr::SetComparison(comparison), changed))
        }
        other => Ok(canonical_comparison(other, columns)),
    }
}

/// Compares a value with those of a subquery by length if they are intervals, and without the sign of NaN if they are
/// floats.
fn rewrite_membership(expr: &mut Expr, subquery: &mut Subquery, columns: &InputColumns) -> Result<bool> {
    let column = subquery.subquery.schema().columns().into_iter().next();
    let Some(column) = column.filter(|_| is_interval(subquery.subquery.schema().field(0).data_type())) else {
        let computed = is_computed_float(expr, columns);
        if computed {
            replace(expr, unsigned_nan);
        }
        return Ok(computed);
    };
    if !expr.get_type(columns).is_ok_and(|of| is_interval(&of)) {
        return Ok(false);
    }
    replace(expr, interval_length);
    let lengths = vec![interval_length(Expr::Column(column))];
    let lengths = Projection::try_new(lengths, Arc::clone(&subquery.subquery))?;
    subquery.subquery = Arc::new(LogicalPlan::Projection(lengths));
    Ok(true)
}
