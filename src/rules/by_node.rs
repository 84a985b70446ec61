//! Rules that look at one node of a plan after the other, those below it first.

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

/// A rule of analysis by what it makes of the expressions of a plan that hold a concerned one. They keep their names.
#[derive(Debug)]
pub(crate) struct ExpressionRule {
    pub(super) name: &'static str,
    pub(super) concerned: fn(&Expr) -> bool,
    pub(super) rewrite: fn(Expr, &InputColumns) -> Result<Transformed<Expr>>,
}

impl AnalyzerRule for ExpressionRule {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        if !mentions(&plan, self.concerned)? {
            return Ok(plan);
        }
        // What may be NULL may have changed, in the columns of all nodes above as well.
        let mut changed = false;
        let plan = plan.transform_up_with_subqueries(|node| {
            let node = map_expressions(node, self.concerned, self.rewrite)?;
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
