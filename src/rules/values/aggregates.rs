//! Aggregates and window functions: those that choose or count values see equal ones written alike.

use bonnet_sql::InputColumns;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::{Expr, ExprSchemable};

use super::expressions::write_alike;
use super::{is_computed, is_interval, keys};

/// The aggregates that compute with numbers, to which all NaN are one, and that give any.
const ARITHMETIC: [&str; 11] =
    ["sum", "avg", "mean", "stddev", "stddev_samp", "stddev_pop", "var", "var_samp", "var_pop", "corr", "count"];

/// Whether an aggregate computes with its arguments, and may so answer NaN with its sign set.
pub(super) fn computes(name: &str) -> bool {
    ARITHMETIC.contains(&name) || name.starts_with("covar") || name.starts_with("regr_")
}

/// Whether an aggregate chooses one of the intervals that it is given.
fn chooses(name: &str) -> bool {
    matches!(name, "min" | "max" | "mode" | "arg_min" | "arg_max")
}

pub(super) fn of_groups(mut aggregate: AggregateFunction, columns: &InputColumns) -> Transformed<Expr> {
    let name = aggregate.func.name();
    let params = &mut aggregate.params;
    let mut changed = arguments(name, params.distinct, &mut params.args, columns);
    for key in &mut params.order_by {
        changed |= keys::last_by_value(&mut key.expr, columns);
    }
    Transformed::new_transformed(Expr::AggregateFunction(aggregate), changed)
}

pub(super) fn of_window(mut window: WindowFunction, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let name = window.fun.name().to_owned();
    let changed = arguments(&name, window.params.distinct, &mut window.params.args, columns);
    Ok(Transformed::new_transformed(Expr::from(window), changed))
}

fn arguments(name: &str, distinct: bool, args: &mut [Expr], columns: &InputColumns) -> bool {
    let mut changed = false;
    for arg in args.iter_mut().filter(|arg| arg.any_column_refs()) {
        let interval = |arg: &Expr| arg.get_type(columns).is_ok_and(|of| is_interval(&of));
        let concerned = match is_computed(arg, columns) {
            true => distinct || !computes(name),
            false => (distinct || chooses(name)) && interval(arg),
        };
        changed |= concerned && write_alike(arg, columns);
    }
    changed
}
