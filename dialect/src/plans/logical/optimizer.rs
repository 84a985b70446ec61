//! Rules of the logical optimizer: those of DataFusion, some confined to the plans that they rewrite rightly, and others
//! that prepare plans for them.

use std::sync::Arc;

use bonnet_sql::PruneOutputs;
use datafusion::optimizer::OptimizerRule;
use datafusion::optimizer::common_subexpr_eliminate::CommonSubexprEliminate;
use datafusion::optimizer::decorrelate_lateral_join::DecorrelateLateralJoin;
use datafusion::optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::extract_leaf_expressions::{ExtractLeafExpressions, PushDownLeafProjections};
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::optimizer::Optimizer;
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::simplify_expressions::SimplifyExpressions;

use super::filter_pushdown::ConfinedFilters;
use super::functional_dependencies::TrueKeys;
use super::leaf_expressions::SettledLeaves;
use super::null_equality::{NullSafeCrossJoins, NullSafeKeys};
use super::short_constants::ShortConstants;
use super::wide_keys::WIDE_KEYS;
use super::window_twins::WINDOW_TWINS;
use crate::plans::analysis::PLAIN_LATERAL;

type SharedOptimizerRule = Arc<dyn OptimizerRule + Send + Sync>;

/// The rules with which the logical optimizer begins. The session appends those that run after DataFusion's.
pub(crate) fn logical_rules() -> Vec<SharedOptimizerRule> {
    let (filters, joins, keys) = (PushDownFilter::new(), EliminateCrossJoin::new(), ExtractEquijoinPredicate::new());
    let simplification = SimplifyExpressions::new();
    let leaves = [ExtractLeafExpressions::new().name().to_owned(), PushDownLeafProjections::new().name().to_owned()];
    let confine = |rule: SharedOptimizerRule| match rule.name() {
        name if name == filters.name() => Arc::new(ConfinedFilters(rule)) as SharedOptimizerRule,
        name if name == joins.name() => Arc::new(NullSafeCrossJoins::default()),
        name if name == keys.name() => Arc::new(NullSafeKeys::default()),
        name if name == simplification.name() => Arc::new(ShortConstants(rule)),
        name if leaves.iter().any(|leaf| leaf == name) => Arc::new(SettledLeaves(rule)),
        _ => match TrueKeys::of(&rule) {
            Some(rule) => Arc::new(rule),
            None => rule,
        },
    };
    let mut rules: Vec<SharedOptimizerRule> = Optimizer::new().rules.into_iter().map(confine).collect();
    let mut insert_before = |next: &dyn OptimizerRule, rule: SharedOptimizerRule| {
        let at = rules.iter().position(|rule| rule.name() == next.name()).unwrap_or(rules.len());
        rules.insert(at, rule);
    };
    insert_before(&CommonSubexprEliminate::new(), Arc::new(WINDOW_TWINS));
    insert_before(&joins, Arc::new(WIDE_KEYS));
    // Right below a projection or an aggregate a call then needs no projection, which another pass would remove.
    insert_before(&OptimizeProjections::new(), Arc::new(PruneOutputs));
    insert_before(&DecorrelateLateralJoin::new(), Arc::new(PLAIN_LATERAL));
    rules
}
