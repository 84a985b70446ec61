//! Forgets which columns follow from others where DataFusion 55 takes it wrongly.
//!
//! A key of one side of a join stands in several joined rows; DataFusion makes it the key of the groups of those rows, of
//! which it may as well be in several (`aggregate_functional_dependencies`), and `unnest` keeps the keys of the rows that it
//! takes apart. In what came of that, groups merged, doubles stayed in spite of DISTINCT, ORDER BY stopped at the key, and
//! joins were left out.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion, TreeNodeRewriter};
use datafusion::common::{DFSchemaRef, Dependency, FunctionalDependencies, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The rules that leave out what follows from a key.
pub(super) const RULES_OF_KEYS: [&str; 4] =
    ["eliminate_duplicated_expr", "eliminate_join", "optimize_projections", "replace_distinct_aggregate"];

/// Such a rule, which does not see false keys. They come back wherever a plan is made anew.
#[derive(Debug)]
pub(super) struct TrueKeys(pub(super) Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for TrueKeys {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let plan = without_false_keys(plan)?;
        let rewrite = |plan| self.0.rewrite(plan, config);
        match self.0.apply_order() {
            None => rewrite(plan),
            Some(ApplyOrder::TopDown) => plan.transform_down_with_subqueries(rewrite),
            Some(ApplyOrder::BottomUp) => plan.transform_up_with_subqueries(rewrite),
        }
    }
}

/// The plan, which knows of no keys where it might know of a false one.
pub(crate) fn without_false_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut found = false;
    plan.apply_with_subqueries(|plan| {
        found |= makes_false_keys(plan);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    match found {
        true => Ok(plan.rewrite_with_subqueries(&mut Forget::default())?.data),
        false => Ok(plan),
    }
}

fn makes_false_keys(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(groups) => {
            groups.input.schema().functional_dependencies().iter().any(|key| key.mode == Dependency::Multi)
        }
        LogicalPlan::Unnest(unnest) => !unnest.input.schema().functional_dependencies().is_empty(),
        _ => false,
    }
}

/// Takes the keys from the nodes that make false ones, and from all above them.
#[derive(Default)]
struct Forget {
    /// For each node on the way down to the present one, whether there is such a node among those below it that were left.
    below: Vec<bool>,
}

impl TreeNodeRewriter for Forget {
    type Node = LogicalPlan;

    fn f_down(&mut self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        self.below.push(false);
        Ok(Transformed::no(plan))
    }

    fn f_up(&mut self, mut plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let forgets = self.below.pop().unwrap_or_default() || makes_false_keys(&plan);
        if !forgets {
            return Ok(Transformed::no(plan));
        }
        if let Some(above) = self.below.last_mut() {
            *above = true;
        }
        match own_schema(&mut plan) {
            Some(schema) if !schema.functional_dependencies().is_empty() => {
                let keyless = (**schema).clone().with_functional_dependencies(FunctionalDependencies::empty())?;
                *schema = Arc::new(keyless);
                Ok(Transformed::yes(plan))
            }
            _ => Ok(Transformed::no(plan)),
        }
    }
}

/// The schema of a node that does not take it from its input.
fn own_schema(plan: &mut LogicalPlan) -> Option<&mut DFSchemaRef> {
    match plan {
        LogicalPlan::Projection(node) => Some(&mut node.schema),
        LogicalPlan::Window(node) => Some(&mut node.schema),
        LogicalPlan::Aggregate(node) => Some(&mut node.schema),
        LogicalPlan::Join(node) => Some(&mut node.schema),
        LogicalPlan::SubqueryAlias(node) => Some(&mut node.schema),
        LogicalPlan::Unnest(node) => Some(&mut node.schema),
        _ => None,
    }
}
