//! Arguments beside the facets: a dimension, and words that choose.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use bonnet_sql::{Column, OptionValue, Parameter, ParameterKind, execution_error};
use datafusion::common::Result;

/// A parameter that is a value per row of this type.
pub(super) fn value_parameter(name: &'static str, data_type: DataType, description: &'static str) -> Parameter {
    Parameter { kind: ParameterKind::Column(Column::Of(data_type)), ..Parameter::column(name, description) }
}

/// A string per row, with a default.
pub(super) fn word_parameter(name: &'static str, default: &str, description: &'static str) -> Parameter {
    value_parameter(name, DataType::Utf8, description).or(OptionValue::Text(default.to_owned()))
}

pub(super) fn dimension_parameter() -> Parameter {
    value_parameter("dim", DataType::Int64, "The dimension, from 0 on: 0 for vertices, 1 for edges.")
}

/// A row's whole number; `None` for NULL.
pub(super) fn whole_number(column: &ArrayRef, row: usize) -> Option<i64> {
    let column = column.as_primitive::<Int64Type>();
    column.is_valid(row).then(|| column.value(row))
}

/// The dimension that a row asks for; `None` for NULL.
pub(super) fn dimension(name: &str, column: &ArrayRef, row: usize) -> Result<Option<usize>> {
    let dimension = |number: i64| {
        usize::try_from(number)
            .map_err(|_| execution_error(format!("{name}: dim is {number}; dimensions count from 0")))
    };
    whole_number(column, row).map(dimension).transpose()
}

/// Which of some words a row has; `None` for NULL.
pub(super) fn word(function: &str, name: &str, words: &[&str], column: &ArrayRef, row: usize) -> Result<Option<usize>> {
    let column = column.as_string::<i32>();
    if column.is_null(row) {
        return Ok(None);
    }
    let found = column.value(row);
    words.iter().position(|word| *word == found).map(Some).ok_or_else(|| {
        execution_error(format!("{function}: {name} is '{found}', expected one of '{}'", words.join("', '")))
    })
}
