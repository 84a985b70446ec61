//! Formats of files whose errors name the file.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::{FileFormat, FileMeta};
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::{FileScanConfig, FileSinkConfig, FileSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::object_store::{ObjectMeta, ObjectStore};
use datafusion::physical_expr::{LexOrdering, LexRequirement};
use datafusion::physical_plan::ExecutionPlan;
use futures::{FutureExt, StreamExt, TryStreamExt};

use super::file_fault::{Kind, fault};
use super::json::schema as json_schema;
use super::limits::{MOST_COLUMNS, columns_text};
use super::parquet_intervals::{IntervalSource, with_intervals};
use super::reading::Reading;
use super::united::{FileColumns, check_names, united};
use crate::ground::error::panic_text;
use crate::ground::file_path::path_of;
use crate::ground::lazy::StopOnDrop;
use crate::remote::Place;

/// A format, with errors that name the file.
#[derive(Debug)]
pub(crate) struct NamedFormat {
    format: Arc<dyn FileFormat>,
    kind: Kind,
    compression: FileCompressionType,
    /// Whether Parquet files have intervals.
    has_intervals: AtomicBool,
    /// Those of the files that are of other machines, as long as the table is there.
    places: Vec<Arc<Place>>,
}

impl NamedFormat {
    pub(crate) fn new(format: Arc<dyn FileFormat>, kind: Kind, places: Vec<Arc<Place>>) -> Self {
        let compression = format.compression_type().unwrap_or(FileCompressionType::UNCOMPRESSED);
        Self { format, kind, compression, has_intervals: AtomicBool::new(false), places }
    }

    fn reading(&self, file: &ObjectMeta) -> Reading {
        Reading { path: path_of(&file.location), kind: self.kind, compression: self.compression, start: 0 }
    }

    /// The columns of a file.
    async fn columns(&self, state: &dyn Session, store: &Arc<dyn ObjectStore>, file: &ObjectMeta) -> Result<SchemaRef> {
        let reading = self.reading(file);
        if let Some(json) = self.format.downcast_ref::<JsonFormat>() {
            return json_columns(&reading, json.is_newline_delimited()).await;
        }
        let schema = named(&reading, self.format.infer_schema(state, store, std::slice::from_ref(file))).await?;
        if self.kind == Kind::Parquet {
            // DataFusion 55 takes columns of one name for one.
            let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
            let metadata = DFParquetMetadata::new(store.as_ref(), file).with_file_metadata_cache(Some(cache));
            let metadata = named(&reading, metadata.fetch_metadata()).await?;
            let columns = metadata.file_metadata().schema_descr().root_schema().get_fields();
            check_names(&reading.path, columns.iter().map(|column| column.name()))?;
        }
        check_names(&reading.path, schema.fields().iter().map(|field| field.name().as_str()))?;
        Ok(schema)
    }

    /// The columns of several files, which are looked at one by one.
    async fn columns_of_each(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        files: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let at_once = match self.kind {
            Kind::Parquet => state.config_options().execution.meta_fetch_concurrency.get(),
            _ => 1,
        };
        let each = futures::stream::iter(files).map(|file| async move {
            let schema = self.columns(state, store, file).await?;
            Ok::<_, DataFusionError>(FileColumns { path: path_of(&file.location), schema })
        });
        let mut each: Vec<FileColumns> = each.boxed().buffered(at_once).try_collect().await?;
        for file in each.iter_mut().filter(|_| self.kind == Kind::Parquet) {
            if let Some(schema) = with_intervals(&file.schema).map_err(|what| fault(&file.path, what))? {
                if !self.places.is_empty() {
                    let what = "has a column of INTERVAL, of which parts of files of other machines are not read: download it, \
                                and name its path";
                    return Err(fault(&file.path, what));
                }
                file.schema = schema;
                self.has_intervals.store(true, Ordering::Relaxed);
            }
        }
        Ok(Arc::new(united(&each, self.kind)?))
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
        let Some(first) = files.first() else { return self.format.infer_schema(state, store, files).await };
        let found = match self.kind {
            // It names its files.
            Kind::Csv => named(&self.reading(first), self.format.infer_schema(state, store, files)).await?,
            _ => self.columns_of_each(state, store, files).await?,
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
        match config.file_source.is::<IntervalSource>() {
            true => Ok(DataSourceExec::from_data_source(config)),
            false => self.format.create_physical_plan(state, config).await,
        }
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
        match self.has_intervals.load(Ordering::Relaxed) {
            true => Arc::new(IntervalSource::new(table_schema)),
            false => self.format.file_source(table_schema),
        }
    }
}
