//! Scans a version as plain Parquet where no row needs rewriting.
//!
//! Where nothing has to be done to the rows of the files (none were deleted by a vector, no column lies in a folder's name
//! or has another name in the files), they are the table's rows, and are read as any Parquet files: whole files side by
//! side, columns and pages that a query does not need left out. The log keeps statistics of each file (Delta Transaction
//! Log Protocol, "Per-file Statistics"), so that files without rows of a condition are not opened, and counts need no scan.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::{DataType, SchemaRef};
use chrono::DateTime;
use datafusion::catalog::Session;
use datafusion::common::pruning::PrunableStatistics;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, DFSchema, Result, ScalarValue, Statistics, project_schema};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::conjunction;
use datafusion::physical_expr::utils::Guarantee;
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use deltalake::kernel::EagerSnapshot;
use deltalake::{DeltaTable, ObjectMeta, Path};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Features that ask nothing of readers beyond reading the files, if no file has a deletion vector.
const HARMLESS: [&str; 4] = ["deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"];

/// About the most rows of a page that writers of Parquet files make.
const PAGE: usize = 20_000;

/// The files of a version, oldest first, and what is known of them all.
#[derive(Debug)]
pub(in crate::lasting) struct PlainFiles {
    schema: SchemaRef,
    files: Vec<PartitionedFile>,
    statistics: Statistics,
    /// Whether the least and greatest values of the log are values of the table, rather than bounds of them.
    tight: bool,
}

impl PlainFiles {
    /// The files of a table, with the columns in which it is read; `None` where its rows are not just those of the files.
    pub(in crate::lasting) fn of(table: &DeltaTable, schema: &SchemaRef) -> Option<Self> {
        let snapshot = table.snapshot().ok()?.snapshot();
        if !rows_are_those_of_files(snapshot) || schema.fields().iter().any(|field| demands(field.data_type())) {
            return None;
        }
        let root = Path::from_url_path(table.table_url().path()).ok()?;
        let mut files = Vec::new();
        let mut tight = true;
        for view in snapshot.log_data().iter() {
            let path = view.path();
            if view.deletion_vector_descriptor().is_some() || !is_plain(&path) {
                return None;
            }
            let location = path.split('/').fold(root.clone(), |folder, part| folder.join(part));
            let size = u64::try_from(view.size()).ok()?;
            let known = FileStatistics::of(view.stats());
            tight &= known.is_tight();
            let meta = ObjectMeta {
                location,
                last_modified: DateTime::from_timestamp_millis(view.modification_time()).unwrap_or_default(),
                size,
                e_tag: None,
                version: None,
            };
            files.push(PartitionedFile::from(meta).with_statistics(Arc::new(known.statistics(size, schema))));
        }
        // The log has the latest first.
        files.reverse();
        let statistics = merged(&files, schema, tight).ok()?;
        Some(Self { schema: Arc::clone(schema), files, statistics, tight })
    }

    /// A plan that reads the files which may have rows of these conditions.
    pub(in crate::lasting) async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let condition = self.condition(session, filters);
        let (files, statistics) = match condition.as_deref().and_then(|condition| self.matching(condition)) {
            None => (self.files.clone(), self.statistics.clone()),
            Some(files) => {
                let statistics = merged(&files, &self.schema, self.tight)?;
                (files, statistics)
            }
        };
        if files.is_empty() {
            return Ok(Arc::new(EmptyExec::new(project_schema(&self.schema, projection)?)));
        }
        let each = files.len().div_ceil(session.config().target_partitions().max(1));
        let groups = files.chunks(each).map(|files| FileGroup::new(files.to_vec())).collect();
        let mut options = session.default_table_options().parquet;
        options.global.pushdown_filters |= condition.is_some_and(|condition| self.picks_single_rows(&condition));
        let format = ParquetFormat::new().with_options(options);
        let source = format.file_source(TableSchema::from(Arc::clone(&self.schema)));
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        format.create_physical_plan(session, scan).await
    }

    /// The conditions as statistics answer them; `None` where they say nothing of least and greatest values.
    fn condition(&self, session: &dyn Session, filters: &[Expr]) -> Option<Arc<PruningPredicate>> {
        let condition = conjunction(filters.iter().cloned())?;
        let columns = DFSchema::try_from(Arc::clone(&self.schema)).ok()?;
        let condition = session.create_physical_expr(condition, &columns).ok()?;
        PruningPredicateBuilder::new().with_file_schema(Arc::clone(&self.schema)).build(condition)
    }

    /// The files that may have rows of this condition; `None` for all, of which the rows are filtered above.
    fn matching(&self, condition: &PruningPredicate) -> Option<Vec<PartitionedFile>> {
        let statistics = self.files.iter().filter_map(|file| file.statistics.clone()).collect();
        let may_match = condition.prune(&PrunableStatistics::new(statistics, Arc::clone(&self.schema))).ok()?;
        if may_match.iter().all(|may_match| *may_match) {
            return None;
        }
        let files = self.files.iter().zip(may_match).filter(|(_, may_match)| *may_match);
        Some(files.map(|(file, _)| file.clone()).collect())
    }

    /// Whether a condition, such as one for a key, is fulfilled by so few rows that most pages hold none. Then it is better
    /// checked in the scan, column by column, so that of the other columns only the pages of such rows are read; where most
    /// pages have some, this takes up to half as long again.
    fn picks_single_rows(&self, condition: &PruningPredicate) -> bool {
        condition.literal_guarantees().iter().any(|known| {
            let column = self.schema.index_of(known.column.name()).ok();
            let statistics = column.and_then(|column| self.statistics.column_statistics.get(column));
            let values = statistics.and_then(number_of_values);
            known.guarantee == Guarantee::In && values.is_some_and(|values| values / PAGE >= known.literals.len())
        })
    }
}

