//! Rows of two engines, and when they are the same.

use std::cmp::Ordering;

use arrow::array::AsArray;
use arrow::array::{Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// A value, without its type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    /// A whole or decimal number without needless zeros.
    Exact(String),
    Float(f64),
    Text(String),
}

pub(super) type Row = Vec<Value>;

/// Sums of floats in another order differ by so much of their size.
const TOLERANCE: f64 = 1e-9;

impl Value {
    pub(super) fn exact(text: &str) -> Self {
        let short = match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => text,
        };
        Self::Exact(if short == "-0" { "0" } else { short }.to_owned())
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Exact(text) => text.parse().ok(),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    fn is_like(&self, other: &Self, tolerance: f64) -> bool {
        match (self, other) {
            (Self::Float(_), _) | (_, Self::Float(_)) => match (self.number(), other.number()) {
                (Some(a), Some(b)) if a.is_finite() && b.is_finite() => {
                    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
                }
                (Some(a), Some(b)) => a == b || (a.is_nan() && b.is_nan()),
                _ => false,
            },
            _ => self == other,
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        let rank = |value: &Self| match value {
            Self::Null => 0,
            Self::Exact(_) | Self::Float(_) => 1,
            Self::Text(_) => 2,
        };
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => rank(self).cmp(&rank(other)),
            },
        }
    }
}

fn alike(a: &Row, b: &Row, tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_like(b, tolerance))
}

/// Whether two results hold the same rows, in whatever order.
pub(super) fn same(ours: &[Row], theirs: &[Row]) -> bool {
    same_within(ours, theirs, TOLERANCE)
}

/// As [`same`], floats and what is compared with them up to so much of their size.
pub(super) fn same_within(ours: &[Row], theirs: &[Row], tolerance: f64) -> bool {
    if ours.len() != theirs.len() {
        return false;
    }
    let sorted = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort_by(|a, b| a.iter().zip(b).map(|(a, b)| a.order(b)).find(|it| it.is_ne()).unwrap_or(Ordering::Equal));
        rows
    };
    let (ours, mut theirs) = (sorted(ours), sorted(theirs));
    if ours.iter().zip(&theirs).all(|(a, b)| alike(a, b, tolerance)) {
        return true;
    }
    // Floats that differ in their last digits may stand in another order.
    ours.iter().all(|row| match theirs.iter().position(|other| alike(row, other, tolerance)) {
        Some(place) => {
            theirs.swap_remove(place);
            true
        }
        None => false,
    })
}

/// The rows without those that differ from one before by rounding alone.
pub(super) fn rounded(rows: &[Row]) -> Vec<Row> {
    let mut rest: Vec<Row> = Vec::new();
    for row in rows {
        if !rest.iter().any(|other| row != other && alike(row, other, TOLERANCE)) {
            rest.push(row.clone());
        }
    }
    rest
}

/// The rows of our batches.
pub(super) fn of_batches(batches: &[RecordBatch]) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<Vec<Value>> = batch.columns().iter().map(|column| values(column.as_ref())).collect();
        rows.extend((0..batch.num_rows()).map(|row| columns.iter().map(|column| column[row].clone()).collect::<Row>()));
    }
    rows
}

fn values(column: &dyn Array) -> Vec<Value> {
    let kind = column.data_type();
    if kind.is_floating() {
        let floats = cast(column, &DataType::Float64).unwrap();
        return floats.as_primitive::<Float64Type>().iter().map(|it| it.map_or(Value::Null, Value::Float)).collect();
    }
    let options = FormatOptions::default().with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"));
    let formatter = ArrayFormatter::try_new(column, &options).unwrap();
    let value = |row| match column.is_null(row) || kind.is_null() {
        true => Value::Null,
        false if kind.is_numeric() => Value::exact(&formatter.value(row).to_string()),
        false => Value::Text(formatter.value(row).to_string()),
    };
    (0..column.len()).map(value).collect()
}

#[test]
fn rows_are_compared_as_a_multiset_and_floats_nearly() {
    let row = |text: &str, number: f64| vec![Value::Text(text.into()), Value::Float(number), Value::exact("1.50")];
    assert!(same(&[row("a", 1.0), row("b", 2.0)], &[row("b", 2.0 + 1e-12), row("a", 1.0)]));
    assert!(!same(&[row("a", 1.0), row("b", 2.0)], &[row("b", 2.001), row("a", 1.0)]));
    assert!(!same(&[row("a", 1.0), row("a", 1.0)], &[row("a", 1.0)]));
    assert!(!same(&[row("a", 1.0), row("a", 1.0)], &[row("a", 1.0), row("b", 1.0)]));
    assert_eq!(rounded(&[row("a", 1.0), row("a", 1.0), row("a", 1.0 + 1e-12), row("b", 1.0)]).len(), 3);
    assert_eq!(Value::exact("-0.00"), Value::exact("0"));
    assert!(Value::exact("3").is_like(&Value::Float(3.0), 0.0) && !Value::Null.is_like(&Value::Float(0.0), 1.0));
}
