//! Parquet files with intervals, whole: months, days and milliseconds.
//!
//! The reader of parquet 59 gives the months of an interval, or its days and milliseconds, and DataFusion 55 asks for the latter: two
//! years were no time at all. Here the columns of intervals are read twice, and put together.
//!
//! Upstream: none known
//! Shows: no statement: COPY writes no intervals into Parquet files

use std::fs::File;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, IntervalMonthDayNanoArray, RecordBatch};
use arrow::datatypes::{
    DataType, Field, Fields, IntervalDayTimeType, IntervalMonthDayNano, IntervalUnit, IntervalYearMonthType, Schema,
    SchemaRef,
};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, exec_datafusion_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpenFuture, FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::object_store::ObjectStore;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr_adapter::BatchAdapterFactory;
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::StreamExt;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::projected::{look_at, merged};
use crate::ground::file_path::path_of;

/// The columns of a file with whole intervals; `None` where it has none. Says which column has intervals within it, which are not
/// read.
pub(super) fn with_intervals(schema: &Schema) -> Result<Option<SchemaRef>, String> {
    let is_interval = |field: &Field| matches!(field.data_type(), DataType::Interval(_));
    if let Some(field) = schema.fields().iter().find(|field| !is_interval(field) && has_interval(field.data_type())) {
        return Err(format!(
            "has INTERVALs within the column \"{}\", which are not read: write them in a column of their own, or as texts",
            field.name()
        ));
    }
    if !schema.fields().iter().any(|field| is_interval(field)) {
        return Ok(None);
    }
    Ok(Some(Arc::new(in_unit(schema, IntervalUnit::MonthDayNano))))
}

fn has_interval(data_type: &DataType) -> bool {
    match data_type {
        DataType::Interval(_) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_interval(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_interval(field.data_type())),
        _ => false,
    }
}

/// The columns with intervals in this unit.
fn in_unit(schema: &Schema, unit: IntervalUnit) -> Schema {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Interval(_) => Arc::new(field.as_ref().clone().with_data_type(DataType::Interval(unit))),
        _ => Arc::clone(field),
    });
    Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone())
}

/// The Parquet files of a scan.
#[derive(Debug, Clone)]
pub(super) struct IntervalSource {
    table_schema: TableSchema,
    projection: SplitProjection,
    batch_size: usize,
    metrics: ExecutionPlanMetricsSet,
}

impl IntervalSource {
    pub(super) fn new(table_schema: TableSchema) -> Self {
        let projection = SplitProjection::unprojected(&table_schema);
        Self { table_schema, projection, batch_size: 8192, metrics: ExecutionPlanMetricsSet::new() }
    }
}

impl FileSource for IntervalSource {
    fn create_file_opener(&self, _: Arc<dyn ObjectStore>, _: &FileScanConfig, _: usize) -> Result<Arc<dyn FileOpener>> {
        let wanted = Arc::new(self.table_schema.file_schema().project(&self.projection.file_indices)?);
        let opener = IntervalOpener { wanted, batch_size: self.batch_size };
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
        "parquet"
    }

    fn supports_repartitioning(&self) -> bool {
        false
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

struct IntervalOpener {
    /// The columns of the table that are wanted.
    wanted: SchemaRef,
    batch_size: usize,
}

impl IntervalOpener {
    /// A reader of columns of a file, whose intervals are in this unit.
    fn reader(
        &self,
        file: &PartitionedFile,
        unit: IntervalUnit,
        intervals_alone: bool,
    ) -> Result<ParquetRecordBatchReader> {
        let open = || File::open(path_of(&file.object_meta.location));
        let plain = ParquetRecordBatchReaderBuilder::try_new(open()?)?;
        let schema = Arc::new(in_unit(plain.schema(), unit));
        let read = schema.fields().iter().enumerate().filter(|(_, field)| {
            let is_interval = matches!(field.data_type(), DataType::Interval(_));
            self.wanted.index_of(field.name()).is_ok() && (is_interval || !intervals_alone)
        });
        let read: Vec<usize> = read.map(|(place, _)| place).collect();
        let options = ArrowReaderOptions::new().with_schema(schema);
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(open()?, options)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), read);
        Ok(builder.with_projection(mask).with_batch_size(self.batch_size).build()?)
    }
}

