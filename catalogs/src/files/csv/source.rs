//! Reads CSV files: Arrow's reader, over a file with marks after its strings in quotes.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::csv::ReaderBuilder;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, exec_err, plan_datafusion_err};
use datafusion::config::CsvOptions;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpenFuture, FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::object_store::{GetOptions, GetResultPayload, ObjectStore};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use futures::StreamExt;
use regex::Regex;

use super::boundary::{Boundaries, FileKey};
use super::by_name::{OwnOrder, names};
use super::mark::{Mark, is_text};
use super::marker::{MarkedFile, Marker};
use super::syntax::Syntax;
use crate::files::limits::LOOKED_AT;
use crate::files::projected::{look_at, merged};

/// The CSV files of a scan.
#[derive(Debug, Clone)]
pub(super) struct TextSource {
    options: CsvOptions,
    /// Whether the columns are those that the files name: then they are found by their names.
    named: bool,
    batch_size: usize,
    table_schema: TableSchema,
    projection: SplitProjection,
    metrics: ExecutionPlanMetricsSet,
    boundaries: Arc<Boundaries>,
}

impl TextSource {
    pub(super) fn new(table_schema: TableSchema, options: CsvOptions, named: bool) -> Self {
        let projection = SplitProjection::unprojected(&table_schema);
        let (metrics, boundaries) = (ExecutionPlanMetricsSet::new(), Arc::default());
        Self { options, named, batch_size: 8192, table_schema, projection, metrics, boundaries }
    }

    pub(super) fn with_options(mut self, options: CsvOptions) -> Self {
        self.options = options;
        self
    }

    fn syntax(&self) -> Syntax {
        Syntax::of(&self.options)
    }

    fn builder(&self, header: bool, rows: usize, order: Option<&OwnOrder>) -> Result<ReaderBuilder> {
        let syntax = self.syntax();
        let (schema, columns) = match order {
            Some(order) => (&order.schema, &order.read),
            None => (self.table_schema.file_schema(), &self.projection.file_indices),
        };
        let mut builder = ReaderBuilder::new(Arc::clone(schema))
            .with_delimiter(syntax.delimiter)
            .with_quote(syntax.quote)
            .with_batch_size(rows)
            .with_header(header)
            .with_truncated_rows(self.options.truncated_rows.unwrap_or(false))
            .with_projection(columns.clone());
        if let Some(terminator) = syntax.terminator {
            builder = builder.with_terminator(terminator);
        }
        if let Some(escape) = syntax.escape {
            builder = builder.with_escape(escape);
        }
        if let Some(comment) = syntax.comment {
            builder = builder.with_comment(comment);
        }
        if let Some(nulls) = &self.options.null_regex {
            let words = Regex::new(nulls);
            let words = words.map_err(|error| plan_datafusion_err!("null_regex is '{nulls}': {error}"))?;
            builder = builder.with_null_regex(words);
        }
        Ok(builder)
    }
}

impl FileSource for TextSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let opener =
            TextOpener { source: Arc::new(self.clone()), compression: config.file_compression_type, store, partition };
        ProjectionOpener::try_new(self.projection.clone(), Arc::new(opener), self.table_schema.file_schema())
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table_schema
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self { batch_size, ..self.clone() })
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
        "csv"
    }

    // Where rows end is not known in comments, nor where quotes are written in other ways.
    fn supports_repartitioning(&self) -> bool {
        let CsvOptions { newlines_in_values, escape, comment, .. } = &self.options;
        !newlines_in_values.unwrap_or(false) && escape.is_none() && comment.is_none()
    }

    fn fmt_extra(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, ", has_header={}", self.options.has_header.unwrap_or(true))
            }
            DisplayFormatType::TreeRender => Ok(()),
        }
    }

    fn apply_expressions(
        &self,
        look: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        look_at(&self.projection, look)
    }
}

struct TextOpener {
    source: Arc<TextSource>,
    compression: FileCompressionType,
    store: Arc<dyn ObjectStore>,
    partition: usize,
}

