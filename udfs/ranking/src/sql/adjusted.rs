//! `holm(p_values)` and `benjamini_hochberg(p_values)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Builder, ListBuilder};
use arrow::datatypes::{DataType, Field, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Column, Function, Parameter, ParameterKind, kernel_error, scalar_function, stopped};
use datafusion::common::Result;

use crate::NoProbability;

/// The registration.
pub fn holm() -> Function {
    adjusted("holm", crate::holm)
        .description(
            "p-values adjusted by Holm's method for as many tests as the list has: one that is at most alpha is significant, while the \
             chance of any false rejection is at most alpha. The answer is a list in the order of the list, and the list is the set of \
             tests: array_agg makes it, GROUP BY says which tests belong together, and unnest of both lists side by side puts values and \
             adjusted ones in rows. A NULL stays NULL and is no test; a number that is not from 0 to 1 is an error. In ascending order the \
             i-th of m is the largest of (m - j + 1) p_j for j up to i, at most 1. O(m log m).",
        )
        .example("SELECT holm([0.01, 0.04, 0.03]) AS adjusted")
        .source("Holm, A Simple Sequentially Rejective Multiple Test Procedure (1979)")
}

/// The registration.
pub fn benjamini_hochberg() -> Function {
    adjusted("benjamini_hochberg", crate::benjamini_hochberg)
        .description(
            "p-values adjusted by Benjamini and Hochberg's method for as many tests as the list has: of those at most q, a share of q at \
             most is false, as expected over independent or positively dependent tests. Lists and NULLs as in holm; a number that is not \
             from 0 to 1 is an error. In ascending order the i-th of m is the least of m p_j / j for j from i on. O(m log m).",
        )
        .example("SELECT benjamini_hochberg([0.01, 0.04, 0.03]) AS adjusted")
        .source("Benjamini and Hochberg, Controlling the False Discovery Rate (1995)")
}

fn list() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Float64, true)))
}

/// Of a list of numbers, the list of what the kernel makes of those that are there, in their places.
fn adjusted(name: &'static str, kernel: fn(&[f64]) -> Result<Vec<f64>, NoProbability>) -> Function {
    let mut p_values =
        Parameter::number_column("p_values", "The p-values of the tests: a list of numbers from 0 to 1.");
    p_values.kind = ParameterKind::Column(Column::Of(list()));
    scalar_function(name, list(), move |columns: &[ArrayRef], monitor: &dyn Monitor| {
        let lists = columns[0].as_list::<i32>();
        let mut answers = ListBuilder::new(Float64Builder::new());
        for row in 0..lists.len() {
            if lists.is_null(row) {
                answers.append_null();
                continue;
            }
            monitor.check().map_err(stopped)?;
            let values = lists.value(row);
            let values = values.as_primitive::<Float64Type>();
            let there: Vec<f64> = values.iter().flatten().collect();
            let mut found = kernel(&there).map_err(|error| kernel_error(name, error))?.into_iter();
            values.iter().for_each(|value| answers.values().append_option(value.and_then(|_| found.next())));
            answers.append(true);
        }
        Ok(Arc::new(answers.finish()))
    })
    .parameters([p_values])
    .returns("LIST of DOUBLE")
}
