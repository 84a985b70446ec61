//! Rules of the physical optimizer: those of DataFusion, some confined to the plans that they rewrite rightly, and others
//! that prepare plans for them.

use std::sync::Arc;

use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::aggregate_statistics::AggregateStatistics;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_optimizer::projection_pushdown::ProjectionPushdown;

use super::aggregate_statistics::UnfilteredStatistics;
use super::filter_projections::WholeFilters;
use super::grouping_order::GROUPING_ORDER;
use super::limited_groups::LIMITED_GROUPS;
use super::outer_joins::OUTER_JOINS;
use super::physical_filter_pushdown::ConfinedPushdown;

type SharedPhysicalRule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// The rules with which the physical optimizer begins. The session appends those that run after DataFusion's.
pub(crate) fn physical_rules() -> Vec<SharedPhysicalRule> {
    let names = [FilterPushdown::new().name().to_owned(), FilterPushdown::new_post_optimization().name().to_owned()];
    let statistics = AggregateStatistics::new().name().to_owned();
    let projections = ProjectionPushdown::new().name().to_owned();
    let confine = |rule: SharedPhysicalRule| match names.iter().any(|name| name == rule.name()) {
        true => Arc::new(ConfinedPushdown(rule)) as SharedPhysicalRule,
        false if rule.name() == statistics => Arc::new(UnfilteredStatistics(rule)) as SharedPhysicalRule,
        false if rule.name() == projections => Arc::new(WholeFilters(rule)) as SharedPhysicalRule,
        false => rule,
    };
    let first: [SharedPhysicalRule; 3] = [Arc::new(GROUPING_ORDER), Arc::new(LIMITED_GROUPS), Arc::new(OUTER_JOINS)];
    first.into_iter().chain(PhysicalOptimizer::new().rules.into_iter().map(confine)).collect()
}
