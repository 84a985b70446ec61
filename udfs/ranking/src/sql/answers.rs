//! Structs that tests answer, a group each.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, StructArray};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{GroupedRows, Parameter, kernel_error, without_nan};
use datafusion::common::Result;

use crate::PairedError;

/// A column of a test's answer: its name, and how it is read from one.
pub enum Answer<T> {
    Number(&'static str, fn(&T) -> Option<f64>),
    Count(&'static str, fn(&T) -> usize),
    Flag(&'static str, fn(&T) -> bool),
}

impl<T> Answer<T> {
    fn field(&self) -> Field {
        match self {
            Self::Number(name, _) => Field::new(*name, DataType::Float64, true),
            Self::Count(name, _) => Field::new(*name, DataType::Int64, true),
            Self::Flag(name, _) => Field::new(*name, DataType::Boolean, true),
        }
    }

    fn column(&self, answers: &[Option<T>]) -> ArrayRef {
        let answers = answers.iter().map(Option::as_ref);
        match self {
            Self::Number(_, read) => Arc::new(answers.map(|answer| read(answer?)).collect::<Float64Array>()),
            Self::Count(_, read) => Arc::new(answers.map(|answer| Some(read(answer?) as i64)).collect::<Int64Array>()),
            Self::Flag(_, read) => Arc::new(answers.map(|answer| Some(read(answer?))).collect::<BooleanArray>()),
        }
    }
}

/// The fields of a struct.
pub fn fields<T>(columns: &[Answer<T>]) -> Fields {
    columns.iter().map(Answer::field).collect()
}

/// A struct for each answer; NULL where there is none.
pub fn structs<T>(columns: &[Answer<T>], answers: &[Option<T>]) -> Result<ArrayRef> {
    let there = NullBuffer::from_iter(answers.iter().map(Option::is_some));
    let values = columns.iter().map(|column| column.column(answers)).collect();
    Ok(Arc::new(StructArray::try_new(fields(columns), values, Some(there))?))
}

/// The parameters of a test of paired values.
pub const PAIRS: [(&str, &str); 2] = [
    ("a", "The first value of a pair: a score of one model."),
    ("b", "The second: the other model's in the same run."),
];

/// Those parameters.
pub fn pair_parameters() -> [Parameter; 2] {
    PAIRS.map(|(name, text)| Parameter::number_column(name, text))
}

/// The answer of a test for each group of pairs (a, b), without those with a NaN; `None` for a group without rows.
pub fn of_pairs<T: Send>(
    name: &'static str,
    groups: &GroupedRows,
    monitor: &dyn Monitor,
    test: impl Fn(&[f64], &[f64], &dyn Monitor) -> Result<T, PairedError> + Send + Sync,
) -> Result<Vec<Option<T>>> {
    let columns = groups.columns().iter().map(|column| cast(column, &DataType::Float64));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let [a, b] = [0, 1].map(|i| &columns[i].as_primitive::<Float64Type>().values()[..]);
    groups.map(|group| {
        if group.is_empty() {
            return Ok(None);
        }
        let pairs = [&a[group.clone()], &b[group]];
        let found = without_nan(pairs, monitor, |[a, b], monitor| test(a, b, monitor));
        found.map(Some).map_err(|error| kernel_error(name, error))
    })
}
