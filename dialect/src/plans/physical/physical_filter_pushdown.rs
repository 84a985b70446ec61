//! Physical filter pushdown, confined to plans whose columns have distinct names.
//!
//! DataFusion 55 finds the column of a pushed filter in the plan below by its name alone (`FilterRemapper` in
//! `datafusion-physical-plan/src/filter_pushdown.rs`), and takes the first of two columns of that name: in a self join a
//! condition on one side moved to the other, and rows were lost silently. Filters are therefore pushed only where no
//! operator below has two columns of one name. Little is lost: the logical optimizer, which knows the tables of columns,
//! has pushed most filters before.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/25244> <https://github.com/apache/datafusion/issues/25262> <https://github.com/apache/datafusion/pull/25259>
//! Given: `COPY (SELECT 'a1' AS id, 'x1' AS ty) TO '{dir}/a.parquet' STORED AS PARQUET`
//! Given: `COPY (SELECT 'x1' AS id) TO '{dir}/b.parquet' STORED AS PARQUET`
//! Given: `CREATE EXTERNAL TABLE ta STORED AS PARQUET LOCATION '{dir}/a.parquet'`
//! Given: `CREATE EXTERNAL TABLE tb STORED AS PARQUET LOCATION '{dir}/b.parquet'`
//! Shows: `SELECT s.id AS s, a.id AS a, b.id AS b FROM tb s JOIN (ta a LEFT JOIN tb b ON a.ty = b.id) ON s.id = b.id` gives `x1 | a1 | x1`

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;

/// DataFusion's pushdown of filters, applied to the largest parts of a plan in which each operator's columns have distinct
/// names.
#[derive(Debug)]
pub(super) struct ConfinedPushdown(pub(super) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl ConfinedPushdown {
    /// The plan with the rule applied where that is safe, and whether the names are distinct in all of its operators. A
    /// plan with distinct names is returned as it is: the rule is then applied to a larger part.
    fn push(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<(Arc<dyn ExecutionPlan>, bool)> {
        let mut children = Vec::new();
        for child in plan.children() {
            children.push(self.push(Arc::clone(child), config)?);
        }
        if children.iter().all(|(_, distinct)| *distinct) {
            return match has_distinct_names(&plan) {
                true => Ok((plan, true)),
                false => Ok((self.0.optimize(plan, config)?, false)),
            };
        }
        let pushed: Result<Vec<_>> = children
            .into_iter()
            .map(|(child, distinct)| if distinct { self.0.optimize(child, config) } else { Ok(child) })
            .collect();
        Ok((replace_children_if_necessary(plan, pushed?)?, false))
    }
}

/// Whether no two columns of a plan, whose inputs' columns have distinct names, have one name.
fn has_distinct_names(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = plan.schema();
    // The columns of an operator that passes on its only input's have been looked at there.
    if let [input] = plan.children()[..]
        && Arc::ptr_eq(&input.schema(), &schema)
    {
        return true;
    }
    let mut names = HashSet::with_capacity(schema.fields().len());
    schema.fields().iter().all(|field| names.insert(field.name().as_str()))
}

impl PhysicalOptimizerRule for ConfinedPushdown {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        match self.push(plan, config)? {
            (plan, true) => self.0.optimize(plan, config),
            (plan, false) => Ok(plan),
        }
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
