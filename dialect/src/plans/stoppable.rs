//! Rules that stop with their statement: before each rule, and each node that it looks at, planning asks whether the statement
//! still runs.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use bonnet_sql::RunningStatement;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{AnalyzerRule, OptimizerConfig, OptimizerRule};

/// A rule that fails once its statement is cancelled or late.
struct Stoppable<R: ?Sized>(Arc<R>);

/// Makes the logical rules of a session stoppable, those of DataFusion and all others that it has so far.
pub(crate) fn make_stoppable(builder: &mut SessionStateBuilder) {
    let analysis = |rules: &mut Vec<Arc<dyn AnalyzerRule + Send + Sync>>| {
        rules.iter_mut().for_each(|rule| *rule = Arc::new(Stoppable(Arc::clone(rule))));
    };
    let logical = |rules: &mut Vec<Arc<dyn OptimizerRule + Send + Sync>>| {
        rules.iter_mut().for_each(|rule| *rule = Arc::new(Stoppable(Arc::clone(rule))));
    };
    builder.analyzer().iter_mut().for_each(|analyzer| analysis(&mut analyzer.rules));
    builder.analyzer_rules().iter_mut().for_each(analysis);
    builder.optimizer().iter_mut().for_each(|optimizer| logical(&mut optimizer.rules));
    builder.optimizer_rules().iter_mut().for_each(logical);
}

impl Debug for Stoppable<dyn AnalyzerRule + Send + Sync> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

impl AnalyzerRule for Stoppable<dyn AnalyzerRule + Send + Sync> {
    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        RunningStatement::check_current()?;
        self.0.analyze(plan, config)
    }

    fn name(&self) -> &str {
        self.0.name()
    }
}

impl Debug for Stoppable<dyn OptimizerRule + Send + Sync> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

impl OptimizerRule for Stoppable<dyn OptimizerRule + Send + Sync> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        RunningStatement::check_current()?;
        self.0.rewrite(plan, config)
    }
}
