//! Joins in which NULL equals NULL: those of IS NOT DISTINCT FROM.
//!
//! A join of DataFusion 55 has one equality for all of its keys, and two rules lose it. `eliminate_cross_join` gives that of
//! one join to all that it takes apart; `extract_equijoin_predicate` adds keys of `=` to a join of the other equality, where
//! they match NULL.

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{BinaryExpr, Expr, Join, JoinType, LogicalPlan, Operator, binary_expr};
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

/// The rule that makes keys of conditions, which gives the keys of such a join up for others.
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
            LogicalPlan::Join(mut join) if is_of_null(&join) && !join.on.is_empty() => {
                if !has_equality(&join) {
                    return Ok(Transformed::no(LogicalPlan::Join(join)));
                }
                // Keys of `=` are chosen before those of the other equality, which become conditions.
                let keys = std::mem::take(&mut join.on).into_iter();
                let keys = keys.map(|(left, right)| binary_expr(left, Operator::IsNotDistinctFrom, right));
                join.filter = conjunction(join.filter.take().into_iter().chain(keys));
                join.null_equality = NullEquality::NullEqualsNothing;
                self.0.rewrite(LogicalPlan::Join(join), config)
            }
            plan => self.0.rewrite(plan, config),
        }
    }
}

/// Whether a condition of the join is an equality of values of both sides.
fn has_equality(join: &Join) -> bool {
    let of = |expr: &Expr, side: &LogicalPlan| {
        let columns = expr.column_refs();
        !columns.is_empty() && columns.into_iter().all(|column| side.schema().has_column(column))
    };
    let is_key = |condition: &Expr| match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            (of(left, &join.left) && of(right, &join.right)) || (of(left, &join.right) && of(right, &join.left))
        }
        _ => false,
    };
    join.filter.iter().flat_map(split_conjunction).any(is_key)
}

fn is_of_null(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNull
}
