//! Casts of timestamps and times to text, as DuckDB and PostgreSQL write them: `2024-01-31 10:00:00.5`, `...+00` with a zone.
//! DataFusion 55 writes `2024-01-31T10:00:00.500Z`.
//!
//! Upstream: none known
//! Shows: `SELECT CAST(TIMESTAMP '2024-01-31 10:00:00.5' AS VARCHAR)` gives `2024-01-31 10:00:00.5`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, LargeStringArray, LargeStringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarUDF};

use crate::same_type_function::{Kernel, by_column};
use crate::strings::concatenation::is_text;

/// The function, which plans refer to by name.
pub(crate) fn function() -> ScalarUDF {
    TimeText.function()
}

/// The text of a time that is cast to this type; `None` for other values and types.
pub(crate) fn text(value: &Expr, from: &DataType, to: &DataType) -> Option<Expr> {
    (is_time(from) && is_text(to)).then(|| function().call(vec![value.clone()]))
}

/// The texts of values that are not nested.
pub(crate) fn texts(values: &ArrayRef) -> Result<LargeStringArray> {
    let plain = cast(values, &DataType::LargeUtf8)?;
    let plain = plain.as_string::<i64>();
    if !is_time(values.data_type()) {
        return Ok(plain.clone());
    }
    let mut texts = LargeStringBuilder::with_capacity(plain.len(), plain.value_data().len());
    let mut text = String::new();
    for written in plain {
        text.clear();
        texts.append_option(written.map(|written| {
            rewrite(written, &mut text);
            text.as_str()
        }));
    }
    Ok(texts.finish())
}

fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_))
}

/// The function's kernel.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TimeText;

impl Kernel for TimeText {
    fn name(&self) -> &str {
        "text_of_time"
    }

    fn column_name(arg: &Expr) -> String {
        arg.schema_name().to_string()
    }

    fn field(&self, arg: &FieldRef) -> FieldRef {
        Arc::new(Field::new(self.name(), DataType::LargeUtf8, arg.is_nullable()))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn evaluate(&self, arg: &ColumnarValue, _: usize) -> Result<ColumnarValue> {
        by_column(arg, |values| Ok(Arc::new(texts(values)?)))
    }
}

/// Writes the time of `2024-01-31T10:00:00.500+09:00` or `10:00:00.500`: no zeros at the end of a fraction, nor of a zone.
fn rewrite(written: &str, out: &mut String) {
    // Most have neither a fraction nor a zone.
    if let Some((day, time)) = written.split_at_checked("2024-01-31".len())
        && time.len() == "T10:00:00".len()
        && time.starts_with('T')
    {
        out.extend([day, " ", &time[1..]]);
        return;
    }
    let time = match written.split_once('T') {
        Some((day, time)) => {
            out.extend([day, " "]);
            time
        }
        None => written,
    };
    let (clock, zone) = time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()));
    out.push_str(match clock.contains('.') {
        true => clock.trim_end_matches('0').trim_end_matches('.'),
        false => clock,
    });
    out.push_str(if zone == "Z" { "+00" } else { zone.strip_suffix(":00").unwrap_or(zone) });
}

#[cfg(test)]
mod tests {
    use super::*;

    // As DuckDB 2.0 and PostgreSQL write them.
    #[test]
    fn times_are_written_with_a_space_and_without_zeros_at_the_end() {
        for (written, expected) in [
            ("2024-01-31T10:00:00", "2024-01-31 10:00:00"),
            ("2024-01-31T10:00:00.500", "2024-01-31 10:00:00.5"),
            ("2024-01-31T10:00:00.123456789", "2024-01-31 10:00:00.123456789"),
            ("2024-01-31T10:00:00.010Z", "2024-01-31 10:00:00.01+00"),
            ("2024-01-31T10:00:00+05:30", "2024-01-31 10:00:00+05:30"),
            ("2024-01-31T10:00:00-09:00", "2024-01-31 10:00:00-09"),
            ("10:00:00", "10:00:00"),
            ("10:20:30.250", "10:20:30.25"),
        ] {
            let mut text = String::new();
            rewrite(written, &mut text);
            assert_eq!(text, expected);
        }
    }
}
