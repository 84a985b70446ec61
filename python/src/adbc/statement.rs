//! Statements: queries with parameters, changes, and rows that are written in bulk.

use std::sync::Arc;

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::{IngestMode, OptionStatement, OptionValue};
use adbc_core::{CancelHandle, Optionable, PartitionedResult, Statement};
use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::{Schema, SchemaRef};
use bonnetdb::{Answer, Frames, Parameters, Session, bind};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use futures::TryStreamExt;

use super::literals::{identifier, literal};
use super::reader::{BatchReader, Cancel, Listener, Reader};
use super::{failed, invalid, no_option, text, unknown_option};
use crate::plain;

/// The name of the rows of a bulk insert while they are read.
const INGESTED: &str = "adbc rows";

/// A statement, its parameters, and where bound rows go.
pub struct BonnetStatement {
    session: Session,
    cancel: Cancel,
    query: Option<String>,
    bound: Option<(SchemaRef, Vec<RecordBatch>)>,
    target: Target,
}

/// The table of a bulk insert.
#[derive(Default)]
struct Target {
    catalog: Option<String>,
    schema: Option<String>,
    table: Option<String>,
    mode: Mode,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Create,
    Append,
    Replace,
    CreateAppend,
}

impl Target {
    /// The name in quotes.
    fn name(&self, table: &str) -> String {
        let parts = [self.catalog.as_deref(), self.schema.as_deref(), Some(table)];
        parts.into_iter().flatten().map(identifier).collect::<Vec<_>>().join(".")
    }
}

impl BonnetStatement {
    pub(super) fn new(session: Session, cancel: Cancel) -> Self {
        Self { session, cancel, query: None, bound: None, target: Target::default() }
    }

    /// Keeps rows of parameters, or of a bulk insert.
    fn bind_batches(&mut self, schema: &SchemaRef, batches: Vec<RecordBatch>) -> Result<()> {
        // The schema of a stream may have metadata that its batches lack.
        let schema = plain::schema(schema);
        let batches =
            batches.iter().map(|batch| plain::under(&schema, batch)).collect::<std::result::Result<Vec<_>, _>>();
        self.bound = Some((schema, batches.map_err(|error| invalid(error.to_string()))?));
        Ok(())
    }

    fn query(&self) -> Result<&str> {
        let missing = || Error::with_message_and_status("the statement has no query", Status::InvalidState);
        self.query.as_deref().ok_or_else(missing)
    }

    /// The statement once for every row of the bound parameters; itself where none are bound.
    fn bound_queries(&self) -> Result<Vec<String>> {
        let query = self.query()?;
        let Some((_, batches)) = &self.bound else { return Ok(vec![query.to_owned()]) };
        let mut queries = Vec::new();
        for batch in batches {
            for row in 0..batch.num_rows() {
                let values = batch.columns().iter().map(|column| literal(column, row)).collect::<Result<Vec<_>>>()?;
                queries.push(bind(query, &Parameters::Positional(values)).map_err(failed)?);
            }
        }
        Ok(queries)
    }

    fn run(&self, listener: &mut Listener, query: &str) -> Result<Answer> {
        listener.wait(self.session.execute(query))?.map_err(failed)
    }

    /// Writes the bound rows into the table of a bulk insert, and answers their number.
    fn ingest(&mut self, table: &str) -> Result<i64> {
        let rows = self.bound.take();
        let (schema, batches) = rows.ok_or_else(|| invalid("there are no rows to write: bind some"))?;
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let name = self.target.name(table);
        let rows = MemTable::try_new(schema, vec![batches]).map_err(|error| failed(error.into()))?;
        let session = self.session.with_frames(Arc::new(Ingested(Arc::new(rows))));
        let mut listener = self.cancel.listen();
        let mut run = |query: String| listener.wait(session.execute(&query))?.map_err(failed);
        let source = identifier(INGESTED);
        match self.target.mode {
            Mode::Create => run(format!("CREATE TABLE {name} AS SELECT * FROM {source}"))?,
            Mode::Replace => run(format!("CREATE OR REPLACE TABLE {name} AS SELECT * FROM {source}"))?,
            Mode::Append => run(format!("INSERT INTO {name} SELECT * FROM {source}"))?,
            Mode::CreateAppend => {
                run(format!("CREATE TABLE IF NOT EXISTS {name} AS SELECT * FROM {source} LIMIT 0"))?;
                run(format!("INSERT INTO {name} SELECT * FROM {source}"))?
            }
        };
        i64::try_from(count).map_err(|_| invalid("more rows than a count holds"))
    }
}

/// The rows of a bulk insert as a table.
struct Ingested(Arc<MemTable>);

impl Frames for Ingested {
    fn frame(&self, name: &str) -> datafusion::common::Result<Option<Arc<dyn TableProvider>>> {
        Ok((name == INGESTED).then(|| Arc::clone(&self.0) as Arc<dyn TableProvider>))
    }
}

impl Optionable for BonnetStatement {
    type Option = OptionStatement;

