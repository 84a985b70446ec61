//! Logical filter pushdown: filters without columns stay above aggregates, volatile ones above aggregates, windows and
//! joins.
//!
//! DataFusion 55 pushes a filter below an aggregate if all its columns are grouping keys, and so a filter without columns:
//! `SELECT m FROM (SELECT max(a) AS m, false AS b FROM t) WHERE b` answered a row, since an aggregate without GROUP BY, or
//! over grouping sets, answers one row for empty input. And it pushes a volatile filter, such as `HAVING random() < 0.5`,
//! below the aggregate, where it drops rows instead of groups.
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(a)`
//! Shows: `SELECT m FROM (SELECT max(a) AS m, false AS b FROM t) WHERE b` gives ``

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// DataFusion's pushdown of filters, which does not see the filters that stay.
#[derive(Debug)]
pub(super) struct ConfinedFilters(pub(super) Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for ConfinedFilters {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Filter(filter) => match answers_empty_input(&filter) {
                Some(answers_empty) => self.rewrite_above(filter, answers_empty, config),
                None => self.0.rewrite(LogicalPlan::Filter(filter), config),
            },
            other => self.0.rewrite(other, config),
        }
    }
}

impl ConfinedFilters {
    /// Hands the rule the conditions that it may push below an aggregate, window or join, and keeps the others above.
    fn rewrite_above(
        &self,
        filter: Filter,
        answers_empty: bool,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let mut conditions = Vec::new();
        let mut input = &LogicalPlan::Filter(filter);
        while let LogicalPlan::Filter(filter) = input {
            // Conditions of lower filters come first.
            conditions.splice(0..0, split_conjunction_owned(filter.predicate.clone()));
            input = filter.input.as_ref();
        }
        let stays = |condition: &Expr| condition.is_volatile() || (answers_empty && condition.column_refs().is_empty());
        let (staying, others): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(stays);
        let input = input.clone();
        let below = match conjunction(others) {
            Some(others) => self.0.rewrite(LogicalPlan::Filter(Filter::try_new(others, Arc::new(input))?), config)?,
            None => Transformed::no(input),
        };
        match conjunction(staying) {
            Some(staying) => {
                below.map_data(|below| Ok(LogicalPlan::Filter(Filter::try_new(staying, Arc::new(below))?)))
            }
            None => Ok(below),
        }
    }
}

/// Whether the aggregate, window or join below a filter, or below a chain of filters, answers a row for empty input; `None`
/// if there is no such node.
fn answers_empty_input(filter: &Filter) -> Option<bool> {
    match filter.input.as_ref() {
        LogicalPlan::Filter(filter) => answers_empty_input(filter),
        LogicalPlan::Aggregate(aggregate) => {
            let groups = &aggregate.group_expr;
            Some(groups.is_empty() || groups.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))))
        }
        LogicalPlan::Window(_) => Some(false),
        // Below a join a volatile condition would be evaluated for other rows.
        LogicalPlan::Join(_) if filter.predicate.is_volatile() => Some(false),
        _ => None,
    }
}
