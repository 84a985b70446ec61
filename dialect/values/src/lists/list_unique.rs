//! `list_unique(list)`: how many different values a list has.
//!
//! Upstream: none known
//! Shows: `SELECT list_unique([1, 1, 2])` gives `2`

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function, sql_type};
use datafusion::common::Result;

use crate::guards::canonical_values::canonical_floats;

/// The registration of `list_unique`.
pub(crate) fn list_unique() -> Function {
    scalar_function("list_unique", DataType::UInt64, numbers)
        .parameters([Parameter::column("list", "A list.")])
        .returns("UBIGINT")
        .description("The number of different values of a list; NULLs in it do not count. NULL for NULL.")
        .example("SELECT list_unique([1, 2, 2])")
        .source("DuckDB, list functions")
}

fn numbers(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let item = match columns[0].data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item.data_type(),
        DataType::Null => return Ok(Arc::new(UInt64Array::new_null(columns[0].len()))),
        other => return Err(execution_error(format!("list_unique: list is {}; it takes a list", sql_type(other)))),
    };
    let lists = cast(&columns[0], &DataType::new_list(item.clone(), true))?;
    let lists = lists.as_list::<i32>();
    let converter = RowConverter::new(vec![SortField::new(item.clone())])?;
    let counts = (0..lists.len()).map(|row| {
        if lists.is_null(row) {
            return Ok(None);
        }
        let items = canonical_floats(&lists.value(row));
        let rows = converter.convert_columns(&[Arc::clone(&items)])?;
        let nulls = items.logical_nulls();
        let known = (0..items.len()).filter(|&at| !nulls.as_ref().is_some_and(|nulls| nulls.is_null(at)));
        Ok(Some(known.map(|at| rows.row(at)).collect::<HashSet<_>>().len() as u64))
    });
    Ok(Arc::new(counts.collect::<Result<UInt64Array>>()?))
}
