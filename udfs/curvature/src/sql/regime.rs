//! `regime(mean, skewness [, mean_tolerance] [, skewness_tolerance])`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{Function, OptionValue, Parameter, execution_error, scalar_function};
use datafusion::common::Result;

use crate::{MEAN_TOLERANCE, SKEWNESS_TOLERANCE};

/// The registration.
pub fn regime() -> Function {
    scalar_function("regime", DataType::Utf8, regimes)
        .parameters([
            Parameter::number_column("mean", "The mean curvature of a graph."),
            Parameter::number_column("skewness", "The skewness of its curvature."),
            Parameter::number_column("mean_tolerance", "The largest mean, in size, that is near zero.")
                .or(OptionValue::Number(MEAN_TOLERANCE)),
            Parameter::number_column("skewness_tolerance", "The largest skewness, in size, that is near zero.")
                .or(OptionValue::Number(SKEWNESS_TOLERANCE)),
        ])
        .returns("TEXT")
        .description(
            "The curvature regime of a graph: 'near_zero' where both are within their tolerance, else 'positive' or \
             'negative' where the signs agree (a zero agrees with either), else 'mixed'. NULL for a NULL or NaN.",
        )
        .example("SELECT regime(-0.2, -1.5)")
        .source("CurvBench (arXiv 2606.06397), Sec. 3")
}

/// The regimes of rows.
fn regimes(columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
    let numbers = columns.iter().map(|column| cast(column, &DataType::Float64)).collect::<Result<Vec<_>, _>>()?;
    let numbers: Vec<_> = numbers.iter().map(|column| column.as_primitive::<Float64Type>()).collect();
    let regime = |row: usize| -> Result<Option<&str>> {
        if numbers.iter().any(|column| column.is_null(row)) {
            return Ok(None);
        }
        let [mean, skewness, mean_tolerance, skewness_tolerance] = [0, 1, 2, 3].map(|i| numbers[i].value(row));
        let regime = crate::regime(mean, skewness, mean_tolerance, skewness_tolerance);
        let regime = regime.map_err(|error| execution_error(format!("regime: {error}")))?;
        Ok(regime.map(|regime| regime.name()))
    };
    let regimes = (0..columns[0].len()).map(regime).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StringArray::from(regimes)))
}
