//! Formats of files whose errors name the file.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::{FileFormat, FileMeta};
use datafusion::datasource::physical_plan::{FileScanConfig, FileSinkConfig, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::object_store::{ObjectMeta, ObjectStore};
use datafusion::physical_expr::{LexOrdering, LexRequirement};
use datafusion::physical_plan::ExecutionPlan;
use futures::FutureExt;

use super::file_fault::{Kind, fault};
use super::json_schema;
use super::limits::{MOST_COLUMNS, columns_text};
use super::reading::Reading;
use crate::ground::error::panic_text;
use crate::ground::file_path::path_of;
use crate::ground::lazy::StopOnDrop;

/// A format, with errors that name the file.
#[derive(Debug)]
pub(crate) struct NamedFormat {
    format: Arc<dyn FileFormat>,
    kind: Kind,
    compression: FileCompressionType,
}

impl NamedFormat {
    pub(crate) fn new(format: Arc<dyn FileFormat>, kind: Kind) -> Self {
        let compression = format.compression_type().unwrap_or(FileCompressionType::UNCOMPRESSED);
        Self { format, kind, compression }
    }

    fn reading(&self, file: &ObjectMeta) -> Reading {
        Reading { path: path_of(&file.location), kind: self.kind, compression: self.compression, start: 0 }
    }

    /// The columns of files, unless one of them cannot be read, or has others.
    async fn columns(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        files: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let reading = self.reading(&files[0]);
        if let Some(json) = self.format.downcast_ref::<JsonFormat>() {
            return json_columns(&reading, json.is_newline_delimited()).await;
        }
        named(&reading, self.format.infer_schema(state, store, files)).await
    }

    /// The columns of several files, looked at one by one.
    async fn columns_of_each(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        files: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let mut all: Option<SchemaRef> = None;
        for (at, file) in files.iter().enumerate() {
            let columns = self.columns(state, store, std::slice::from_ref(file)).await?;
            all = Some(match all {
                None => columns,
                Some(all) if all.fields() == columns.fields() => all,
                Some(all) => match Schema::try_merge([all.as_ref().clone(), columns.as_ref().clone()]) {
                    Ok(merged) => Arc::new(merged),
                    Err(error) => return Err(self.conflict(&files[..at], file, &all, &columns, error)),
                },
            });
        }
        all.ok_or_else(|| DataFusionError::Plan("there is no file".to_owned()))
    }

    /// The error of a file with another type of a column than those before it have.
    fn conflict(
        &self,
        before: &[ObjectMeta],
        file: &ObjectMeta,
        all: &Schema,
        columns: &Schema,
        error: arrow::error::ArrowError,
    ) -> DataFusionError {
        let differs = columns.fields().iter().find_map(|field| {
            let other = all.field_with_name(field.name()).ok()?;
            (other.data_type() != field.data_type()).then_some((field, other))
        });
        let Some((field, other)) = differs else { return self.reading(file).of_any(error.into()) };
        let place = match before {
            [one] => format!("in '{}'", path_of(&one.location).display()),
            _ => "in the files before it".to_owned(),
        };
        let help = match self.kind {
            Kind::Csv => "; read_csv(..., all_varchar => true) reads all columns as texts",
            _ => "; read them apart, and UNION ALL casts them to one type",
        };
        let (name, own, others) = (field.name(), field.data_type(), other.data_type());
        fault(&path_of(&file.location), format!("has a column \"{name}\" of {own}, which is {others} {place}{help}"))
    }
}

/// What is found in a file, with an error or a panic as that of the file.
async fn named<T>(reading: &Reading, found: impl Future<Output = Result<T>>) -> Result<T> {
    match AssertUnwindSafe(found).catch_unwind().await {
        Ok(found) => found.map_err(|error| reading.of_any(error)),
        Err(panic) => Err(reading.of_panic(panic_text(&*panic).unwrap_or_default())),
    }
}

/// The columns of a JSON file, on a thread that stops when nobody waits.
async fn json_columns(reading: &Reading, newline_delimited: bool) -> Result<SchemaRef> {
    let awaited = Arc::new(AtomicBool::new(true));
    let _stop = StopOnDrop(Arc::clone(&awaited));
    let own = reading.clone();
    let found = SpawnedTask::spawn_blocking(move || {
        json_schema::schema(&own.path, own.compression, !newline_delimited, &awaited)
    });
    let found = found.join().await.map_err(|error| DataFusionError::External(Box::new(error)))?;
    found.map(Arc::new).map_err(|error| reading.of_any(error))
}

#[async_trait]
impl FileFormat for NamedFormat {
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
        store: &Arc<dyn ObjectStore>,
        files: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let found = match files {
            [] => return self.format.infer_schema(state, store, files).await,
            // All rows of each are looked at in any case.
            _ if self.kind == Kind::Json => self.columns_of_each(state, store, files).await?,
            [_] => self.columns(state, store, files).await?,
            // Together, of which the first rows are looked at. Only what fails has to be found.
            _ => match self.columns(state, store, files).await {
                Ok(found) => found,
                Err(_) => self.columns_of_each(state, store, files).await?,
            },
        };
        let columns = found.fields().len();
        if columns > MOST_COLUMNS {
            let what = format!("has {columns} columns, more than the {} that a file may have", columns_text());
            return Err(fault(&path_of(&files[0].location), what));
        }
        Ok(found)
    }

    async fn infer_stats(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        file: &ObjectMeta,
    ) -> Result<Statistics> {
        named(&self.reading(file), self.format.infer_stats(state, store, table_schema, file)).await
    }

    async fn infer_ordering(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        file: &ObjectMeta,
    ) -> Result<Option<LexOrdering>> {
        named(&self.reading(file), self.format.infer_ordering(state, store, table_schema, file)).await
    }

    async fn infer_stats_and_ordering(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        file: &ObjectMeta,
    ) -> Result<FileMeta> {
        named(&self.reading(file), self.format.infer_stats_and_ordering(state, store, table_schema, file)).await
    }

    async fn create_physical_plan(
        &self,
        state: &dyn Session,
        config: FileScanConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.format.create_physical_plan(state, config).await
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        state: &dyn Session,
        config: FileSinkConfig,
        order: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.format.create_writer_physical_plan(input, state, config, order).await
    }

    fn file_source(&self, table_schema: TableSchema) -> Arc<dyn FileSource> {
        self.format.file_source(table_schema)
    }
}
