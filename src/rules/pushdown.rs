//! Filters that are pushed down the physical plan, kept away from columns of the same name.
//!
//! DataFusion 55 finds the column of a pushed filter in the plan below by its name alone (`FilterRemapper` in
//! `datafusion-physical-plan/src/filter_pushdown.rs`), and of two columns of that name it takes the first: in a join of a
//! table with itself a condition on one side came to stand on the other, and rows were lost without a word. Filters are
//! therefore pushed only where no plan below has two columns of one name. The logical optimizer, which knows the tables of
//! columns, has pushed most of them before.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::aggregate_statistics::AggregateStatistics;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_optimizer::projection_pushdown::ProjectionPushdown;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;

use super::aggregate_statistics::UnfilteredStatistics;
use super::filter_columns::WholeFilters;
use super::grouping_order::GROUPING_ORDER;
use super::outer_joins::OUTER_JOINS;

type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// DataFusion's physical rules, its pushdown of filters and of projections and its use of statistics confined, behind those
/// that hide from them what they take wrongly.
pub(crate) fn physical_rules() -> Vec<Rule> {
    let names = [FilterPushdown::new().name().to_owned(), FilterPushdown::new_post_optimization().name().to_owned()];
    let statistics = AggregateStatistics::new().name().to_owned();
    let projections = ProjectionPushdown::new().name().to_owned();
    let confined = |rule: Rule| match names.iter().any(|name| name == rule.name()) {
        true => Arc::new(ConfinedPushdown(rule)) as Rule,
        false if rule.name() == statistics => Arc::new(UnfilteredStatistics(rule)) as Rule,
        false if rule.name() == projections => Arc::new(WholeFilters(rule)) as Rule,
        false => rule,
    };
    let first: [Rule; 2] = [Arc::new(GROUPING_ORDER), Arc::new(OUTER_JOINS)];
    first.into_iter().chain(PhysicalOptimizer::new().rules.into_iter().map(confined)).collect()
}

/// The rule, applied to the largest parts of a plan below whose top no two columns have one name.
#[derive(Debug)]
struct ConfinedPushdown(Rule);

impl ConfinedPushdown {
    /// The plan with the rule applied where that is safe, and whether no plan in it has two columns of one name. A part
    /// that is safe as a whole waits for what is above it.
    fn push(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<(Arc<dyn ExecutionPlan>, bool)> {
        let mut children = Vec::new();
        for child in plan.children() {
            children.push(self.push(Arc::clone(child), config)?);
        }
        if children.iter().all(|(_, distinct)| *distinct) {
            return match has_distinct_names(&plan) {
                true => Ok((plan, true)),
                false => Ok((self.0.optimize(plan, config)?, false)),
            };
        }
        let pushed: Result<Vec<_>> = children
            .into_iter()
            .map(|(child, distinct)| if distinct { self.0.optimize(child, config) } else { Ok(child) })
            .collect();
        Ok((replace_children_if_necessary(plan, pushed?)?, false))
    }
}

/// Whether no two columns of the plan have one name.
fn has_distinct_names(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = plan.schema();
    let mut names = HashSet::new();
    schema.fields().iter().all(|field| names.insert(field.name().as_str()))
}

impl PhysicalOptimizerRule for ConfinedPushdown {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        match self.push(plan, config)? {
            (plan, true) => self.0.optimize(plan, config),
            (plan, false) => Ok(plan),
        }
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
