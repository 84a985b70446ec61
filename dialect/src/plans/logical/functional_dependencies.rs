//! Functional dependencies, dropped where DataFusion 55 derives false ones.
//!
//! A key of one side of a join may occur in several joined rows. DataFusion takes it for a key of their groups as well,
//! although it may occur in several of those too (`aggregate_functional_dependencies`), and lets `unnest` keep the keys of
//! its input, whose rows it repeats. With such false keys groups were merged, duplicates stayed in spite of DISTINCT, ORDER
//! BY dropped the expressions behind the key, and joins were left out.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/23626> <https://github.com/apache/datafusion/pull/23548>
//! Given: `CREATE TABLE keyed AS SELECT * FROM (VALUES (1, 3), (1, 1), (2, 9), (2, 2), (1, 3)) AS v(k, v)`
//! Shows: `SELECT DISTINCT k FROM (SELECT g.k, t.v, count(*) AS n FROM (SELECT DISTINCT k FROM keyed) AS g JOIN keyed AS t ON g.k = t.k GROUP BY g.k, t.v) AS p ORDER BY k` gives `1 / 2`
//! Shows: `SELECT k, v FROM (SELECT k, unnest(l) AS v FROM (SELECT k, array_agg(v) AS l FROM keyed GROUP BY k)) AS e ORDER BY k, v DESC` gives `1 | 3 / 1 | 3 / 1 | 1 / 2 | 9 / 2 | 2`

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion, TreeNodeRewriter};
use datafusion::common::{DFSchemaRef, Dependency, FunctionalDependencies, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Whether a node is of some kind.
type IsNode = fn(&LogicalPlan) -> bool;

/// The rules that leave out columns, joins or groups because a key determines them, with the nodes that they rewrite.
const RULES_OF_KEYS: [(&str, IsNode); 4] = [
    ("eliminate_duplicated_expr", |plan| matches!(plan, LogicalPlan::Sort(_) | LogicalPlan::Aggregate(_))),
    ("eliminate_join", |plan| matches!(plan, LogicalPlan::Join(_))),
    ("optimize_projections", |_| true),
    ("replace_distinct_aggregate", |plan| matches!(plan, LogicalPlan::Distinct(_))),
];

/// One of [`RULES_OF_KEYS`], which does not see false keys. Each drops them again, since they come back when a schema is
/// recomputed.
#[derive(Debug)]
pub(super) struct TrueKeys {
    rule: Arc<dyn OptimizerRule + Send + Sync>,
    rewrites: IsNode,
}

impl TrueKeys {
    /// `None` for a rule that does not look at keys.
    pub(super) fn of(rule: &Arc<dyn OptimizerRule + Send + Sync>) -> Option<Self> {
        let (_, rewrites) = RULES_OF_KEYS.into_iter().find(|(name, _)| *name == rule.name())?;
        Some(Self { rule: Arc::clone(rule), rewrites })
    }
}

impl OptimizerRule for TrueKeys {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if !contains(&plan, self.rewrites)? {
            return Ok(Transformed::no(plan));
        }
        let plan = without_false_keys(plan)?;
        let rewrite = |plan| self.rule.rewrite(plan, config);
        match self.rule.apply_order() {
            None => rewrite(plan),
            Some(ApplyOrder::TopDown) => plan.transform_down_with_subqueries(rewrite),
            Some(ApplyOrder::BottomUp) => plan.transform_up_with_subqueries(rewrite),
        }
    }
}

/// The plan without functional dependencies where one of them may be false.
pub(crate) fn without_false_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    match contains(&plan, derives_false_keys)? {
        true => Ok(plan.rewrite_with_subqueries(&mut DependencyRemover::default())?.data),
        false => Ok(plan),
    }
}

/// Whether a node of the plan, or of a subquery in it, fulfils a predicate.
fn contains(plan: &LogicalPlan, predicate: IsNode) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|plan| {
        found |= predicate(plan);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// Whether a node may derive a false key from the keys of its input.
fn derives_false_keys(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(groups) => {
            groups.input.schema().functional_dependencies().iter().any(|key| key.mode == Dependency::Multi)
        }
        LogicalPlan::Unnest(unnest) => !unnest.input.schema().functional_dependencies().is_empty(),
        _ => false,
    }
}

/// Removes functional dependencies from the nodes that may derive false ones, and from all nodes above them.
#[derive(Default)]
struct DependencyRemover {
    /// For each node on the path from the root, whether there is such a node in the subtrees below it that were visited.
    below: Vec<bool>,
}

impl TreeNodeRewriter for DependencyRemover {
    type Node = LogicalPlan;

    fn f_down(&mut self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        self.below.push(false);
        Ok(Transformed::no(plan))
    }

    fn f_up(&mut self, mut plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let is_affected = self.below.pop().unwrap_or_default() || derives_false_keys(&plan);
        if !is_affected {
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

/// The schema of a node, unless it is that of its input.
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
