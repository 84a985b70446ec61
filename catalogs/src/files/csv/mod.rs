//! CSV that distinguishes NULL from a string: NULL is nothing, or a word without quotes; the same in quotes is a string, as
//! PostgreSQL reads and writes them.
//!
//! Arrow's reader and writer take both for the same. So a [`mark::Mark`], a word that no file holds, stands after or for the
//! string while they work: [`marker`] puts it into what is read, and [`write`] takes it out of what is written.

mod boundary;
mod by_name;
mod header;
pub(crate) mod kinds;
mod look;
mod mark;
mod marker;
mod padding;
mod sink;
mod source;
mod state;
mod syntax;
mod write;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::{DataType, Fields, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::file_options::csv_writer::CsvWriterOptions;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{
    DataFusionError, GetExt, Result, Statistics, exec_err, not_impl_err, plan_datafusion_err, plan_err,
};
use datafusion::config::CsvOptions;
use datafusion::datasource::file_format::csv::{CsvFormat, CsvFormatFactory};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::{DEFAULT_SCHEMA_INFER_MAX_RECORD, FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder, FileSinkConfig, FileSource};
use datafusion::datasource::sink::DataSinkExec;
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::object_store::{ObjectMeta, ObjectStore};
use datafusion::physical_expr::LexRequirement;
use datafusion::physical_plan::ExecutionPlan;
use regex::Regex;

pub(crate) use self::look::Open;
use self::look::{Columns, Look};
use self::sink::TextSink;
use self::source::TextSource;
use self::syntax::Syntax;
pub use self::write::write_csv;
use super::file_fault::{Kind, fault};
use super::lines::open_text;
use super::reading::Reading;
use super::united::{FileColumns, united};
use crate::ground::file_path::path_of;

/// The rows of each file that are looked at where those before have had their share.
const FEW_ROWS: usize = 1024;

/// Makes a table of a CSV file of a statement's options.
#[derive(Debug, Default)]
pub struct CsvTextFactory(CsvFormatFactory);

impl FileFormatFactory for CsvTextFactory {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let format = self.0.create(state, options)?;
        match format.downcast_ref::<CsvFormat>() {
            Some(format) => {
                let given = |name: &str| options.keys().any(|key| key.strip_prefix("format.").unwrap_or(key) == name);
                let open = Open { header: !given("has_header"), delimiter: !given("delimiter") };
                Ok(Arc::new(CsvText::new(format.options().clone(), open)))
            }
            None => exec_err!("the format csv is taken by another"),
        }
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(CsvText::new(CsvOptions::default(), Open::default()))
    }
}

impl GetExt for CsvTextFactory {
    fn get_ext(&self) -> String {
        self.0.get_ext()
    }
}

/// The format of CSV files.
#[derive(Debug)]
pub(crate) struct CsvText {
    format: CsvFormat,
    open: Open,
    /// Whether the columns were found in the files, which name them.
    named: AtomicBool,
}

impl CsvText {
    /// `open` is what the statement says nothing of.
    pub(crate) fn new(options: CsvOptions, open: Open) -> Self {
        Self { format: CsvFormat::default().with_options(options), open, named: AtomicBool::new(false) }
    }

    /// The options, with those of the session where none is given.
    fn options(&self, state: &dyn Session) -> CsvOptions {
        let mut options = self.format.options().clone();
        let catalog = &state.config_options().catalog;
        options.has_header.get_or_insert(catalog.has_header);
        options.newlines_in_values.get_or_insert(catalog.newlines_in_values);
        options
    }

