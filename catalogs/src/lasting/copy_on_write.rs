//! DELETE and UPDATE by copy-on-write: files with matching rows are rewritten, the others stay.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result, exec_datafusion_err, exec_err};
use datafusion::datasource::provider_as_source;
use datafusion::execution::{SessionState, TaskContext};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, col, lit, when};
use datafusion::physical_plan::{execute_stream, execute_stream_partitioned};
use datafusion::sql::unparser::expr_to_sql;
use deltalake::DeltaTable;
use deltalake::delta_datafusion::{DeltaScanConfig, DeltaScanNext};
use deltalake::kernel::{Action, Remove};
use futures::{StreamExt, TryStreamExt};

use super::store::{self, Appender, Operation};
use crate::ground::change_exec::RowChange;

/// The column that names the file of a row, while one runs.
const FILE: &str = "__bonnet_file";

/// The operation of a change, for the history.
fn operation(change: &RowChange, condition: Option<&Expr>) -> Operation {
    let text = |condition: &Expr| expr_to_sql(condition).map_or_else(|_| condition.to_string(), |sql| sql.to_string());
    let condition = condition.map(text);
    if change.assignments.is_some() { Operation::Update(condition) } else { Operation::Delete(condition) }
}

/// Runs a change on a table at its latest version, `now`, in one commit, and answers how many rows it took. Reads the table's
/// columns of the condition, and writes the files that hold such rows.
pub(super) async fn run(
    now: &DeltaTable,
    name: &str,
    state: &SessionState,
    change: &RowChange,
    context: Arc<TaskContext>,
) -> Result<u64> {
    let snapshot = now.snapshot().map_err(|error| store::failed(name, error))?.snapshot().clone();
    let condition = conjunction(change.filters.iter().cloned().map(unqualified).collect::<Result<Vec<_>>>()?);
    if change.assignments.is_some() && condition.as_ref().is_some_and(Expr::is_volatile) {
        return exec_err!(
            "UPDATE {name}: the condition is random, so it would not be the same rows twice: \
             mark the rows with CREATE TABLE ... AS first"
        );
    }

    // Which files hold rows of the condition, and how many.
    let files: Option<HashMap<String, u64>> = match &condition {
        None => None,
        Some(condition) => {
            let config = store::scan_config().with_file_column_name(FILE);
            let plan = scan(&snapshot, config, None)?
                .filter(condition.clone())?
                .project([cast(col(FILE), DataType::Utf8).alias(FILE)])?
                .aggregate([col(FILE)], [count(lit(1i64))])?
                .build()?;
            let plan = state.create_physical_plan(&plan).await?;
            let mut found = HashMap::new();
            let mut batches = execute_stream(plan, Arc::clone(&context))?;
            while let Some(batch) = batches.next().await.transpose()? {
                let (names, counts) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int64Type>());
                for row in 0..batch.num_rows() {
                    *found.entry(names.value(row).to_owned()).or_default() += counts.value(row) as u64;
                }
            }
            if found.is_empty() {
                return Ok(0);
            }
            Some(found)
        }
    };
    let affected: Option<HashSet<&str>> =
        files.as_ref().map(|files| files.keys().map(|file| last_part(file)).collect());
    let views = store::files(now, name).await?;
    let mut removed: Vec<Remove> = Vec::new();
    let mut known = Some(0);
    for view in &views {
        let path = view.path();
        if affected.as_ref().is_none_or(|affected| affected.contains(last_part(&path))) {
            let rows = view.num_records().filter(|_| view.deletion_vector_descriptor().is_none());
            known = known.zip(rows).map(|(sum, rows)| sum + rows as u64);
            removed.push(view.remove_action(true));
        }
    }
    if let Some(affected) = &affected
        && affected.len() != removed.len()
    {
        return exec_err!("{name}: {} files hold the rows, of which {} are known", affected.len(), removed.len());
    }
    if removed.is_empty() {
        return Ok(0);
    }

    let everything = condition.is_none();
    let count = match (&files, known) {
        (Some(files), _) => files.values().sum(),
        (None, Some(rows)) => rows,
        (None, None) => count_all(&snapshot, state, &context).await?,
    };
    let mut actions: Vec<Action> = Vec::new();
    if !(everything && change.assignments.is_none()) {
        let paths = files.map(|files| files.into_keys().collect());
        let plan = rewritten(scan(&snapshot, store::scan_config(), paths)?, condition.as_ref(), change)?;
        let schema = DeltaScanNext::new(snapshot.clone(), store::scan_config())?.schema();
        let partitions = snapshot.metadata().partition_columns().to_vec();
        let folder = store::folder(now)?;
        let mut files = Appender::new(&folder, name, &schema, &partitions)?;
        write(state, plan, &mut files, context).await?;
        let added = store::synced(&folder, files.take().await?).await?;
        actions.extend(added.into_iter().map(Action::Add));
    }
    actions.extend(removed.into_iter().map(Action::Remove));
    store::commit(now, name, actions, operation(change, condition.as_ref())).await?;
    Ok(count)
}

