//! `median` of dates and timestamps: the moment in the middle, or the one between the two in the middle.
//!
//! Upstream: none known
//! Shows: `SELECT median(d)::varchar FROM (VALUES (DATE '2024-01-01'), (DATE '2024-01-04')) AS t(d)` gives `2024-01-02 12:00:00`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::median::median_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, Signature, TypeSignature,
};

use crate::aggregates::inner_aggregate::moments;

/// The aggregate, in place of DataFusion's of the same name.
pub(crate) fn median() -> Arc<AggregateUDF> {
    let inner = median_udaf();
    let mut signature = inner.signature().clone();
    if let TypeSignature::OneOf(kinds) = &mut signature.type_signature {
        kinds.push(moments());
    }
    Arc::new(AggregateUDF::new_from_impl(Median { inner, signature }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Median {
    /// DataFusion's median, which serves numbers.
    inner: Arc<AggregateUDF>,
    /// That of DataFusion's, dates and timestamps.
    signature: Signature,
}

/// Whether the median is one of moments.
fn is_moment(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(..))
}

impl AggregateUDFImpl for Median {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        self.inner.return_type(given)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        if !is_moment(args.input_fields[0].data_type()) {
            return self.inner.state_fields(args);
        }
        let values = Field::new_list_field(DataType::Int64, true);
        Ok(vec![Arc::new(Field::new_list(format_state_name(args.name, "moments"), values, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let data_type = args.expr_fields[0].data_type().clone();
        match is_moment(&data_type) {
            true => Ok(Box::new(Moments { data_type, distinct: args.is_distinct, values: Vec::new() })),
            false => self.inner.accumulator(args),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !is_moment(args.expr_fields[0].data_type()) && self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match is_moment(args.expr_fields[0].data_type()) {
            true => self.accumulator(args),
            false => self.inner.create_sliding_accumulator(args),
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}

/// The median of one group of moments.
#[derive(Debug)]
struct Moments {
    data_type: DataType,
    /// Whether a moment that comes again counts once.
    distinct: bool,
    /// The moments so far, in the units of their type.
    values: Vec<i64>,
}

impl Moments {
    fn add(&mut self, values: &dyn Array) -> Result<()> {
        let values = cast(values, &DataType::Int64)?;
        self.values.extend(values.as_primitive::<Int64Type>().iter().flatten());
        Ok(())
    }
}

impl Accumulator for Moments {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(&values[0])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        states[0].as_list::<i32>().iter().flatten().try_for_each(|values| self.add(&values))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = Arc::new(Int64Array::from(std::mem::take(&mut self.values)));
        Ok(vec![SingleRowListArrayBuilder::new(values).build_list_scalar()])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        // A frame goes on with its values in their order.
        let mut values = self.values.clone();
        if self.distinct {
            values.sort_unstable();
            values.dedup();
        }
        let answer = Int64Array::from(vec![middle(&mut values)]);
        ScalarValue::try_from_array(&cast(&answer, &self.data_type)?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + 16 * self.values.capacity()
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        // Rows leave a frame in the order in which they came.
        self.values.drain(..values[0].len() - values[0].logical_null_count());
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }
}

/// The value in the middle; between two of them the mean, rounded down.
fn middle(values: &mut [i64]) -> Option<i64> {
    let upper = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, &mut high, _) = values.select_nth_unstable(upper);
    match below.iter().max().filter(|_| !is_odd) {
        None => Some(high),
        Some(&low) => Some((low & high) + ((low ^ high) >> 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_middle_is_a_value_or_lies_between_two() {
        assert_eq!(middle(&mut []), None);
        assert_eq!(middle(&mut [9, 1, 5]), Some(5));
        assert_eq!(middle(&mut [9, 2]), Some(5));
        assert_eq!(middle(&mut [i64::MAX, i64::MAX - 2]), Some(i64::MAX - 1));
        assert_eq!(middle(&mut [i64::MIN, i64::MAX, -4, 3]), Some(-1));
    }
}
