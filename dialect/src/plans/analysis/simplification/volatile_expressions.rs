//! Volatile expressions, which answer another value each time they are evaluated.
//!
//! DataFusion 55 merges two comparisons of equal volatile expressions into one, and splits a BETWEEN into two comparisons
//! that evaluate its operand twice.
//!
//! Upstream: none known
//! Shows: `SELECT count(*) < 3000 FROM generate_series(1, 10000) AS v(i) WHERE random() BETWEEN 0.4 AND 0.6` gives `true`

use bonnet_sql::InputColumns;
use bonnet_values::{between_once, unique_expression};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::Expr;

use crate::plans::expressions::{comparison_operands, is_copied_often, replace};

/// Makes each volatile operand of a comparison unequal to all other expressions.
pub(super) fn separate_operands(mut expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    let mut changed = false;
    for value in comparison_operands(&mut expr).into_iter().filter(|value| value.is_volatile()) {
        replace(value, unique_expression);
        changed = true;
    }
    Ok(Transformed::new_transformed(expr, changed))
}

/// Makes a BETWEEN of a volatile expression, or of one that would be copied often, a function call, which evaluates it once.
pub(super) fn evaluate_between_once(expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::Between(between) if between.expr.is_volatile() || is_copied_often(&between.expr) => {
            Transformed::yes(between_once(between))
        }
        other => Transformed::no(other),
    })
}
