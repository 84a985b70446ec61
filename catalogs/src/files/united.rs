//! The columns of several files as those of one table: found by their names, of a type that has the values of all.
//!
//! DataFusion 55 takes the columns of the files together and then reads those of CSV and Arrow by their places, so that another
//! order put values under other names; a column that a Parquet file lacks stayed NOT NULL.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/4918>
//! Given: `COPY (SELECT 1 AS id, 10 AS v) TO '{dir}/a.csv' STORED AS CSV`
//! Given: `COPY (SELECT 20 AS v, 2 AS id) TO '{dir}/b.csv' STORED AS CSV`
//! Shows: `SELECT id, v FROM '{dir}/*.csv' ORDER BY id` gives `1 | 10 / 2 | 20`

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use bonnet_common::sql_type;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::type_coercion::binary::{binary_numeric_coercion, string_coercion};

use super::file_fault::{Kind, fault};
use crate::remote::shown;

/// The columns of a file.
pub(super) struct FileColumns {
    pub(super) path: PathBuf,
    pub(super) schema: SchemaRef,
}

/// Refuses a file with two columns of one name.
///
/// # Errors
/// Names the column.
pub(super) fn check_names<'a>(path: &Path, mut names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut known = HashSet::new();
    match names.find(|name| !known.insert(*name)) {
        Some(name) => {
            let what = format!(
                "cannot be read as a table: two columns are called \"{name}\"; write the file anew with names of their own"
            );
            Err(fault(path, what))
        }
        None => Ok(()),
    }
}

/// The columns of all files. One that a file lacks may be NULL.
///
/// # Errors
/// If a column has types in two files that no type holds, or names differ in their case alone.
pub(super) fn united(files: &[FileColumns], kind: Kind) -> Result<Schema> {
    let Some(first) = files.first() else { return Ok(Schema::empty()) };
    if files[1..].iter().all(|file| file.schema.fields() == first.schema.fields()) {
        return Ok(first.schema.as_ref().clone());
    }
    // A column, the file that it is first in, and the number of files that have it.
    let mut columns: Vec<(FieldRef, usize, usize)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut lower: HashMap<String, usize> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        for field in file.schema.fields() {
            if let Some(&place) = places.get(field.name()) {
                let (known, from, count) = &mut columns[place];
                *count += 1;
                if known.data_type() != field.data_type() || known.is_nullable() != field.is_nullable() {
                    let data_type = united_type(known.data_type(), field.data_type());
                    let data_type = data_type.ok_or_else(|| conflict(file, field, &files[*from], known, kind))?;
                    let nullable = known.is_nullable() || field.is_nullable();
                    *known = Arc::new(Field::new(field.name(), data_type, nullable));
                }
                continue;
            }
            if let Some(&place) = lower.get(&field.name().to_lowercase()) {
                let (other, from, _) = &columns[place];
                if file.schema.field_with_name(other.name()).is_err() {
                    return Err(other_case(file, field, &files[*from], other));
                }
            }
            places.insert(field.name().clone(), columns.len());
            lower.entry(field.name().to_lowercase()).or_insert(columns.len());
            columns.push((Arc::clone(field), at, 1));
        }
    }
    let fields = columns.into_iter().map(|(field, _, count)| match count == files.len() || field.is_nullable() {
        true => field,
        false => Arc::new(field.as_ref().clone().with_nullable(true)),
    });
    Ok(Schema::new(fields.collect::<Fields>()))
}

/// The type that has the values of both.
pub(super) fn united_type(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType::{Date32, Date64, Dictionary, Null, Struct, Timestamp};
    if one == other {
        return Some(one.clone());
    }
    match (one, other) {
        (Null, known) | (known, Null) => Some(known.clone()),
        (Dictionary(_, one), other) | (other, Dictionary(_, one)) => united_type(one, other),
        (Date32 | Date64, Date32 | Date64) => Some(Date64),
        (Date32 | Date64, Timestamp(unit, None)) | (Timestamp(unit, None), Date32 | Date64) => {
            Some(Timestamp(*unit, None))
        }
        (Timestamp(unit, zone), Timestamp(other_unit, other_zone)) if zone == other_zone => {
            Some(Timestamp(finer(*unit, *other_unit), zone.clone()))
        }
        (Struct(one), Struct(other)) => united_fields(one, other).map(Struct),
        (one, other) => match (item(one), item(other)) {
            (Some(item), Some(other_item)) => {
                let data_type = united_type(item.data_type(), other_item.data_type())?;
                let nullable = item.is_nullable() || other_item.is_nullable();
                let item = Arc::new(Field::new(item.name(), data_type, nullable));
                let large = [one, other].iter().any(|it| matches!(it, DataType::LargeList(_)));
                Some(if large { DataType::LargeList(item) } else { DataType::List(item) })
            }
            (None, None) => {
                string_coercion(one, other).or_else(|| united_number(one, other)).or_else(|| bytes(one, other))
            }
            _ => None,
        },
    }
}

/// The numbers that have those of both; whole ones are DOUBLE among those of single precision, which would round them.
fn united_number(one: &DataType, other: &DataType) -> Option<DataType> {
    let is_short = |it: &DataType| matches!(it, DataType::Float16 | DataType::Float32);
    match (one, other) {
        (short, whole) | (whole, short) if is_short(short) && whole.is_integer() => Some(DataType::Float64),
        _ => binary_numeric_coercion(one, other),
    }
}

