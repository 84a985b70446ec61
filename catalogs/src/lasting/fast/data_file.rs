//! A new Parquet file of a table, with the statistics that the log keeps of it.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Schema, SchemaRef};
use chrono::{DateTime, Days, NaiveDate};
use datafusion::common::ScalarValue;
use deltalake::DeltaTableError;
use deltalake::kernel::Add;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use serde_json::{Map, Value};

use crate::lasting::names;

/// Statistics are kept of the first columns, as other writers do.
const INDEXED: usize = 32;

/// The properties of data files. NaN is greater than all numbers, but Parquet's least and greatest values leave it out,
/// and readers would pass over it: columns that hold NaN are written without them.
pub(in crate::lasting) fn properties(compression: Compression, with_nan: &BTreeSet<String>) -> WriterProperties {
    let properties = WriterProperties::builder()
        .set_created_by(format!("bonnetdb {}", env!("CARGO_PKG_VERSION")))
        .set_compression(compression);
    let without = |properties: parquet::file::properties::WriterPropertiesBuilder, column: &String| {
        let column = ColumnPath::new(vec![column.clone()]);
        properties.set_column_statistics_enabled(column, EnabledStatistics::None)
    };
    with_nan.iter().fold(properties, without).build()
}

/// The columns of real numbers that hold NaN.
pub(in crate::lasting) fn with_nan(rows: &RecordBatch) -> BTreeSet<String> {
    let has_nan = |column: &dyn Array| match column.data_type() {
        DataType::Float32 => column.as_primitive::<Float32Type>().values().iter().any(|value| value.is_nan()),
        DataType::Float64 => column.as_primitive::<Float64Type>().values().iter().any(|value| value.is_nan()),
        _ => false,
    };
    let columns = rows.schema_ref().fields().iter().zip(rows.columns());
    columns.filter(|(_, column)| has_nan(column)).map(|(field, _)| field.name().clone()).collect()
}

/// A file that rows are written into. It goes away again unless it is finished.
pub(in crate::lasting) struct DataFile {
    path: PathBuf,
    name: String,
    schema: SchemaRef,
    /// The columns that may hold NaN.
    pub(in crate::lasting) with_nan: BTreeSet<String>,
    writer: Option<ArrowWriter<File>>,
    finished: bool,
}

impl DataFile {
    /// A new file in this folder, for rows of this schema, with NaN in these columns alone.
    pub(in crate::lasting) fn create(
        folder: &Path,
        schema: &SchemaRef,
        with_nan: BTreeSet<String>,
    ) -> Result<Self, DeltaTableError> {
        let name = format!("part-{}.snappy.parquet", names::unique());
        let path = folder.join(&name);
        // Cheap to write: OPTIMIZE is where files become small.
        let properties = properties(Compression::SNAPPY, &with_nan);
        let file = File::create_new(&path)?;
        let mut this = Self { path, name, schema: schema.clone(), with_nan, writer: None, finished: false };
        this.writer = Some(ArrowWriter::try_new(file, schema.clone(), Some(properties))?);
        Ok(this)
    }

    fn writer(&mut self) -> Result<&mut ArrowWriter<File>, ParquetError> {
        self.writer.as_mut().ok_or_else(|| ParquetError::General("the file is finished".to_owned()))
    }

    /// Adds rows; about how many bytes there are then.
    pub(in crate::lasting) fn write(&mut self, rows: &RecordBatch) -> Result<u64, DeltaTableError> {
        let writer = self.writer()?;
        writer.write(rows)?;
        Ok((writer.bytes_written() + writer.in_progress_size()) as u64)
    }

    /// Writes the end of the file.
    pub(in crate::lasting) fn finish(mut self) -> Result<Written, DeltaTableError> {
        let writer = self.writer()?;
        let known = writer.finish()?;
        let file = writer.inner().try_clone()?;
        let size = file.metadata()?.len();
        let stats = statistics(&self.schema, &known)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.finished = true;
        let add = Add {
            path: std::mem::take(&mut self.name),
            partition_values: HashMap::new(),
            size: i64::try_from(size).map_err(io::Error::other)?,
            modification_time: i64::try_from(now.as_millis()).unwrap_or_default(),
            data_change: true,
            stats: Some(stats.to_string()),
            ..Add::default()
        };
        Ok(Written { add, file })
    }
}

/// A data file that is written, but perhaps not yet on the disk, and what a commit says of it.
pub(in crate::lasting) struct Written {
    pub(in crate::lasting) add: Add,
    pub(in crate::lasting) file: File,
}

