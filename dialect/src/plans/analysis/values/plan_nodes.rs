//! Plan nodes that sort, group or join by keys of floats and intervals, or that compute new floats.
//!
//! Shows: see `mod.rs`

use std::sync::Arc;

use bonnet_sql::InputColumns;
use bonnet_values::{canonical, interval_length, unsigned_nan};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::{GroupingSet, WindowFunctionDefinition};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Distinct, Expr, ExprSchemable, LogicalPlan, Projection};

use super::canonicalization::{canonicalize, is_computed_float, is_interval};
use super::{aggregates, sort_keys};
use crate::plans::expressions::replace;

/// Makes the keys of a node go by value, and gives the floats that it computes one NaN.
pub(super) fn rewrite(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let columns = InputColumns::of(&node);
    let mut changed = false;
    match node {
        LogicalPlan::Sort(mut sort) => {
            let changed = sort_keys::rewrite_sort(&mut sort, &columns)?;
            Ok(Transformed::new_transformed(LogicalPlan::Sort(sort), changed))
        }
        LogicalPlan::Projection(mut projection) => {
            for expr in &mut projection.expr {
                changed |= unify_nan(expr, &columns);
            }
            Ok(Transformed::new_transformed(LogicalPlan::Projection(projection), changed))
        }
        LogicalPlan::Values(mut values) => {
            for expr in values.values.iter_mut().flatten() {
                changed |= unify_nan(expr, &columns);
            }
            Ok(Transformed::new_transformed(LogicalPlan::Values(values), changed))
        }
        LogicalPlan::Aggregate(mut aggregate) => {
            for group in &mut aggregate.group_expr {
                changed |= rewrite_group(group, &columns);
            }
            let computed: Vec<bool> = aggregate.aggr_expr.iter().map(|expr| computes_floats(expr, &columns)).collect();
            let aggregate = LogicalPlan::Aggregate(aggregate);
            match computed.contains(&true) {
                true => unify_nan_of_last(aggregate, &computed).map(Transformed::yes),
                false => Ok(Transformed::new_transformed(aggregate, changed)),
            }
        }
        LogicalPlan::Window(window) => {
            let computed: Vec<bool> = window.window_expr.iter().map(|expr| computes_floats(expr, &columns)).collect();
            match computed.contains(&true) {
                true => unify_nan_of_last(LogicalPlan::Window(window), &computed).map(Transformed::yes),
                false => Ok(Transformed::no(LogicalPlan::Window(window))),
            }
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let intervals = input.schema().fields().iter().map(|field| is_interval(field.data_type()));
            let intervals: Vec<bool> = intervals.collect();
            if !intervals.contains(&true) {
                return Ok(Transformed::no(LogicalPlan::Distinct(Distinct::All(input))));
            }
            let input = rewrite_columns(Arc::unwrap_or_clone(input), &intervals, canonical)?;
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

/// Drops the sign of NaN from the float that an expression computes, and keeps the expression's name.
fn unify_nan(expr: &mut Expr, columns: &InputColumns) -> bool {
    let (computed, name) = match expr {
        Expr::Alias(alias) => (&mut *alias.expr, None),
        expr if is_computed_float(expr, columns) => {
            let name = NamePreserver::new_for_projection().save(expr);
            (expr, Some(name))
        }
        _ => return false,
    };
    let changed = name.is_some() || is_computed_float(computed, columns);
    if changed {
        replace(computed, unsigned_nan);
    }
    if let Some(name) = name {
        replace(computed, |expr| name.restore(expr));
    }
    changed
}

/// Puts a grouping key in canonical form, and keeps its name.
fn rewrite_group(group: &mut Expr, columns: &InputColumns) -> bool {
    let all =
        |groups: &mut [Expr]| groups.iter_mut().fold(false, |changed, group| rewrite_group(group, columns) | changed);
    match group {
        Expr::Alias(alias) => rewrite_group(&mut alias.expr, columns),
        Expr::GroupingSet(GroupingSet::Rollup(groups) | GroupingSet::Cube(groups)) => all(groups),
        Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
            sets.iter_mut().fold(false, |changed, set| all(set) | changed)
        }
        group => {
            let before = group.clone();
            let changed = canonicalize(group, columns);
            if changed {
                let name = NamePreserver::new_for_projection().save(&before);
                replace(group, |group| name.restore(group));
            }
            changed
        }
    }
}

/// Whether an aggregate, of groups or of a window, computes a float, which may be a NaN with its sign set.
fn computes_floats(expr: &Expr, columns: &InputColumns) -> bool {
    let (name, args) = match expr {
        Expr::Alias(alias) => return computes_floats(&alias.expr, columns),
        Expr::AggregateFunction(aggregate) => (aggregate.func.name(), &aggregate.params.args),
        Expr::WindowFunction(window) => match &window.fun {
            WindowFunctionDefinition::AggregateUDF(function) => (function.name(), &window.params.args),
            WindowFunctionDefinition::WindowUDF(_) => return false,
        },
        _ => return false,
    };
    name != "count"
        && aggregates::is_arithmetic(name)
        && args.iter().any(|arg| arg.get_type(columns).is_ok_and(|of| of.is_floating()))
}

/// A projection over the node that drops the sign of NaN from those of its last columns that are marked.
fn unify_nan_of_last(node: LogicalPlan, computed: &[bool]) -> Result<LogicalPlan> {
    let others = node.schema().fields().len() - computed.len();
    let computed: Vec<bool> = std::iter::repeat_n(false, others).chain(computed.iter().copied()).collect();
    rewrite_columns(node, &computed, unsigned_nan)
}

/// A projection over the node that applies a function to the marked columns, and keeps their names.
fn rewrite_columns(node: LogicalPlan, marked: &[bool], function: fn(Expr) -> Expr) -> Result<LogicalPlan> {
    let columns = node.schema().columns().into_iter().zip(marked).map(|(column, marked)| match marked {
        true => function(Expr::Column(column.clone())).alias_qualified(column.relation, column.name),
        false => Expr::Column(column),
    });
    Ok(LogicalPlan::Projection(Projection::try_new(columns.collect(), Arc::new(node))?))
}
