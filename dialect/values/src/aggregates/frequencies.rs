//! Of the frequencies of values: `mode(value)`, the most frequent one, `histogram(value)`, all of them, and `entropy(value)`.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/12248>
//! Shows: `SELECT mode(x) FROM (VALUES (1), (2), (2)) AS t(x)` gives `2`
//! Shows: `SELECT entropy(x) FROM (VALUES (1), (2)) AS t(x)` gives `1.0`

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, MapArray, StructArray, UInt64Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{sort_to_indices, take};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Int64Type};
use bonnet_sql::{Body, Function, Parameter};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

use crate::guards::canonical_values::canonical_floats;

/// The registrations.
pub(crate) fn functions() -> [Function; 3] {
    let of = |name, answer| {
        let signature = Signature::any(1, Volatility::Immutable);
        let body = AggregateUDF::new_from_impl(Frequencies { name, answer, signature });
        Function::new(name, Body::NativeAggregate(Arc::new(body)))
            .parameters([Parameter::column("value", "A value of any type that can be compared.")])
            .source("DuckDB, aggregate functions")
    };
    [
        of("mode", Answer::Mode)
            .returns("the type of value")
            .description("The most frequent value; of several, the smallest. NULLs do not count; NULL without values.")
            .example("SELECT mode(x) FROM (VALUES (3), (1), (3)) t(x)"),
        of("histogram", Answer::Histogram)
            .returns("MAP")
            .description(
                "How often each value occurs: a map of the values in ascending order to their numbers, UBIGINT. NULLs do not \
                 count; NULL without values.",
            )
            .example("SELECT histogram(x) FROM (VALUES (3), (1), (3)) t(x)"),
        of("entropy", Answer::Entropy)
            .returns("DOUBLE")
            .description(
                "The entropy of the frequencies of values, in bits: from 0 where all are equal to the logarithm of their \
                 number where all differ. NULLs do not count; 0 without values.",
            )
            .example("SELECT entropy(x) FROM (VALUES (3), (1), (3)) t(x)"),
    ]
}

/// What is answered of frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Answer {
    Mode,
    Histogram,
    Entropy,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Frequencies {
    name: &'static str,
    answer: Answer,
    signature: Signature,
}

impl AggregateUDFImpl for Frequencies {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(match self.answer {
            Answer::Mode => given[0].clone(),
            Answer::Histogram => map_of(&given[0]),
            Answer::Entropy => DataType::Float64,
        })
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let data_type = args.expr_fields[0].data_type().clone();
        Ok(Box::new(Counts { counts: HashMap::new(), bytes: 0, data_type, answer: self.answer }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let values = Field::new_list_field(args.input_fields[0].data_type().clone(), true);
        let counts = Field::new_list_field(DataType::Int64, true);
        Ok(vec![
            Arc::new(Field::new_list(format!("{}[values]", args.name), values, true)),
            Arc::new(Field::new_list(format!("{}[counts]", args.name), counts, true)),
        ])
    }
}

/// The type of maps of values of this type to numbers.
fn map_of(values: &DataType) -> DataType {
    let entries =
        Fields::from(vec![Field::new("key", values.clone(), false), Field::new("value", DataType::UInt64, true)]);
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)
}

#[derive(Debug)]
struct Counts {
    counts: HashMap<ScalarValue, i64>,
    bytes: usize,
    data_type: DataType,
    answer: Answer,
}

impl Counts {
    fn add(&mut self, values: &ArrayRef, count: impl Fn(usize) -> i64) -> Result<()> {
        let values = &canonical_floats(values);
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

impl Counts {
    fn mode(&self) -> Result<ScalarValue> {
        let best = self.counts.iter().reduce(|best, other| {
            let smaller = || other.0.partial_cmp(best.0).is_some_and(|order| order.is_lt());
            if other.1 > best.1 || (other.1 == best.1 && smaller()) { other } else { best }
        });
        match best {
            Some((value, _)) => Ok(value.clone()),
            None => ScalarValue::try_from(&self.data_type),
        }
    }

    fn histogram(&self) -> Result<ScalarValue> {
        let data_type = map_of(&self.data_type);
        let (DataType::Map(entries, _), false) = (&data_type, self.counts.is_empty()) else {
            return ScalarValue::try_from(&data_type);
        };
        let DataType::Struct(fields) = entries.data_type() else { return internal_err!("a map has entries") };
        let keys = ScalarValue::iter_to_array(self.counts.keys().cloned())?;
        let counts: UInt64Array = self.counts.values().map(|&count| count as u64).collect();
        let order = sort_to_indices(&keys, None, None)?;
        let columns = vec![take(&keys, &order, None)?, take(&counts, &order, None)?];
        let rows = StructArray::try_new(fields.clone(), columns, None)?;
        let all = OffsetBuffer::from_lengths([rows.len()]);
        Ok(ScalarValue::Map(Arc::new(MapArray::try_new(Arc::clone(entries), all, rows, None, false)?)))
    }

    /// In bits; summed in the order of the frequencies, so that the order of the rows does not matter.
    fn entropy(&self) -> f64 {
        let mut counts: Vec<i64> = self.counts.values().copied().collect();
        counts.sort_unstable();
        let all = counts.iter().sum::<i64>() as f64;
        let shares = counts.iter().map(|&count| count as f64 / all);
        shares.map(|share| share * -share.log2()).sum::<f64>() + 0.0
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
        match self.answer {
            Answer::Mode => self.mode(),
            Answer::Histogram => self.histogram(),
            Answer::Entropy => Ok(ScalarValue::from(self.entropy())),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes
    }
}
