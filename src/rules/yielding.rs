//! Joins that let others run. A join of one batch may look at, and answer, billions of pairs of rows, and until it is
//! done its thread looks neither at the clock nor at whether anybody still waits. DataFusion makes what reads files and
//! tables yield, which is enough for operators that answer no more than they read.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};
use bonnet_sql::RunningStatement;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder};

use super::by_node::PhysicalRule;

/// The names of operators that answer more rows than they read.
const GROWING: [&str; 6] = [
    "HashJoinExec",
    "NestedLoopJoinExec",
    "CrossJoinExec",
    "SortMergeJoinExec",
    "PiecewiseMergeJoinExec",
    "UnnestExec",
];

/// Puts a node over every join that gives its thread back now and then, and lets the join's filter, which may pass no
/// row for minutes, fail once nobody waits for it.
pub(crate) const YIELDING_JOINS: PhysicalRule = PhysicalRule { name: "yielding_joins", rewrite: yielding };

fn yielding(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    Ok(match GROWING.contains(&plan.name()) {
        true => Transformed::yes(Arc::new(CooperativeExec::new(stoppable(plan)?)) as Arc<dyn ExecutionPlan>),
        false => Transformed::no(plan),
    })
}

/// The join with a filter that stops, if it has one.
fn stoppable(join: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(hash) = join.downcast_ref::<HashJoinExec>()
        && let Some(filter) = hash.filter()
    {
        return hash.builder().with_filter(Some(stoppable_filter(filter))).build_exec();
    }
    if let Some(nested) = join.downcast_ref::<NestedLoopJoinExec>()
        && let Some(filter) = nested.filter()
    {
        let filter = stoppable_filter(filter);
        return Ok(Arc::new(NestedLoopJoinExecBuilder::from(nested).with_filter(Some(filter)).build()?));
    }
    Ok(join)
}

fn stoppable_filter(filter: &JoinFilter) -> JoinFilter {
    let expression = Arc::new(Stoppable(Arc::clone(filter.expression())));
    JoinFilter::new(expression, filter.column_indices().to_vec(), Arc::clone(filter.schema()))
}

/// An expression that fails once nobody waits for its statement.
#[derive(Debug, Eq)]
struct Stoppable(Arc<dyn PhysicalExpr>);

impl PartialEq for Stoppable {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq(&other.0)
    }
}

impl Hash for Stoppable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for Stoppable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PhysicalExpr for Stoppable {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.0.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.0.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        RunningStatement::check_current()?;
        self.0.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.0]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self(Arc::clone(&children[0]))))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_sql(f)
    }
}
