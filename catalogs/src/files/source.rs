//! Scans of files whose errors, and panics of the packages that read them, name the file.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::object_store::ObjectStore;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::filter_pushdown::FilterPushdownPropagation;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, SortOrderPushdownResult};
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner, Morselizer};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

use super::file_fault::Kind;
use super::json::store::WithoutMark;
use super::limits::BATCH_VALUES;
use super::reading::Reading;
use crate::ground::error::panic_text;
use crate::ground::file_path::path_of;
use crate::remote::{Place, holding};

/// Whether a panic with this message is the fault of a file.
type OfFile = fn(&str) -> bool;

/// The scan with errors that name the file; `None` if it has them already, or is of a format that has no name here. Panics that
/// `of_file` does not know are passed on.
pub fn naming_files(config: &FileScanConfig, of_file: OfFile) -> Option<FileScanConfig> {
    let source = &config.file_source;
    if source.is::<NamedSource>() {
        return None;
    }
    let kind = Kind::of(source.file_type())?;
    let files = config.file_groups.iter().flat_map(|group| group.iter());
    let held = holding(files.map(|file| path_of(&file.object_meta.location))).into();
    let source = Arc::new(NamedSource { source: Arc::clone(source), kind, of_file, held });
    Some(FileScanConfigBuilder::from(config.clone()).with_source(source).build())
}

/// A reader of files. It comes into a plan when that is done, so that rules find the reader itself.
#[derive(Clone)]
struct NamedSource {
    source: Arc<dyn FileSource>,
    kind: Kind,
    of_file: OfFile,
    /// Those of the files that are of other machines.
    held: Arc<[Arc<Place>]>,
}

impl NamedSource {
    fn with(&self, source: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(Self { source, ..self.clone() })
    }

    /// The columns that are decoded: of CSV all.
    fn columns(&self) -> usize {
        let all = self.source.table_schema().file_schema().fields().len();
        match self.source.projection() {
            Some(projection) if self.kind != Kind::Csv => projection.iter().count(),
            _ => all,
        }
    }
}

impl FileSource for NamedSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        self.source.create_file_opener(store, config, partition)
    }

    fn create_morselizer(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        let store = match self.kind {
            Kind::Json => Arc::new(WithoutMark(store)),
            _ => store,
        };
        let (kind, compression) = (self.kind, config.file_compression_type);
        let schema = Arc::clone(self.source.table_schema().file_schema());
        let inner = self.source.create_morselizer(store, config, partition)?;
        let _held = Arc::clone(&self.held);
        let reading = Reading { path: Default::default(), kind, compression, start: 0 };
        Ok(Box::new(NamedMorselizer { inner, part: Part { reading, schema, of_file: self.of_file, _held } }))
    }

    fn table_schema(&self) -> &TableSchema {
        self.source.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        let most = (BATCH_VALUES / self.columns().max(1)).max(1);
        self.with(self.source.with_batch_size(batch_size.min(most)))
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.source.filter()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.source.projection()
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.source.metrics()
    }

    fn file_type(&self) -> &str {
        self.source.file_type()
    }

    fn fmt_extra(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt_extra(format, f)
    }

    fn supports_repartitioning(&self) -> bool {
        self.source.supports_repartitioning()
    }

    fn repartitioned(
        &self,
        partitions: usize,
        smallest: usize,
        ordering: Option<LexOrdering>,
        config: &FileScanConfig,
    ) -> Result<Option<FileScanConfig>> {
        self.source.repartitioned(partitions, smallest, ordering, config)
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let mut pushed = self.source.try_pushdown_filters(filters, config)?;
        pushed.updated_node = pushed.updated_node.map(|source| self.with(source));
        Ok(pushed)
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        Ok(self.source.try_pushdown_sort(order, properties)?.map(|source| self.with(source)))
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        self.source.reorder_files(files)
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        Ok(self.source.try_pushdown_projection(projection)?.map(|source| self.with(source)))
    }

    fn apply_expressions(
        &self,
        look: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.source.apply_expressions(look)
    }
}

/// A part of a file that is read.
#[derive(Debug, Clone)]
struct Part {
    reading: Reading,
    schema: SchemaRef,
    of_file: OfFile,
    /// Files of other machines are there as long as one of them is read: the plan may go before its rows.
    _held: Arc<[Arc<Place>]>,
}

impl Part {
    /// The result, with an error or a panic as that of the file.
    fn result<T>(&self, result: std::thread::Result<Result<T>>) -> Result<T> {
        match result {
            Ok(result) => result.map_err(|error| self.reading.of_error(error, Some(&self.schema))),
            Err(panic) => {
                let text = panic_text(&*panic).unwrap_or_default();
                if (self.of_file)(text) { Err(self.reading.of_panic(text)) } else { resume_unwind(panic) }
            }
        }
    }

    fn caught<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.result(catch_unwind(AssertUnwindSafe(work)))
    }

    /// A planner whose work is of this part.
    fn planner(&self, inner: Box<dyn MorselPlanner>) -> Box<dyn MorselPlanner> {
        Box::new(NamedPlanner { inner, part: self.clone() })
    }
}

#[derive(Debug)]
struct NamedMorselizer {
    inner: Box<dyn Morselizer>,
    /// Without the file.
    part: Part,
}

impl Morselizer for NamedMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let mut part = self.part.clone();
        part.reading.path = path_of(&file.object_meta.location);
        part.reading.start = file.range.as_ref().map_or(0, |range| range.start.max(0) as u64);
        Ok(part.planner(part.caught(|| self.inner.plan_file(file))?))
    }
}

#[derive(Debug)]
struct NamedPlanner {
    inner: Box<dyn MorselPlanner>,
    part: Part,
}

impl MorselPlanner for NamedPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let Self { inner, part } = *self;
        let Some(mut plan) = part.caught(|| inner.plan())? else { return Ok(None) };
        let morsels = plan.take_morsels().into_iter();
        let morsels = morsels.map(|inner| Box::new(NamedMorsel { inner, part: part.clone() }) as Box<dyn Morsel>);
        let planners = plan.take_ready_planners().into_iter().map(|inner| part.planner(inner));
        let mut named = MorselPlan::new().with_morsels(morsels.collect()).with_planners(planners.collect());
        if let Some(pending) = plan.take_pending_planner() {
            named.set_pending_planner(async move {
                let planner = AssertUnwindSafe(pending.into_future()).catch_unwind().await;
                Ok(part.planner(part.result(planner)?))
            });
        }
        Ok(Some(named))
    }
}

#[derive(Debug)]
struct NamedMorsel {
    inner: Box<dyn Morsel>,
    part: Part,
}

impl Morsel for NamedMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        let Self { inner, part } = *self;
        AssertUnwindSafe(inner.into_stream()).catch_unwind().map(move |rows| part.result(rows)).boxed()
    }
}
