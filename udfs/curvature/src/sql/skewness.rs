//! `skewness(x)`, `skewness_sample(x)` and `skewness_adjusted(x)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{AggregateFunction, AggregateState, Body, Function, Options, Parameter, execution_error};
use datafusion::common::{Result, ScalarValue};

use crate::Moments;

fn function(name: &'static str, statistic: fn(&Moments) -> Option<f64>) -> Function {
    Function::new(name, Body::Aggregate(Arc::new(Skewness(statistic))))
        .parameters([Parameter::number_column("x", "The values; NULLs do not count.")])
        .returns("DOUBLE")
}

/// The registration of `skewness`.
pub fn skewness() -> Function {
    function("skewness", Moments::skewness_population)
        .description("The population skewness m3 / m2^1.5; 0 where the deviation is 0, NULL for no values.")
        .example("SELECT skewness(x) FROM (VALUES (1), (2), (4)) t(x)")
        .source("CurvBench (arXiv 2606.06397), Eq. 5")
}

/// The registration of `skewness_sample`.
pub fn skewness_sample() -> Function {
    function("skewness_sample", Moments::skewness_sample)
        .description(
            "The skewness m3 / s^3 with the n - 1 deviation, as the paper's tables print it; 0 where the deviation is \
             0, NULL for fewer than two values.",
        )
        .example("SELECT skewness_sample(x) FROM (VALUES (1), (2), (4)) t(x)")
        .source("CurvBench (arXiv 2606.06397), Table 1")
}

/// The registration of `skewness_adjusted`.
pub fn skewness_adjusted() -> Function {
    function("skewness_adjusted", Moments::skewness_adjusted)
        .description("The bias-corrected skewness G1, as DuckDB and pandas give it; NULL for fewer than three values.")
        .example("SELECT skewness_adjusted(x) FROM (VALUES (1), (2), (4)) t(x)")
        .source("Joanes and Gill 1998")
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
        let Ok(state) = <[[u8; 8]; 5]>::try_from(words) else {
            return Err(execution_error("skewness: a partition's state is damaged"));
        };
        self.moments.merge(&Moments::from_state(state.map(f64::from_le_bytes)));
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.moments.state().into_iter().flat_map(f64::to_le_bytes).collect())
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64((self.statistic)(&self.moments)))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}
