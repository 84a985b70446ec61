//! Values that are written in several ways: zeros and NaN of both signs, and intervals of one length.
//!
//! DataFusion 55 knows of the zeros in `=`, `<`, `IN`, GROUP BY and joins. Anywhere else, and of the others everywhere, it goes
//! by bits: `inf - inf`, a NaN with its sign set, is below all numbers and another value than NaN; a day is not 24 hours, and
//! months are compared first. Here comparisons and keys go by what is equal, and what is computed, or read, has one NaN.

mod aggregates;
mod expressions;
mod keys;
mod nodes;
mod scans;
mod zeros;

use arrow::datatypes::{DataType, IntervalUnit};
use bonnet_sql::{InputColumns, map_expressions};
use bonnet_standard::is_canonical;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};

pub(crate) use scans::SCANNED_NAN;

use super::by_node::{ExpressionRule, LogicalRule};

/// Rewrites what goes by bits.
pub(crate) const VALUES: LogicalRule = LogicalRule { name: "values", rewrite: by_value };

/// The same of windows that are ordered by intervals, before types are coerced.
pub(crate) const INTERVAL_KEYS: ExpressionRule = ExpressionRule {
    name: "interval_keys",
    concerned: |expr| matches!(expr, Expr::WindowFunction(_)),
    rewrite: |expr, columns| expr.transform_up(|expr| keys::of_intervals(expr, columns)),
};

fn by_value(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let rewrite = |expr: Expr, columns: &InputColumns| expr.transform_up(|expr| expressions::by_value(expr, columns));
    map_expressions(node, expressions::is_concerned, rewrite)?.transform_data(nodes::by_value)
}

fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(IntervalUnit::MonthDayNano))
}

/// Whether an expression is a float that is computed, and may be NaN with its sign set.
fn is_computed(expr: &Expr, columns: &InputColumns) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    let computes = |expr: &Expr| match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => matches!(op, Plus | Minus | Multiply | Divide | Modulo),
        Expr::Cast(Cast { expr: of, .. }) | Expr::TryCast(TryCast { expr: of, .. }) => {
            of.get_type(columns).is_ok_and(|of| of.is_string())
        }
        Expr::Negative(_) | Expr::ScalarFunction(_) => true,
        _ => false,
    };
    !is_canonical(expr)
        && expr.exists(|expr| Ok(computes(expr))).unwrap_or(false)
        && expr.get_type(columns).is_ok_and(|of| of.is_floating())
}
