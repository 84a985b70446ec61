//! Comparisons of rows, lists and maps by `<` and its like, `BETWEEN`, `greatest` and `least`, which go by the order of
//! [`bonnet_values::compare_nested`].
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES ({'a': 1, 'b': NULL::int}), ({'a': 1, 'b': 2})) AS v(s)`
//! Shows: `SELECT count(*) FROM t WHERE s > {'a': 1, 'b': 1}` gives `2`

use bonnet_sql::InputColumns;
use bonnet_values::{compare_nested, extreme_nested};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{Between, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};

use crate::plans::node_rules::ExpressionRule;

/// Makes such comparisons calls. It comes after coercion, which gives both sides one type.
pub(crate) const NESTED_COMPARISONS: ExpressionRule = ExpressionRule {
    name: "nested_comparisons",
    applies_to: orders,
    rewrite: |expr, columns| expr.transform_up(|expr| rewrite(expr, columns)),
};

fn orders(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => {
            matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
        }
        Expr::ScalarFunction(call) => matches!(call.name(), "greatest" | "least"),
        Expr::Between(_) => true,
        _ => false,
    }
}

fn is_nested(expr: &Expr, columns: &InputColumns) -> bool {
    expr.get_type(columns).is_ok_and(|of| of.is_nested())
}

fn rewrite(expr: Expr, columns: &InputColumns) -> Result<Transformed<Expr>> {
    if !orders(&expr) {
        return Ok(Transformed::no(expr));
    }
    Ok(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_nested(&right, columns) => {
            match compare_nested(left.as_ref().clone(), op, right.as_ref().clone()) {
                Some(call) => Transformed::yes(call),
                None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
            }
        }
        Expr::Between(Between { expr, negated, low, high }) if is_nested(&expr, columns) && !expr.is_volatile() => {
            let above = compare_nested(expr.as_ref().clone(), Operator::GtEq, *low);
            let below = compare_nested(*expr, Operator::LtEq, *high);
            match above.zip(below).map(|(above, below)| above.and(below)) {
                Some(within) if negated => Transformed::yes(Expr::Not(Box::new(within))),
                Some(within) => Transformed::yes(within),
                None => return datafusion::common::internal_err!("BETWEEN has two bounds"),
            }
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if args.first().is_some_and(|first| is_nested(first, columns)) =>
        {
            Transformed::yes(extreme_nested(func.name() == "greatest", args))
        }
        other => Transformed::no(other),
    })
}
