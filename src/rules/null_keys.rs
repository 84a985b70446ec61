//! Joins in which NULL equals NULL: those of IS NOT DISTINCT FROM.
//!
//! A join of DataFusion 55 has one equality for all of its keys, and two rules lose it. `eliminate_cross_join` gives that of
//! one join to all that it takes apart; `extract_equijoin_predicate` adds keys of `=` to a join of the other equality, where
//! they match NULL.

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::{Join, JoinType, LogicalPlan};
use datafusion::optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The rule that takes joins apart, but for plans with such a join.
#[derive(Debug, Default)]
pub(super) struct JoinsOfValues(EliminateCrossJoin);

impl OptimizerRule for JoinsOfValues {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let mut found = false;
        plan.apply_with_subqueries(|plan| {
            found |= matches!(plan, LogicalPlan::Join(join) if join.join_type == JoinType::Inner && is_of_null(join));
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if found { Ok(Transformed::no(plan)) } else { self.0.rewrite(plan, config) }
    }
}

/// The rule that makes keys of conditions, but for such a join that has its keys.
#[derive(Debug, Default)]
pub(super) struct KeysOfValues(ExtractEquijoinPredicate);

impl OptimizerRule for KeysOfValues {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Join(join) if is_of_null(&join) && !join.on.is_empty() => {
                Ok(Transformed::no(LogicalPlan::Join(join)))
            }
            plan => self.0.rewrite(plan, config),
        }
    }
}

fn is_of_null(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNull
}
