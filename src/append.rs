//! Rows of a program, appended to a table without SQL.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::Field;
use bonnet_catalogs::counted;
use datafusion::catalog::TableProvider;
use datafusion::common::{DFSchema, TableReference};
use datafusion::datasource::TableType;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::SessionState;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::physical_plan::collect;

use crate::query::task_context;
use crate::{Error, ErrorKind, Raised, Result, Session};

/// Appends rows to a table and answers their number.
pub(crate) async fn append(session: &Session, table: &str, rows: &RecordBatch) -> Result<u64> {
    let state = session.state();
    let target = session.context.table_provider(TableReference::from(table)).await?;
    if target.table_type() != TableType::Base {
        return Err(Error::statement(format!("{table} is a view: append to the tables it reads")));
    }
    let rows = arranged(&state, table, target.as_ref(), rows)?;
    let schema = rows.schema();
    let input = MemorySourceConfig::try_new_exec(&[vec![rows]], schema, None)?;
    let plan = target.insert_into(&state, input, InsertOp::Append).await?;
    Ok(counted(&collect(plan, task_context(&state)).await?))
}

/// The rows with the columns of the table.
fn arranged(state: &SessionState, table: &str, target: &dyn TableProvider, rows: &RecordBatch) -> Result<RecordBatch> {
    let schema = target.schema();
    let given = rows.schema();
    if let Some(unknown) = given.fields().iter().find(|field| schema.field_with_name(field.name()).is_err()) {
        let known: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let (unknown, known) = (unknown.name(), known.join(", "));
        return Err(Error::statement(format!("{table} has no column {unknown}; its columns are {known}")));
    }
    let column = |field: &Arc<Field>| -> Result<ArrayRef> {
        let (name, wanted) = (field.name(), field.data_type());
        let found = match (rows.column_by_name(name), target.get_column_default(name)) {
            (Some(column), _) => Arc::clone(column),
            (None, None) => return Ok(new_null_array(wanted, rows.num_rows())),
            (None, Some(default)) => {
                let default = state.create_physical_expr(default.clone(), &DFSchema::empty())?;
                default.evaluate(rows)?.into_array(rows.num_rows())?
            }
        };
        let options = CastOptions { safe: false, ..CastOptions::default() };
        cast_with_options(&found, wanted, &options).map_err(|error| {
            let text = format!("{table}: column {name}: {error}");
            Raised::new(ErrorKind::of(&error.into()), text).into()
        })
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
        .map_err(|error| Error::statement(format!("{table}: {error}")))
}
