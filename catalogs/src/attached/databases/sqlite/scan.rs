//! Tables of SQLite as tables of the engine: each scan is a statement of SQLite, read row by row.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::TableType;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::future::ready;
use futures::{FutureExt, Stream};
use rusqlite::{Connection, InterruptHandle, params_from_iter};

use super::columns::{Column, Values, misfit};
use super::condition::{Columns, Condition};
use super::{Sqlite, quoted};
use crate::ground::table_methods::{Planned, table_methods};

/// The most rows, and about the most bytes of strings, of a batch.
const ROWS: usize = 8192;
const BYTES: usize = 8 << 20;

/// A table or a view of SQLite.
#[derive(Debug)]
pub(super) struct SqliteTable {
    source: Arc<Sqlite>,
    name: String,
    columns: Vec<Column>,
    schema: SchemaRef,
}

impl SqliteTable {
    pub(super) fn new(source: Arc<Sqlite>, name: &str, columns: Vec<Column>) -> Self {
        let fields = columns.iter().map(Column::field);
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Self { source, name: name.to_owned(), columns, schema }
    }

    fn condition(&self, filter: &Expr) -> Option<Condition> {
        Columns { columns: &self.columns, utf8: self.source.utf8 }.condition(filter)
    }

    fn plan(
        &self,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<StreamingTableExec> {
        let columns: Vec<Column> = match projection {
            None => self.columns.clone(),
            Some(projection) => projection.iter().map(|&at| self.columns[at].clone()).collect(),
        };
        let condition = filters.iter().filter_map(|filter| self.condition(filter)).reduce(Condition::and);
        let selected: Vec<String> = columns.iter().map(Column::expression).collect();
        let selected = if columns.is_empty() { "count(*)".to_owned() } else { selected.join(", ") };
        let mut sql = format!("SELECT {selected} FROM {}", quoted(&self.name));
        if let Some(condition) = &condition {
            sql.push_str(&format!(" WHERE {}", condition.sql));
        }
        // Rows are counted before a limit is applied.
        if let Some(limit) = limit.filter(|_| filters.is_empty() && !columns.is_empty()) {
            sql.push_str(&format!(" LIMIT {limit}"));
        }
        let schema = match projection {
            None => Arc::clone(&self.schema),
            Some(projection) => Arc::new(self.schema.project(projection)?),
        };
        let (source, table) = (Arc::clone(&self.source), self.name.clone());
        let condition = condition.unwrap_or_default();
        let rows = Rows { source, table, columns, schema: Arc::clone(&schema), sql, condition };
        StreamingTableExec::try_new(schema, vec![Arc::new(rows)], None, [], false, limit)
    }

    fn plan_scan<'a>(
        &'a self,
        _: &'a dyn Session,
        projection: Option<&'a Vec<usize>>,
        filters: &'a [Expr],
        limit: Option<usize>,
    ) -> Planned<'a> {
        ready(self.plan(projection, filters, limit).map(|plan| Arc::new(plan) as _)).boxed()
    }
}

impl TableProvider for SqliteTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let supported = |filter: &&Expr| match self.condition(filter) {
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(supported).collect())
    }

    table_methods! {
        scan by plan_scan;
    }
}

/// The rows of one scan.
#[derive(Debug, Clone)]
struct Rows {
    source: Arc<Sqlite>,
    table: String,
    columns: Vec<Column>,
    schema: SchemaRef,
    sql: String,
    condition: Condition,
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.schema), 2);
        let connection = self.source.connect();
        let interrupt = connection.as_ref().ok().map(Connection::get_interrupt_handle);
        let (rows, sender) = (self.clone(), builder.tx());
        builder.spawn_blocking(move || {
            // Whoever dropped the receiver wants no more rows.
            rows.read(&connection?, &mut |batch| sender.blocking_send(Ok(batch)).is_ok())
        });
        Box::pin(Interrupted { rows: builder.build(), interrupt })
    }
}

impl Rows {
    /// Reads the rows, until the batches are no longer wanted.
    fn read(&self, connection: &Connection, give: &mut dyn FnMut(RecordBatch) -> bool) -> Result<()> {
        let failed = |error: rusqlite::Error| self.source.failed(error);
        let mut statement = connection.prepare(&self.sql).map_err(failed)?;
        let mut rows = statement.query(params_from_iter(&self.condition.values)).map_err(failed)?;
        if self.columns.is_empty() {
            let count: i64 = match rows.next().map_err(failed)? {
                Some(row) => row.get(0).map_err(failed)?,
                None => 0,
            };
            give(self.batch(Vec::new(), count as usize)?);
            return Ok(());
        }
        let mut values: Vec<Values> = self.columns.iter().map(|column| Values::new(column.data_type())).collect();
        let (mut count, mut bytes) = (0, 0);
        while let Some(row) = rows.next().map_err(failed)? {
            for (at, (values, column)) in values.iter_mut().zip(&self.columns).enumerate() {
                let value = row.get_ref(at).map_err(failed)?;
                match values.push(value) {
                    Some(held) => bytes += held,
                    None => return Err(self.source.failed(misfit(&self.table, column, value))),
                }
            }
            count += 1;
            if count == ROWS || bytes >= BYTES {
                if !give(self.batch(values.iter_mut().map(Values::finish).collect(), count)?) {
                    return Ok(());
                }
                (count, bytes) = (0, 0);
            }
        }
        if count > 0 {
            give(self.batch(values.iter_mut().map(Values::finish).collect(), count)?);
        }
        Ok(())
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

/// Rows whose statement is interrupted when they are dropped: a sort or a join within a view gives no row for long.
struct Interrupted {
    rows: SendableRecordBatchStream,
    interrupt: Option<InterruptHandle>,
}

impl Drop for Interrupted {
    fn drop(&mut self) {
        if let Some(interrupt) = &self.interrupt {
            interrupt.interrupt();
        }
    }
}

impl Stream for Interrupted {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.rows.as_mut().poll_next(context)
    }
}

impl RecordBatchStream for Interrupted {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}
