//! `sum` of whole numbers and decimals: exact, whatever the order of the rows, and an error where the total leaves its type.
//! DataFusion's wraps around.

use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Decimal128Array, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Field, FieldRef, Int64Type, UInt64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs,
};
use datafusion::physical_expr::NullState;

use crate::arithmetic::sql_name;

/// The aggregate, in place of DataFusion's of the same name.
pub fn sum() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(Sum { inner: sum_udaf() }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sum {
    /// What sums floats and intervals.
    inner: Arc<AggregateUDF>,
}

/// Makes an accumulator of the argument's type; `None` for a type whose sums are not ours.
macro_rules! of_type {
    ($data_type:expr, $make:ident) => {
        match $data_type {
            DataType::Int64 => Some(Box::new($make::<Int64Type>::new($data_type)) as _),
            DataType::UInt64 => Some(Box::new($make::<UInt64Type>::new($data_type)) as _),
            DataType::Decimal128(..) => Some(Box::new($make::<Decimal128Type>::new($data_type)) as _),
            _ => None,
        }
    };
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        self.inner.return_type(given)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            let data_type = args.return_type().clone();
            let inner = self.inner.accumulator(args)?;
            return Ok(match data_type {
                DataType::Int64 | DataType::UInt64 | DataType::Decimal128(..) => {
                    Box::new(Distinct { inner, data_type })
                }
                _ => inner,
            });
        }
        match of_type!(args.return_type(), Total) {
            Some(total) => Ok(total),
            None => self.inner.accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        match state_type(args.return_type()) {
            Some(state) if !args.is_distinct => {
                Ok(vec![Arc::new(Field::new(format!("{}[sum]", args.name), state, true))])
            }
            _ => self.inner.state_fields(args),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        match of_type!(args.return_type(), Totals) {
            Some(totals) => Ok(totals),
            None => self.inner.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match of_type!(args.return_type(), Total) {
            Some(total) if !args.is_distinct => Ok(total),
            _ => self.inner.create_sliding_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }

    fn value_from_stats(&self, args: &StatisticsArgs) -> Option<ScalarValue> {
        // Totals among statistics may have wrapped around.
        match state_type(args.return_type) {
            Some(_) => None,
            None => self.inner.value_from_stats(args),
        }
    }
}

/// The type of a total on its way; `None` for a type whose sums are not ours.
fn state_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Int64 | DataType::UInt64 => Some(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0)),
        DataType::Decimal128(_, scale) => Some(DataType::Decimal128(DECIMAL128_MAX_PRECISION, *scale)),
        _ => None,
    }
}

/// Numbers whose sums are made in 128 bits.
pub(crate) trait Summed: ArrowPrimitiveType + Send + Sync {
    /// The sum of the values; `None` where even 128 bits overflow.
    fn total(values: &[Self::Native]) -> Option<i128>;
    fn wide(value: Self::Native) -> i128;
    fn narrow(total: i128, to: &DataType) -> Option<Self::Native>;
}

/// So many values have sums of their halves within 64 bits.
const HALVES: usize = 1 << 30;

impl Summed for Int64Type {
    fn total(values: &[i64]) -> Option<i128> {
        let sums = values.chunks(HALVES).map(|values| {
            // The halves apart, of the value plus 2^63: shifts without a sign are the processor's vector instructions.
            let (mut high, mut low) = (0u64, 0u64);
            for &value in values {
                let value = value as u64 ^ (1 << 63);
                high += value >> 32;
                low += value & u64::from(u32::MAX);
            }
            (i128::from(high) << 32) + i128::from(low) - ((values.len() as i128) << 63)
        });
        Some(sums.sum())
    }

    fn wide(value: i64) -> i128 {
        value.into()
    }

    fn narrow(total: i128, _: &DataType) -> Option<i64> {
        total.try_into().ok()
    }
}

