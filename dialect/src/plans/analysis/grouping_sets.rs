//! Expressions in GROUPING SETS, ROLLUP and CUBE, computed by a projection below the aggregate.
//!
//! DataFusion 55 wraps an expression that it simplifies in an alias of its old name. If it simplifies one in `GROUPING SETS
//! ((x NOT IN (1, 2), d), ())`, the alias encloses all sets, which are then counted as one column. Columns it does not
//! simplify.
//!
//! Upstream: none known
//! Shows: no statement: DataFusion 55.2 answers all that were tried rightly, such as `GROUP BY GROUPING SETS ((x NOT IN (1, 2), d), ())`: see `docs/upstream.md`.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Aggregate, Expr, GroupingSet, LogicalPlan, LogicalPlanBuilder};

use crate::plans::node_rules::LogicalRule;

/// Replaces such expressions by columns of a projection.
pub(crate) const GROUPING_SETS: LogicalRule = LogicalRule { name: "grouping_sets", rewrite: rewrite_node };

fn rewrite_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Aggregate(aggregate) => match key_expressions(&aggregate).as_slice() {
            [] => Ok(Transformed::no(LogicalPlan::Aggregate(aggregate))),
            keys => Ok(Transformed::yes(group_by_columns(aggregate, keys)?)),
        },
        other => Ok(Transformed::no(other)),
    }
}

/// The expressions in an aggregate's sets that are no columns, without duplicates; none if two keys have one name, as x and
/// `CAST(x AS INT)` do.
fn key_expressions(aggregate: &Aggregate) -> Vec<Expr> {
    let [Expr::GroupingSet(sets)] = aggregate.group_expr.as_slice() else { return Vec::new() };
    let mut keys: Vec<&Expr> = Vec::new();
    for key in sets.distinct_expr() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let names: HashSet<String> = keys.iter().map(|key| key.schema_name().to_string()).collect();
    if names.len() < keys.len() {
        return Vec::new();
    }
    keys.retain(|key| !matches!(key, Expr::Column(_)));
    keys.into_iter().cloned().collect()
}

/// The aggregate over a projection that computes these expressions, with the column names of the original. Below the
/// aggregate the new columns have unique names, since `CAST(x AS INT)` is named like x.
fn group_by_columns(aggregate: Aggregate, keys: &[Expr]) -> Result<LogicalPlan> {
    let name = |at: usize| format!("__key_{at}");
    let columns = aggregate.input.schema().columns().into_iter().map(Expr::Column);
    let named = keys.iter().enumerate().map(|(at, key)| key.clone().alias(name(at)));
    let projection: Vec<Expr> = columns.chain(named).collect();
    let input = LogicalPlanBuilder::from(Arc::unwrap_or_clone(aggregate.input)).project(projection)?.build()?;
    let column = |key: Expr| match keys.iter().position(|other| *other == key) {
        Some(at) => Expr::Column(Column::new_unqualified(name(at))),
        None => key,
    };
    let columns = |keys: Vec<Expr>| keys.into_iter().map(column).collect::<Vec<Expr>>();
    let group = |group: Expr| match group {
        Expr::GroupingSet(GroupingSet::Rollup(keys)) => Expr::GroupingSet(GroupingSet::Rollup(columns(keys))),
        Expr::GroupingSet(GroupingSet::Cube(keys)) => Expr::GroupingSet(GroupingSet::Cube(columns(keys))),
        Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
            Expr::GroupingSet(GroupingSet::GroupingSets(sets.into_iter().map(columns).collect()))
        }
        other => other,
    };
    let groups = aggregate.group_expr.into_iter().map(group).collect();
    let grouped = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), groups, aggregate.aggr_expr)?);
    let before = aggregate.schema.iter().zip(grouped.schema().columns());
    let renamed = before.map(|((table, field), column)| match column.name == *field.name() {
        true => Expr::Column(column),
        false => Expr::Column(column).alias_qualified(table.cloned(), field.name()),
    });
    let renamed: Vec<Expr> = renamed.collect();
    LogicalPlanBuilder::from(grouped).project(renamed)?.build()
}
