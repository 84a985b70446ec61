//! The runs that tables keep: the rows of `bonnet.runs`.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::catalog::TableProvider;
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::datasource::{TableType, provider_as_source};
use datafusion::execution::TaskContext;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, cast, lit};
use datafusion::physical_plan::execute_stream;
use futures::TryStreamExt;

use super::graphs::schemas;
use crate::catalogs::session_catalog::SessionSchema;

/// The columns that a table of runs has: what `train` says of a run beside its figures.
const NEEDED: [&str; 5] = ["graph", "model", "status", "started_at", "graph_hash"];

/// The columns of `bonnet.runs`: the table that keeps the run, and what is needed to find and redo it.
pub(crate) fn schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let number = |name: &str| Field::new(name, DataType::Int64, true);
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        text("table"),
        text("graph"),
        text("model"),
        text("task"),
        number("seed"),
        text("status"),
        text("device"),
        text("engine_version"),
        number("host_threads"),
        Field::new("started_at", utc, true),
        text("graph_hash"),
    ]))
}

/// The runs that are kept in tables of any catalog, projected to these columns. Opens every table, and reads those that
/// keep runs.
pub(crate) async fn runs(
    columns: &[usize],
    state: &SessionState,
    context: &Arc<TaskContext>,
) -> Result<Vec<RecordBatch>> {
    let default_catalog = &state.config_options().catalog.default_catalog;
    let mut found = Vec::new();
    for (catalog, schema, provider) in schemas(state.catalog_list().as_ref()) {
        let mut tables = provider.table_names();
        tables.sort_unstable();
        for table in tables {
            // Data sets keep no runs, and views show those of tables.
            if SessionSchema::of(provider.as_ref()).is_some_and(|it| it.engine().why_not_drop(&table).is_some())
                || !matches!(provider.table_type(&table).await, Ok(Some(TableType::Base)))
            {
                continue;
            }
            // A table that cannot be read does not hide the others; reading it says why.
            let Ok(Some(rows)) = provider.table(&table).await else { continue };
            let has = rows.schema();
            if NEEDED.iter().all(|name| has.column_with_name(name).is_some()) {
                let catalog = (catalog != *default_catalog).then_some(&catalog);
                let parts = catalog.into_iter().chain([&schema, &table]).map(String::as_str);
                let name = parts.collect::<Vec<_>>().join(".");
                found.extend(of_table(&name, rows, columns, state, context).await?);
            }
        }
    }
    Ok(found)
}

async fn of_table(
    name: &str,
    rows: Arc<dyn TableProvider>,
    columns: &[usize],
    state: &SessionState,
    context: &Arc<TaskContext>,
) -> Result<Vec<RecordBatch>> {
    let has = rows.schema();
    let all = schema();
    let value = |column: &usize| -> Result<Expr> {
        let field = all.field(*column);
        let value = match (field.name().as_str(), has.column_with_name(field.name())) {
            ("table", _) => lit(name),
            (column, Some(_)) => cast(Expr::Column(Column::new_unqualified(column)), field.data_type().clone()),
            (_, None) => lit(ScalarValue::try_from(field.data_type())?),
        };
        Ok(value.alias(field.name()))
    };
    // Of a question for no column, such as count(*), one has to remain.
    let projection: Vec<usize> = if columns.is_empty() { vec![0] } else { columns.to_vec() };
    let plan = LogicalPlanBuilder::scan("runs", provider_as_source(rows), None)?
        .project(projection.iter().map(value).collect::<Result<Vec<_>>>()?)?
        .build()?;
    let plan = state.create_physical_plan(&plan).await?;
    let batches: Vec<RecordBatch> = execute_stream(plan, Arc::clone(context))?.try_collect().await?;
    let target = Arc::new(all.project(columns)?);
    let fit = |batch: RecordBatch| {
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = if columns.is_empty() { Vec::new() } else { batch.columns().to_vec() };
        Ok(RecordBatch::try_new_with_options(Arc::clone(&target), columns, &options)?)
    };
    batches.into_iter().map(fit).collect()
}
