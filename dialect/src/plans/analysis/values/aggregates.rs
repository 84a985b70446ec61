//! Arguments of aggregates and window functions: canonical where the function selects, counts or compares its values.
//!
//! Shows: see `mod.rs`

use bonnet_sql::InputColumns;
use bonnet_values::{canonical, is_canonical};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::{Expr, ExprSchemable};

use super::canonicalization::{canonicalize, is_computed_float, is_interval};
use super::sort_keys;
use crate::plans::expressions::replace;

/// The aggregates that compute with numbers: every NaN among their arguments has the same effect, and their result may be a
/// NaN of either sign.
const ARITHMETIC: [&str; 11] =
    ["sum", "avg", "mean", "stddev", "stddev_samp", "stddev_pop", "var", "var_samp", "var_pop", "corr", "count"];

/// Whether an aggregate computes with its arguments, and may so answer NaN with its sign set.
pub(super) fn is_arithmetic(name: &str) -> bool {
    ARITHMETIC.contains(&name) || name.starts_with("covar") || name.starts_with("regr_")
}

/// Whether an aggregate answers one of the intervals that it is given.
fn selects_value(name: &str) -> bool {
    matches!(name, "min" | "max" | "mode" | "arg_min" | "arg_max")
}

/// An aggregate with canonical arguments and keys.
pub(super) fn rewrite_aggregate(mut aggregate: AggregateFunction, columns: &InputColumns) -> Transformed<Expr> {
    let name = aggregate.func.name();
    let params = &mut aggregate.params;
    let mut changed = rewrite_arguments(name, params.distinct, &mut params.args, columns);
    for key in &mut params.order_by {
        changed |= sort_keys::rewrite_last_key(&mut key.expr, columns);
    }
    Transformed::new_transformed(Expr::AggregateFunction(aggregate), changed)
}

/// A window function with canonical arguments.
pub(super) fn rewrite_window(mut window: WindowFunction, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let name = window.fun.name().to_owned();
    let changed = rewrite_arguments(&name, window.params.distinct, &mut window.params.args, columns);
    Ok(Transformed::new_transformed(Expr::from(window), changed))
}

fn rewrite_arguments(name: &str, distinct: bool, args: &mut [Expr], columns: &InputColumns) -> bool {
    let mut changed = false;
    for arg in args.iter_mut().filter(|arg| arg.any_column_refs()) {
        // DataFusion drops what it has seen by its bits, unless it makes DISTINCT a GROUP BY.
        if distinct && !is_canonical(arg) && arg.get_type(columns).is_ok_and(|of| of.is_floating()) {
            replace(arg, canonical);
            changed = true;
            continue;
        }
        let interval = |arg: &Expr| arg.get_type(columns).is_ok_and(|of| is_interval(&of));
        let needs_canonical = match is_computed_float(arg, columns) {
            true => !is_arithmetic(name),
            false => (distinct || selects_value(name)) && interval(arg),
        };
        changed |= needs_canonical && canonicalize(arg, columns);
    }
    changed
}
