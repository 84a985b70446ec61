//! Comparisons of timestamps with those of a finer unit, and with dates.
//!
//! DataFusion 55 casts a constant to the unit of the column that it is compared with, and so truncates it: a TIMESTAMP(0)
//! then equals a time at half a second. To compare a timestamp that has a time zone with a DATE it drops the zone and
//! compares in UTC.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT CAST('2020-01-01 00:00:00' AS TIMESTAMP(0)) AS s`
//! Shows: `SELECT count(*) FROM t WHERE s = TIMESTAMP '2020-01-01 00:00:00.5'` gives `0`

use arrow::datatypes::{DataType, TimeUnit};
use bonnet_sql::InputColumns;
use bonnet_values::{constant, opaque};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, cast};

use super::casts::is_row_dependent;
use crate::plans::expressions::{comparison_operands, is_comparison, replace};

/// Puts a barrier around a column that is compared with a constant which its unit cannot hold.
pub(super) fn protect_coarse_columns(mut expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let mut values = comparison_operands(&mut expr);
    let units: Vec<Option<i64>> = values.iter().map(|value| coarse_unit(value, schema)).collect();
    if units.iter().all(Option::is_none) {
        return Ok(Transformed::no(expr));
    }
    let truncates: Vec<bool> = units
        .iter()
        .map(|unit| {
            unit.is_some_and(|unit| values.iter().any(|value| !is_row_dependent(value) && !is_whole(value, unit)))
        })
        .collect();
    let changed = truncates.contains(&true);
    values.iter_mut().zip(truncates).filter(|(_, truncates)| *truncates).for_each(|(value, _)| replace(value, opaque));
    Ok(Transformed::new_transformed(expr, changed))
}

/// The ticks per second of a timestamp that is cast to one of a finer unit.
fn coarse_unit(value: &Expr, schema: &InputColumns) -> Option<i64> {
    let Expr::Cast(Cast { expr: of, field }) = value else { return None };
    match (of.get_type(schema).ok()?, field.data_type()) {
        (DataType::Timestamp(from, _), DataType::Timestamp(to, _))
            if is_row_dependent(of) && ticks(from) < ticks(*to) =>
        {
            Some(ticks(from))
        }
        _ => None,
    }
}

/// Whether a constant is a whole number of ticks. One that is evaluated only when the statement runs, as `now()`, counts as
/// one of milliseconds.
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

/// The ticks per second of a unit.
fn ticks(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Compares a timestamp that has a time zone with the start of a date in that zone.
pub(super) fn localize_dates(expr: Expr, schema: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return Ok(Transformed::no(expr)) };
    if is_comparison(op) {
        for (zoned, date, swapped) in [(&left, &right, false), (&right, &left, true)] {
            let Some((zoned, date)) = operands_in_zone(zoned, date, schema) else { continue };
            let (left, right) = if swapped { (date, zoned) } else { (zoned, date) };
            let comparison = BinaryExpr { left: Box::new(left), op, right: Box::new(right) };
            return Ok(Transformed::yes(Expr::BinaryExpr(comparison)));
        }
    }
    Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })))
}

/// The operands of a comparison that coercion has cast to a timestamp without a time zone, both in the zone of the first.
fn operands_in_zone(zoned: &Expr, date: &Expr, schema: &InputColumns) -> Option<(Expr, Expr)> {
    let (Expr::Cast(zoned), Expr::Cast(date)) = (zoned, date) else { return None };
    let without_zone = |cast: &Cast| matches!(cast.field.data_type(), DataType::Timestamp(_, None));
    if !without_zone(zoned) || !without_zone(date) || date.expr.get_type(schema).ok()? != DataType::Date32 {
        return None;
    }
    let data_type = zoned.expr.get_type(schema).ok()?;
    let has_zone = matches!(data_type, DataType::Timestamp(_, Some(_)));
    has_zone.then(|| (zoned.expr.as_ref().clone(), cast(date.expr.as_ref().clone(), data_type)))
}
