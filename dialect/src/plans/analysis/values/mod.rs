//! Floats and intervals with several representations: zeros and NaN of either sign, and intervals of equal length.
//!
//! DataFusion 55 treats the two zeros as equal in `=`, `<`, `IN`, GROUP BY and joins. Everywhere else, and for NaN and
//! intervals everywhere, it compares bits. `inf - inf`, on x86 a NaN with its sign set, sorted below all numbers and
//! differed from other NaN; one day differed from 24 hours, and intervals were ordered by their months first. These rules
//! make comparisons and keys go by value, and give one NaN to what is computed or read.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/8468>
//! Shows: `SELECT '-nan'::double = 'nan'::double, '-nan'::double > 1` gives `true | true`
//! Shows: `SELECT count(*) FROM (SELECT DISTINCT i FROM (VALUES (INTERVAL '1 month'), (INTERVAL '30 days')) AS v(i))` gives `1`
//! Shows: `SELECT INTERVAL '1 day' = INTERVAL '24 hours', INTERVAL '36 hours' > INTERVAL '1 day'` gives `true | true`

mod aggregates;
mod canonicalization;
mod comparisons;
mod conditionals;
mod plan_nodes;
mod scans;
mod sort_keys;

use bonnet_sql::{InputColumns, map_expressions};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr, LogicalPlan};

pub(crate) use scans::SCANNED_NAN;

use crate::plans::node_rules::{ExpressionRule, LogicalRule};

/// Makes comparisons, arguments and keys of floats and intervals go by value. It comes after coercion, which settles their
/// types.
pub(crate) const VALUES: LogicalRule = LogicalRule { name: "values", rewrite: rewrite_node };

/// Makes windows that are ordered by intervals go by length. It comes before coercion, which refuses their frames.
pub(crate) const INTERVAL_KEYS: ExpressionRule = ExpressionRule {
    name: "interval_keys",
    applies_to: |expr| matches!(expr, Expr::WindowFunction(_)),
    rewrite: |expr, columns| expr.transform_up(|expr| sort_keys::rewrite_interval_window(expr, columns)),
};

fn rewrite_node(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let rewrite = |expr: Expr, columns: &InputColumns| expr.transform_up(|expr| comparisons::rewrite(expr, columns));
    map_expressions(node, comparisons::applies_to, rewrite)?.transform_data(plan_nodes::rewrite)
}
