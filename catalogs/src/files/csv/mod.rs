//! CSV that distinguishes NULL from a string: NULL is nothing, or a word without quotes; the same in quotes is a string, as
//! PostgreSQL reads and writes them.
//!
//! Arrow's reader and writer take both for the same. So a [`mark::Mark`], a word that no file holds, stands after or for the
//! string while they work: [`marker`] puts it into what is read, and [`write`] takes it out of what is written.

mod header;
mod mark;
mod marker;
mod sink;
mod source;
mod state;
mod syntax;
mod write;

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Fields, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::file_options::csv_writer::CsvWriterOptions;
use datafusion::common::{GetExt, Result, Statistics, exec_err, not_impl_err, plan_err};
use datafusion::config::CsvOptions;
use datafusion::datasource::file_format::csv::{CsvFormat, CsvFormatFactory};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::{DEFAULT_SCHEMA_INFER_MAX_RECORD, FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder, FileSinkConfig, FileSource};
use datafusion::datasource::sink::DataSinkExec;
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::object_store::{GetOptions, GetResultPayload, ObjectMeta, ObjectStore};
use datafusion::physical_expr::LexRequirement;
use datafusion::physical_plan::ExecutionPlan;

use self::sink::TextSink;
use self::source::TextSource;
use self::syntax::Syntax;
pub use self::write::write_csv;
use super::file_fault::fault;

/// Makes a table of a CSV file of a statement's options.
#[derive(Debug, Default)]
pub struct CsvTextFactory(CsvFormatFactory);

impl FileFormatFactory for CsvTextFactory {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let format = self.0.create(state, options)?;
        match format.downcast_ref::<CsvFormat>() {
            Some(format) => Ok(Arc::new(CsvText::new(format.options().clone()))),
            None => exec_err!("the format csv is taken by another"),
        }
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(CsvText::new(CsvOptions::default()))
    }
}

impl GetExt for CsvTextFactory {
    fn get_ext(&self) -> String {
        self.0.get_ext()
    }
}

/// The format of CSV files.
#[derive(Debug)]
pub(crate) struct CsvText(CsvFormat);

impl CsvText {
    pub(crate) fn new(options: CsvOptions) -> Self {
        Self(CsvFormat::default().with_options(options))
    }

    /// The options, with those of the session where none is given.
    fn options(&self, state: &dyn Session) -> CsvOptions {
        let mut options = self.0.options().clone();
        let catalog = &state.config_options().catalog;
        options.has_header.get_or_insert(catalog.has_header);
        options.newlines_in_values.get_or_insert(catalog.newlines_in_values);
        options
    }

    /// Looks at the first row of a file, before its columns are planned, and at these many more.
    async fn check_header(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        file: &ObjectMeta,
        rows: usize,
    ) -> Result<()> {
        let options = self.options(state);
        let GetResultPayload::File(text, path) = store.get_opts(&file.location, GetOptions::default()).await?.payload
        else {
            return Ok(());
        };
        let text = FileCompressionType::from(options.compression).convert_read(text)?;
        match header::fault(text, Syntax::of(&options), options.has_header.unwrap_or(true), rows)? {
            Some(what) => Err(fault(&path, what)),
            None => Ok(()),
        }
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
        self.0.get_ext()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        self.0.get_ext_with_compression(compression)
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        self.0.compression_type()
    }

    async fn infer_schema(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        // From the first rows of the first file, mostly, the types are found.
        let mut rows = self.0.options().schema_infer_max_rec.unwrap_or(DEFAULT_SCHEMA_INFER_MAX_RECORD);
        for file in objects {
            self.check_header(state, store, file, std::mem::take(&mut rows)).await?;
        }
        let schema = self.0.infer_schema(state, store, objects).await?;
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
        self.0.infer_stats(state, store, table_schema, object).await
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
        let compression = self.0.options().compression.into();
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
        Arc::new(TextSource::new(table_schema, self.0.options().clone()))
    }
}
