//! Aggregates answered from statistics: plans that contain an aggregate with FILTER are left out.
//!
//! DataFusion 55 looks below the final stage of an aggregate for its partial stage, skips that one if it has a FILTER, and
//! takes the partial stage of another aggregate further below for it: `SELECT count(*) FILTER (WHERE c > 0) FROM (SELECT
//! count(*) AS c FROM t)` failed with "Input field name count(Int64(1)) does not match".
//!
//! Upstream: none known
//! Given: `CREATE TABLE t AS SELECT * FROM (VALUES (1), (2)) AS v(x)`
//! Shows: `SELECT count(*) FILTER (WHERE c > 0) FROM (SELECT count(*) AS c FROM t)` gives `1`

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

/// DataFusion's rule, which does not see aggregates with FILTER, nor the operators above them.
#[derive(Debug)]
pub(super) struct UnfilteredStatistics(pub(super) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for UnfilteredStatistics {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let filtered = plan.exists(|plan| {
            let aggregate = plan.downcast_ref::<AggregateExec>();
            Ok(aggregate.is_some_and(|aggregate| aggregate.filter_expr().iter().any(Option::is_some)))
        })?;
        match filtered {
            true => Ok(plan.map_children(|child| self.optimize(child, config).map(Transformed::yes))?.data),
            false => self.0.optimize(plan, config),
        }
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
