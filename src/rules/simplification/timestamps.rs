//! Timestamps beside others of a finer unit, and beside dates.
//!
//! DataFusion casts the constant beside a column to the unit of the column, and cuts its digits: a TIMESTAMP(0) beside half
//! a second. Beside a DATE it takes the zone from a timestamp, and keeps the time of UTC.

use arrow::datatypes::{DataType, TimeUnit};
use bonnet_sql::InputColumns;
use bonnet_standard::{constant, opaque};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, cast};

use super::casts::varies;
use super::replace;
use crate::rules::comparisons::{compared, compares};

pub(super) fn of_finer_constants(mut expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let mut values = compared(&mut expr);
    let units: Vec<Option<i64>> = values.iter().map(|value| coarser(value, schema)).collect();
    if units.iter().all(Option::is_none) {
        return Ok(Transformed::no(expr));
    }
    let cut: Vec<bool> = units
        .iter()
        .map(|unit| unit.is_some_and(|unit| values.iter().any(|value| !varies(value) && !is_whole(value, unit))))
        .collect();
    let changed = cut.contains(&true);
    values.iter_mut().zip(cut).filter(|(_, cut)| *cut).for_each(|(value, _)| replace(value, opaque));
    Ok(Transformed::new_transformed(expr, changed))
}

/// The ticks of a second of a timestamp that is cast to one of a finer unit.
fn coarser(value: &Expr, schema: &InputColumns) -> Option<i64> {
    let Expr::Cast(Cast { expr: of, field }) = value else { return None };
    match (of.get_type(schema).ok()?, field.data_type()) {
        (DataType::Timestamp(from, _), DataType::Timestamp(to, _)) if varies(of) && ticks(from) < ticks(*to) => {
            Some(ticks(from))
        }
        _ => None,
    }
}

/// Whether a constant is a whole number of ticks. What is known only once the statement runs, as `now()` is, counts as one
/// of milliseconds.
fn is_whole(value: &Expr, unit: i64) -> bool {
    let (count, of) = match constant(value) {
        None => return unit >= ticks(TimeUnit::Millisecond),
        Some(ScalarValue::TimestampMillisecond(count, _)) => (count, TimeUnit::Millisecond),
        Some(ScalarValue::TimestampMicrosecond(count, _)) => (count, TimeUnit::Microsecond),
        Some(ScalarValue::TimestampNanosecond(count, _)) => (count, TimeUnit::Nanosecond),
        Some(_) => return true,
    };
    ticks(of) <= unit || count.is_none_or(|count| count % (ticks(of) / unit) == 0)
}

fn ticks(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// A date beside a timestamp of a zone is the start of the day there.
pub(super) fn zoned_dates(expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return Ok(Transformed::no(expr)) };
    if compares(op) {
        for (zoned, date, swapped) in [(&left, &right, false), (&right, &left, true)] {
            let Some((zoned, date)) = in_zone(zoned, date, schema) else { continue };
            let (left, right) = if swapped { (date, zoned) } else { (zoned, date) };
            let compared = BinaryExpr { left: Box::new(left), op, right: Box::new(right) };
            return Ok(Transformed::yes(Expr::BinaryExpr(compared)));
        }
    }
    Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })))
}

/// A timestamp of a zone, cast to one of none, and a date cast to the same, both in the zone.
fn in_zone(zoned: &Expr, date: &Expr, schema: &InputColumns) -> Option<(Expr, Expr)> {
    let (Expr::Cast(zoned), Expr::Cast(date)) = (zoned, date) else { return None };
    let without_zone = |cast: &Cast| matches!(cast.field.data_type(), DataType::Timestamp(_, None));
    if !without_zone(zoned) || !without_zone(date) || date.expr.get_type(schema).ok()? != DataType::Date32 {
        return None;
    }
    let data_type = zoned.expr.get_type(schema).ok()?;
    let has_zone = matches!(data_type, DataType::Timestamp(_, Some(_)));
    has_zone.then(|| (zoned.expr.as_ref().clone(), cast(date.expr.as_ref().clone(), data_type)))
}
