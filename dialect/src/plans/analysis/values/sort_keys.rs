//! Keys of sorts and windows: floats in canonical form, intervals by their length.
//!
//! The last key of a sort keeps the signs of its zeros: they only matter to a key behind it, and a plain column is a key
//! that tables may already be sorted by.
//!
//! Shows: see `mod.rs`

use bonnet_sql::InputColumns;
use bonnet_values::{canonical, interval_length, is_canonical, unsigned_nan};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, ExprSchemable, Sort, WindowFrame, WindowFrameBound, WindowFrameUnits};

use super::canonicalization::{is_computed_float, is_interval};
use crate::plans::expressions::replace;

/// Makes the keys of a sort go by value.
pub(super) fn rewrite_sort(sort: &mut Sort, columns: &InputColumns) -> Result<bool> {
    let mut changed = false;
    if let Some((last, keys)) = sort.expr.split_last_mut() {
        for key in keys {
            changed |= rewrite_key(&mut key.expr, columns)?;
        }
        changed |= rewrite_last_key(&mut last.expr, columns);
    }
    Ok(changed)
}

/// Makes the keys of a window function go by value.
pub(super) fn rewrite_window(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(mut window) = expr else { return Ok(Transformed::no(expr)) };
    let params = &mut window.params;
    let has_range = has_range_offset(&params.window_frame);
    let mut changed = false;
    for key in &mut params.partition_by {
        changed |= rewrite_key(key, columns)?;
    }
    for key in &mut params.order_by {
        // The offset of a RANGE frame has the type of the key.
        if !(has_range && is_interval(&key.expr.get_type(columns)?)) {
            changed |= rewrite_key(&mut key.expr, columns)?;
        }
    }
    Ok(Transformed::new_transformed(Expr::WindowFunction(window), changed))
}

/// Orders a window of intervals by their lengths: coercion refuses frames over intervals.
pub(super) fn rewrite_interval_window(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(mut window) = expr else { return Ok(Transformed::no(expr)) };
    let params = &mut window.params;
    let mut changed = false;
    if !has_range_offset(&params.window_frame) {
        for key in &mut params.order_by {
            changed |= rewrite_interval(&mut key.expr, columns);
        }
    }
    Ok(Transformed::new_transformed(Expr::WindowFunction(window), changed))
}

/// Whether a bound of a RANGE frame is an offset from the value of the current row.
fn has_range_offset(frame: &WindowFrame) -> bool {
    let is_offset = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(offset) | WindowFrameBound::Following(offset) => !offset.is_null(),
        WindowFrameBound::CurrentRow => false,
    };
    frame.units == WindowFrameUnits::Range && (is_offset(&frame.start_bound) || is_offset(&frame.end_bound))
}

/// Makes a key go by value.
fn rewrite_key(key: &mut Expr, columns: &InputColumns) -> Result<bool> {
    let changed = key.get_type(columns)?.is_floating() && !is_canonical(key);
    if changed {
        replace(key, canonical);
    }
    Ok(changed || rewrite_interval(key, columns))
}

/// Makes the last key of a sort go by value, but for the signs of zeros.
pub(super) fn rewrite_last_key(key: &mut Expr, columns: &InputColumns) -> bool {
    let computed = is_computed_float(key, columns);
    if computed {
        replace(key, unsigned_nan);
    }
    computed || rewrite_interval(key, columns)
}

fn rewrite_interval(key: &mut Expr, columns: &InputColumns) -> bool {
    let interval = key.get_type(columns).is_ok_and(|of| is_interval(&of));
    if interval {
        replace(key, interval_length);
    }
    interval
}
