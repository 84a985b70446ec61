//! Arrow files whose columns are found by their names: DataFusion 55 reads them by the places that they have in the table, and
//! takes all files for streams, or for none, by a look at the first.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/4918>
//! Given: `COPY (SELECT 1 AS id, 10 AS v) TO '{dir}/a.arrow' STORED AS ARROW`
//! Given: `COPY (SELECT 20 AS v, 2 AS id) TO '{dir}/b.arrow' STORED AS ARROW`
//! Shows: `SELECT id, v FROM '{dir}/*.arrow' ORDER BY id` gives `1 | 10 / 2 | 20`

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::{FileReader, StreamReader};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, exec_err};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    ArrowSource, FileOpenFuture, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSinkConfig, FileSource,
};
use datafusion::datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::object_store::{ObjectMeta, ObjectStore};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{LexRequirement, PhysicalExpr};
use datafusion::physical_expr_adapter::BatchAdapterFactory;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use futures::{FutureExt, StreamExt};

use super::projected::{look_at, merged};
use crate::ground::file_path::path_of;

const MAGIC: &[u8; 6] = b"ARROW1";

/// The format of Arrow files, and of streams that are kept as files.
#[derive(Debug, Default)]
pub(super) struct ArrowByName {
    format: ArrowFormat,
    /// Whether one of the files is a stream, which is read from its beginning alone.
    has_stream: AtomicBool,
}

/// Whether a file is a stream.
fn is_stream(file: &mut File) -> std::io::Result<bool> {
    let mut start = [0; MAGIC.len()];
    file.seek(SeekFrom::Start(0))?;
    let is_file = file.read_exact(&mut start).is_ok() && &start == MAGIC;
    file.seek(SeekFrom::Start(0))?;
    Ok(!is_file)
}

/// The columns of a file, and whether it is a stream.
fn opened(file: &ObjectMeta) -> Result<(SchemaRef, bool)> {
    let mut file = File::open(path_of(&file.location))?;
    Ok(match is_stream(&mut file)? {
        false => (FileReader::try_new(BufReader::new(file), None)?.schema(), false),
        true => (StreamReader::try_new(BufReader::new(file), None)?.schema(), true),
    })
}

#[async_trait]
impl FileFormat for ArrowByName {
    fn get_ext(&self) -> String {
        self.format.get_ext()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        self.format.get_ext_with_compression(compression)
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        None
    }

    /// Of one file: those of several are united above.
    async fn infer_schema(&self, _: &dyn Session, _: &Arc<dyn ObjectStore>, files: &[ObjectMeta]) -> Result<SchemaRef> {
        let [file] = files else { return exec_err!("Arrow files are looked at one by one") };
        let (schema, is_stream) = opened(file)?;
        self.has_stream.fetch_or(is_stream, Ordering::Relaxed);
        Ok(schema)
    }

    async fn infer_stats(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        file: &ObjectMeta,
    ) -> Result<Statistics> {
        self.format.infer_stats(state, store, table_schema, file).await
    }

    async fn create_physical_plan(&self, _: &dyn Session, config: FileScanConfig) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(source) = config.file_source.downcast_ref::<NameSource>() else {
            return exec_err!("a scan of Arrow files has the reader of another format");
        };
        let divides = !self.has_stream.load(Ordering::Relaxed);
        let source = Arc::new(NameSource { divides, ..source.clone() });
        Ok(DataSourceExec::from_data_source(FileScanConfigBuilder::from(config).with_source(source).build()))
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
        let projection = SplitProjection::unprojected(&table_schema);
        let metrics = ExecutionPlanMetricsSet::new();
        Arc::new(NameSource { table_schema, projection, metrics, divides: false })
    }
}

/// The Arrow files of a scan.
#[derive(Debug, Clone)]
struct NameSource {
    table_schema: TableSchema,
    projection: SplitProjection,
    metrics: ExecutionPlanMetricsSet,
    /// Whether parts of a file may be read side by side.
    divides: bool,
}

impl FileSource for NameSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let wanted = self.table_schema.file_schema().project(&self.projection.file_indices)?;
        let opener = NameOpener { wanted: Arc::new(wanted), store, config: config.clone(), partition };
        ProjectionOpener::try_new(self.projection.clone(), Arc::new(opener), self.table_schema.file_schema())
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table_schema
    }

    fn with_batch_size(&self, _: usize) -> Arc<dyn FileSource> {
        Arc::new(self.clone())
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        let projection = merged(&self.projection, projection, &self.table_schema)?;
        Ok(Some(Arc::new(Self { projection, ..self.clone() })))
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection.source)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &'static str {
        "arrow"
    }

    fn supports_repartitioning(&self) -> bool {
        self.divides
    }

    fn fmt_extra(&self, _: DisplayFormatType, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }

    fn apply_expressions(
        &self,
        look: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        look_at(&self.projection, look)
    }
}

struct NameOpener {
    /// The columns of the table that are wanted.
    wanted: SchemaRef,
    store: Arc<dyn ObjectStore>,
    config: FileScanConfig,
    partition: usize,
}

impl FileOpener for NameOpener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let (own, is_stream) = opened(&file.object_meta)?;
        // The columns that the file has, in its order.
        let mut read: Vec<usize> = self.wanted.fields().iter().filter_map(|it| own.index_of(it.name()).ok()).collect();
        read.sort_unstable();
        let found = Arc::new(own.project(&read)?);
        let source = match is_stream {
            false => ArrowSource::new_file_source(Arc::clone(&own)),
            true => ArrowSource::new_stream_file_source(Arc::clone(&own)),
        };
        let projected = source.try_pushdown_projection(&ProjectionExprs::from_indices(&read, &own))?;
        let source: Arc<dyn FileSource> = projected.unwrap_or_else(|| Arc::new(source));
        let opener = source.create_file_opener(Arc::clone(&self.store), &self.config, self.partition)?;
        let mut file = file;
        file.partition_values.clear();
        let rows = opener.open(file)?;
        if found.fields() == self.wanted.fields() {
            return Ok(rows);
        }
        let adapter = BatchAdapterFactory::new(Arc::clone(&self.wanted)).make_adapter(&found)?;
        Ok(async move {
            let rows = rows.await?;
            Ok(rows.map(move |batch| adapter.adapt_batch(&batch?)).boxed())
        }
        .boxed())
    }
}
