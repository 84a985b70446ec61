//! Nodes that group, sort or join by bits, or that make new values.

use std::sync::Arc;

use bonnet_sql::InputColumns;
use bonnet_standard::{canonical, interval_length, unsigned_nan};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{GroupingSet, WindowFunctionDefinition};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Aggregate, Distinct, Expr, ExprSchemable, LogicalPlan, Projection};

use super::expressions::{replace, write_alike};
use super::{aggregates, is_computed, is_interval, keys};

/// The node, by what is equal.
pub(super) fn by_value(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let columns = InputColumns::of(&node);
    let mut changed = false;
    match node {
        LogicalPlan::Sort(mut sort) => {
            let changed = keys::of_sort(&mut sort, &columns)?;
            Ok(Transformed::new_transformed(LogicalPlan::Sort(sort), changed))
        }
        LogicalPlan::Projection(mut projection) => {
            for expr in &mut projection.expr {
                changed |= of_one_nan(expr, &columns);
            }
            Ok(Transformed::new_transformed(LogicalPlan::Projection(projection), changed))
        }
        LogicalPlan::Values(mut values) => {
            for expr in values.values.iter_mut().flatten() {
                changed |= of_one_nan(expr, &columns);
            }
            Ok(Transformed::new_transformed(LogicalPlan::Values(values), changed))
        }
        LogicalPlan::Aggregate(mut aggregate) => {
            for group in &mut aggregate.group_expr {
                changed |= of_group(group, &columns);
            }
            let computed = computed_aggregates(&aggregate, &columns);
            let aggregate = LogicalPlan::Aggregate(aggregate);
            match computed.contains(&true) {
                true => last_columns(aggregate, &computed).map(Transformed::yes),
                false => Ok(Transformed::new_transformed(aggregate, changed)),
            }
        }
        LogicalPlan::Window(window) => {
            let computed: Vec<bool> = window.window_expr.iter().map(|expr| computes(expr, &columns)).collect();
            match computed.contains(&true) {
                true => last_columns(LogicalPlan::Window(window), &computed).map(Transformed::yes),
                false => Ok(Transformed::no(LogicalPlan::Window(window))),
            }
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let intervals = input.schema().fields().iter().map(|field| is_interval(field.data_type()));
            let intervals: Vec<bool> = intervals.collect();
            if !intervals.contains(&true) {
                return Ok(Transformed::no(LogicalPlan::Distinct(Distinct::All(input))));
            }
            let input = with_columns(Arc::unwrap_or_clone(input), &intervals, canonical)?;
            Ok(Transformed::yes(LogicalPlan::Distinct(Distinct::All(Arc::new(input)))))
        }
        LogicalPlan::Join(mut join) => {
            for (left, right) in &mut join.on {
                let interval = |key: &Expr| key.get_type(&columns).is_ok_and(|of| is_interval(&of));
                if interval(left) && interval(right) {
                    replace(left, interval_length);
                    replace(right, interval_length);
                    changed = true;
                }
            }
            Ok(Transformed::new_transformed(LogicalPlan::Join(join), changed))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Gives what an expression computes one NaN, under its name.
fn of_one_nan(expr: &mut Expr, columns: &InputColumns) -> bool {
    let (computed, name) = match expr {
        Expr::Alias(alias) => (&mut *alias.expr, None),
        expr if is_computed(expr, columns) => {
            let name = NamePreserver::new_for_projection().save(expr);
            (expr, Some(name))
        }
        _ => return false,
    };
    let changed = name.is_some() || is_computed(computed, columns);
    if changed {
        replace(computed, unsigned_nan);
    }
    if let Some(name) = name {
        replace(computed, |expr| name.restore(expr));
    }
    changed
}

/// Writes what rows are grouped by alike where it is equal.
fn of_group(group: &mut Expr, columns: &InputColumns) -> bool {
    let all = |groups: &mut [Expr]| groups.iter_mut().fold(false, |changed, group| of_group(group, columns) | changed);
    match group {
        Expr::Alias(alias) => of_group(&mut alias.expr, columns),
        Expr::GroupingSet(GroupingSet::Rollup(groups) | GroupingSet::Cube(groups)) => all(groups),
        Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
            sets.iter_mut().fold(false, |changed, set| all(set) | changed)
        }
        group => {
            let before = group.clone();
            let changed = write_alike(group, columns);
            if changed {
                let name = NamePreserver::new_for_projection().save(&before);
                replace(group, |group| name.restore(group));
            }
            changed
        }
    }
}

/// Which aggregates of floats compute with them.
fn computed_aggregates(aggregate: &Aggregate, columns: &InputColumns) -> Vec<bool> {
    aggregate.aggr_expr.iter().map(|expr| computes(expr, columns)).collect()
}

fn computes(expr: &Expr, columns: &InputColumns) -> bool {
    let (name, args) = match expr {
        Expr::Alias(alias) => return computes(&alias.expr, columns),
        Expr::AggregateFunction(aggregate) => (aggregate.func.name(), &aggregate.params.args),
        Expr::WindowFunction(window) => match &window.fun {
            WindowFunctionDefinition::AggregateUDF(function) => (function.name(), &window.params.args),
            WindowFunctionDefinition::WindowUDF(_) => return false,
        },
        _ => return false,
    };
    name != "count"
        && aggregates::computes(name)
        && args.iter().any(|arg| arg.get_type(columns).is_ok_and(|of| of.is_floating()))
}

/// The node, of whose last columns those that are computed have one NaN.
fn last_columns(node: LogicalPlan, computed: &[bool]) -> Result<LogicalPlan> {
    let others = node.schema().fields().len() - computed.len();
    let computed: Vec<bool> = std::iter::repeat_n(false, others).chain(computed.iter().copied()).collect();
    with_columns(node, &computed, unsigned_nan)
}

/// The rows of a node with some of its columns rewritten under their names.
fn with_columns(node: LogicalPlan, which: &[bool], of: fn(Expr) -> Expr) -> Result<LogicalPlan> {
    let columns = node.schema().columns().into_iter().zip(which).map(|(column, which)| match which {
        true => of(Expr::Column(column.clone())).alias_qualified(column.relation, column.name),
        false => Expr::Column(column),
    });
    Ok(LogicalPlan::Projection(Projection::try_new(columns.collect(), Arc::new(node))?))
}
