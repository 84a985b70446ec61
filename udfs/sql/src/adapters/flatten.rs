//! `flatten(relation, column)`: a row for each element of a list.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, RecordBatch, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::Result;

use crate::error::usage_error;
use crate::registry::body::Body;
use crate::registry::operator::{Binding, Call};
use crate::registry::{Function, Parameter};
use crate::runs::run::Run;

/// The registration of `flatten`.
pub fn flatten() -> Function {
    Function::new("flatten", Body::Relation(Arc::new(bind)))
        .parameters([
            Parameter::relation("relation", "Any relation."),
            Parameter::name("column", "The column of it that holds lists."),
        ])
        .returns("the other columns, position, and the struct's fields; or the element under the column's name")
        .description(
            "One row for each element of a list. The other columns are repeated, position counts from 1, and the fields \
             of a struct become columns under their own names; an element that is no struct keeps the column's name. A \
             NULL or empty list gives no row.",
        )
        .example("SELECT * FROM flatten((SELECT 'a' AS name, [3, 5] AS x), x)")
}

/// The fields that an element becomes.
fn element_fields(column: &str, element: &DataType) -> Vec<Field> {
    match element {
        DataType::Struct(fields) => fields.iter().map(|field| field.as_ref().clone().with_nullable(true)).collect(),
        other => vec![Field::new(column, other.clone(), true)],
    }
}

fn element_type(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

fn bind(call: &Call) -> Result<Binding> {
    let input = &call.inputs[0];
    let name = call.options.text("column")?.unwrap_or_default().to_owned();
    let names = || input.schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ");
    let Ok(field) = input.schema.field_with_name(&name) else {
        return usage_error(format!("flatten: the relation has no column {name}; it has: {}", names()));
    };
    let Some(element) = element_type(field.data_type()) else {
        return usage_error(format!("flatten: {name} is {}, not a list", field.data_type()));
    };
    let mut fields: Vec<Field> = input
        .schema
        .fields()
        .iter()
        .filter(|field| *field.name() != name)
        .map(|field| field.as_ref().clone())
        .collect();
    let position = Field::new("position", DataType::Int64, true);
    for field in std::iter::once(position).chain(element_fields(&name, element)) {
        if fields.iter().any(|other| other.name() == field.name()) {
            return usage_error(format!(
                "flatten: the column {} would stand twice in the answer; rename it: \
                 flatten((SELECT {} AS other, {name} FROM ...), {name})",
                field.name(),
                field.name()
            ));
        }
        fields.push(field);
    }
    // All columns of the input are repeated: they are all read, unless the plan above drops them.
    let reads = input.schema.fields().iter().map(|field| field.name().clone()).collect();
    Ok(Binding::new(Arc::new(Schema::new(fields)), vec![reads], move |run| flatten_rows(&name, run)))
}

/// Emits a row for each element of the lists of a column.
fn flatten_rows(name: &str, run: &mut Run) -> Result<()> {
    while let Some(batch) = run.next(0)? {
        let index = batch.schema().index_of(name)?;
        let lists = as_list(batch.column(index))?;
        let mut rows: Vec<u32> = Vec::new();
        let mut positions: Vec<i64> = Vec::new();
        let mut elements: Vec<u32> = Vec::new();
        for row in 0..lists.len() {
            if lists.is_null(row) {
                continue;
            }
            let start = lists.value_offsets()[row];
            for position in 0..lists.value_length(row) {
                rows.push(row as u32);
                positions.push(i64::from(position) + 1);
                elements.push((start + position) as u32);
            }
        }
        if rows.is_empty() {
            continue;
        }
        let rows = UInt32Array::from(rows);
        let elements = take(lists.values(), &UInt32Array::from(elements), None)?;
        let mut columns: Vec<ArrayRef> = Vec::new();
        for (i, column) in batch.columns().iter().enumerate() {
            if i != index {
                columns.push(take(column, &rows, None)?);
            }
        }
        columns.push(Arc::new(Int64Array::from(positions)));
        match elements.as_struct_opt() {
            // A NULL struct has NULL fields.
            Some(structs) => columns.extend(structs.columns().iter().map(|field| match structs.nulls() {
                None => Arc::clone(field),
                Some(nulls) => {
                    let nulls = arrow::array::BooleanArray::new(!nulls.inner(), None);
                    arrow::compute::nullif(field, &nulls).unwrap_or_else(|_| Arc::clone(field))
                }
            })),
            None => columns.push(elements),
        }
        run.emit(RecordBatch::try_new(Arc::clone(&run.schema), columns)?)?;
    }
    Ok(())
}

fn as_list(column: &ArrayRef) -> Result<ListArray> {
    let element = element_type(column.data_type()).cloned().unwrap_or(DataType::Null);
    let list = cast(column, &DataType::List(Arc::new(Field::new("item", element, true))))?;
    Ok(list.as_list::<i32>().clone())
}
