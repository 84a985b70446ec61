//! `product(x)`: the product of numbers.
//!
//! Upstream: none known
//! Shows: `SELECT product(x) FROM (VALUES (2.0), (3.5)) AS t(x)` gives `7.0`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float64Type};
use bonnet_sql::{Body, Function, Parameter};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

/// The registration of `product`.
pub(crate) fn product() -> Function {
    let signature = Signature::exact(vec![DataType::Float64], Volatility::Immutable);
    let body = AggregateUDF::new_from_impl(Product { signature });
    Function::new("product", Body::NativeAggregate(Arc::new(body)))
        .parameters([Parameter::number_column("x", "The numbers.")])
        .returns("DOUBLE")
        .description("The product of numbers, as a DOUBLE. NULLs do not count; NULL without numbers.")
        .example("SELECT product(x) FROM (VALUES (2), (3), (4)) t(x)")
        .source("DuckDB, aggregate functions")
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Product {
    signature: Signature,
}

impl AggregateUDFImpl for Product {
    fn name(&self) -> &str {
        "product"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Value(None)))
    }
}

/// The product of the numbers so far; `None` without any.
#[derive(Debug)]
struct Value(Option<f64>);

impl Accumulator for Value {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values[0].as_primitive::<Float64Type>().iter().flatten() {
            self.0 = Some(self.0.unwrap_or(1.0) * value);
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Float64(self.0)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.0))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
