//! Expressions in GROUPING SETS, ROLLUP and CUBE become columns of what is grouped.
//!
//! DataFusion 55 gives what it simplifies its old name by an alias, and of `GROUPING SETS ((x NOT IN (1, 2), d), ())` the
//! alias stands around all sets, which are then counted as one column. Columns are not simplified.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Aggregate, Expr, GroupingSet, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::AnalyzerRule;

/// Computes such expressions below the aggregate.
#[derive(Debug, Default)]
pub(crate) struct GroupingSets;

impl AnalyzerRule for GroupingSets {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Aggregate(aggregate) => match computed(&aggregate) {
                Some(keys) => Ok(Transformed::yes(by_columns(aggregate, keys)?)),
                None => Ok(Transformed::no(LogicalPlan::Aggregate(aggregate))),
            },
            other => Ok(Transformed::no(other)),
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &str {
        "grouping_sets"
    }
}

/// The expressions of an aggregate's sets that are no columns, by their names; `None` without any, or where a name is also
/// that of another expression or column.
fn computed(aggregate: &Aggregate) -> Option<HashMap<String, Expr>> {
    let [Expr::GroupingSet(sets)] = aggregate.group_expr.as_slice() else { return None };
    let mut keys = HashMap::new();
    for key in sets.distinct_expr() {
        if matches!(key, Expr::Column(_)) {
            continue;
        }
        if let Some(other) = keys.insert(key.schema_name().to_string(), key.clone())
            && other != *key
        {
            return None;
        }
    }
    let columns = aggregate.input.schema().columns();
    let taken = columns.iter().any(|column| keys.contains_key(&column.flat_name()) || keys.contains_key(&column.name));
    (!keys.is_empty() && !taken).then_some(keys)
}

fn by_columns(aggregate: Aggregate, keys: HashMap<String, Expr>) -> Result<LogicalPlan> {
    let columns = aggregate.input.schema().columns().into_iter().map(Expr::Column);
    let mut named: Vec<(&String, &Expr)> = keys.iter().collect();
    named.sort_by_key(|(name, _)| *name);
    let named = named.into_iter().map(|(name, key)| key.clone().alias(name.as_str()));
    let projection: Vec<Expr> = columns.chain(named).collect();
    let input = LogicalPlanBuilder::from(Arc::unwrap_or_clone(aggregate.input)).project(projection)?.build()?;
    let column = |key: Expr| match key {
        column @ Expr::Column(_) => column,
        key => Expr::Column(Column::new_unqualified(key.schema_name().to_string())),
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
    Ok(LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), groups, aggregate.aggr_expr)?))
}
