//! Expressions that compare values.

use std::sync::Arc;

use arrow::datatypes::DataType;
use bonnet_sql::InputColumns;
use bonnet_standard::{canonical, interval_length, unsigned_nan};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{InSubquery, ScalarFunction, SetComparison};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Projection, Subquery};

use super::{aggregates, is_computed, is_interval, keys, zeros};
use crate::rules::comparisons::{compared, compares};

/// Whether an expression is one of those that are rewritten, of whatever type.
pub(super) fn is_concerned(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => compares(*op),
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

/// One of these expressions, by what is equal.
pub(super) fn by_value(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Case(_) => zeros::of_case(expr, columns),
        Expr::ScalarFunction(ref call) if call.name() == "nullif" => zeros::of_nullif(expr, columns),
        Expr::ScalarFunction(ScalarFunction { func, mut args }) if matches!(func.name(), "greatest" | "least") => {
            let mut changed = false;
            for arg in &mut args {
                changed |= write_alike(arg, columns);
            }
            Ok(Transformed::new_transformed(Expr::ScalarFunction(ScalarFunction { func, args }), changed))
        }
        Expr::AggregateFunction(aggregate) => Ok(aggregates::of_groups(aggregate, columns)),
        Expr::WindowFunction(window) => {
            aggregates::of_window(*window, columns)?.transform_data(|window| keys::of_window(window, columns))
        }
        Expr::InSubquery(InSubquery { mut expr, mut subquery, negated }) => {
            let changed = by_length(&mut expr, &mut subquery, columns)?;
            Ok(Transformed::new_transformed(Expr::InSubquery(InSubquery { expr, subquery, negated }), changed))
        }
        Expr::SetComparison(SetComparison { mut expr, mut subquery, op, quantifier }) => {
            let changed = by_length(&mut expr, &mut subquery, columns)?;
            let comparison = SetComparison { expr, subquery, op, quantifier };
            Ok(Transformed::new_transformed(Expr::SetComparison(comparison), changed))
        }
        other => Ok(comparison(other, columns)),
    }
}

/// A comparison by what is equal.
pub(super) fn comparison(mut expr: Expr, columns: &InputColumns) -> Transformed<Expr> {
    let mut values = compared(&mut expr);
    // They are of one type, which a constant tells at once.
    let constant = values.iter().find(|value| matches!(value, Expr::Literal(..)));
    let Some(of) = constant.or(values.first()).and_then(|value| value.get_type(columns).ok()) else {
        return Transformed::no(expr);
    };
    let mut changed = false;
    if of.is_floating() {
        for value in &mut values {
            changed |= zeros::unsign(value);
            if is_computed(value, columns) {
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

/// Makes intervals, and those that a subquery answers, their lengths.
fn by_length(expr: &mut Expr, subquery: &mut Subquery, columns: &InputColumns) -> Result<bool> {
    let is_of = |of: &DataType| is_interval(of);
    let column = subquery.subquery.schema().columns().into_iter().next();
    let Some(column) = column.filter(|_| is_of(subquery.subquery.schema().field(0).data_type())) else {
        let computed = is_computed(expr, columns);
        if computed {
            replace(expr, unsigned_nan);
        }
        return Ok(computed);
    };
    if !expr.get_type(columns).is_ok_and(|of| is_of(&of)) {
        return Ok(false);
    }
    replace(expr, interval_length);
    let lengths = vec![interval_length(Expr::Column(column))];
    let lengths = Projection::try_new(lengths, Arc::clone(&subquery.subquery))?;
    subquery.subquery = Arc::new(LogicalPlan::Projection(lengths));
    Ok(true)
}

/// Writes equal values alike, if they are intervals or computed.
pub(super) fn write_alike(value: &mut Expr, columns: &InputColumns) -> bool {
    if is_computed(value, columns) {
        replace(value, unsigned_nan);
        return true;
    }
    let interval = value.get_type(columns).is_ok_and(|of| is_interval(&of));
    if interval {
        replace(value, canonical);
    }
    interval
}

/// Puts what a function makes of an expression in its place.
pub(super) fn replace(expr: &mut Expr, with: impl FnOnce(Expr) -> Expr) {
    *expr = with(std::mem::take(expr));
}
