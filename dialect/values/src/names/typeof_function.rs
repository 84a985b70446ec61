//! `typeof(value)`: the name of a value's type.
//!
//! Upstream: none known
//! Shows: `SELECT typeof(1::int)` gives `INTEGER`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function, sql_type};
use datafusion::common::Result;

/// The registration of `typeof`.
pub(crate) fn type_of() -> Function {
    scalar_function("typeof", DataType::Utf8, names)
        .parameters([Parameter::column("value", "A value of any type.")])
        .returns("TEXT")
        .description(
            "The name of a value's type, as DESCRIBE gives it and a cast takes it: BIGINT, VARCHAR, DOUBLE[], STRUCT(a BIGINT). \
             arrow_typeof gives Arrow's name. Never NULL.",
        )
        .example("SELECT typeof(1), typeof([1.5])")
        .source("DuckDB, utility functions")
}

fn names(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let name = sql_type(columns[0].data_type());
    Ok(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(name, columns[0].len()))))
}