/// A path's last part: the names of data files are unique.
fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Columns without the table's name: there is one table.
fn unqualified(expr: Expr) -> Result<Expr> {
    let bare = |expr| {
        Ok(match expr {
            Expr::Column(column) => Transformed::yes(Expr::Column(Column::new_unqualified(column.name))),
            other => Transformed::no(other),
        })
    };
    Ok(expr.transform(bare)?.data)
}

fn scan(
    snapshot: &deltalake::kernel::EagerSnapshot,
    config: DeltaScanConfig,
    files: Option<Vec<String>>,
) -> Result<LogicalPlanBuilder> {
    let mut scan = DeltaScanNext::new(snapshot.clone(), config)?;
    if let Some(files) = files {
        scan = scan.with_file_paths(files);
    }
    LogicalPlanBuilder::scan("changed", provider_as_source(Arc::new(scan)), None)
}

/// The rows of the files as they will be.
fn rewritten(rows: LogicalPlanBuilder, condition: Option<&Expr>, change: &RowChange) -> Result<LogicalPlan> {
    let Some(assignments) = &change.assignments else {
        // A row goes only where the condition is true, not where it is NULL.
        return match condition {
            Some(condition) => rows.filter(condition.clone().is_not_true())?.build(),
            None => exec_err!("a DELETE of everything writes nothing"),
        };
    };
    let mut values: HashMap<&str, Expr> = HashMap::new();
    for (column, value) in assignments {
        values.insert(column, unqualified(value.clone())?);
    }
    let schema = Arc::clone(rows.schema());
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let old = Expr::Column(Column::new_unqualified(field.name()));
        columns.push(match values.remove(field.name().as_str()) {
            None => old,
            Some(new) => {
                let new = cast(new, field.data_type().clone());
                let value = match condition {
                    Some(condition) => when(condition.clone(), new).otherwise(old)?,
                    None => new,
                };
                value.alias(field.name())
            }
        });
    }
    if let Some(column) = values.keys().next() {
        return Err(exec_datafusion_err!("there is no column {column} to change"));
    }
    rows.project(columns)?.build()
}

async fn count_all(
    snapshot: &deltalake::kernel::EagerSnapshot,
    state: &SessionState,
    context: &Arc<TaskContext>,
) -> Result<u64> {
    let plan =
        scan(snapshot, store::scan_config(), None)?.aggregate(Vec::<Expr>::new(), [count(lit(1i64))])?.build()?;
    let plan = state.create_physical_plan(&plan).await?;
    let batches: Vec<_> = execute_stream(plan, Arc::clone(context))?.try_collect().await?;
    Ok(batches.iter().map(|batch| batch.column(0).as_primitive::<Int64Type>().value(0) as u64).sum())
}

/// Writes the rows of a plan, partition after partition.
pub(super) async fn write(
    state: &SessionState,
    plan: LogicalPlan,
    files: &mut Appender,
    context: Arc<TaskContext>,
) -> Result<()> {
    let plan = state.create_physical_plan(&plan).await?;
    for mut rows in execute_stream_partitioned(plan, context)? {
        while let Some(batch) = rows.next().await.transpose()? {
            files.write(&batch).await?;
        }
    }
    Ok(())
}
