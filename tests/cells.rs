//! Types and values of an answer as the scripts of `tests/slt` write them.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use sqllogictest::ColumnType;

/// Digits of a number behind its point.
const DIGITS: usize = 12;

/// The letter of a column in the line `query`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Letter(char);

impl ColumnType for Letter {
    fn from_char(letter: char) -> Option<Self> {
        "BDIPRT?".contains(letter).then_some(Self(letter))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

/// The letters of an answer's columns.
pub(crate) fn letters(schema: &Schema) -> Vec<Letter> {
    schema.fields().iter().map(|field| Letter(letter(field.data_type()))).collect()
}

fn letter(kind: &DataType) -> char {
    match kind {
        DataType::Boolean => 'B',
        kind if kind.is_integer() => 'I',
        kind if kind.is_numeric() => 'R',
        kind if kind.is_string() => 'T',
        DataType::Date32 | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) => 'D',
        DataType::Timestamp(..) => 'P',
        DataType::Dictionary(_, values) if values.is_string() => 'T',
        _ => '?',
    }
}

/// The rows of a batch, a line for each; where the last column has lines of its own (a plan), each of them is a row.
pub(crate) fn rows(batch: &RecordBatch) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for row in 0..batch.num_rows() {
        let cells: Vec<String> = batch.columns().iter().map(|column| cell(column, row)).collect();
        match cells.split_last() {
            Some((last, others)) if last.contains('\n') => {
                rows.push(others.to_vec());
                rows.extend(last.lines().enumerate().map(|(i, line)| {
                    // Blanks at the start of a line count for nothing in a script.
                    let text = line.trim_start();
                    vec![format!("{:02}){}{text}", i + 1, "-".repeat(line.len() - text.len()))]
                }));
            }
            _ => rows.push(cells),
        }
    }
    rows
}

fn cell(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return "NULL".to_owned();
    }
    match column.data_type() {
        DataType::Float32 => number(&column.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => number(&column.as_primitive::<Float64Type>().value(row)),
        kind => {
            let format = FormatOptions::default().with_null("NULL");
            let text =
                ArrayFormatter::try_new(column, &format).expect("every type can be printed").value(row).to_string();
            match kind {
                kind if kind.is_decimal() => plain(&text),
                kind if kind.is_string() && text.is_empty() => "(empty)".to_owned(),
                kind if kind.is_string() => text.trim_end_matches('\n').replace('\0', "\\0"),
                _ => text,
            }
        }
    }
}

/// A number without an exponent, to twelve digits behind its point.
fn number(value: &(impl Into<f64> + Copy + ToString + std::fmt::Display)) -> String {
    match (*value).into() {
        value if value.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => {
            let text = value.to_string();
            let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
            plain(&if digits > DIGITS { format!("{value:.DIGITS$}") } else { text })
        }
    }
}

/// Without zeros at the end, and without the sign of zero.
fn plain(number: &str) -> String {
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    if number == "-0" { "0".to_owned() } else { number.to_owned() }
}

#[test]
fn numbers_have_no_exponent_and_no_more_than_twelve_digits() {
    let cases =
        [(0.1, "0.1"), (-0.0, "0"), (1e-13, "0"), (2.0 / 3.0, "0.666666666667"), (1e20, "100000000000000000000")];
    for (value, text) in cases {
        assert_eq!(number(&value), text);
    }
    assert_eq!(plain("110.50"), "110.5");
    assert_eq!(plain("110"), "110");
}