impl Summed for UInt64Type {
    fn total(values: &[u64]) -> Option<i128> {
        let sums = values.chunks(HALVES).map(|values| {
            let (mut high, mut low) = (0u64, 0u64);
            for &value in values {
                high += value >> 32;
                low += u64::from(value as u32);
            }
            (i128::from(high) << 32) + i128::from(low)
        });
        Some(sums.sum())
    }

    fn wide(value: u64) -> i128 {
        value.into()
    }

    fn narrow(total: i128, _: &DataType) -> Option<u64> {
        total.try_into().ok()
    }
}

impl Summed for Decimal128Type {
    fn total(values: &[i128]) -> Option<i128> {
        values.iter().try_fold(0i128, |total, &value| total.checked_add(value))
    }

    fn wide(value: i128) -> i128 {
        value
    }

    fn narrow(total: i128, to: &DataType) -> Option<i128> {
        let digits = match to {
            DataType::Decimal128(digits, _) => *digits,
            _ => DECIMAL128_MAX_PRECISION,
        };
        (total.unsigned_abs() < 10u128.pow(digits.into())).then_some(total)
    }
}

fn overflow(to: &DataType) -> DataFusionError {
    let wider = match to {
        DataType::Decimal128(..) => "CAST the values AS DOUBLE",
        _ => "CAST the values AS DECIMAL(38, 0)",
    };
    DataFusionError::Execution(format!("overflow: the total of sum is not within {}; {wider}", sql_name(to)))
}

/// The sum of an array's values that are not NULL.
pub(crate) fn total<T: Summed>(values: &PrimitiveArray<T>) -> Option<i128> {
    match values.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => T::total(values.values()),
        Some(nulls) => nulls
            .valid_slices()
            .try_fold(0i128, |sum, (start, end)| sum.checked_add(T::total(&values.values()[start..end])?)),
    }
}

/// One sum, of rows that may also leave again.
struct Total<T> {
    total: i128,
    count: u64,
    data_type: DataType,
    of: PhantomData<T>,
}

impl<T> Total<T> {
    fn new(data_type: &DataType) -> Self {
        Self { total: 0, count: 0, data_type: data_type.clone(), of: PhantomData }
    }

    fn add(&mut self, sum: Option<i128>) -> Result<()> {
        let total = sum.and_then(|sum| self.total.checked_add(sum));
        self.total = total.ok_or_else(|| overflow(&self.data_type))?;
        Ok(())
    }
}

impl<T> Debug for Total<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Total({})", self.total)
    }
}

impl<T: Summed> Accumulator for Total<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<T>();
        self.count += (values.len() - values.null_count()) as u64;
        self.add(total(values))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<T>();
        self.count -= (values.len() - values.null_count()) as u64;
        self.add(total(values).and_then(i128::checked_neg))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_primitive::<Decimal128Type>();
        self.count += (states.len() - states.null_count()) as u64;
        self.add(total(states))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let total = (self.count > 0).then_some(self.total);
        let scale = match self.data_type {
            DataType::Decimal128(_, scale) => scale,
            _ => 0,
        };
        Ok(vec![ScalarValue::Decimal128(total, DECIMAL128_MAX_PRECISION, scale)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = match self.count {
            0 => None,
            _ => Some(T::narrow(self.total, &self.data_type).ok_or_else(|| overflow(&self.data_type))?),
        };
        ScalarValue::new_primitive::<T>(value, &self.data_type)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The sum of different values, which DataFusion's accumulator finds.
struct Distinct {
    inner: Box<dyn Accumulator>,
    data_type: DataType,
}

impl Debug for Distinct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Distinct({})", self.data_type)
    }
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut total: Option<Box<dyn Accumulator>> = of_type!(&self.data_type, Total);
        for state in self.inner.state()? {
            if let (ScalarValue::List(lists), Some(total)) = (state, &mut total) {
                total.update_batch(&[Arc::clone(lists.values())])?;
            }
        }
        total.map_or_else(|| self.inner.evaluate(), |mut total| total.evaluate())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}

