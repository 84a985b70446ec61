//! Joins that wait for partitions which nobody reads.
//!
//! A hash join whose build side all partitions share tells the scans below which keys it has, once each of its partitions has
//! said that the build side is there, and all wait for that. A join by partitions above it, of which one has no rows on the build
//! side, never reads that partition of its probe side: the others waited for ever, and the statement hung. DataFusion 55 sees to
//! this where the lower join is one by partitions (github.com/apache/datafusion/pull/21666), not where it shares its build side.
//! Here such a join tells the scans nothing.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/21666>
//! Shows: no statement: a statement that hangs, in `tests/slt/sql/joins/joins.slt` (`waited` and `nobody`), which DataFusion plans only after `correlation`.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};

use crate::plans::node_rules::PhysicalRule;

/// The operators that read all partitions of their inputs, whatever is read of them.
const READ_ALL: [&str; 3] = ["RepartitionExec", "CoalescePartitionsExec", "SortPreservingMergeExec"];

pub(crate) const UNREAD_PARTITIONS: PhysicalRule =
    PhysicalRule { name: "unread_partitions", rewrite: below_joins_by_partitions };

fn below_joins_by_partitions(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let by_partitions = plan.name() == "SortMergeJoinExec"
        || plan.downcast_ref::<HashJoinExec>().is_some_and(|join| *join.partition_mode() == PartitionMode::Partitioned);
    match by_partitions {
        true => plan.map_children(without_waiting),
        false => Ok(Transformed::no(plan)),
    }
}

/// The plan, down to where all partitions are read, with joins that do not wait for their partitions.
fn without_waiting(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    if READ_ALL.contains(&plan.name()) {
        return Ok(Transformed::no(plan));
    }
    let waits = plan.downcast_ref::<HashJoinExec>().filter(|join| {
        *join.partition_mode() == PartitionMode::CollectLeft && !join.dynamic_expressions_produced().is_empty()
    });
    let plan = match waits {
        Some(join) => Transformed::yes(join.builder().reset_state().build_exec()?),
        None => Transformed::no(plan),
    };
    plan.transform_data(|plan| plan.map_children(without_waiting))
}