fn bytes(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType::{Binary, BinaryView, FixedSizeBinary, LargeBinary};
    let is_bytes = |it: &DataType| matches!(it, Binary | BinaryView | LargeBinary | FixedSizeBinary(_));
    (is_bytes(one) && is_bytes(other)).then_some(LargeBinary)
}

fn finer(one: TimeUnit, other: TimeUnit) -> TimeUnit {
    let digits = |unit| match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    if digits(one) >= digits(other) { one } else { other }
}

fn item(list: &DataType) -> Option<&FieldRef> {
    match list {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item),
        _ => None,
    }
}

/// The fields of two structs by their names.
fn united_fields(one: &Fields, other: &Fields) -> Option<Fields> {
    let mut fields: Vec<FieldRef> = Vec::new();
    for field in one {
        fields.push(match other.iter().find(|other| other.name() == field.name()) {
            Some(other) => {
                let data_type = united_type(field.data_type(), other.data_type())?;
                Arc::new(Field::new(field.name(), data_type, field.is_nullable() || other.is_nullable()))
            }
            None => Arc::new(field.as_ref().clone().with_nullable(true)),
        });
    }
    let new = other.iter().filter(|other| one.iter().all(|field| field.name() != other.name()));
    fields.extend(new.map(|field| Arc::new(field.as_ref().clone().with_nullable(true))));
    Some(fields.into())
}

/// The error of a column with types that no type holds.
fn conflict(file: &FileColumns, field: &Field, before: &FileColumns, other: &Field, kind: Kind) -> DataFusionError {
    let help = match kind {
        Kind::Csv => "read_csv(..., all_varchar => true) reads all columns as texts",
        _ => "read them apart, cast the column to one type, and UNION ALL BY NAME",
    };
    let (own, others) = (sql_type(field.data_type()), sql_type(other.data_type()));
    let what = format!(
        "has a column \"{}\" of {own}, which is {others} in '{}'; {help}",
        field.name(),
        shown(&before.path).display()
    );
    fault(&file.path, what)
}

/// The error of a name that differs from another in its case alone.
fn other_case(file: &FileColumns, field: &Field, before: &FileColumns, other: &Field) -> DataFusionError {
    let what = format!(
        "has a column \"{}\", which is called \"{}\" in '{}': read them apart, rename it, and UNION ALL BY NAME",
        field.name(),
        other.name(),
        shown(&before.path).display()
    );
    fault(&file.path, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, columns: &[(&str, DataType, bool)]) -> FileColumns {
        let fields = columns.iter().map(|(name, data_type, nullable)| Field::new(*name, data_type.clone(), *nullable));
        FileColumns { path: path.into(), schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())) }
    }

    #[test]
    fn columns_are_found_by_their_names_and_missing_ones_are_null() {
        let files = [
            file("a", &[("id", DataType::Int64, false), ("v", DataType::Int32, false)]),
            file("b", &[("w", DataType::Utf8, false), ("id", DataType::Float64, false)]),
        ];
        let found = united(&files, Kind::Parquet).unwrap();
        let expected =
            file("", &[("id", DataType::Float64, false), ("v", DataType::Int32, true), ("w", DataType::Utf8, true)]);
        assert_eq!(found.fields(), expected.schema.fields());
    }

    #[test]
    fn a_difference_of_types_names_both_files() {
        let files = [file("a", &[("k", DataType::Int64, true)]), file("b", &[("k", DataType::Utf8, true)])];
        let error = united(&files, Kind::Parquet).unwrap_err().to_string();
        assert!(error.contains("'b' has a column \"k\" of VARCHAR, which is BIGINT in 'a'"), "{error}");
        assert!(united(&files, Kind::Csv).unwrap_err().to_string().contains("all_varchar => true"));
        let files = [file("a", &[("id", DataType::Int64, true)]), file("b", &[("ID", DataType::Int64, true)])];
        let error = united(&files, Kind::Json).unwrap_err().to_string();
        assert!(error.contains("'b' has a column \"ID\", which is called \"id\" in 'a'"), "{error}");
        let both = [("id", DataType::Int64, true), ("ID", DataType::Int64, true)];
        assert_eq!(united(&[file("a", &both), file("b", &both[1..])], Kind::Json).unwrap().fields().len(), 2);
    }

    #[test]
    fn a_type_has_the_values_of_both() {
        use DataType::*;
        let dictionary = Dictionary(Box::new(Int32), Box::new(Utf8));
        for (one, other, both) in [
            (Int8, Int64, Some(Int64)),
            (UInt64, Int32, Some(Decimal128(20, 0))),
            (Int64, Float32, Some(Float64)),
            (dictionary.clone(), Utf8View, Some(Utf8View)),
            (dictionary, Utf8, Some(Utf8)),
            (Null, Date32, Some(Date32)),
            (Date32, Timestamp(TimeUnit::Second, None), Some(Timestamp(TimeUnit::Second, None))),
            (
                Timestamp(TimeUnit::Microsecond, None),
                Timestamp(TimeUnit::Nanosecond, None),
                Some(Timestamp(TimeUnit::Nanosecond, None)),
            ),
            (Timestamp(TimeUnit::Second, None), Timestamp(TimeUnit::Second, Some("UTC".into())), None),
            (Boolean, Int64, None),
            (Utf8, Int64, None),
            (Utf8, Date32, None),
        ] {
            assert_eq!(united_type(&one, &other), both, "{one} {other}");
            assert_eq!(united_type(&other, &one), both, "{other} {one}");
        }
    }
}
