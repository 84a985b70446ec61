//! Expressions that DataFusion 55 simplifies to others, written so that it leaves them alone, or simplifies them rightly.

mod arithmetic;
mod cases;
mod casts;
mod functions;
mod intervals;
mod patterns;
mod subqueries;
mod timestamps;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::by_node::{LogicalRule, map_expressions};

/// Rewrites such expressions.
pub(crate) const SIMPLIFICATION: LogicalRule = LogicalRule { name: "simplification", rewrite: rewritten };

type Rewrite = fn(Expr, &DFSchema) -> Result<Transformed<Expr>>;

const REWRITES: [Rewrite; 9] = [
    subqueries::without_rows,
    functions::guarded_identities,
    functions::drawn_once,
    intervals::by_length,
    timestamps::zoned_dates,
    timestamps::of_finer_constants,
    patterns::of_backslashes,
    arithmetic::of_signs_and_fractions,
    cases::lazy_branches,
];

fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    // The filters of a scan are also those of a table that knows no functions of ours.
    if matches!(plan, LogicalPlan::TableScan(_)) {
        return Ok(Transformed::no(plan));
    }
    map_expressions(plan, |expr, schema| {
        let apply = |expr: Transformed<Expr>, rewrite: &Rewrite| expr.transform_data(|expr| rewrite(expr, schema));
        let expr = expr.transform_up(|expr| REWRITES.iter().try_fold(Transformed::no(expr), apply))?;
        // The others look at casts.
        expr.transform_data(|expr| expr.transform_up(|expr| casts::that_lose(expr, schema)))
    })
}

/// Puts what a function makes of an expression in its place.
fn replace(expr: &mut Expr, with: impl FnOnce(Expr) -> Expr) {
    *expr = with(std::mem::take(expr));
}
