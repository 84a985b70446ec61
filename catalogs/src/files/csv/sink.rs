//! Writes rows into CSV files.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::csv::WriterBuilder;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use bytes::Bytes;
use datafusion::common::Result;
use datafusion::common::file_options::csv_writer::CsvWriterOptions;
use datafusion::common::runtime::SpawnedTask;
use datafusion::datasource::file_format::write::BatchSerializer;
use datafusion::datasource::file_format::write::demux::DemuxedStreamReceiver;
use datafusion::datasource::file_format::write::orchestration::spawn_writer_tasks_and_join;
use datafusion::datasource::physical_plan::{FileSink, FileSinkConfig};
use datafusion::datasource::sink::DataSink;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::object_store::ObjectStore;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};

use super::write::write_csv;

/// A file, or a folder of them, that rows go into.
pub(super) struct TextSink {
    config: FileSinkConfig,
    options: CsvWriterOptions,
}

impl TextSink {
    pub(super) fn new(config: FileSinkConfig, options: CsvWriterOptions) -> Self {
        Self { config, options }
    }
}

impl fmt::Debug for TextSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextSink").finish_non_exhaustive()
    }
}

impl DisplayAs for TextSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CsvSink: {}", self.config.original_url)
    }
}

#[async_trait]
impl FileSink for TextSink {
    fn config(&self) -> &FileSinkConfig {
        &self.config
    }

    async fn spawn_writer_tasks_and_join(
        &self,
        context: &Arc<TaskContext>,
        demux_task: SpawnedTask<Result<()>>,
        files: DemuxedStreamReceiver,
        store: Arc<dyn ObjectStore>,
    ) -> Result<u64> {
        let serializer = Arc::new(Serializer(self.options.writer_options.clone()));
        let (compression, level) = (self.options.compression.into(), self.options.compression_level);
        spawn_writer_tasks_and_join(context, serializer, compression, level, store, demux_task, files).await
    }
}

#[async_trait]
impl DataSink for TextSink {
    fn schema(&self) -> &SchemaRef {
        self.config.output_schema()
    }

    async fn write_all(&self, rows: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        FileSink::write_all(self, rows, context).await
    }
}

struct Serializer(WriterBuilder);

impl BatchSerializer for Serializer {
    fn serialize(&self, batch: RecordBatch, initial: bool) -> Result<Bytes> {
        let builder = self.0.clone().with_header(self.0.header() && initial);
        let mut rows = Vec::with_capacity(4096);
        write_csv(&batch, &builder, &mut rows)?;
        Ok(Bytes::from(rows))
    }
}
