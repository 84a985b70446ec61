//! Expressions that DataFusion 55 simplifies wrongly, rewritten so that its simplifier answers rightly or leaves them
//! alone.
//!
//! Each file below explains one wrong identity. Most rewrites put an optimization barrier of `bonnet_values` around an
//! operand: a function that answers its argument, and into which the simplifier does not look.

mod arithmetic;
mod casts;
mod conditionals;
mod function_identities;
mod operand_order;
mod patterns;
mod timestamps;
mod volatile_expressions;

use bonnet_sql::InputColumns;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr;

use crate::plans::node_rules::ExpressionRule;

/// Rewrites such expressions. It is the last rule of analysis: the others are to see expressions without barriers.
pub(crate) const SIMPLIFICATION: ExpressionRule =
    ExpressionRule { name: "simplification", applies_to: is_compound, rewrite: rewrite_tree };

type Rewrite = fn(Expr, &InputColumns) -> Result<Transformed<Expr>>;

const REWRITES: [Rewrite; 11] = [
    function_identities::guard_function,
    volatile_expressions::evaluate_between_once,
    timestamps::localize_dates,
    timestamps::protect_coarse_columns,
    patterns::escape_backslashes,
    arithmetic::protect_signs_and_remainders,
    conditionals::rewrite_arguments,
    conditionals::rewrite_branches,
    volatile_expressions::separate_operands,
    operand_order::move_constant_right,
    casts::separate_large_operand,
];

/// Whether an expression is computed from others.
fn is_compound(expr: &Expr) -> bool {
    !matches!(expr, Expr::Column(_) | Expr::Literal(..) | Expr::Alias(_))
}

fn rewrite_tree(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    let apply = |expr: Transformed<Expr>, rewrite: &Rewrite| expr.transform_data(|expr| rewrite(expr, columns));
    let expr = expr.transform_up(|expr| match is_compound(&expr) {
        true => REWRITES.iter().try_fold(Transformed::no(expr), apply),
        false => Ok(Transformed::no(expr)),
    })?;
    // Casts come last: the other rewrites look for casts, and a barrier would hide them.
    expr.transform_data(|expr| expr.transform_up(|expr| casts::protect_lossy_cast(expr, columns)))
}