/// The whole numbers between the bounds of a column; `None` of other columns.
fn number_of_values(column: &ColumnStatistics) -> Option<usize> {
    let (least, greatest) = (column.min_value.get_value()?, column.max_value.get_value()?);
    least.data_type().is_integer().then(|| greatest.distance(least))?
}

/// The columns of real numbers of which a file keeps no greatest value, though it has values: they may hold NaN.
pub(in crate::lasting) fn with_nan(table: &DeltaTable, schema: &SchemaRef) -> BTreeSet<String> {
    let real = |data_type: &DataType| matches!(data_type, DataType::Float32 | DataType::Float64);
    let reals = schema.fields().iter().filter(|field| real(field.data_type())).map(|field| field.name());
    let Ok(snapshot) = table.snapshot() else { return reals.cloned().collect() };
    let files: Vec<FileStatistics> =
        snapshot.snapshot().log_data().iter().map(|view| FileStatistics::of(view.stats())).collect();
    let unknown = |column: &&String| {
        files.iter().any(|file| {
            let nulls = file.null_count.get(*column).and_then(Value::as_u64);
            let values = nulls.is_none() || nulls != file.num_records.map(|rows| rows as u64);
            values && !file.max_values.contains_key(*column)
        })
    };
    reals.filter(unknown).cloned().collect()
}

fn rows_are_those_of_files(snapshot: &EagerSnapshot) -> bool {
    let protocol = snapshot.protocol();
    let known = match protocol.reader_features() {
        Some(features) => features.iter().all(|feature| HARMLESS.contains(&feature.as_ref())),
        // Version 2 is that of other names in the files.
        None => protocol.min_reader_version() <= 1,
    };
    known && snapshot.metadata().partition_columns().is_empty()
}

/// Whether a nested field forbids NULL: the files of other writers may allow it, as the protocol lets them.
fn demands(data_type: &DataType) -> bool {
    let field = |field: &arrow::datatypes::FieldRef| !field.is_nullable() || demands(field.data_type());
    match data_type {
        DataType::Struct(fields) => fields.iter().any(field),
        DataType::List(item) => field(item),
        // The key of a map is never NULL.
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) => pair.iter().skip(1).any(field) || pair.iter().any(|f| demands(f.data_type())),
            _ => true,
        },
        _ => false,
    }
}

/// Whether a path of the log lies in the table's folder under just that name, with nothing in it that is written otherwise
/// in addresses.
fn is_plain(path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.=/".contains(&byte);
    !path.starts_with('/') && path.bytes().all(plain) && !path.split('/').any(|part| matches!(part, "" | "." | ".."))
}

/// The statistics of a file in the log.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FileStatistics {
    num_records: Option<usize>,
    tight_bounds: Option<bool>,
    min_values: Map<String, Value>,
    max_values: Map<String, Value>,
    null_count: Map<String, Value>,
}

