//! Features in any of the forms of a graph's table, as rows of entries.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float32Type, Int64Type};
use bonnet_sql::{execution_error, usage_error};
use datafusion::common::Result;
use std::sync::Arc;

use crate::FeatureRows;

/// A column of features, and which of its rows are not NULL. `what` names it in errors.
pub(super) fn feature_rows(column: &ArrayRef, what: &str) -> Result<(FeatureRows, Vec<bool>)> {
    let entries = match column.data_type() {
        DataType::Null => None,
        DataType::Dictionary(_, values) => return feature_rows(&cast(column, values)?, what),
        DataType::Map(_, _) => {
            let map = column.as_map();
            Some((offsets(map.value_offsets()), Some(Arc::clone(map.keys())), Arc::clone(map.values())))
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let list = cast(column, &DataType::LargeList(Arc::clone(item)))?;
            let list = list.as_list::<i64>();
            let starts = list.value_offsets().iter().map(|&offset| offset as usize).collect();
            match item.data_type() {
                DataType::Struct(_) => {
                    let entries = list.values().as_struct();
                    let (Some(index), Some(value)) = (entries.column_by_name("index"), entries.column_by_name("value"))
                    else {
                        return usage_error(format!(
                            "{what} is {}: sparse entries are {{index, value}}",
                            column.data_type()
                        ));
                    };
                    Some((starts, Some(Arc::clone(index)), Arc::clone(value)))
                }
                item if item.is_numeric() || *item == DataType::Null => Some((starts, None, Arc::clone(list.values()))),
                _ => return wrong(what, column.data_type()),
            }
        }
        other => return wrong(what, other),
    };
    let mut rows = FeatureRows { offsets: vec![0], ..FeatureRows::default() };
    let Some((starts, index, value)) = entries else {
        (0..column.len()).for_each(|_| rows.push(std::iter::empty()));
        return Ok((rows, vec![false; column.len()]));
    };
    let index = index.map(|index| cast(&index, &DataType::Int64)).transpose()?;
    let index = index.as_ref().map(|index| index.as_primitive::<Int64Type>());
    let value = cast(&value, &DataType::Float32)?;
    let value = value.as_primitive::<Float32Type>();
    let nulls = column.logical_nulls();
    let mut present = Vec::with_capacity(column.len());
    let mut entries: Vec<(u32, f32)> = Vec::new();
    for row in 0..column.len() {
        let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        present.push(valid);
        entries.clear();
        if valid {
            for (position, entry) in (starts[row]..starts[row + 1]).enumerate() {
                let number = value.value(entry);
                if value.is_null(entry) || !number.is_finite() {
                    return Err(execution_error(format!("{what}, row {row}: a feature is NULL, NaN or infinite")));
                }
                let at = match index {
                    None => position as i64,
                    Some(index) if index.is_valid(entry) => index.value(entry),
                    Some(_) => -1,
                };
                let Ok(at) = u32::try_from(at) else {
                    return Err(execution_error(format!(
                        "{what}, row {row}: the index of a feature is negative or NULL"
                    )));
                };
                entries.push((at, number));
            }
            if !entries.is_sorted_by_key(|entry| entry.0) {
                entries.sort_by_key(|entry| entry.0);
            }
            if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(execution_error(format!("{what}, row {row}: a feature comes twice")));
            }
        }
        rows.push(entries.iter().copied());
    }
    Ok((rows, present))
}

fn offsets(offsets: &[i32]) -> Vec<usize> {
    offsets.iter().map(|&offset| offset as usize).collect()
}

fn wrong<T>(what: &str, found: &DataType) -> Result<T> {
    let list = DataType::List(Arc::new(Field::new("item", DataType::Float32, true)));
    usage_error(format!("{what} is {found}: features are {list} (FLOAT[]) or MAP(INT, FLOAT)"))
}
