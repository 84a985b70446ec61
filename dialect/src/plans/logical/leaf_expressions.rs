//! Fields of rows that are drawn, computed where the rows are.
//!
//! DataFusion 55 moves the access to a field, `s['a']`, below other operators to where the row is computed, and merges it with
//! that: of a row that holds a volatile value, such as `random()`, the field was then drawn again, and differed from the row's.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/24678>
//! Shows: `SELECT s.s.a = s.f AS e FROM (SELECT s, s['a'] AS f FROM (SELECT named_struct('a', random()) AS s FROM generate_series(1, 1))) AS s` gives `true`

use std::sync::Arc;

use bonnet_sql::mentions;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// A rule of DataFusion that moves such accesses, applied to plans without volatile values alone.
#[derive(Debug)]
pub(super) struct SettledLeaves(pub(super) Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for SettledLeaves {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let concerned = match self.apply_order() {
            Some(_) => matches!(plan, LogicalPlan::Projection(_)),
            None => true,
        };
        if !concerned || mentions(&plan, Expr::is_volatile_node)? {
            return Ok(Transformed::no(plan));
        }
        self.0.rewrite(plan, config)
    }
}
