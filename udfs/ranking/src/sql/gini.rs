//! `gini(x)`: how unequal numbers are.

use std::sync::Arc;

use arrow::array::{AsArray, Float64Array};
use arrow::datatypes::{DataType, Float64Type};
use bonnet_sql::{Body, Function, Options, Parameter, RowsFunction, RowsKernel, execution_error, stopped};
use datafusion::common::Result;

use crate::GiniError;

/// The registration.
pub fn gini() -> Function {
    Function::new("gini", Body::Rows(Arc::new(Gini)))
        .parameters([Parameter::number_column("x", "Finite numbers of at least 0, as degrees or sizes.")])
        .returns("DOUBLE")
        .description(
            "The Gini coefficient: how unequal numbers are, as half their mean absolute difference over their mean. With x_1 to \
             x_n in ascending order: the sum of (2 i - n - 1) x_i over n times the sum of x_i. From 0 where all are equal to \
             (n - 1) / n where one has everything. NULL does not count; NULL without values, and where all are 0. O(n log n) \
             time.",
        )
        .example("SELECT gini(degree_centrality) FROM degree_centrality(karate.edges)")
        .source("Gini, Variabilita e mutabilita (1912)")
}

#[derive(Debug)]
struct Gini;

impl RowsFunction for Gini {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, _: &Options) -> Result<RowsKernel> {
        Ok(Box::new(|groups, monitor| {
            let values = groups.columns()[0].as_primitive::<Float64Type>().values();
            let of_groups = groups.map(|group| {
                crate::gini(&values[group], monitor).map_err(|error| match error {
                    GiniError::Stopped(reason) => stopped(reason),
                    error => execution_error(format!("gini: {error}")),
                })
            })?;
            Ok(Arc::new(Float64Array::from(of_groups)))
        }))
    }
}
