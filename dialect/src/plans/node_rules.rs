//! Kinds of rules that are a function of a node, or of an expression, applied from the leaves of a plan to its root.

use std::sync::Arc;

use bonnet_sql::{InputColumns, map_expressions, mentions};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{AnalyzerRule, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

/// A rule of logical plans that rewrites one node at a time, in subqueries as well. It serves as a rule of the analyzer or
/// of the optimizer.
#[derive(Debug)]
pub(crate) struct LogicalRule {
    pub(super) name: &'static str,
    pub(super) rewrite: fn(LogicalPlan) -> Result<Transformed<LogicalPlan>>,
}

impl AnalyzerRule for LogicalRule {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(self.rewrite)?.data)
    }

    fn name(&self) -> &str {
        self.name
    }
}

impl OptimizerRule for LogicalRule {
    fn name(&self) -> &str {
        self.name
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        (self.rewrite)(plan)
    }
}

/// A rule of the analyzer that rewrites expressions, and keeps their names. It sees each expression of a node that contains
/// one to which it applies.
#[derive(Debug)]
pub(crate) struct ExpressionRule {
    pub(super) name: &'static str,
    pub(super) applies_to: fn(&Expr) -> bool,
    pub(super) rewrite: fn(Expr, &InputColumns) -> Result<Transformed<Expr>>,
}

impl AnalyzerRule for ExpressionRule {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        if !mentions(&plan, self.applies_to)? {
            return Ok(plan);
        }
        // A rewrite may change which columns are nullable, and so the schemas of all nodes above.
        let mut changed = false;
        let plan = plan.transform_up_with_subqueries(|node| {
            let node = map_expressions(node, self.applies_to, self.rewrite)?;
            changed |= node.transformed;
            if changed { node.map_data(LogicalPlan::recompute_schema) } else { Ok(node) }
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &str {
        self.name
    }
}

type Plan = Arc<dyn ExecutionPlan>;

/// A rule of physical plans that rewrites one operator at a time.
#[derive(Debug)]
pub struct PhysicalRule {
    /// The name of the rule, as EXPLAIN VERBOSE prints it.
    pub name: &'static str,
    /// The operator in the place of one, whose inputs are rewritten already.
    pub rewrite: fn(Plan) -> Result<Transformed<Plan>>,
}

impl PhysicalOptimizerRule for PhysicalRule {
    fn optimize(&self, plan: Plan, _: &ConfigOptions) -> Result<Plan> {
        Ok(plan.transform_up(self.rewrite)?.data)
    }

    fn name(&self) -> &str {
        self.name
    }

    fn schema_check(&self) -> bool {
        true
    }
}
