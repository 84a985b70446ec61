//! Repeated and constant keys of the ORDER BY in an aggregate, left out.
//!
//! DataFusion 55 leaves them out of the order that the aggregate requires of its input, but hands its accumulators all keys:
//! `first_value(v ORDER BY v DESC, v)` and `arg_max(v, 1)` ended in a panic. The rule runs in optimization, since constants and
//! repetitions also come of simplification, as in `ORDER BY v, v + 0`.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1, 1), (1, 3), (2, 2)) AS v(g, v)`
//! Shows: `SELECT g, array_agg(v ORDER BY v DESC, v) FROM t GROUP BY g ORDER BY g` gives `1 | [3, 1] / 2 | [2]`
//! Shows: `SELECT DISTINCT ON (g) g, v FROM t ORDER BY g, g, v DESC, v` gives `1 | 3 / 2 | 2`

use bonnet_sql::map_expressions;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::plans::node_rules::LogicalRule;

/// Leaves out such keys.
pub(crate) const AGGREGATE_ORDER: LogicalRule = LogicalRule { name: "aggregate_order", rewrite: rewrite_node };

fn rewrite_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match &plan {
        LogicalPlan::Aggregate(aggregate) if aggregate.aggr_expr.iter().any(has_needless_keys) => {
            map_expressions(plan, is_needless, |expr, _| expr.transform_up(|expr| Ok(leave_out(expr))))
        }
        _ => Ok(Transformed::no(plan)),
    }
}

fn has_needless_keys(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => has_needless_keys(&alias.expr),
        expr => is_needless(expr),
    }
}

/// Whether an aggregate has keys that do not order its rows. WITHIN GROUP names an argument, which stays.
fn is_needless(expr: &Expr) -> bool {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = expr else { return false };
    let keys = &params.order_by;
    !keys.is_empty() && !func.supports_within_group_clause() && (0..keys.len()).any(|place| !orders(keys, place))
}

/// Whether the key at this place orders rows that are equal in the keys before it.
fn orders(keys: &[Sort], place: usize) -> bool {
    let key = &keys[place].expr;
    !matches!(key, Expr::Literal(..)) && keys[..place].iter().all(|before| before.expr != *key)
}

fn leave_out(expr: Expr) -> Transformed<Expr> {
    if !is_needless(&expr) {
        return Transformed::no(expr);
    }
    let Expr::AggregateFunction(mut aggregate) = expr else { return Transformed::no(expr) };
    let keys = std::mem::take(&mut aggregate.params.order_by);
    let kept = (0..keys.len()).filter(|&place| orders(&keys, place)).map(|place| keys[place].clone());
    aggregate.params.order_by = kept.collect();
    Transformed::yes(Expr::AggregateFunction(aggregate))
}
