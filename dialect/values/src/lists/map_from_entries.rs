//! `map_from_entries(list)`: a map of pairs of a key and a value.
//!
//! Upstream: none known
//! Shows: `SELECT map_from_entries([struct('a', 1)])['a']` gives `1`

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, MapArray, StructArray, UInt64Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, Fields};
use arrow::row::{RowConverter, SortField};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, sql_type, typed_scalar_function};
use datafusion::common::{DataFusionError, Result};

/// The registration of `map_from_entries`.
pub(crate) fn map_from_entries() -> Function {
    typed_scalar_function("map_from_entries", |given| Ok(DataType::Map(entries(given)?, false)), maps)
        .parameters([Parameter::column("entries", "A list of structs of two fields: the key and the value.")])
        .returns("MAP")
        .description(
            "The map of a list of keys and values, the inverse of map_entries. A key that is NULL or occurs twice is an \
             error. NULL for NULL.",
        )
        .example("SELECT map_from_entries([{'k': 'a', 'v': 1}])")
        .source("DuckDB, map functions")
}

/// The field of a map's entries.
fn entries(given: &[DataType]) -> Result<Arc<Field>> {
    let wrong = |given: &DataType| {
        let given = sql_type(given);
        refused(format!("it takes a list of structs of two fields, not {given}"))
    };
    let Some(given) = given.first() else { return Err(wrong(&DataType::Null)) };
    let pair = match given {
        DataType::List(pair) | DataType::LargeList(pair) | DataType::FixedSizeList(pair, _) => pair.data_type(),
        _ => return Err(wrong(given)),
    };
    let fields = match pair {
        DataType::Struct(fields) if fields.len() == 2 => fields,
        _ => return Err(wrong(given)),
    };
    let fields = Fields::from(vec![
        Field::new("key", fields[0].data_type().clone(), false),
        Field::new("value", fields[1].data_type().clone(), true),
    ]);
    Ok(Arc::new(Field::new("entries", DataType::Struct(fields), false)))
}

fn maps(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let field = entries(&[columns[0].data_type().clone()])?;
    let DataType::Struct(fields) = field.data_type() else { return Err(refused("it takes a list".to_owned())) };
    let pair = match columns[0].data_type() {
        DataType::List(pair) | DataType::LargeList(pair) | DataType::FixedSizeList(pair, _) => pair.data_type(),
        _ => return Err(refused("it takes a list".to_owned())),
    };
    let lists = cast(&columns[0], &DataType::new_list(pair.clone(), true))?;
    let lists = lists.as_list::<i32>();
    let pairs = lists.values().as_struct();
    let (keys, values) = (pairs.column(0), pairs.column(1));
    let rows =
        RowConverter::new(vec![SortField::new(keys.data_type().clone())])?.convert_columns(&[Arc::clone(keys)])?;
    let null_keys = keys.logical_nulls();
    let (mut taken, mut lengths) = (Vec::new(), Vec::with_capacity(lists.len()));
    let mut seen = HashSet::new();
    for row in 0..lists.len() {
        if lists.is_null(row) {
            lengths.push(0);
            continue;
        }
        seen.clear();
        let range = lists.value_offsets()[row] as usize..lists.value_offsets()[row + 1] as usize;
        lengths.push(range.len());
        for at in range {
            if pairs.is_null(at) || null_keys.as_ref().is_some_and(|nulls| nulls.is_null(at)) {
                return Err(refused("a key is NULL".to_owned()));
            }
            if !seen.insert(rows.row(at)) {
                return Err(refused("a key occurs twice".to_owned()));
            }
            taken.push(at as u64);
        }
    }
    let taken = UInt64Array::from(taken);
    let columns = vec![take(keys, &taken, None)?, take(values, &taken, None)?];
    let pairs = StructArray::try_new(fields.clone(), columns, None)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(MapArray::try_new(Arc::clone(&field), offsets, pairs, lists.nulls().cloned(), false)?))
}

fn refused(reason: String) -> DataFusionError {
    execution_error(format!("map_from_entries: {reason}"))
}
