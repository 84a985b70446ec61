//! File formats that COPY writes and no table reads.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{GetExt, Result, Statistics, plan_err};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::physical_plan::{FileScanConfig, FileSinkConfig, FileSource, JsonSource};
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::object_store::{ObjectMeta, ObjectStore};
use datafusion::physical_expr::LexRequirement;
use datafusion::physical_plan::ExecutionPlan;

/// A format of one file to write.
pub trait WriteOnly: Debug + Send + Sync + 'static {
    /// The extension of its files, without a dot.
    fn extension(&self) -> &'static str;

    /// The error of a read.
    fn refusal(&self) -> String;

    /// The sink of a COPY's rows; an error where its target or schema does not fit.
    fn sink(&self, config: FileSinkConfig) -> Result<Arc<dyn DataSink>>;
}

/// A format that is only written, as DataFusion knows formats.
#[derive(Debug)]
pub struct WriteOnlyFormat<F>(pub F);

#[async_trait]
impl<F: WriteOnly> FileFormat for WriteOnlyFormat<F> {
    fn get_ext(&self) -> String {
        self.0.extension().to_owned()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        Ok(format!("{}{}", self.0.extension(), compression.get_ext()))
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        None
    }

    async fn infer_schema(
        &self,
        _state: &dyn Session,
        _store: &Arc<dyn ObjectStore>,
        _objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        plan_err!("{}", self.0.refusal())
    }

    async fn infer_stats(
        &self,
        _state: &dyn Session,
        _store: &Arc<dyn ObjectStore>,
        _schema: SchemaRef,
        _object: &ObjectMeta,
    ) -> Result<Statistics> {
        plan_err!("{}", self.0.refusal())
    }

    async fn create_physical_plan(
        &self,
        _state: &dyn Session,
        _config: FileScanConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan_err!("{}", self.0.refusal())
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        _state: &dyn Session,
        config: FileSinkConfig,
        order: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(DataSinkExec::new(input, self.0.sink(config)?, order)))
    }

    fn file_source(&self, table_schema: TableSchema) -> Arc<dyn FileSource> {
        // Nothing plans a scan of this format: `infer_schema` refuses before.
        Arc::new(JsonSource::new(table_schema))
    }
}
