//! `sparkline(values)`: a list of numbers as a line of block characters.
//!
//! Upstream: none known
//! Shows: `SELECT sparkline([1, 2, 3])` gives `▁▅█`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, Parameter, execution_error, scalar_function};
use datafusion::common::Result;

/// The characters from the least value to the greatest.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The registration of `sparkline`.
pub(crate) fn sparkline() -> Function {
    scalar_function("sparkline", DataType::Utf8, sparklines)
        .parameters([Parameter::column("values", "A list of numbers, such as array_agg(y ORDER BY x).")])
        .returns("TEXT")
        .description(
            "A list of numbers as a line of block characters, one a number, in eight levels from the least of the list to the \
             most; numbers that are all the same stand lowest. A space stands for NULL, NaN and infinities. NULL for NULL.",
        )
        .example("SELECT sparkline([1, 2, 4, 8, 4, 2, 1])")
        .source("Tufte 2006, Beautiful evidence")
}

/// The lines of block characters of lists.
fn sparklines(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    use DataType::{FixedSizeList, LargeList, List, Null};
    let given = columns[0].data_type();
    let has_numbers = match given {
        List(item) | LargeList(item) | FixedSizeList(item, _) => {
            item.data_type().is_numeric() || *item.data_type() == Null
        }
        other => *other == Null,
    };
    if !has_numbers {
        return Err(execution_error(format!("sparkline: values is {given}; give a list of numbers")));
    }
    let item = Arc::new(Field::new_list_field(DataType::Float64, true));
    let lists = cast(&columns[0], &List(item))?;
    let lists = lists.as_list::<i32>();
    let mut lines = StringBuilder::new();
    for row in 0..lists.len() {
        if lists.is_null(row) {
            lines.append_null();
            continue;
        }
        lines.append_value(line(lists.value(row).as_primitive::<Float64Type>()));
    }
    Ok(Arc::new(lines.finish()))
}

/// The line of block characters of a list.
fn line(values: &PrimitiveArray<Float64Type>) -> String {
    let finite = || values.iter().flatten().filter(|value| value.is_finite());
    let (least, most) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    // Half of each, since the difference of the greatest doubles overflows.
    let range = most / 2.0 - least / 2.0;
    let level = |value: f64| match range {
        0.0 => 0,
        _ => (((value / 2.0 - least / 2.0) / range * LEVELS.len() as f64) as usize).min(LEVELS.len() - 1),
    };
    values
        .iter()
        .map(|value| value.filter(|value| value.is_finite()).map_or(' ', |value| LEVELS[level(value)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_divide_the_range_evenly() {
        let drawn = |values: &[Option<f64>]| line(&values.iter().copied().collect());
        let steps: Vec<Option<f64>> = (0..8).map(|i| Some(f64::from(i))).collect();
        assert_eq!(drawn(&steps), "▁▂▃▄▅▆▇█");
        assert_eq!(drawn(&[Some(-1.0), None, Some(f64::NAN), Some(1.0), Some(0.0)]), "▁  █▅");
        assert_eq!(drawn(&[Some(3.0), Some(3.0)]), "▁▁");
        assert_eq!(drawn(&[Some(f64::MIN), Some(f64::MAX)]), "▁█");
        assert_eq!(drawn(&[None]), " ");
        assert_eq!(drawn(&[]), "");
    }
}
