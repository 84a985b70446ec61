//! Join keys computed from several relations.
//!
//! DataFusion 55 reorders nested inner joins (`eliminate_cross_join`), and loses a key that reads several of their
//! relations on one side: `a JOIN (b JOIN c ON ...) ON a.x = b.y + c.z` answered all pairs. A projection keeps such a side
//! from being taken apart.
//!
//! Upstream: none known
//! Given: `CREATE TABLE wide AS SELECT value AS r, value % 3 AS i FROM generate_series(0, 5)`
//! Given: `CREATE TABLE narrow AS SELECT value AS q FROM generate_series(0, 2)`
//! Shows: `SELECT count(*) FROM wide AS a JOIN (wide AS b CROSS JOIN narrow AS c) ON a.r = c.q - b.i` gives `12`

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, Projection};

use crate::plans::node_rules::LogicalRule;

/// Puts a projection of all columns over such a side. It comes right before the rule that reorders joins.
pub(crate) const WIDE_KEYS: LogicalRule = LogicalRule { name: "wide_keys", rewrite: shield_sides };

fn shield_sides(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(mut join) = plan else { return Ok(Transformed::no(plan)) };
    let is_wide = |side: &LogicalPlan, key: fn(&(Expr, Expr)) -> &Expr| {
        join.join_type == JoinType::Inner && join.on.iter().any(|keys| is_wide(key(keys), side))
    };
    let wide = [is_wide(&join.left, |keys| &keys.0), is_wide(&join.right, |keys| &keys.1)];
    for (side, _) in [&mut join.left, &mut join.right].into_iter().zip(wide).filter(|(_, wide)| *wide) {
        *side = project_all(side);
    }
    Ok(Transformed::new_transformed(LogicalPlan::Join(join), wide.contains(&true)))
}

/// The plan under a projection of all its columns.
fn project_all(plan: &Arc<LogicalPlan>) -> Arc<LogicalPlan> {
    let schema = Arc::clone(plan.schema());
    Arc::new(LogicalPlan::Projection(Projection::new_from_schema(Arc::clone(plan), schema)))
}

/// A plan that is an inner join.
fn inner_join(plan: &LogicalPlan) -> Option<&Join> {
    match plan {
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner => Some(join),
        _ => None,
    }
}

/// Whether a key reads several of the relations of nested inner joins.
fn is_wide(key: &Expr, side: &LogicalPlan) -> bool {
    let Some(join) = inner_join(side) else { return false };
    let all_in = |schema: &DFSchema| key.column_refs().into_iter().all(|column| schema.has_column(column));
    match [&join.left, &join.right].into_iter().find(|input| all_in(input.schema())) {
        Some(input) => is_wide(key, input),
        None => true,
    }
}
