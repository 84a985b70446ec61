//! Rows of `train` and `pretrain` that go into a lasting table: each run is committed when it is finished.

use std::sync::Arc;

use arrow::array::RecordBatch;
use bonnet_catalogs::{CommittedRows, LastingTable};
use bonnet_sql::RelationNode;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::execution::SessionState;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, WriteOp};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::tokenizer::Span;
use futures::TryStreamExt;

use super::table_place::TablePlace;
use crate::{Answer, Result, Session};

/// Whether the rows of a plan are those of `train`.
pub(super) fn reads_train(plan: &LogicalPlan) -> bool {
    train_call(plan).is_some()
}

/// The call of `train` whose rows, under projections and filters, are those of the plan: each is worth keeping by
/// itself.
fn train_call(plan: &LogicalPlan) -> Option<&LogicalPlan> {
    match plan {
        LogicalPlan::Projection(projection) => train_call(&projection.input),
        LogicalPlan::Filter(filter) => train_call(&filter.input),
        LogicalPlan::SubqueryAlias(alias) => train_call(&alias.input),
        LogicalPlan::Extension(extension) => {
            let node = extension.node.as_any().downcast_ref::<RelationNode>()?;
            ["train", "pretrain"].contains(&node.function().name).then_some(plan)
        }
        _ => None,
    }
}

/// Runs a plan over `train` and commits its rows as runs finish; how many.
pub(super) async fn append(session: &Session, table: &LastingTable, plan: LogicalPlan, name: &str) -> Result<u64> {
    let Some(train) = train_call(&plan).cloned() else { return Ok(0) };
    let committed = Arc::new(CommittedRows::new(name));
    let finished = DataFrame::new(session.state(), train).execute_stream().await?;
    // Projections and filters gather rows until a batch is full: each run goes through them by itself.
    let (state, rows_schema) = (session.state(), Arc::new(plan.schema().as_arrow().clone()));
    let rows = finished
        .and_then(move |run| {
            let plan = over(&plan, run);
            let state = state.clone();
            async move { DataFrame::new(state, plan?).execute_stream().await }
        })
        .try_flatten();
    let rows = Box::pin(RecordBatchStreamAdapter::new(rows_schema, rows));
    session.set_committed(Some(Arc::clone(&committed)));
    let count = table.append_each(rows, &committed).await?;
    session.set_committed(None);
    Ok(count)
}

/// The plan over these rows of `train`.
fn over(plan: &LogicalPlan, run: RecordBatch) -> datafusion::common::Result<LogicalPlan> {
    let rows = provider_as_source(Arc::new(MemTable::try_new(run.schema(), vec![vec![run]])?));
    let scan = LogicalPlanBuilder::scan("train", rows, None)?.build()?;
    let replaced = plan.clone().transform_down(|plan| {
        Ok(match plan {
            LogicalPlan::Extension(_) => Transformed::new(scan.clone(), true, TreeNodeRecursion::Jump),
            other => Transformed::no(other),
        })
    })?;
    Ok(replaced.data)
}

/// `INSERT INTO ... SELECT ... FROM train(...)` into a lasting table, whose name stands `at` a place: `None` for any other
/// statement.
pub(super) async fn insert(
    session: &Session,
    state: &SessionState,
    plan: &LogicalPlan,
    at: Span,
) -> Result<Option<Answer>> {
    let LogicalPlan::Dml(dml) = plan else { return Ok(None) };
    if dml.op != WriteOp::Insert(InsertOp::Append) || !reads_train(&dml.input) {
        return Ok(None);
    }
    let place = TablePlace::of(state, &dml.table_name, at)?;
    let Some(schema) = place.schema() else { return Ok(None) };
    let Some(table) = schema.engine().lasting_table(&place.name.table).await? else { return Ok(None) };
    let count = append(session, &table, dml.input.as_ref().clone(), &place.name.table).await?;
    Ok(Some(Answer::Done(format!("INSERT {count}"))))
}
