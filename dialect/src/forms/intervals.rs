//! Times of day in intervals, `INTERVAL '1 day 04:05:06'`: DataFusion's have units alone.
//!
//! Upstream: none known
//! Shows: `SELECT INTERVAL '1 day 04:05:06' = INTERVAL '28 hours 5 minutes 6 seconds'` gives `true`

use bonnet_values::with_units;
use datafusion::sql::sqlparser::ast::{DataType, Expr, Value, ValueWithSpan};

/// Writes out the time, or the seconds, in the text of an interval, or in a text that is cast to one.
pub(crate) fn write_out_time(expr: &mut Expr) {
    let text = match expr {
        Expr::Interval(interval) if interval.leading_field.is_none() => interval.value.as_mut(),
        Expr::Cast { expr, data_type: DataType::Interval { .. }, .. } => expr.as_mut(),
        _ => return,
    };
    if let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = text
        && let Some(units) = with_units(text)
    {
        *text = units;
    }
}
