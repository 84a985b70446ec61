//! `auc(score, label)` and `average_precision(score, label)`: how well scores tell positive from negative rows.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Monitor, Reservation, Stopped};
use bonnet_sql::{Function, GroupedRows, Parameter, execution_error, rows_function, stopped, usage_error};
use datafusion::common::Result;

fn function(name: &'static str, figure: Figure) -> Function {
    rows_function(name, DataType::Float64, move |_| {
        Ok(Box::new(move |groups, monitor| figures(name, figure, groups, monitor)))
    })
    .parameters([
        Parameter::number_column("score", "What the rows are ranked by: larger for what is held to be positive."),
        Parameter::column("label", "Whether the row is positive: true or false, or 1 or 0."),
    ])
    .returns("DOUBLE")
}

/// The registration of `auc`.
pub fn auc() -> Function {
    function("auc", crate::auc)
        .description(
            "The area under the ROC curve: the probability that a positive row scores above a negative one, ties counting \
             half. In [0, 1]. A row with a NULL, or with the score NaN, does not count; NULL without positive or without \
             negative rows. For several classes, auc(score, label = class) by class and then avg is the macro average of \
             one against the rest.",
        )
        .example("SELECT auc(score, label) FROM (VALUES (0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1)) t(score, label)")
        .source("Hanley and McNeil, The meaning and use of the area under a ROC curve (1982)")
}

/// The registration of `average_precision`.
pub fn average_precision() -> Function {
    function("average_precision", crate::average_precision)
        .description(
            "The average precision: the sum over the distinct scores, falling, of the gain in recall times the precision \
             of the rows that score at least as much. In (0, 1]. A row with a NULL, or with the score NaN, does not \
             count; NULL without positive rows.",
        )
        .example(
            "SELECT average_precision(score, label) \
             FROM (VALUES (0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1)) t(score, label)",
        )
        .source("Manning, Raghavan and Schuetze, Introduction to Information Retrieval (2008), Sec. 8.4, without interpolation")
}

/// A kernel of scores and labels.
type Figure = fn(&[f64], &[bool], &dyn Monitor) -> std::result::Result<Option<f64>, Stopped>;

/// A figure a group.
fn figures(name: &str, figure: Figure, groups: &GroupedRows, monitor: &dyn Monitor) -> Result<ArrayRef> {
    let rows = groups.columns()[0].len();
    let _reservation = Reservation::new(monitor, rows).map_err(stopped)?;
    let scores = cast(&groups.columns()[0], &DataType::Float64)?;
    let scores = scores.as_primitive::<Float64Type>().values();
    let positive = labels(name, &groups.columns()[1])?;
    let value = |group: Range<usize>| {
        let (scores, positive) = (&scores[group.clone()], &positive[group]);
        if !scores.iter().any(|score| score.is_nan()) {
            return figure(scores, positive, monitor).map_err(stopped);
        }
        let _reservation = Reservation::new(monitor, 9 * scores.len()).map_err(stopped)?;
        let complete = scores.iter().zip(positive).filter(|(score, _)| !score.is_nan());
        let (scores, positive): (Vec<f64>, Vec<bool>) = complete.unzip();
        figure(&scores, &positive, monitor).map_err(stopped)
    };
    Ok(Arc::new(Float64Array::from(groups.map(value)?)))
}

/// Which rows are positive.
fn labels(name: &str, column: &ArrayRef) -> Result<Vec<bool>> {
    let data_type = column.data_type();
    if *data_type == DataType::Boolean {
        return Ok(column.as_boolean().values().iter().collect());
    }
    if !data_type.is_numeric() && *data_type != DataType::Null {
        return usage_error(format!(
            "{name}: label is {data_type}, expected true or false, or 1 or 0: compare it, as in {name}(score, label = 'cat')"
        ));
    }
    let column = cast(column, &DataType::Float64)?;
    let positive = |&label: &f64| match label {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ => Err(execution_error(format!(
            "{name}: a label is {label}, expected true or false, or 1 or 0: compare it, as in {name}(score, label = {label})"
        ))),
    };
    column.as_primitive::<Float64Type>().values().iter().map(positive).collect()
}
