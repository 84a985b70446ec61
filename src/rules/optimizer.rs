//! Rules of the logical optimizer: those of DataFusion, some confined to the plans that they rewrite rightly, and others
//! that prepare plans for them.

use std::sync::Arc;

use datafusion::optimizer::OptimizerRule;
use datafusion::optimizer::common_subexpr_eliminate::CommonSubexprEliminate;
use datafusion::optimizer::decorrelate_lateral_join::DecorrelateLateralJoin;
use datafusion::optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::Optimizer;
use datafusion::optimizer::push_down_filter::PushDownFilter;

use super::correlation::PLAIN_LATERAL;
use super::filter_pushdown::ConfinedFilters;
use super::functional_dependencies::{RULES_OF_KEYS, TrueKeys};
use super::null_equality::{NullSafeCrossJoins, NullSafeKeys};
use super::wide_keys::WIDE_KEYS;
use super::window_twins::WINDOW_TWINS;

type SharedOptimizerRule = Arc<dyn OptimizerRule + Send + Sync>;

/// The rules with which the logical optimizer begins. The session appends those that run after DataFusion's.
pub(crate) fn logical_rules() -> Vec<SharedOptimizerRule> {
    let (filters, joins, keys) = (PushDownFilter::new(), EliminateCrossJoin::new(), ExtractEquijoinPredicate::new());
    let confine = |rule: SharedOptimizerRule| match rule.name() {
        name if name == filters.name() => Arc::new(ConfinedFilters(rule)) as SharedOptimizerRule,
        name if name == joins.name() => Arc::new(NullSafeCrossJoins::default()),
        name if name == keys.name() => Arc::new(NullSafeKeys::default()),
        name if RULES_OF_KEYS.contains(&name) => Arc::new(TrueKeys(rule)),
        _ => rule,
    };
    let mut rules: Vec<SharedOptimizerRule> = Optimizer::new().rules.into_iter().map(confine).collect();
    let mut insert_before = |next: &dyn OptimizerRule, rule: SharedOptimizerRule| {
        let at = rules.iter().position(|rule| rule.name() == next.name()).unwrap_or(rules.len());
        rules.insert(at, rule);
    };
    insert_before(&CommonSubexprEliminate::new(), Arc::new(WINDOW_TWINS));
    insert_before(&joins, Arc::new(WIDE_KEYS));
    insert_before(&DecorrelateLateralJoin::new(), Arc::new(PLAIN_LATERAL));
    rules
}
