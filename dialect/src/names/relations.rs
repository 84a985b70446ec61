//! Relations in FROM, without the keys that DataFusion takes wrongly: it groups by all that follows from a key, and makes the
//! frame of a window that is ordered by one a frame of rows.
//!
//! Upstream: none known
//! Given: `CREATE TABLE keyed AS SELECT * FROM (VALUES (1, 3), (1, 1), (2, 2), (2, 2), (1, 3)) AS v(k, v)`
//! Shows: `SELECT k, sum(v) OVER (ORDER BY k) AS s FROM (SELECT k, unnest(l) AS v FROM (SELECT k, array_agg(v) AS l FROM keyed GROUP BY k)) AS e ORDER BY k` gives `1 | 7 / 1 | 7 / 1 | 7 / 2 | 11 / 2 | 11`

use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::Result;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::sql::sqlparser::ast::TableFactor;

use crate::plans::without_false_keys;

/// Plans subqueries, views and common table expressions as DataFusion does, without such keys. It comes after the planners
/// that know a relation. Each statement has one of its own.
#[derive(Debug, Default)]
pub(crate) struct KeyPlanner {
    /// Whether the next relation is one that this planner has asked for.
    asked_for: AtomicBool,
}

impl RelationPlanner for KeyPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let has_plan = matches!(relation, TableFactor::Derived { .. } | TableFactor::Table { .. });
        if !has_plan || self.asked_for.swap(false, Ordering::Relaxed) {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        self.asked_for.store(true, Ordering::Relaxed);
        let plan = context.plan(relation);
        self.asked_for.store(false, Ordering::Relaxed);
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(without_false_keys(plan?)?, None))))
    }
}
