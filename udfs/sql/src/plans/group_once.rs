//! Aggregates that hold their rows are grouped once. DataFusion groups the rows of each partition, sends the states to the
//! partition of their group and merges them there, which pays where states are small. A state that holds its rows would
//! be written as bytes and read again for nothing: here the rows themselves go to the partition of their group.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, InputOrderMode, Partitioning};

use crate::adapters::rows::holds_rows;

/// Makes one aggregation of the two that an aggregate is planned as, where a function among them holds its rows.
#[derive(Debug, Default)]
pub struct GroupOnce;

impl PhysicalOptimizerRule for GroupOnce {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let once = plan.transform_up(|plan| {
            Ok(match grouped_once(&plan)? {
                Some(aggregate) => Transformed::yes(aggregate),
                None => Transformed::no(plan),
            })
        })?;
        Ok(once.data)
    }

    fn name(&self) -> &str {
        "group_once"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The one aggregation, if `plan` is the second of two and they can be one.
fn grouped_once(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(last) = plan.downcast_ref::<AggregateExec>() else { return Ok(None) };
    let between = last.input();
    let Some(first) = between.children().first().and_then(|plan| plan.downcast_ref::<AggregateExec>()) else {
        return Ok(None);
    };
    let functions = first.aggr_expr();
    let joined = *first.mode() == AggregateMode::Partial
        && *first.input_order_mode() == InputOrderMode::Linear
        && !first.group_expr().has_grouping_set()
        && last.limit_options().is_none()
        && functions.iter().all(|function| function.order_bys().is_empty())
        && functions.iter().any(|function| holds_rows(function.fun()));
    if !joined {
        return Ok(None);
    }
    let rows = as_read(first.input());
    let (mode, rows): (_, Arc<dyn ExecutionPlan>) = match last.mode() {
        AggregateMode::FinalPartitioned => {
            let Some(partitions) = hashed(between) else { return Ok(None) };
            let keys = Partitioning::Hash(first.group_expr().input_exprs(), partitions);
            (AggregateMode::SinglePartitioned, Arc::new(RepartitionExec::try_new(rows, keys)?))
        }
        AggregateMode::Final if between.downcast_ref::<CoalescePartitionsExec>().is_some() => {
            (AggregateMode::Single, one_partition(rows))
        }
        _ => return Ok(None),
    };
    let (groups, filters) = (first.group_expr().clone(), first.filter_expr().to_vec());
    let once = AggregateExec::try_new(mode, groups, functions.to_vec(), filters, rows, first.input_schema())?;
    Ok(Some(Arc::new(once)))
}

/// The number of partitions, where rows go to the partition of their key.
fn hashed(plan: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    let repartition = plan.downcast_ref::<RepartitionExec>().filter(|plan| !plan.preserve_order())?;
    match repartition.partitioning() {
        Partitioning::Hash(_, partitions) => Some(*partitions),
        _ => None,
    }
}

/// The rows before they were dealt out to partitions in turn, which only the first aggregation asked for.
fn as_read(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.downcast_ref::<RepartitionExec>().map(|plan| (plan.partitioning(), plan.input())) {
        Some((Partitioning::RoundRobinBatch(_), input)) => Arc::clone(input),
        _ => Arc::clone(plan),
    }
}

fn one_partition(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}
