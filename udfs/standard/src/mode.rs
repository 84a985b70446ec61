//! `mode(value)`: the most frequent value.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use bonnet_sql::{Body, Function, Parameter};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

/// The registration of `mode`.
pub(crate) fn mode() -> Function {
    let signature = Signature::any(1, Volatility::Immutable);
    let body = AggregateUDF::new_from_impl(Mode { signature });
    Function::new("mode", Body::NativeAggregate(Arc::new(body)))
        .parameters([Parameter::column("value", "A value of any type that can be compared.")])
        .returns("the type of value")
        .description("The most frequent value; of several, the smallest. NULLs do not count; NULL without values.")
        .example("SELECT mode(x) FROM (VALUES (3), (1), (3)) t(x)")
        .source("DuckDB, aggregate functions")
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Mode {
    signature: Signature,
}

impl AggregateUDFImpl for Mode {
    fn name(&self) -> &str {
        "mode"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(given[0].clone())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Counts { counts: HashMap::new(), bytes: 0, data_type: args.return_type().clone() }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let values = Field::new_list_field(args.return_type().clone(), true);
        let counts = Field::new_list_field(DataType::Int64, true);
        Ok(vec![
            Arc::new(Field::new_list(format!("{}[values]", args.name), values, true)),
            Arc::new(Field::new_list(format!("{}[counts]", args.name), counts, true)),
        ])
    }
}

#[derive(Debug)]
struct Counts {
    counts: HashMap<ScalarValue, i64>,
    bytes: usize,
    data_type: DataType,
}

impl Counts {
    fn add(&mut self, values: &ArrayRef, count: impl Fn(usize) -> i64) -> Result<()> {
        for row in 0..values.len() {
            if values.is_null(row) {
                continue;
            }
            let value = ScalarValue::try_from_array(values, row)?;
            match self.counts.get_mut(&value) {
                Some(known) => *known += count(row),
                None => {
                    self.bytes += value.size() + size_of::<i64>();
                    self.counts.insert(value.compacted(), count(row));
                }
            }
        }
        Ok(())
    }
}

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(&values[0], |_| 1)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (values, counts) = (states[0].as_list::<i32>(), states[1].as_list::<i32>());
        for row in 0..values.len() {
            if values.is_valid(row) {
                let counts = counts.value(row);
                let counts = counts.as_primitive::<Int64Type>();
                self.add(&values.value(row), |at| counts.value(at))?;
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let (values, counts): (Vec<_>, Vec<_>) = std::mem::take(&mut self.counts).into_iter().unzip();
        let values = match values.is_empty() {
            true => arrow::array::new_empty_array(&self.data_type),
            false => ScalarValue::iter_to_array(values)?,
        };
        let counts: ArrayRef = Arc::new(Int64Array::from(counts));
        Ok([values, counts].map(|array| SingleRowListArrayBuilder::new(array).build_list_scalar()).into())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let best = self.counts.iter().reduce(|best, other| {
            let smaller = || other.0.partial_cmp(best.0).is_some_and(|order| order.is_lt());
            if other.1 > best.1 || (other.1 == best.1 && smaller()) { other } else { best }
        });
        match best {
            Some((value, _)) => Ok(value.clone()),
            None => ScalarValue::try_from(&self.data_type),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes
    }
}