impl FileOpener for TextOpener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let (source, store, compression) = (Arc::clone(&self.source), Arc::clone(&self.store), self.compression);
        let metrics = BaselineMetrics::new(&source.metrics, self.partition);
        Ok(Box::pin(async move {
            let range = file.range.as_ref().map(|range| (range.start as u64, range.end as u64));
            let found = store.get_opts(&file.object_meta.location, GetOptions::default()).await?;
            let GetResultPayload::File(text, _) = found.payload else {
                return exec_err!("{}: CSV is read from files of this machine alone", file.object_meta.location);
            };
            let has_header = source.options.has_header.unwrap_or(true);
            let header = has_header && range.is_none_or(|(start, _)| start == 0);
            let syntax = source.syntax();
            let meta = &file.object_meta;
            let key = (meta.location.to_string(), meta.last_modified.timestamp_nanos_opt().unwrap_or_default());
            let text = part_of(text, range, &source.boundaries, &key, syntax)?;
            let mut text = compression.convert_read(text)?;
            let mut start = Vec::new();
            text.by_ref().take(LOOKED_AT).read_to_end(&mut start)?;
            let rows = rows_of_a_batch(&start, syntax, source.batch_size);
            let order = match has_header && source.named {
                true => {
                    let is_whole = (start.len() as u64) < LOOKED_AT && range.is_none();
                    let names = match header.then(|| names(start.as_slice(), syntax, is_whole)).flatten() {
                        Some(names) => Some(names),
                        None => match store.get_opts(&meta.location, GetOptions::default()).await?.payload {
                            GetResultPayload::File(text, _) => names(compression.convert_read(text)?, syntax, true),
                            GetResultPayload::Stream(_) => None,
                        },
                    };
                    let (table, wanted) = (source.table_schema.file_schema(), &source.projection.file_indices);
                    names.map_or(Ok(None), |names| OwnOrder::of(&names, table, wanted))?
                }
                false => None,
            };
            let columns = order.as_ref().map_or(source.table_schema.file_schema(), |order| &order.schema).fields();
            let text = Cursor::new(start).chain(text);
            let mark = Mark::without(&syntax.bytes()).map(Arc::new);
            let marked = Arc::new(AtomicBool::new(false));
            let marker = mark.clone().map(|mark| {
                let texts = columns.iter().map(|field| is_text(field.data_type())).collect();
                // Types that a statement gives are meant so.
                let numbers = columns.iter().map(|field| source.named && field.data_type().is_numeric());
                Marker::new(syntax, mark, texts, header, Arc::clone(&marked))
                    .marking_all(source.options.null_regex.is_some())
                    .refusing_zeros(numbers.collect())
            });
            let reader = source.builder(header, rows, order.as_ref())?;
            let mut reader = reader.build_buffered(MarkedFile::new(text, marker))?;
            let batches = std::iter::from_fn(move || {
                let _timer = metrics.elapsed_compute().timer();
                let batch = reader.next()?;
                let marks = mark.as_ref().filter(|_| marked.load(Ordering::Relaxed));
                let batch = batch.and_then(|batch| marks.map_or(Ok(batch.clone()), |mark| mark.removed(&batch)));
                let batch = match &order {
                    Some(order) => batch.and_then(|batch| order.arranged(&batch)).map_err(|it| order.of_table(it)),
                    None => batch,
                };
                Some(batch.map_err(DataFusionError::from))
            });
            Ok(futures::stream::iter(batches).boxed())
        }))
    }
}

/// The bytes of a batch, about.
const BATCH_BYTES: usize = 16 << 20;

/// The rows of a batch, fewer where rows are long by the start of the file: 8,192 documents would be gigabytes.
fn rows_of_a_batch(start: &[u8], syntax: Syntax, most: usize) -> usize {
    let rows = start.iter().filter(|byte| syntax.ends_row(**byte)).count();
    let length = start.len() / rows.max(1);
    (BATCH_BYTES / length.max(1)).clamp(1, most.max(1))
}

/// The rows of a file that begin within a range of its bytes.
fn part_of(
    mut file: File,
    range: Option<(u64, u64)>,
    boundaries: &Boundaries,
    key: &FileKey,
    syntax: Syntax,
) -> io::Result<io::Take<File>> {
    let (start, end) = match range {
        Some((start, end)) => {
            let mut row_at = |position| boundaries.row_at(&mut file, key, position, syntax);
            (row_at(start)?, row_at(end)?)
        }
        None => (0, u64::MAX),
    };
    file.seek(SeekFrom::Start(start))?;
    Ok(file.take(end.saturating_sub(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_of_long_rows_are_short() {
        let syntax = Syntax::of(&CsvOptions::default());
        let rows = |text: &str| rows_of_a_batch(text.as_bytes(), syntax, 8192);
        assert_eq!([rows(""), rows("a,b\n1,2\n"), rows(&"x".repeat(2048))], [8192; 3]);
        assert_eq!(rows(&("x".repeat((256 << 10) - 1) + "\n")), 64);
    }
}
