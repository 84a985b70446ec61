//! `COPY ... TO 'f.json.gz' STORED AS MANTRA`: triangulations in MANTRA's own format.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use bonnet_datasets::MantraWriter;
use datafusion::catalog::Session;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, GetExt, Result, plan_err};
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::FileSinkConfig;
use datafusion::datasource::sink::DataSink;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::object_store::{ObjectStoreExt, WriteMultipart};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use futures::StreamExt;

use super::write_only::{WriteOnly, WriteOnlyFormat};

/// Parts of a file that are on their way at a time.
const PARTS: usize = 4;

/// Makes the format `MANTRA` known to a session.
#[derive(Debug, Default)]
pub struct MantraFormatFactory;

impl FileFormatFactory for MantraFormatFactory {
    fn create(&self, _state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        match options.keys().min() {
            Some(option) => plan_err!(
                "STORED AS MANTRA has no option {}; a name that ends in .gz is compressed",
                option.strip_prefix("format.").unwrap_or(option)
            ),
            None => Ok(Arc::new(WriteOnlyFormat(MantraFormat))),
        }
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(WriteOnlyFormat(MantraFormat))
    }
}

impl GetExt for MantraFormatFactory {
    fn get_ext(&self) -> String {
        "mantra".to_owned()
    }
}

#[derive(Debug)]
struct MantraFormat;

impl WriteOnly for MantraFormat {
    fn extension(&self) -> &'static str {
        "json"
    }

    fn refusal(&self) -> String {
        "MANTRA is a format to write; read such a file with ATTACH 'file.json.gz' AS name (TYPE mantra)".to_owned()
    }

    fn sink(&self, config: FileSinkConfig) -> Result<Arc<dyn DataSink>> {
        let target = &config.original_url;
        if !config.table_partition_cols.is_empty() {
            return plan_err!("STORED AS MANTRA writes one file; PARTITIONED BY is not for it");
        }
        let lower = target.to_ascii_lowercase();
        if !lower.ends_with(".json") && !lower.ends_with(".json.gz") {
            return plan_err!("STORED AS MANTRA writes a file that ends in .json or .json.gz, '{target}' does not");
        }
        let sink = MantraSink { zipped: lower.ends_with(".gz"), config };
        sink.writer()?;
        Ok(Arc::new(sink))
    }
}

#[derive(Debug)]
struct MantraSink {
    zipped: bool,
    config: FileSinkConfig,
}

impl MantraSink {
    fn writer(&self) -> Result<MantraWriter> {
        MantraWriter::new(self.config.output_schema(), self.zipped)
            .or_else(|what| plan_err!("STORED AS MANTRA: {what}"))
    }
}

impl DisplayAs for MantraSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MantraSink: {}", self.config.original_url)
    }
}

#[async_trait]
impl DataSink for MantraSink {
    fn schema(&self) -> &SchemaRef {
        self.config.output_schema()
    }

    async fn write_all(&self, data: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        let store = context.runtime_env().object_store(&self.config.object_store_url)?;
        let Some(target) = self.config.table_paths.first() else { return plan_err!("COPY has no target") };
        let mut upload = WriteMultipart::new(store.put_multipart(target.prefix()).await?);
        match self.write_rows(data, &mut upload).await {
            Ok(rows) => {
                upload.finish().await?;
                Ok(rows)
            }
            // Half a file is no file.
            Err(error) => {
                upload.abort().await?;
                Err(error)
            }
        }
    }
}

impl MantraSink {
    async fn write_rows(&self, mut data: SendableRecordBatchStream, upload: &mut WriteMultipart) -> Result<u64> {
        let mut writer = self.writer()?;
        let mut rows = 0;
        while let Some(batch) = data.next().await.transpose()? {
            rows += batch.num_rows() as u64;
            // Text and compression take their time, which is not the query threads'.
            let task = SpawnedTask::spawn_blocking(move || {
                let written = writer.write(&batch);
                let bytes = writer.take();
                (writer, written, bytes)
            });
            let (returned, written, bytes) =
                task.join().await.map_err(|error| DataFusionError::Execution(format!("STORED AS MANTRA: {error}")))?;
            written.map_err(|what| DataFusionError::Execution(format!("STORED AS MANTRA: {what}")))?;
            writer = returned;
            upload.wait_for_capacity(PARTS).await?;
            upload.put(bytes.into());
        }
        upload.put(writer.finish().into());
        Ok(rows)
    }
}
