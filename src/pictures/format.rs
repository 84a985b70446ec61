//! `COPY ... TO 'f.svg' (FORMAT svg, KIND bars, ...)`: a picture of the rows.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use bonnet_catalogs::{WriteOnly, WriteOnlyFormat};
use bonnet_pictures::Request;
use datafusion::catalog::Session;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, GetExt, Result, plan_err};
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::FileSinkConfig;
use datafusion::datasource::sink::DataSink;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::object_store::ObjectStoreExt;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use futures::StreamExt;

use super::Document;

impl Document {
    /// The name in SQL, in lower case.
    fn name(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Html => "html",
            Self::VegaLite => "vega-lite",
            Self::Pdf => "pdf",
            Self::Png => "png",
        }
    }
}

/// Makes a format of pictures known to a session.
#[derive(Debug)]
pub(crate) struct PictureFormatFactory(pub(crate) Document);

impl FileFormatFactory for PictureFormatFactory {
    fn create(&self, _state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let mut request = Request::default();
        let mut options: Vec<_> = options.iter().collect();
        options.sort();
        for (name, value) in options {
            let name = name.strip_prefix("format.").unwrap_or(name);
            if let Err(error) = request.set(name, value) {
                return plan_err!("COPY with FORMAT {}: {error}", self.0.name());
            }
        }
        Ok(Arc::new(WriteOnlyFormat(PictureFormat { document: self.0, request })))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(WriteOnlyFormat(PictureFormat { document: self.0, request: Request::default() }))
    }
}

impl GetExt for PictureFormatFactory {
    fn get_ext(&self) -> String {
        self.0.name().to_owned()
    }
}

#[derive(Debug)]
struct PictureFormat {
    document: Document,
    request: Request,
}

impl WriteOnly for PictureFormat {
    fn extension(&self) -> &'static str {
        self.document.name()
    }

    fn refusal(&self) -> String {
        format!("{} is a format to write: COPY (query) TO 'file'", self.document.name())
    }

    fn sink(&self, config: FileSinkConfig) -> Result<Arc<dyn DataSink>> {
        if !config.table_partition_cols.is_empty() {
            return plan_err!("FORMAT {} writes one file; PARTITION_BY is not for it", self.document.name());
        }
        Ok(Arc::new(PictureSink { document: self.document, request: self.request.clone(), config }))
    }
}

#[derive(Debug)]
struct PictureSink {
    document: Document,
    request: Request,
    config: FileSinkConfig,
}

impl DisplayAs for PictureSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PictureSink: {}", self.config.original_url)
    }
}

#[async_trait]
impl DataSink for PictureSink {
    fn schema(&self) -> &SchemaRef {
        self.config.output_schema()
    }

    async fn write_all(&self, mut data: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        let store = context.runtime_env().object_store(&self.config.object_store_url)?;
        let Some(target) = self.config.table_paths.first() else { return plan_err!("COPY has no target") };
        // All rows are held until the last is there.
        let room = MemoryConsumer::new("picture").register(context.memory_pool());
        let mut batches: Vec<RecordBatch> = Vec::new();
        while let Some(batch) = data.next().await.transpose()? {
            room.try_grow(batch.get_array_memory_size())?;
            batches.push(batch);
        }
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let (document, request, schema) = (self.document, self.request.clone(), self.schema().clone());
        let task = SpawnedTask::spawn_blocking(move || super::document(document, &schema, &batches, &request));
        let drawn = task.join().await.map_err(|error| DataFusionError::Execution(format!("the picture: {error}")))?;
        let bytes = drawn.map_err(DataFusionError::Execution)?;
        store.put(target.prefix(), bytes.into()).await?;
        Ok(rows)
    }
}
