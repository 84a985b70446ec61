//! Constants, of which only short ones are computed beforehand.
//!
//! DataFusion's rule puts the value of a constant call into the plan, however long: `length(upper(repeat('é', 50000000)))` took
//! 4 s of copies and of names of columns with 100 MB each, and went on for half a minute after its timeout where other
//! statements ran beside it.
//!
//! Upstream: none known
//! Shows: no statement: time, no answer: `length(upper(repeat('é', 50000000)))` is computed while it is planned, copied, and put into names of columns.

use std::sync::Arc;

use bonnet_values::with_short_constants;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// DataFusion's rule that simplifies expressions, which leaves calls with long values as they are.
#[derive(Debug)]
pub(super) struct ShortConstants(pub(super) Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for ShortConstants {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        with_short_constants(|| self.0.rewrite(plan, config))
    }
}
