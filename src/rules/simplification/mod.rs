//! Expressions that DataFusion 55 simplifies to others, written so that it leaves them alone, or simplifies them rightly.

mod arithmetic;
mod cases;
mod casts;
mod draws;
mod functions;
mod patterns;
mod sides;
mod subqueries;
mod timestamps;

use bonnet_sql::InputColumns;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr;

use super::by_node::ExpressionRule;

/// Rewrites such expressions.
pub(crate) const SIMPLIFICATION: ExpressionRule =
    ExpressionRule { name: "simplification", concerned: is_computed, rewrite: rewritten };

type Rewrite = fn(Expr, &InputColumns) -> Result<Transformed<Expr>>;

const REWRITES: [Rewrite; 11] = [
    subqueries::without_rows,
    functions::guarded_identities,
    functions::drawn_once,
    timestamps::zoned_dates,
    timestamps::of_finer_constants,
    patterns::of_backslashes,
    arithmetic::of_signs_and_fractions,
    cases::lazy_arguments,
    cases::lazy_branches,
    draws::told_apart,
    sides::constant_on_the_right,
];

/// Whether an expression is computed of others.
fn is_computed(expr: &Expr) -> bool {
    !matches!(expr, Expr::Column(_) | Expr::Literal(..) | Expr::Alias(_))
}

fn rewritten(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let apply = |expr: Transformed<Expr>, rewrite: &Rewrite| expr.transform_data(|expr| rewrite(expr, columns));
    let expr = expr.transform_up(|expr| match is_computed(&expr) {
        true => REWRITES.iter().try_fold(Transformed::no(expr), apply),
        false => Ok(Transformed::no(expr)),
    })?;
    // The others look at casts.
    expr.transform_data(|expr| expr.transform_up(|expr| casts::that_lose(expr, columns)))
}

/// Puts what a function makes of an expression in its place.
fn replace(expr: &mut Expr, with: impl FnOnce(Expr) -> Expr) {
    *expr = with(std::mem::take(expr));
}
