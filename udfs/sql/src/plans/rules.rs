//! Rules for calls in FROM: equal calls share one run, and columns that are not read are not computed.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{Extension, LogicalPlan, UserDefinedLogicalNode};
use datafusion::optimizer::{AnalyzerRule, ApplyOrder, OptimizerConfig, OptimizerRule};

use crate::plans::node::RelationNode;

fn relation_node(plan: &LogicalPlan) -> Option<&RelationNode> {
    match plan {
        LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref::<RelationNode>(),
        _ => None,
    }
}

fn extension(node: impl UserDefinedLogicalNode + 'static) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(node) })
}

/// Gives one number to all equal calls of a statement, so that they run once.
///
/// CTEs and views have been inlined by then: their copies are equal, whatever else differs around them.
#[derive(Debug, Default)]
pub struct ShareRuns;

impl AnalyzerRule for ShareRuns {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let mut calls = 0;
        plan.apply_with_subqueries(|plan| {
            calls += usize::from(relation_node(plan).is_some());
            Ok(if calls > 1 { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if calls < 2 {
            return Ok(plan);
        }
        let mut seen: HashMap<RelationNode, usize> = HashMap::new();
        plan.apply_with_subqueries(|plan| {
            if let Some(node) = relation_node(plan) {
                *seen.entry(node.clone()).or_insert(0) += 1;
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        seen.retain(|_, count| *count > 1);
        if seen.is_empty() {
            return Ok(plan);
        }
        let mut runs: HashMap<RelationNode, usize> = HashMap::new();
        let plan = plan.transform_down_with_subqueries(|plan| {
            let Some(node) = relation_node(&plan).filter(|node| seen.contains_key(node)) else {
                return Ok(Transformed::no(plan));
            };
            let next = runs.len();
            let run = *runs.entry(node.clone()).or_insert(next);
            Ok(Transformed::yes(extension(node.shared_as(run))))
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &str {
        "share_runs"
    }
}

/// Tells a call which columns of its answer are read, through the filters, sorts and limits above it.
#[derive(Debug, Default)]
pub struct PruneOutputs;

impl OptimizerRule for PruneOutputs {
    fn name(&self) -> &str {
        "prune_outputs"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if !matches!(plan, LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_)) {
            return Ok(Transformed::no(plan));
        }
        let mut names: Vec<String> = Vec::new();
        add_columns(&plan, &mut names)?;
        let mut below = plan.inputs()[0];
        loop {
            match below {
                LogicalPlan::Filter(_) | LogicalPlan::Sort(_) => add_columns(below, &mut names)?,
                LogicalPlan::Limit(_) | LogicalPlan::SubqueryAlias(_) => {}
                _ => break,
            }
            below = below.inputs()[0];
        }
        let Some(node) = relation_node(below).filter(|node| node.columns.is_none() && node.binding.carries.is_none())
        else {
            return Ok(Transformed::no(plan));
        };
        let fields = node.binding.schema.fields();
        let mut columns: Vec<usize> = (0..fields.len()).filter(|&i| names.contains(fields[i].name())).collect();
        if columns.is_empty() {
            // count(*) reads rows, not columns: keep the cheapest, which is the first.
            columns.push(0);
        }
        if columns.len() == fields.len() {
            return Ok(Transformed::no(plan));
        }
        let pruned = extension(node.with_columns(columns)?);
        replace_relation(plan, &pruned)
    }
}

fn add_columns(plan: &LogicalPlan, names: &mut Vec<String>) -> Result<()> {
    plan.apply_expressions(|expr| {
        names.extend(expr.column_refs().into_iter().map(|column| column.name.clone()));
        // Correlated subqueries read columns of this plan, too.
        expr.apply(|expr| {
            if let datafusion::logical_expr::Expr::OuterReferenceColumn(_, column) = expr {
                names.push(column.name.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(())
}

/// Puts `pruned` at the end of the chain below `plan`, and rebuilds the chain's schemas.
fn replace_relation(plan: LogicalPlan, pruned: &LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let below = if relation_node(&plan).is_some() {
        return Ok(Transformed::yes(pruned.clone()));
    } else {
        plan.inputs()[0].clone()
    };
    let input = replace_relation(below, pruned)?.data;
    let expressions = plan.expressions();
    Ok(Transformed::yes(plan.with_new_exprs(expressions, vec![input])?))
}
