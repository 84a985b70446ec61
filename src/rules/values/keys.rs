//! The keys of sorts and windows. Those of floats have one zero and one NaN, those of intervals are their lengths. The last
//! key of a sort keeps its zeros: no other is behind it, for which they matter, and a column stays one that tables know.

use bonnet_sql::InputColumns;
use bonnet_standard::{canonical, interval_length, is_canonical, unsigned_nan};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, ExprSchemable, Sort, WindowFrame, WindowFrameBound, WindowFrameUnits};

use super::expressions::replace;
use super::{is_computed, is_interval};

/// A sort by what is equal.
pub(super) fn of_sort(sort: &mut Sort, columns: &InputColumns) -> Result<bool> {
    let mut changed = false;
    if let Some((last, keys)) = sort.expr.split_last_mut() {
        for key in keys {
            changed |= by_value(&mut key.expr, columns)?;
        }
        changed |= last_by_value(&mut last.expr, columns);
    }
    Ok(changed)
}

/// A window function by what is equal.
pub(super) fn of_window(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(mut window) = expr else { return Ok(Transformed::no(expr)) };
    let params = &mut window.params;
    let ranges = has_distance(&params.window_frame);
    let mut changed = false;
    for key in &mut params.partition_by {
        changed |= by_value(key, columns)?;
    }
    for key in &mut params.order_by {
        // A distance of values is in the type of the key.
        if !(ranges && is_interval(&key.expr.get_type(columns)?)) {
            changed |= by_value(&mut key.expr, columns)?;
        }
    }
    Ok(Transformed::new_transformed(Expr::WindowFunction(window), changed))
}

/// A window function in the order of lengths, where it is one of intervals: coercion of types refuses frames over them.
pub(super) fn of_intervals(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(mut window) = expr else { return Ok(Transformed::no(expr)) };
    let params = &mut window.params;
    let mut changed = false;
    if !has_distance(&params.window_frame) {
        for key in &mut params.order_by {
            changed |= by_length(&mut key.expr, columns);
        }
    }
    Ok(Transformed::new_transformed(Expr::WindowFunction(window), changed))
}

/// Whether a frame reaches so far from the value of a row.
fn has_distance(frame: &WindowFrame) -> bool {
    let is_distance = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(distance) | WindowFrameBound::Following(distance) => !distance.is_null(),
        WindowFrameBound::CurrentRow => false,
    };
    frame.units == WindowFrameUnits::Range && (is_distance(&frame.start_bound) || is_distance(&frame.end_bound))
}

/// Makes a key one that goes by values.
pub(super) fn by_value(key: &mut Expr, columns: &InputColumns) -> Result<bool> {
    let changed = key.get_type(columns)?.is_floating() && !is_canonical(key);
    if changed {
        replace(key, canonical);
    }
    Ok(changed || by_length(key, columns))
}

/// Makes the last key one that goes by values.
pub(super) fn last_by_value(key: &mut Expr, columns: &InputColumns) -> bool {
    let computed = is_computed(key, columns);
    if computed {
        replace(key, unsigned_nan);
    }
    computed || by_length(key, columns)
}

fn by_length(key: &mut Expr, columns: &InputColumns) -> bool {
    let interval = key.get_type(columns).is_ok_and(|of| is_interval(&of));
    if interval {
        replace(key, interval_length);
    }
    interval
}
