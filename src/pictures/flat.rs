//! Rows out of nested columns: what a list of structs holds (a diagram, a landscape) is drawn as rows.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, UInt64Array};
use arrow::compute::{nullif, take};
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;

/// The place of the first list of structs.
fn list(schema: &Schema) -> Option<(usize, &FieldRef)> {
    schema.fields().iter().enumerate().find_map(|(place, field)| match field.data_type() {
        DataType::List(item) if matches!(item.data_type(), DataType::Struct(_)) => Some((place, item)),
        _ => None,
    })
}

/// The columns of [`flat`].
pub(super) fn schema(schema: &SchemaRef) -> SchemaRef {
    let mut fields = Vec::new();
    let list = list(schema);
    for (place, field) in schema.fields().iter().enumerate() {
        let data_type = match list {
            Some((at, item)) if at == place => item.data_type(),
            _ => field.data_type(),
        };
        match data_type {
            DataType::Struct(parts) => fields.extend(parts.iter().map(nullable)),
            _ => fields.push(nullable(field)),
        }
    }
    Arc::new(Schema::new(fields))
}

fn nullable(field: &FieldRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_nullable(true))
}

/// The batch with a row for each struct in its first list of structs, and a column for each part of a struct.
pub(super) fn flat(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let before = batch.schema();
    let mut columns = batch.columns().to_vec();
    if let Some((place, _)) = list(&before) {
        let lists = columns[place].as_list::<i32>().clone();
        let (mut rows, mut items) = (Vec::new(), Vec::new());
        for row in (0..lists.len()).filter(|&row| lists.is_valid(row)) {
            let (start, end) = (lists.value_offsets()[row], lists.value_offsets()[row + 1]);
            rows.extend((start..end).map(|_| row as u64));
            items.extend((start..end).map(|item| item as u64));
        }
        let (rows, items) = (UInt64Array::from(rows), UInt64Array::from(items));
        for (at, column) in columns.iter_mut().enumerate() {
            *column = if at == place { take(lists.values(), &items, None)? } else { take(column, &rows, None)? };
        }
    }
    let mut flat: Vec<ArrayRef> = Vec::new();
    for column in &columns {
        match column.as_struct_opt() {
            // A part of a struct that is NULL is NULL.
            Some(parts) => {
                flat.extend(parts.columns().iter().map(|part| masked(part, parts)).collect::<Result<Vec<_>, _>>()?)
            }
            None => flat.push(Arc::clone(column)),
        }
    }
    RecordBatch::try_new(schema(&before), flat)
}

fn masked(part: &ArrayRef, parent: &dyn Array) -> Result<ArrayRef, ArrowError> {
    match parent.nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            let missing = BooleanArray::new(!nulls.inner(), None);
            nullif(part, &missing)
        }
        _ => Ok(Arc::clone(part)),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Float64Array, Int64Array, ListArray, StructArray};
    use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
    use arrow::datatypes::Field;

    use super::*;

    #[test]
    fn each_struct_of_a_list_is_a_row() {
        let birth: ArrayRef = Arc::new(Float64Array::from(vec![0.0, 1.0, 2.0]));
        let parts = StructArray::from(vec![(Arc::new(Field::new("birth", DataType::Float64, true)), birth)]);
        let item = Arc::new(Field::new("item", parts.data_type().clone(), true));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 2, 2, 3]));
        let nulls = NullBuffer::from(vec![true, false, true]);
        let lists = ListArray::new(item, offsets, Arc::new(parts), Some(nulls));
        let batch = RecordBatch::try_from_iter([
            ("id", Arc::new(Int64Array::from(vec![7, 8, 9])) as ArrayRef),
            ("diagram", Arc::new(lists) as ArrayRef),
        ])
        .unwrap();
        let flat = flat(&batch).unwrap();
        let expected = RecordBatch::try_from_iter_with_nullable([
            ("id", Arc::new(Int64Array::from(vec![7, 7, 9])) as ArrayRef, true),
            ("birth", Arc::new(Float64Array::from(vec![0.0, 1.0, 2.0])) as ArrayRef, true),
        ])
        .unwrap();
        assert_eq!(flat, expected);
    }
}