    fn set_option(&mut self, key: Self::Option, value: OptionValue) -> Result<()> {
        let value = text(key.as_ref(), &value)?;
        match key {
            OptionStatement::TargetTable => {
                self.query = None;
                self.target.table = Some(value);
            }
            OptionStatement::TargetCatalog => self.target.catalog = Some(value),
            OptionStatement::TargetDbSchema => self.target.schema = Some(value),
            OptionStatement::IngestMode => {
                let modes = [
                    (IngestMode::Create, Mode::Create),
                    (IngestMode::Append, Mode::Append),
                    (IngestMode::Replace, Mode::Replace),
                    (IngestMode::CreateAppend, Mode::CreateAppend),
                ];
                let found = modes.into_iter().find(|(mode, _)| String::from(*mode) == value);
                let (_, mode) = found.ok_or_else(|| invalid(format!("there is no mode {value} of a bulk insert")))?;
                self.target.mode = mode;
            }
            OptionStatement::Temporary if value == "false" => {}
            OptionStatement::Temporary => {
                return Err(Error::with_message_and_status("there are no temporary tables", Status::NotImplemented));
            }
            other => return Err(unknown_option(other.as_ref(), "those of bulk inserts, adbc.ingest...")),
        }
        Ok(())
    }

    fn get_option_string(&self, key: Self::Option) -> Result<String> {
        let value = match key {
            OptionStatement::TargetTable => self.target.table.clone(),
            OptionStatement::TargetCatalog => self.target.catalog.clone(),
            OptionStatement::TargetDbSchema => self.target.schema.clone(),
            _ => None,
        };
        value.ok_or_else(|| no_option(key.as_ref()))
    }

    fn get_option_bytes(&self, key: Self::Option) -> Result<Vec<u8>> {
        Err(no_option(key.as_ref()))
    }

    fn get_option_int(&self, key: Self::Option) -> Result<i64> {
        Err(no_option(key.as_ref()))
    }

    fn get_option_double(&self, key: Self::Option) -> Result<f64> {
        Err(no_option(key.as_ref()))
    }
}

impl Statement for BonnetStatement {
    fn bind(&mut self, batch: RecordBatch) -> Result<()> {
        self.bind_batches(&batch.schema(), vec![batch])
    }

    fn bind_stream(&mut self, reader: Box<dyn RecordBatchReader + Send>) -> Result<()> {
        let schema = reader.schema();
        let batches = reader.collect::<std::result::Result<Vec<_>, _>>();
        self.bind_batches(&schema, batches.map_err(|error| invalid(error.to_string()))?)
    }

    fn execute(&mut self) -> Result<BatchReader> {
        if self.query.is_none() && self.target.table.is_some() {
            self.execute_update()?;
            return Ok(empty());
        }
        let queries = self.bound_queries()?;
        let mut listener = self.cancel.listen();
        if let [query] = queries.as_slice() {
            return match self.run(&mut listener, query)? {
                Answer::Rows(rows) => Ok(Box::new(Reader::new(rows, listener))),
                Answer::Done(_) => Ok(empty()),
            };
        }
        // One set of rows after another.
        let (mut schema, mut batches) = (None, Vec::new());
        for query in queries {
            if let Answer::Rows(rows) = self.run(&mut listener, &query)? {
                schema.get_or_insert(rows.schema());
                let rows = listener.wait(rows.try_collect::<Vec<_>>())?;
                batches.extend(rows.map_err(|error| failed(error.into()))?);
            }
        }
        let schema = schema.unwrap_or_else(|| Arc::new(Schema::empty()));
        Ok(Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok).collect::<Vec<_>>(), schema)))
    }

    fn execute_update(&mut self) -> Result<Option<i64>> {
        if let (None, Some(table)) = (&self.query, self.target.table.clone()) {
            return self.ingest(&table).map(Some);
        }
        let (mut total, mut listener) = (Some(0), self.cancel.listen());
        for query in self.bound_queries()? {
            let count = match self.run(&mut listener, &query)? {
                Answer::Rows(rows) => {
                    let rows = listener.wait(rows.try_collect::<Vec<_>>())?.map_err(|error| failed(error.into()))?;
                    i64::try_from(rows.iter().map(RecordBatch::num_rows).sum::<usize>()).ok()
                }
                // `INSERT 3`
                Answer::Done(done) => done.rsplit(' ').next().and_then(|count| count.parse().ok()),
            };
            total = total.zip(count).map(|(total, count)| total + count);
        }
        Ok(total)
    }

    fn execute_schema(&mut self) -> Result<Schema> {
        let query = self.bound_queries()?.into_iter().next().unwrap_or_default();
        let schema = self.cancel.wait(self.session.describe(&query))?.map_err(failed)?;
        Ok(schema.map_or_else(Schema::empty, |schema| schema.as_ref().clone()))
    }

    fn execute_partitions(&mut self) -> Result<PartitionedResult> {
        Err(Error::with_message_and_status("results have no partitions", Status::NotImplemented))
    }

    fn get_parameter_schema(&self) -> Result<Schema> {
        Err(Error::with_message_and_status("parameters take values of any type", Status::NotImplemented))
    }

    fn prepare(&mut self) -> Result<()> {
        self.query().map(|_| ())
    }

    fn set_sql_query(&mut self, query: impl AsRef<str>) -> Result<()> {
        self.query = Some(query.as_ref().to_owned());
        self.bound = None;
        self.target.table = None;
        Ok(())
    }

    fn set_substrait_plan(&mut self, _: impl AsRef<[u8]>) -> Result<()> {
        Err(Error::with_message_and_status("plans of Substrait are not read: send SQL", Status::NotImplemented))
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        Box::new(self.cancel.clone())
    }
}

fn empty() -> BatchReader {
    Box::new(RecordBatchIterator::new([], Arc::new(Schema::empty())))
}