/// One sum a group.
struct Totals<T> {
    totals: Vec<i128>,
    nulls: NullState,
    data_type: DataType,
    of: PhantomData<T>,
}

impl<T> Totals<T> {
    fn new(data_type: &DataType) -> Self {
        Self { totals: Vec::new(), nulls: NullState::new(), data_type: data_type.clone(), of: PhantomData }
    }

    fn add<U: Summed>(
        &mut self,
        values: &PrimitiveArray<U>,
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.totals.resize(count, 0);
        let (totals, mut overflown) = (&mut self.totals, false);
        self.nulls.accumulate(groups, values, filter, count, |group, value| {
            let (total, over) = totals[group].overflowing_add(U::wide(value));
            totals[group] = total;
            overflown |= over;
        });
        if overflown { Err(overflow(&self.data_type)) } else { Ok(()) }
    }

    fn states(&self, totals: Vec<i128>, nulls: Option<NullBuffer>) -> Result<Vec<ArrayRef>> {
        let data_type = state_type(&self.data_type).unwrap_or(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0));
        Ok(vec![Arc::new(Decimal128Array::new(totals.into(), nulls).with_data_type(data_type))])
    }
}

impl<T: Summed> GroupsAccumulator for Totals<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.add(values[0].as_primitive::<T>(), groups, filter, count)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.add(values[0].as_primitive::<Decimal128Type>(), groups, None, count)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let totals = emit.take_needed(&mut self.totals);
        let nulls = self.nulls.build(emit);
        let narrow = |&total: &i128| T::narrow(total, &self.data_type).ok_or_else(|| overflow(&self.data_type));
        let values: Vec<T::Native> = totals.iter().map(narrow).collect::<Result<_>>()?;
        Ok(Arc::new(PrimitiveArray::<T>::new(values.into(), nulls).with_data_type(self.data_type.clone())))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let totals = emit.take_needed(&mut self.totals);
        let nulls = self.nulls.build(emit);
        self.states(totals, nulls)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = values[0].as_primitive::<T>();
        let unfiltered = filter.map(|filter| match filter.nulls() {
            Some(nulls) => NullBuffer::new(filter.values() & nulls.inner()),
            None => NullBuffer::new(filter.values().clone()),
        });
        let nulls = NullBuffer::union(unfiltered.as_ref(), values.nulls());
        self.states(values.values().iter().map(|&value| T::wide(value)).collect(), nulls)
    }

    fn size(&self) -> usize {
        self.totals.capacity() * size_of::<i128>() + self.nulls.size()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;

    use super::*;

    #[test]
    fn a_total_is_exact_in_any_order_and_an_error_only_in_the_end() {
        let mut total = Total::<Int64Type>::new(&DataType::Int64);
        for values in [vec![Some(i64::MAX), None, Some(7)], vec![Some(i64::MIN), Some(-1)]] {
            let values: ArrayRef = Arc::new(Int64Array::from(values));
            total.update_batch(&[values]).unwrap();
        }
        assert_eq!(total.evaluate().unwrap(), ScalarValue::Int64(Some(5)));
        let most: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX; 2]));
        total.update_batch(&[Arc::clone(&most)]).unwrap();
        assert!(total.evaluate().unwrap_err().to_string().contains("BIGINT"));
        total.retract_batch(&[most]).unwrap();
        assert_eq!(total.evaluate().unwrap(), ScalarValue::Int64(Some(5)));
    }

    #[test]
    fn halves_add_up_to_the_literal_sum() {
        let values: Vec<i64> = (0..1000).map(|i: i64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)).collect();
        let literal: i128 = values.iter().map(|&value| i128::from(value)).sum();
        assert_eq!(Int64Type::total(&values), Some(literal));
        let values: Vec<u64> = values.iter().map(|&value| value as u64).collect();
        let literal: i128 = values.iter().map(|&value| i128::from(value)).sum();
        assert_eq!(UInt64Type::total(&values), Some(literal));
    }
}
