//! What sorts graphs into strata: `skewness` and its kin, `regime`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Function, OptionValue, Options, Parameter, ScalarFunction, execution_error,
};
use datafusion::common::{Result, ScalarValue};

use crate::{MEAN_TOLERANCE, Moments, SKEWNESS_TOLERANCE};

/// The registration of `regime`.
pub fn regime() -> Function {
    Function::new("regime", Body::Scalar(Arc::new(RegimeOf)))
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

#[derive(Debug)]
struct RegimeOf;

impl ScalarFunction for RegimeOf {
    fn data_type(&self) -> DataType {
        DataType::Utf8
    }

    fn evaluate(&self, columns: &[ArrayRef], _: &dyn Monitor) -> Result<ArrayRef> {
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
}

/// The registrations of `skewness`, `skewness_sample` and `skewness_adjusted`.
pub fn skewnesses() -> Vec<Function> {
    let skewness = |name, statistic| {
        Function::new(name, Body::Aggregate(Arc::new(Skewness(statistic))))
            .parameters([Parameter::number_column("x", "The values; NULLs do not count.")])
            .returns("DOUBLE")
    };
    vec![
        skewness("skewness", Moments::skewness_population)
            .description("The population skewness m3 / m2^1.5; 0 where the deviation is 0, NULL for no values.")
            .example("SELECT skewness(x) FROM (VALUES (1), (2), (4)) t(x)")
            .source("CurvBench (arXiv 2606.06397), Eq. 5"),
        skewness("skewness_sample", Moments::skewness_sample)
            .description(
                "The skewness m3 / s^3 with the n - 1 deviation, as the paper's tables print it; 0 where the deviation is \
                 0, NULL for fewer than two values.",
            )
            .example("SELECT skewness_sample(x) FROM (VALUES (1), (2), (4)) t(x)")
            .source("CurvBench (arXiv 2606.06397), Table 1"),
        skewness("skewness_adjusted", Moments::skewness_adjusted)
            .description("The bias-corrected skewness G1, as DuckDB and pandas give it; NULL for fewer than three values.")
            .example("SELECT skewness_adjusted(x) FROM (VALUES (1), (2), (4)) t(x)")
            .source("Joanes and Gill 1998"),
    ]
}

#[derive(Debug)]
struct Skewness(fn(&Moments) -> Option<f64>);

impl AggregateFunction for Skewness {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Group { statistic: self.0, moments: Moments::default() }))
    }
}

#[derive(Debug)]
struct Group {
    statistic: fn(&Moments) -> Option<f64>,
    moments: Moments,
}

impl AggregateState for Group {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let values = cast(&columns[0], &DataType::Float64)?;
        let values: Vec<f64> = values.as_primitive::<Float64Type>().iter().flatten().collect();
        self.moments.merge(&Moments::of(&values));
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let words = bytes.as_chunks::<8>().0;
        let Ok(state) = <[[u8; 8]; 4]>::try_from(words) else {
            return Err(execution_error("skewness: a partition's state is damaged"));
        };
        self.moments.merge(&Moments::from_state(state.map(f64::from_le_bytes)));
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.moments.state().into_iter().flat_map(f64::to_le_bytes).collect()
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64((self.statistic)(&self.moments)))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}
