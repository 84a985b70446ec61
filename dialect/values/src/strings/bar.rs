//! `bar(x, min, max [, width])`: a number as a bar of block characters.
//!
//! Upstream: none known
//! Shows: `SELECT rtrim(bar(5, 0, 10, 4))` gives `██`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function};
use datafusion::common::Result;

/// The characters of a full bar, if the argument is left out.
const WIDTH: f64 = 80.0;

/// The most characters of a full bar.
const WIDEST: f64 = 1000.0;

/// Blocks of one eighth to seven eighths.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// The registration of `bar`.
pub(crate) fn bar() -> Function {
    scalar_function("bar", DataType::Utf8, bars)
        .parameters([
            Parameter::number_column("x", "The number."),
            Parameter::number_column("min", "The number of an empty bar; what is below has one, too."),
            Parameter::number_column("max", "The number of a full bar; what is above has one, too."),
            Parameter::number_column("width", "The characters of a full bar, from 1 to 1000; 80 if left out.").optional(),
        ])
        .returns("TEXT")
        .description(
            "A number as a bar of block characters, exact to an eighth of a character and filled with spaces to its width, as \
             DuckDB draws it. NULL for NULL, an empty bar for NaN.",
        )
        .example("SELECT bar(5, 0, 20, 10)")
        .source("DuckDB, text functions")
}

/// The bars of rows.
fn bars(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let columns: Vec<ArrayRef> =
        columns.iter().map(|column| cast(column, &DataType::Float64)).collect::<Result<_, _>>()?;
    let [values, least, most, widths] = [0, 1, 2, 3].map(|i| columns[i].as_primitive::<Float64Type>());
    let mut bars = StringBuilder::new();
    let mut text = String::new();
    for row in 0..values.len() {
        if values.is_null(row) || least.is_null(row) || most.is_null(row) {
            bars.append_null();
            continue;
        }
        let width = if widths.is_null(row) { WIDTH } else { widths.value(row) };
        if !(1.0..=WIDEST).contains(&width) {
            return Err(execution_error(format!("bar: width is {width}; give characters from 1 to {WIDEST}")));
        }
        text.clear();
        draw(&mut text, values.value(row), [least.value(row), most.value(row)], width as usize);
        bars.append_value(&text);
    }
    Ok(Arc::new(bars.finish()))
}

/// Appends a bar.
fn draw(to: &mut String, value: f64, [least, most]: [f64; 2], width: usize) {
    let share = if value.is_nan() || value <= least {
        0.0
    } else if value >= most {
        1.0
    } else {
        (value - least) / (most - least)
    };
    // A share that is NaN, where a limit is one, gives an empty bar.
    let eighths = (share * (8 * width) as f64) as usize;
    let (full, rest) = (eighths / 8, eighths % 8);
    to.extend(std::iter::repeat_n('█', full));
    if rest > 0 {
        to.push(EIGHTHS[rest - 1]);
    }
    to.extend(std::iter::repeat_n(' ', width - full - usize::from(rest > 0)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_those_of_duckdb() {
        for (value, limits, expected) in [
            (5.0, [0.0, 20.0], "██▌       "),
            (7.3, [0.0, 20.0], "███▋      "),
            (19.99, [0.0, 20.0], "█████████▉"),
            (0.1, [0.0, 20.0], "          "),
            (25.0, [0.0, 20.0], "██████████"),
            (-5.0, [0.0, 20.0], "          "),
            (f64::NAN, [0.0, 20.0], "          "),
            (f64::INFINITY, [0.0, 20.0], "██████████"),
            (5.0, [0.0, 0.0], "██████████"),
            (3.0, [3.0, 3.0], "          "),
            (5.0, [20.0, 0.0], "          "),
        ] {
            let mut text = String::new();
            draw(&mut text, value, limits, 10);
            assert_eq!(text, expected, "{value} in {limits:?}");
        }
    }
}
