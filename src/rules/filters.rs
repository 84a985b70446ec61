//! Keeps filters without columns above aggregates, and volatile filters above aggregates, windows and joins.
//!
//! DataFusion 55 pushes a filter below an aggregate if all of its columns are among those that rows are grouped by, which is
//! so of none at all: `SELECT m FROM (SELECT max(a) AS m, false AS b FROM t) WHERE b` answered a row, since an aggregate
//! without groups, or over grouping sets, has one of no rows. And a filter by chance, `HAVING random() < 0.5`, is one of
//! groups, not of rows.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan};
use datafusion::optimizer::common_subexpr_eliminate::CommonSubexprEliminate;
use datafusion::optimizer::decorrelate_lateral_join::DecorrelateLateralJoin;
use datafusion::optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use super::correlation::PLAIN_LATERAL;
use super::dependencies::{RULES_OF_KEYS, TrueKeys};
use super::null_keys::{JoinsOfValues, KeysOfValues};
use super::wide_keys::WIDE_KEYS;
use super::window_twins::WINDOW_TWINS;

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// DataFusion's logical rules, its pushdown of filters confined, windows without twins where common subexpressions are looked
/// for, joins in one piece where others are taken apart, and no false keys where true ones save work.
pub(crate) fn logical_rules() -> Vec<Rule> {
    let (filters, joins, keys) = (PushDownFilter::new(), EliminateCrossJoin::new(), ExtractEquijoinPredicate::new());
    let confined = |rule: Rule| match rule.name() {
        name if name == filters.name() => Arc::new(ConfinedFilters(rule)) as Rule,
        name if name == joins.name() => Arc::new(JoinsOfValues::default()),
        name if name == keys.name() => Arc::new(KeysOfValues::default()),
        name if RULES_OF_KEYS.contains(&name) => Arc::new(TrueKeys(rule)),
        _ => rule,
    };
    let mut rules: Vec<Rule> = Optimizer::new().rules.into_iter().map(confined).collect();
    let mut before = |next: &dyn OptimizerRule, rule: Rule| {
        let at = rules.iter().position(|rule| rule.name() == next.name()).unwrap_or(rules.len());
        rules.insert(at, rule);
    };
    before(&CommonSubexprEliminate::new(), Arc::new(WINDOW_TWINS));
    before(&joins, Arc::new(WIDE_KEYS));
    before(&DecorrelateLateralJoin::new(), Arc::new(PLAIN_LATERAL));
    rules
}

/// The rule, which does not see such filters.
#[derive(Debug)]
struct ConfinedFilters(Rule);

impl OptimizerRule for ConfinedFilters {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Filter(filter) => match answers_no_rows(&filter) {
                Some(answers) => self.rewrite_above(filter, answers, config),
                None => self.0.rewrite(LogicalPlan::Filter(filter), config),
            },
            other => self.0.rewrite(other, config),
        }
    }
}

impl ConfinedFilters {
    /// Hands the rule those conditions alone that it may push below what may answer a row of no rows.
    fn rewrite_above(
        &self,
        filter: Filter,
        answers_no_rows: bool,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let mut conditions = Vec::new();
        let mut input = &LogicalPlan::Filter(filter);
        while let LogicalPlan::Filter(filter) = input {
            // The lower ones come first.
            conditions.splice(0..0, split_conjunction_owned(filter.predicate.clone()));
            input = filter.input.as_ref();
        }
        let stays =
            |condition: &Expr| condition.is_volatile() || (answers_no_rows && condition.column_refs().is_empty());
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

/// Whether the aggregate, window or join below a filter, or below filters of which it is the highest, answers a row of no rows;
/// `None` if there is none.
fn answers_no_rows(filter: &Filter) -> Option<bool> {
    match filter.input.as_ref() {
        LogicalPlan::Filter(filter) => answers_no_rows(filter),
        LogicalPlan::Aggregate(aggregate) => {
            let groups = &aggregate.group_expr;
            Some(groups.is_empty() || groups.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))))
        }
        LogicalPlan::Window(_) => Some(false),
        // Below a join there are other rows to draw for, and fewer.
        LogicalPlan::Join(_) if filter.predicate.is_volatile() => Some(false),
        _ => None,
    }
}
