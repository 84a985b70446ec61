//! `unicode(text)`: the code point of a text's first character.
//!
//! Upstream: none known
//! Shows: `SELECT unicode('a')` gives `97`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int32Array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, scalar_function};
use datafusion::common::Result;

/// The registration of `unicode`.
pub(crate) fn unicode() -> Function {
    scalar_function("unicode", DataType::Int32, code_points)
        .parameters([Parameter::column("text", "A text.")])
        .returns("INTEGER")
        .description("The code point of a text's first character, -1 of the empty text; also ord. NULL for NULL.")
        .example("SELECT unicode('ä')")
        .source("DuckDB, text functions")
}

fn code_points(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let texts = cast(&columns[0], &DataType::Utf8)?;
    let first = |text: &str| text.chars().next().map_or(-1, |c| c as i32);
    Ok(Arc::new(texts.as_string::<i32>().iter().map(|text| text.map(first)).collect::<Int32Array>()))
}
