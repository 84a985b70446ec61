//! Rows of a program, appended to a table without SQL.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{Field, SchemaRef};
use bonnet_catalogs::counted;
use bonnet_common::raise;
use datafusion::catalog::TableProvider;
use datafusion::common::{DFSchema, DataFusionError, TableReference, exec_datafusion_err};
use datafusion::datasource::TableType;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::dml::InsertOp;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, collect};
use futures::StreamExt;

use crate::query::task_context;
use crate::session::Step;
use crate::statements::Ran;
use crate::{Error, ErrorKind, Raised, Result, Session, statements};

/// Appends rows to a table and answers their number.
pub(crate) async fn append(session: &Session, table: &str, rows: &RecordBatch) -> Result<u64> {
    let target = target(session, table).await?;
    let rows = arranged(&session.state(), table, target.as_ref(), rows)?;
    let schema = rows.schema();
    insert(session, table, &target, MemorySourceConfig::try_new_exec(&[vec![rows]], schema, None)?).await
}

/// Appends rows as they come: all of them, or none where one fails.
pub(crate) async fn append_stream(session: &Session, table: &str, rows: SendableRecordBatchStream) -> Result<u64> {
    let target = target(session, table).await?;
    let (state, name, of, schema) = (session.state(), table.to_owned(), Arc::clone(&target), target.schema());
    let rows = rows.map(move |batch| Ok(arranged(&state, &name, of.as_ref(), &batch?)?));
    let rows = RecordBatchStreamAdapter::new(Arc::clone(&schema), rows);
    let once = OnceRead { schema: Arc::clone(&schema), rows: Mutex::new(Some(Box::pin(rows))) };
    let rows = StreamingTableExec::try_new(schema, vec![Arc::new(once)], None, [], false, None)?;
    insert(session, table, &target, Arc::new(rows)).await
}

async fn target(session: &Session, table: &str) -> Result<Arc<dyn TableProvider>> {
    let target = session.context.table_provider(TableReference::from(table)).await?;
    match target.table_type() {
        TableType::Base => Ok(target),
        _ => Err(Error::statement(format!("{table} is a view: append to the tables it reads"))),
    }
}

/// Inserts the rows of a plan as a statement of the session's transaction.
async fn insert(
    session: &Session,
    table: &str,
    target: &Arc<dyn TableProvider>,
    rows: Arc<dyn ExecutionPlan>,
) -> Result<u64> {
    let step = Step::Rows("INSERT".to_owned(), TableReference::from(table));
    let work = async {
        let state = session.state();
        let plan = target.insert_into(&state, rows, InsertOp::Append).await?;
        Ok(counted(&collect(plan, task_context(&state)).await?))
    };
    match statements::within(session, step, work).await? {
        Ran::Done(count) => Ok(count),
        // An INSERT neither begins nor ends a transaction.
        Ran::Answered(_) => Ok(0),
    }
}

/// Rows that are read once.
struct OnceRead {
    schema: SchemaRef,
    rows: Mutex<Option<SendableRecordBatchStream>>,
}

impl std::fmt::Debug for OnceRead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnceRead")
    }
}

impl PartitionStream for OnceRead {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        rows.unwrap_or_else(|| {
            let again =
                async { Err::<RecordBatch, DataFusionError>(exec_datafusion_err!("the rows were read already")) };
            Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::once(again)))
        })
    }
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
    let missing =
        schema.fields().iter().zip(&columns).find(|(field, column)| !field.is_nullable() && column.null_count() > 0);
    if let Some((field, _)) = missing {
        return raise!(MissingValue, "{table}: the column {} is NOT NULL, and a row has NULL there", field.name());
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
        .map_err(|error| Error::statement(format!("{table}: {error}")))
}