impl FileStatistics {
    fn of(stats: Option<String>) -> Self {
        stats.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn is_tight(&self) -> bool {
        self.tight_bounds != Some(false)
    }

    fn statistics(&self, size: u64, schema: &SchemaRef) -> Statistics {
        let of_rows = |count: Option<usize>| count.map_or(Precision::Absent, Precision::Exact);
        let of_values = |value: Option<ScalarValue>| value.map_or(Precision::Absent, Precision::Exact);
        let columns = schema.fields().iter().map(|field| {
            let (name, data_type) = (field.name(), field.data_type());
            let bound = |values: &Map<String, Value>| values.get(name).and_then(|value| scalar(value, data_type));
            let nulls = self.null_count.get(name).and_then(|count| usize::try_from(count.as_u64()?).ok());
            ColumnStatistics {
                null_count: of_rows(nulls.filter(|_| self.is_tight())),
                min_value: of_values(bound(&self.min_values)),
                max_value: of_values(bound(&self.max_values).map(at_most)),
                ..ColumnStatistics::new_unknown()
            }
        });
        Statistics {
            num_rows: of_rows(self.num_records),
            total_byte_size: usize::try_from(size).map_or(Precision::Absent, Precision::Inexact),
            column_statistics: columns.collect(),
        }
    }
}

/// A bound of the log as a value of its column. None for real numbers, whose bounds leave NaN out, and for decimals, which
/// the log may have rounded.
fn scalar(value: &Value, data_type: &DataType) -> Option<ScalarValue> {
    use DataType as T;
    let value = match data_type {
        T::Int8 | T::Int16 | T::Int32 | T::Int64 => {
            ScalarValue::Int64(Some(value.as_i64()?)).cast_to(data_type).ok()?
        }
        T::Boolean => ScalarValue::Boolean(Some(value.as_bool()?)),
        T::Utf8 => ScalarValue::Utf8(Some(value.as_str()?.to_owned())),
        T::Date32 | T::Timestamp(..) => ScalarValue::try_from_string(value.as_str()?.to_owned(), data_type).ok()?,
        _ => return None,
    };
    (!value.is_null()).then_some(value)
}

/// A greatest value as a bound: the log cuts times off after the milliseconds.
fn at_most(value: ScalarValue) -> ScalarValue {
    match value {
        ScalarValue::TimestampMicrosecond(Some(time), zone) => {
            ScalarValue::TimestampMicrosecond(Some(time.saturating_add(999)), zone)
        }
        other => other,
    }
}

/// The statistics of several files together. Their least and greatest values are answers to min and max where they are
/// values, not just bounds.
fn merged(files: &[PartitionedFile], schema: &SchemaRef, tight: bool) -> Result<Statistics> {
    let each = files.iter().filter_map(|file| file.statistics.as_deref());
    let mut all = Statistics::try_merge_iter(each, schema)?;
    for (column, field) in all.column_statistics.iter_mut().zip(schema.fields()) {
        use DataType as T;
        let whole = matches!(field.data_type(), T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Boolean | T::Date32);
        if !(whole && tight) {
            column.min_value = std::mem::take(&mut column.min_value).to_inexact();
            column.max_value = std::mem::take(&mut column.max_value).to_inexact();
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{Field, Schema, TimeUnit};
    use datafusion::prelude::{SessionContext, col, lit};

    use super::*;

    fn known(text: &str) -> FileStatistics {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn bounds_of_the_log_become_values_of_their_columns() {
        let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let schema = Arc::new(Schema::new(vec![
            Field::new("i", DataType::Int16, true),
            Field::new("r", DataType::Float64, true),
            Field::new("t", DataType::Utf8, true),
            Field::new("at", utc.clone(), true),
            Field::new("day", DataType::Date32, true),
            Field::new("other", DataType::Int64, true),
        ]));
        let text = r#"{"numRecords": 3, "minValues": {"i": -4, "r": 0.5, "t": "a", "at": "1970-01-01T00:00:01.000Z",
            "day": "1970-01-03"}, "maxValues": {"i": 7, "r": 2, "t": "b", "at": "1970-01-01T00:00:01.002Z",
            "day": "no day"}, "nullCount": {"i": 1, "r": 0}}"#;
        let statistics = known(text).statistics(100, &schema);
        assert_eq!(statistics.num_rows, Precision::Exact(3));
        let column = |at: usize| &statistics.column_statistics[at];
        assert_eq!(column(0).min_value, Precision::Exact(ScalarValue::Int16(Some(-4))));
        assert_eq!(column(0).null_count, Precision::Exact(1));
        // NaN is in no statistics, and greater than all numbers.
        assert_eq!(column(1).max_value, Precision::Absent);
        assert_eq!(column(2).max_value, Precision::Exact(ScalarValue::Utf8(Some("b".to_owned()))));
        let time = |time| Precision::Exact(ScalarValue::TimestampMicrosecond(Some(time), Some("UTC".into())));
        assert_eq!((&column(3).min_value, &column(3).max_value), (&time(1_000_000), &time(1_002_999)));
        assert_eq!(column(4).min_value, Precision::Exact(ScalarValue::Date32(Some(2))));
        assert_eq!(column(4).max_value, Precision::Absent);
        assert_eq!(column(5), &ColumnStatistics::new_unknown());
    }

    #[test]
    fn only_tight_bounds_of_whole_numbers_are_answers() {
        let schema =
            Arc::new(Schema::new(vec![Field::new("i", DataType::Int64, true), Field::new("t", DataType::Utf8, true)]));
        let text = r#"{"numRecords": 3, "minValues": {"i": 1, "t": "a"}, "maxValues": {"i": 2, "t": "b"}}"#;
        let meta = |known: FileStatistics| {
            let (location, last_modified) = (Path::from("a.parquet"), DateTime::default());
            let meta = ObjectMeta { location, last_modified, size: 9, e_tag: None, version: None };
            PartitionedFile::from(meta).with_statistics(Arc::new(known.statistics(9, &schema)))
        };
        let files = [meta(known(text)), meta(known(&text.replace("2,", "8,").replace('1', "-1")))];
        let all = merged(&files, &schema, true).unwrap();
        assert_eq!(all.num_rows, Precision::Exact(6));
        assert_eq!(all.column_statistics[0].min_value, Precision::Exact(ScalarValue::Int64(Some(-1))));
        assert_eq!(all.column_statistics[0].max_value, Precision::Exact(ScalarValue::Int64(Some(8))));
        assert!(matches!(all.column_statistics[1].max_value, Precision::Inexact(_)));
        let loose = merged(&files, &schema, false).unwrap();
        assert!(matches!(loose.column_statistics[0].max_value, Precision::Inexact(_)));
        assert!(!known(r#"{"tightBounds": false}"#).is_tight());
    }

    #[test]
    fn conditions_for_a_key_are_checked_in_the_scan() {
        let field = |name: &str, data_type| Field::new(name, data_type, true);
        let schema = Arc::new(Schema::new(vec![
            field("key", DataType::Int64),
            field("label", DataType::Int32),
            field("name", DataType::Utf8),
            field("unknown", DataType::Int64),
        ]));
        let text = r#"{"numRecords": 1000000, "minValues": {"key": -5, "label": 0, "name": "a"},
            "maxValues": {"key": 999999, "label": 6, "name": "z"}}"#;
        let statistics = known(text).statistics(100, &schema);
        let files = PlainFiles { schema, files: Vec::new(), statistics, tight: true };
        let context = SessionContext::new();
        let picks_single_rows = |filter: Expr| {
            let condition = files.condition(&context.state(), &[filter]).unwrap();
            files.picks_single_rows(&condition)
        };
        let many = (0..60i64).map(lit).collect();
        assert!(picks_single_rows(col("key").eq(lit(7i64))));
        assert!(picks_single_rows(col("key").eq(lit(7i64)).and(col("label").gt(lit(3)))));
        assert!(picks_single_rows(col("key").in_list(vec![lit(7i64), lit(8i64), lit(9i64)], false)));
        for others in [
            col("key").gt(lit(7i64)),
            col("key").not_eq(lit(7i64)),
            col("key").in_list(many, false),
            col("key").eq(lit(7i64)).or(col("label").eq(lit(3))),
            col("label").eq(lit(3)),
            col("name").eq(lit("k")),
            col("unknown").eq(lit(7i64)),
        ] {
            assert!(!picks_single_rows(others.clone()), "{others}");
        }
    }

    #[test]
    fn paths_are_plain_or_read_by_somebody_else() {
        for path in ["part-0-a.snappy.parquet", "ab/part-1.parquet", "a=b.parquet"] {
            assert!(is_plain(path), "{path}");
        }
        for path in ["/tmp/a.parquet", "s3://b/a.parquet", "a%20b.parquet", "a b.parquet", "../a.parquet", "", "a//b"] {
            assert!(!is_plain(path), "{path}");
        }
    }

    #[test]
    fn nested_columns_that_forbid_null_are_found() {
        let field = |nullable| Arc::new(Field::new("item", DataType::Int64, nullable));
        let map = |nullable| {
            let pair = vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Int64, nullable)];
            DataType::Map(Arc::new(Field::new("entries", DataType::Struct(pair.into()), false)), false)
        };
        assert!(!demands(&DataType::List(field(true))) && demands(&DataType::List(field(false))));
        assert!(!demands(&map(true)) && demands(&map(false)));
        assert!(demands(&DataType::Struct(vec![Field::new("l", DataType::List(field(false)), true)].into())));
    }
}
