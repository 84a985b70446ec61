//! Rules that look at one node of a plan after the other, those below it first.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::LogicalPlan;
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