impl FileOpener for IntervalOpener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let mut days = self.reader(&file, IntervalUnit::DayTime, false)?;
        let mut months = self.reader(&file, IntervalUnit::YearMonth, true)?;
        let adapters = BatchAdapterFactory::new(Arc::clone(&self.wanted));
        let batches = std::iter::from_fn(move || {
            let batch = days.next()?.map_err(DataFusionError::from).and_then(|days| {
                let months =
                    months.next().transpose()?.ok_or_else(|| exec_datafusion_err!("the file ends within intervals"))?;
                whole(&days, &months)
            });
            Some(batch.and_then(|batch| adapters.make_adapter(&batch.schema())?.adapt_batch(&batch)))
        });
        let rows = futures::stream::iter(batches).boxed();
        Ok(Box::pin(async move { Ok(rows) }))
    }
}

/// The batch with its intervals put together.
fn whole(days: &RecordBatch, months: &RecordBatch) -> Result<RecordBatch> {
    let schema = Arc::new(in_unit(&days.schema(), IntervalUnit::MonthDayNano));
    let columns = days.columns().iter().zip(days.schema_ref().fields()).map(|(column, field)| {
        let (DataType::Interval(_), Some(months)) = (column.data_type(), months.column_by_name(field.name())) else {
            return Arc::clone(column);
        };
        let (days, months) =
            (column.as_primitive::<IntervalDayTimeType>(), months.as_primitive::<IntervalYearMonthType>());
        let values = (0..days.len()).map(|row| {
            let part = days.value(row);
            // They are written as numbers without a sign.
            let nanoseconds = i64::from(part.milliseconds) * 1_000_000;
            days.is_valid(row).then(|| IntervalMonthDayNano::new(months.value(row), part.days, nanoseconds))
        });
        Arc::new(values.collect::<IntervalMonthDayNanoArray>()) as ArrayRef
    });
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(days.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, columns.collect(), &options)?)
}

#[cfg(test)]
mod tests {
    use parquet::basic::{ConvertedType, Repetition, Type as PhysicalType};
    use parquet::data_type::{ByteArray, FixedLenByteArray, FixedLenByteArrayType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;

    use super::*;

    #[test]
    fn months_days_and_milliseconds_are_read() {
        let interval = Type::primitive_type_builder("i", PhysicalType::FIXED_LEN_BYTE_ARRAY)
            .with_length(12)
            .with_converted_type(ConvertedType::INTERVAL)
            .with_repetition(Repetition::OPTIONAL)
            .build()
            .unwrap();
        let schema = Type::group_type_builder("schema").with_fields(vec![Arc::new(interval)]).build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("i.parquet");
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(File::create(&path).unwrap(), Arc::new(schema), properties).unwrap();
        let mut rows = writer.next_row_group().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let value = |months: i32, days: i32, milliseconds: i32| {
            let bytes = [months.to_le_bytes(), days.to_le_bytes(), milliseconds.to_le_bytes()].concat();
            FixedLenByteArray::from(ByteArray::from(bytes))
        };
        let values = [value(24, 0, 0), value(1, 2, 3000)];
        column.typed::<FixedLenByteArrayType>().write_batch(&values, Some(&[1, 0, 1]), None).unwrap();
        column.close().unwrap();
        rows.close().unwrap();
        writer.close().unwrap();

        let own = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap().schema().clone();
        let wanted = with_intervals(&own).unwrap().unwrap();
        let opener = IntervalOpener { wanted, batch_size: 2 };
        let location = datafusion::object_store::path::Path::from_absolute_path(&path).unwrap();
        let file = PartitionedFile::new(location.to_string(), 0);
        let rows =
            futures::executor::block_on(async { opener.open(file).unwrap().await.unwrap().collect::<Vec<_>>().await });
        let found: Vec<Option<IntervalMonthDayNano>> = rows
            .into_iter()
            .flat_map(|batch| {
                let batch = batch.unwrap();
                batch.column(0).as_primitive::<arrow::datatypes::IntervalMonthDayNanoType>().iter().collect::<Vec<_>>()
            })
            .collect();
        let whole = |months, days, nanoseconds| Some(IntervalMonthDayNano::new(months, days, nanoseconds));
        assert_eq!(found, [whole(24, 0, 0), None, whole(1, 2, 3_000_000_000)]);
    }
}
