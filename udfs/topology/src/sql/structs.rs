//! Columns of lists of structs of whole numbers.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StructArray};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::Result;

use super::column::{Lists, list_of};

/// `STRUCT(... BIGINT)[]`, of these fields.
pub(super) fn struct_type<const N: usize>(names: [&str; N]) -> DataType {
    list_of(DataType::Struct(fields(names)))
}

fn fields<const N: usize>(names: [&str; N]) -> Fields {
    names.iter().map(|name| Field::new(*name, DataType::Int64, true)).collect()
}

/// The column of all blocks' rows, with these fields.
pub(super) fn structs<const N: usize>(blocks: &[Lists<[i64; N]>], names: [&str; N], name: &str) -> Result<ArrayRef> {
    let field = |i: usize| blocks.iter().flat_map(move |rows| rows.values.iter().map(move |row| row[i]));
    let columns = (0..N).map(|i| Arc::new(Int64Array::from_iter_values(field(i))) as ArrayRef).collect();
    let items = StructArray::try_new(fields(names), columns, None)?;
    Lists::array(blocks, name, || Arc::new(items))
}
