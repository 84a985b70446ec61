//! Rules that look at one node of a plan after the other, those below it first.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{AnalyzerRule, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

/// A rule of logical plans and of the subqueries in them, by what it makes of a node: of analysis, or of optimisation.
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

/// The node with other expressions, each made from one and the schema of what is below the node, under the same name.
pub(super) fn map_expressions(
    plan: LogicalPlan,
    rewrite: impl Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    let schema = merge_schema(&plan.inputs());
    let names = NamePreserver::new(&plan);
    let plan = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        Ok(rewrite(expr, &schema)?.update_data(|expr| name.restore(expr)))
    })?;
    plan.map_data(LogicalPlan::recompute_schema)
}

type Plan = Arc<dyn ExecutionPlan>;

/// A rule of physical plans, by what it makes of a node.
#[derive(Debug)]
pub(crate) struct PhysicalRule {
    pub(super) name: &'static str,
    pub(super) rewrite: fn(Plan) -> Result<Transformed<Plan>>,
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
