//! Nullability of scalar subqueries: one without rows is NULL, even if its column is declared NOT NULL.
//!
//! DataFusion 55 takes over the nullability of the column, and simplified `(SELECT 1 FROM t WHERE x > 10) IS NULL` to
//! false. All rules after this one rely on it.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/24513>
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(x)`
//! Shows: `SELECT (SELECT 1 FROM t WHERE x > 10) IS NULL` gives `true`

use bonnet_sql::InputColumns;
use bonnet_values::nullable;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::plans::node_rules::ExpressionRule;

/// Makes the scalar subqueries nullable that may have no row.
pub(crate) const SCALAR_SUBQUERIES: ExpressionRule =
    ExpressionRule { name: "scalar_subqueries", applies_to: is_scalar_subquery, rewrite: make_nullable };

fn is_scalar_subquery(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarSubquery(_))
}

fn make_nullable(expr: Expr, _: &InputColumns) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| {
        Ok(match &expr {
            Expr::ScalarSubquery(subquery) => {
                let plan = subquery.subquery.as_ref();
                match plan.schema().field(0).is_nullable() || has_one_row(plan) {
                    true => Transformed::no(expr),
                    false => Transformed::yes(nullable(expr)),
                }
            }
            _ => Transformed::no(expr),
        })
    })
}

/// Whether a plan answers exactly one row, whatever it reads.
fn has_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => has_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => has_one_row(&alias.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}