    /// The columns of files, all of them, from the first rows of each. Errors name the file.
    fn columns(files: &[PathBuf], options: &CsvOptions, open: Open) -> Result<Schema> {
        let syntax = Syntax::of(options);
        let compression = FileCompressionType::from(options.compression);
        let nulls = options.null_regex.as_deref().map(Regex::new).transpose();
        let nulls = nulls.map_err(|error| plan_datafusion_err!("null_regex: {error}"))?;
        let header = options.has_header.unwrap_or(true);
        let sample = options.schema_infer_max_rec.unwrap_or(DEFAULT_SCHEMA_INFER_MAX_RECORD);
        let strings = sample == 0;
        let mut left = sample;
        let mut found: Vec<FileColumns> = Vec::new();
        for path in files {
            let reading = Reading { path: path.clone(), kind: Kind::Csv, compression, start: 0 };
            let text = || open_text(path, compression).map_err(|error| reading.of_any(error));
            let unread = |error: std::io::Error| reading.of_any(error.into());
            let rows = if strings { FEW_ROWS } else { left.max(FEW_ROWS.min(sample)) };
            if let Some(what) = header::fault(text()?, syntax, header, rows).map_err(unread)? {
                return Err(fault(path, what));
            }
            let look = Look { syntax, header, open, nulls: nulls.as_ref(), rows };
            let columns: Columns = match look.at(text()?).map_err(unread)? {
                Ok(columns) => columns,
                // Names that an earlier file has are names here, too.
                Err(what) => {
                    let given = Look { open: Open { header: false, ..open }, ..look };
                    let names = given.at(text()?).map_err(unread)?.ok().filter(|columns| {
                        found.iter().any(|file| columns.names.iter().all(|name| file.schema.index_of(name).is_ok()))
                    });
                    names.ok_or_else(|| fault(path, what))?
                }
            };
            left = left.saturating_sub(columns.rows);
            if !columns.names.is_empty() {
                found.push(FileColumns { path: path.clone(), schema: Arc::new(columns.schema(strings)) });
            }
        }
        united(&found, Kind::Csv)
    }
}

/// Refuses a word for NULL that would have to be quoted, and so be a string.
fn check_null(options: &CsvOptions) -> Result<()> {
    let special = [options.delimiter, options.quote, options.terminator.unwrap_or(b'\n'), b'\n', b'\r'];
    match options.null_value.as_deref().filter(|word| word.bytes().any(|byte| special.contains(&byte))) {
        Some(word) => plan_err!(
            "NULL cannot be written as {word:?}: it has the file's delimiter, its quote or an end of line in it; give NULLSTR a plain word"
        ),
        None => Ok(()),
    }
}

#[async_trait]
impl FileFormat for CsvText {
    fn get_ext(&self) -> String {
        self.format.get_ext()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        self.format.get_ext_with_compression(compression)
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        self.format.compression_type()
    }

    async fn infer_schema(
        &self,
        state: &dyn Session,
        _: &Arc<dyn ObjectStore>,
        objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let files: Vec<PathBuf> = objects.iter().map(|file| path_of(&file.location)).collect();
        let (options, open) = (self.options(state), self.open);
        let found = SpawnedTask::spawn_blocking(move || Self::columns(&files, &options, open)).join().await;
        let schema = found.map_err(|error| DataFusionError::External(Box::new(error)))??;
        self.named.store(true, Ordering::Relaxed);
        // Of a column whose fields are all empty nothing shows but that they are strings, or might be.
        let texts = schema.fields().iter().map(|field| match field.data_type() {
            DataType::Null => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
            _ => Arc::clone(field),
        });
        Ok(Arc::new(Schema::new_with_metadata(texts.collect::<Fields>(), schema.metadata().clone())))
    }

    async fn infer_stats(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Statistics> {
        self.format.infer_stats(state, store, table_schema, object).await
    }

    async fn create_physical_plan(
        &self,
        state: &dyn Session,
        config: FileScanConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(source) = config.file_source.downcast_ref::<TextSource>() else {
            return exec_err!("a scan of CSV files has the reader of another format");
        };
        let source = Arc::new(source.clone().with_options(self.options(state)));
        let compression = self.format.options().compression.into();
        let config =
            FileScanConfigBuilder::from(config).with_file_compression_type(compression).with_source(source).build();
        Ok(DataSourceExec::from_data_source(config))
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        state: &dyn Session,
        config: FileSinkConfig,
        order: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if config.insert_op != InsertOp::Append {
            return not_impl_err!("CSV files are added to, not overwritten");
        }
        let options = self.options(state);
        check_null(&options)?;
        let options = CsvWriterOptions::try_from(&options)?;
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(TextSink::new(config, options)), order)))
    }

    fn file_source(&self, table_schema: TableSchema) -> Arc<dyn FileSource> {
        let named = self.named.load(Ordering::Relaxed);
        Arc::new(TextSource::new(table_schema, self.format.options().clone(), named))
    }
}
