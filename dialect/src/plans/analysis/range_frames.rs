//! Frames of values, `RANGE`, over keys of all types.
//!
//! DataFusion 55 reads the offset of such a frame as a value of whatever type the key has: a number over dates counts months,
//! and over times, strings and booleans means nothing. Here a whole number over dates counts days, numbers go with numbers,
//! intervals with dates and timestamps, and nothing with other types. A frame without an offset goes by which rows are equal,
//! as GROUPS does; over rows, maps, binaries and times DataFusion refuses even that, with an internal error.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (DATE '2024-01-01', 'a'), (DATE '2024-02-20', 'b')) AS v(d, s)`
//! Shows: `SELECT count(*) OVER (ORDER BY d RANGE BETWEEN 7 PRECEDING AND CURRENT ROW) AS n FROM t ORDER BY d` gives `1 / 1`
//! Shows: `SELECT count(*) OVER (ORDER BY s RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM t` is refused
//! Shows: `SELECT s, rank() OVER (ORDER BY (d, s) DESC) AS r FROM t ORDER BY s` gives `a | 2 / b | 1`

use arrow::datatypes::DataType;
use bonnet_common::sql_type;
use bonnet_sql::InputColumns;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::{Expr, ExprSchemable, WindowFrame, WindowFrameBound, WindowFrameUnits};

use crate::plans::node_rules::ExpressionRule;

/// Gives the offsets of such frames the type of their key, or refuses them. It comes before coercion, which casts them.
pub(crate) const RANGE_FRAMES: ExpressionRule = ExpressionRule {
    name: "range_frames",
    applies_to: |expr| matches!(expr, Expr::WindowFunction(_)),
    rewrite: |expr, columns| expr.transform_up(|expr| rewrite(expr, columns)),
};

fn rewrite(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(mut window) = expr else { return Ok(Transformed::no(expr)) };
    let params = &mut window.params;
    let mut changed = false;
    if params.window_frame.units == WindowFrameUnits::Range
        && let Some(key) = params.order_by.first()
        && let Ok(key) = key.expr.get_type(columns)
    {
        changed = rewrite_frame(&mut params.window_frame, &key)?;
    }
    Ok(Transformed::new_transformed(Expr::WindowFunction(window), changed))
}

fn rewrite_frame(frame: &mut WindowFrame, key: &DataType) -> Result<bool> {
    let mut changed = false;
    let mut has_offset = false;
    for text in [&mut frame.start_bound, &mut frame.end_bound].into_iter().filter_map(offset) {
        has_offset = true;
        changed |= check_offset(text, key)?;
    }
    if !has_offset {
        // GROUPS cuts frames where this one does, for keys of any type.
        let by_peers = !has_offsets(key) && !orders_peers(key);
        if by_peers {
            let (start, end) = (as_count(&frame.start_bound), as_count(&frame.end_bound));
            *frame = WindowFrame::new_bounds(WindowFrameUnits::Groups, start, end);
        }
        return Ok(by_peers);
    }
    Ok(changed)
}

/// The offset of a bound as it is written; a number and the text of an interval.
fn offset(bound: &mut WindowFrameBound) -> Option<&mut String> {
    match bound {
        WindowFrameBound::Preceding(ScalarValue::Utf8(Some(text)))
        | WindowFrameBound::Following(ScalarValue::Utf8(Some(text))) => Some(text),
        _ => None,
    }
}

/// The bound of a frame without offsets as one of a number of groups.
fn as_count(bound: &WindowFrameBound) -> WindowFrameBound {
    match bound {
        WindowFrameBound::Preceding(_) => WindowFrameBound::Preceding(ScalarValue::UInt64(None)),
        WindowFrameBound::Following(_) => WindowFrameBound::Following(ScalarValue::UInt64(None)),
        WindowFrameBound::CurrentRow => WindowFrameBound::CurrentRow,
    }
}

/// Whether values of a type have offsets from one another.
fn has_offsets(key: &DataType) -> bool {
    key.is_numeric() || is_moment(key) || matches!(key, DataType::Null | DataType::Interval(_))
}

fn is_moment(key: &DataType) -> bool {
    matches!(key, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Whether DataFusion orders keys of a type without offsets itself, and maybe faster.
fn orders_peers(key: &DataType) -> bool {
    match key {
        DataType::Dictionary(_, values) => has_offsets(values) || orders_peers(values),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) | DataType::Boolean => true,
        key => key.is_string(),
    }
}

/// Makes an offset one of days where the key is a date; an error where it does not go with the key.
fn check_offset(text: &mut String, key: &DataType) -> Result<bool> {
    let is_number = text.trim().parse::<f64>().is_ok();
    let name = sql_type(key);
    match key {
        DataType::Dictionary(_, values) => check_offset(text, values),
        DataType::Null | DataType::Interval(_) => Ok(false),
        DataType::Date32 | DataType::Date64 if is_number => match text.trim().parse::<i32>() {
            Ok(days) => {
                *text = format!("{days} days");
                Ok(true)
            }
            Err(_) => plan_err!("RANGE {text} over a DATE: expected a whole number of days or an INTERVAL"),
        },
        DataType::Timestamp(..) if is_number => {
            plan_err!("RANGE {text} over a {name}: expected an INTERVAL, as in RANGE INTERVAL '{text} days' PRECEDING")
        }
        key if is_moment(key) => Ok(false),
        key if key.is_numeric() && is_number => Ok(false),
        key if key.is_numeric() => plan_err!("RANGE '{text}' over a {name}: expected a number"),
        _ => plan_err!(
            "RANGE with an offset, {text}, goes by differences, which values of {name} do not have: use ROWS or GROUPS"
        ),
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::TimeUnit;

    use super::*;

    fn checked(text: &str, key: &DataType) -> std::result::Result<String, String> {
        let mut offset = text.to_owned();
        check_offset(&mut offset, key).map(|_| offset).map_err(|error| error.to_string())
    }

    #[test]
    fn offsets_go_with_keys_that_have_differences() {
        let moment = DataType::Timestamp(TimeUnit::Nanosecond, None);
        assert_eq!(checked("7", &DataType::Date32), Ok("7 days".to_owned()));
        for (text, key) in [
            ("7 days", &DataType::Date32),
            ("1 month", &moment),
            ("1.5", &DataType::Float64),
            ("2", &DataType::Int32),
            ("2", &DataType::Decimal128(10, 2)),
        ] {
            assert_eq!(checked(text, key), Ok(text.to_owned()));
        }
        for (text, key, says) in [
            ("1.5", &DataType::Date32, "whole number of days"),
            ("7", &moment, "INTERVAL '7 days'"),
            ("1 day", &DataType::Int64, "expected a number"),
            ("1", &DataType::Utf8, "VARCHAR"),
            ("1", &DataType::Boolean, "ROWS or GROUPS"),
            ("1 hour", &DataType::Time64(TimeUnit::Nanosecond), "TIME"),
            ("1", &DataType::Binary, "BLOB"),
        ] {
            let error = checked(text, key).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
