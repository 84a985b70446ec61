//! Null-safe joins, by keys of IS NOT DISTINCT FROM: their null equality is kept by the rules that rewrite joins.
//!
//! A join of DataFusion 55 has one null equality for all its keys, and two rules lose it. `eliminate_cross_join` gives that
//! of one join to all joins that it reorders; `extract_equijoin_predicate` adds keys of `=` to a null-safe join, where NULL
//! then matches NULL.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/12458>
//! Given: `CREATE TABLE gaps AS SELECT * FROM (VALUES (1, 1), (2, NULL), (NULL, 3), (NULL, NULL)) AS v(x, y)`
//! Shows: `SELECT count(*) FROM gaps AS a JOIN (gaps AS b JOIN gaps AS c ON b.x IS NOT DISTINCT FROM c.x) ON a.y = b.y` gives `3`
//! Shows: `SELECT count(*) FROM gaps AS a LEFT JOIN gaps AS b ON a.x IS NOT DISTINCT FROM b.x WHERE a.y = b.y` gives `2`

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{BinaryExpr, Expr, Join, JoinType, LogicalPlan, Operator, binary_expr};
use datafusion::optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The rule that reorders inner joins, except in plans with a null-safe one.
#[derive(Debug, Default)]
pub(super) struct NullSafeCrossJoins(EliminateCrossJoin);

impl OptimizerRule for NullSafeCrossJoins {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let mut found = false;
        plan.apply_with_subqueries(|plan| {
            found |= matches!(plan, LogicalPlan::Join(join) if join.join_type == JoinType::Inner && is_null_safe(join));
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if found { Ok(Transformed::no(plan)) } else { self.0.rewrite(plan, config) }
    }
}

/// The rule that makes conditions keys. In a null-safe join, keys of `=` replace the null-safe ones, which become
/// conditions.
#[derive(Debug, Default)]
pub(super) struct NullSafeKeys(ExtractEquijoinPredicate);

impl OptimizerRule for NullSafeKeys {
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
            LogicalPlan::Join(mut join) if is_null_safe(&join) && !join.on.is_empty() => {
                if !has_equality(&join) {
                    return Ok(Transformed::no(LogicalPlan::Join(join)));
                }
                // The rule makes conditions by `=` keys before null-safe ones, which then stay conditions.
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

/// Whether a condition of the join equates values of its two sides.
fn has_equality(join: &Join) -> bool {
    let reads_only = |expr: &Expr, side: &LogicalPlan| {
        let columns = expr.column_refs();
        !columns.is_empty() && columns.into_iter().all(|column| side.schema().has_column(column))
    };
    let is_key = |condition: &Expr| match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            (reads_only(left, &join.left) && reads_only(right, &join.right))
                || (reads_only(left, &join.right) && reads_only(right, &join.left))
        }
        _ => false,
    };
    join.filter.iter().flat_map(split_conjunction).any(is_key)
}

fn is_null_safe(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNull
}