impl Drop for DataFile {
    fn drop(&mut self) {
        if !self.finished {
            // What cannot be removed now, VACUUM removes.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The statistics of a file in the log: its rows, and of columns that are no lists and no structs the NULLs and the least
/// and greatest values. (Delta Transaction Log Protocol, "Per-file Statistics".)
fn statistics(schema: &Schema, known: &ParquetMetaData) -> Result<Value, ParquetError> {
    let groups = known.row_groups();
    let (mut least, mut greatest, mut nulls) = (Map::new(), Map::new(), Map::new());
    for field in schema.fields().iter().take(INDEXED).filter(|field| !field.data_type().is_nested()) {
        let name = field.name();
        let converter = StatisticsConverter::try_new(name, schema, known.file_metadata().schema_descr())?;
        if let Some(count) = converter.row_group_null_counts(groups)?.iter().sum::<Option<u64>>() {
            nulls.insert(name.clone(), count.into());
        }
        if !is_ordered(field.data_type()) {
            continue;
        }
        for (bounds, all, order) in [
            (&mut least, converter.row_group_mins(groups)?, std::cmp::Ordering::Less),
            (&mut greatest, converter.row_group_maxes(groups)?, std::cmp::Ordering::Greater),
        ] {
            let mut bound: Option<ScalarValue> = None;
            for group in 0..all.len() {
                let value = ScalarValue::try_from_array(&all, group)
                    .map_err(|error| ParquetError::External(Box::new(error)))?;
                // A group of NULLs has none.
                let better = |bound: &ScalarValue| value.partial_cmp(bound) == Some(order);
                if !value.is_null() && bound.as_ref().is_none_or(better) {
                    bound = Some(value);
                }
            }
            if let Some(bound) = bound.and_then(|bound| json_bound(&bound)) {
                bounds.insert(name.clone(), bound);
            }
        }
    }
    Ok(serde_json::json!({
        "numRecords": known.file_metadata().num_rows(),
        "minValues": least,
        "maxValues": greatest,
        "nullCount": nulls,
    }))
}

/// Whether the log keeps bounds of this type.
fn is_ordered(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(
        data_type,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Float32 | T::Float64 | T::Utf8 | T::Date32 | T::Timestamp(..)
    )
}

/// A bound as the log writes it; none where JSON has no such value. Times are cut off after the milliseconds, which
/// readers know.
fn json_bound(bound: &ScalarValue) -> Option<Value> {
    use ScalarValue as S;
    Some(match bound {
        S::Int8(Some(value)) => (*value).into(),
        S::Int16(Some(value)) => (*value).into(),
        S::Int32(Some(value)) => (*value).into(),
        S::Int64(Some(value)) => (*value).into(),
        S::Float32(Some(value)) => serde_json::Number::from_f64(f64::from(*value))?.into(),
        S::Float64(Some(value)) => serde_json::Number::from_f64(*value)?.into(),
        S::Utf8(Some(value)) => value.as_str().into(),
        S::Date32(Some(days)) => {
            let epoch = NaiveDate::from_ymd_opt(1970, 1, 1)?;
            let distance = Days::new(u64::from(days.unsigned_abs()));
            let day = if *days < 0 { epoch.checked_sub_days(distance) } else { epoch.checked_add_days(distance) };
            day.filter(|day| (0..=9999).contains(&chrono::Datelike::year(day)))?.to_string().into()
        }
        S::TimestampMicrosecond(Some(time), zone) => {
            let time = DateTime::from_timestamp_micros(*time)?;
            if !(0..=9999).contains(&chrono::Datelike::year(&time)) {
                return None;
            }
            let text = time.format("%Y-%m-%dT%H:%M:%S%.3f").to_string();
            if zone.is_some() { text + "Z" } else { text }.into()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Date32Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};

    use super::*;

    #[test]
    fn the_log_has_the_statistics_of_the_file() {
        let times = |times: Vec<i64>| Arc::new(TimestampMicrosecondArray::from(times).with_timezone("UTC")) as ArrayRef;
        let rows = |add: i64, real: f64| {
            let long = "x".repeat(200);
            let columns: Vec<(&str, ArrayRef)> = vec![
                ("n", Arc::new(Int64Array::from(vec![Some(add), None, Some(add + 5)]))),
                ("r", Arc::new(Float64Array::from(vec![real, 0.5, 1.5]))),
                ("t", Arc::new(StringArray::from(vec!["b", "a", long.as_str()]))),
                ("day", Arc::new(Date32Array::from(vec![-1, 0, 20_000]))),
                ("at", times(vec![-1, 1_234_567, 0])),
            ];
            RecordBatch::try_from_iter(columns).unwrap()
        };
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (rows(10, 0.0), rows(-3, 2.0));
        assert!(with_nan(&first).is_empty());
        let mut file = DataFile::create(folder.path(), &first.schema(), BTreeSet::new()).unwrap();
        file.write(&first).unwrap();
        file.write(&second).unwrap();
        let written = file.finish().unwrap();
        let stats: Value = serde_json::from_str(written.add.stats.as_deref().unwrap()).unwrap();
        assert_eq!(stats["numRecords"], 6);
        assert_eq!(stats["nullCount"], serde_json::json!({"n": 2, "r": 0, "t": 0, "day": 0, "at": 0}));
        let (least, greatest) = (&stats["minValues"], &stats["maxValues"]);
        assert_eq!((&least["n"], &greatest["n"]), (&(-3).into(), &15.into()));
        assert_eq!((&least["t"], &least["day"]), (&"a".into(), &"1969-12-31".into()));
        assert_eq!(greatest["day"], "2024-10-04");
        assert_eq!(
            (&least["at"], &greatest["at"]),
            (&"1969-12-31T23:59:59.999Z".into(), &"1970-01-01T00:00:01.234Z".into())
        );
        // Cut off, but not below the value.
        let bound = greatest["t"].as_str().unwrap();
        assert!(bound > "x".repeat(200).as_str() && bound.len() < 100, "{bound}");
        assert_eq!(std::fs::metadata(folder.path().join(&written.add.path)).unwrap().len(), written.add.size as u64);

        let odd = rows(0, f64::NAN);
        assert_eq!(with_nan(&odd).into_iter().collect::<Vec<_>>(), ["r"]);
        let mut file = DataFile::create(folder.path(), &odd.schema(), with_nan(&odd)).unwrap();
        file.write(&odd).unwrap();
        let stats: Value = serde_json::from_str(file.finish().unwrap().add.stats.as_deref().unwrap()).unwrap();
        assert_eq!((&stats["maxValues"]["r"], &stats["maxValues"]["n"]), (&Value::Null, &5.into()));
    }

    #[test]
    fn a_file_that_is_not_finished_goes_away() {
        let folder = tempfile::tempdir().unwrap();
        let rows = RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]).unwrap();
        let mut file = DataFile::create(folder.path(), &rows.schema(), BTreeSet::new()).unwrap();
        file.write(&rows).unwrap();
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
