//! `avg` of decimals: the exact total divided once, its last digit rounded half away from zero. DataFusion's cuts it.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, UInt64Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Field, FieldRef, UInt64Type, i256};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator, ReversedUDAF, Signature,
};

use crate::arithmetic::sql_name;
use crate::sum::total;

/// The aggregate, in place of DataFusion's of the same name.
pub fn avg() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(Average { inner: avg_udaf() }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Average {
    /// What averages floats and intervals.
    inner: Arc<AggregateUDF>,
}

/// The digits of averages.
#[derive(Debug, Clone)]
struct Digits {
    /// Of the values, behind the point.
    scale: i8,
    /// The type of the average, which has more of them.
    to: DataType,
}

impl Digits {
    /// Of an average whose values are decimals of up to 38 digits; `None` for others.
    fn of(values: &DataType, to: &DataType) -> Option<Self> {
        match (values, to) {
            (DataType::Decimal128(_, scale), DataType::Decimal128(..)) => Some(Self { scale: *scale, to: to.clone() }),
            _ => None,
        }
    }

    fn of_call(args: &AccumulatorArgs) -> Option<Self> {
        Self::of(args.expr_fields[0].data_type(), args.return_type())
    }

    /// The type of totals.
    fn totals(&self) -> DataType {
        DataType::Decimal128(DECIMAL128_MAX_PRECISION, self.scale)
    }

    /// The average of `count` values, which are more than none.
    fn divide(&self, total: i128, count: u64) -> Result<i128> {
        let DataType::Decimal128(precision, scale) = self.to else { return internal_err!("avg is no decimal") };
        // Below 2^127 times 10^4.
        let finer = i256::from_i128(total).wrapping_mul(i256::from_i128(10).wrapping_pow((scale - self.scale) as u32));
        let count = i256::from_i128(i128::from(count));
        let (whole, rest) = (finer.wrapping_div(count), finer.wrapping_rem(count));
        let up = rest.wrapping_abs().wrapping_mul(i256::from_i128(2)) >= count;
        let away = match (up, total < 0) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => -1,
        };
        let average = whole.wrapping_add(i256::from_i128(away)).to_i128();
        let average = average.filter(|average| average.unsigned_abs() < 10u128.pow(precision.into()));
        average.ok_or_else(|| self.overflow("average"))
    }

    fn overflow(&self, what: &str) -> DataFusionError {
        let to = sql_name(&self.to);
        DataFusionError::Execution(format!("overflow: the {what} of avg is not within {to}; CAST the values AS DOUBLE"))
    }
}

impl AggregateUDFImpl for Average {
    fn name(&self) -> &str {
        "avg"
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        self.inner.return_type(given)
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(given)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let digits = Digits::of_call(&args);
        let distinct = args.is_distinct;
        match digits {
            Some(digits) if distinct => Ok(Box::new(Distinct { inner: self.inner.accumulator(args)?, digits })),
            Some(digits) => Ok(Box::new(Mean { total: 0, count: 0, digits })),
            None => self.inner.accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        match Digits::of(args.input_fields[0].data_type(), args.return_type()) {
            Some(digits) if !args.is_distinct => Ok(vec![
                Arc::new(Field::new(format_state_name(args.name, "count"), DataType::UInt64, true)),
                Arc::new(Field::new(format_state_name(args.name, "sum"), digits.totals(), true)),
            ]),
            _ => self.inner.state_fields(args),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        match Digits::of_call(&args) {
            Some(digits) => Ok(Box::new(Means { totals: Vec::new(), counts: Vec::new(), digits })),
            None => self.inner.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match Digits::of_call(&args) {
            Some(digits) if !args.is_distinct => Ok(Box::new(Mean { total: 0, count: 0, digits })),
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
}

/// One average, of rows that may also leave again.
#[derive(Debug)]
struct Mean {
    total: i128,
    count: u64,
    digits: Digits,
}

impl Mean {
    fn add(&mut self, sum: Option<i128>) -> Result<()> {
        let total = sum.and_then(|sum| self.total.checked_add(sum));
        self.total = total.ok_or_else(|| self.digits.overflow("total"))?;
        Ok(())
    }
}

impl Accumulator for Mean {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<Decimal128Type>();
        self.count += (values.len() - values.null_count()) as u64;
        self.add(total(values))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<Decimal128Type>();
        self.count -= (values.len() - values.null_count()) as u64;
        self.add(total(values).and_then(i128::checked_neg))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.count += states[0].as_primitive::<UInt64Type>().iter().flatten().sum::<u64>();
        self.add(total(states[1].as_primitive::<Decimal128Type>()))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let total = (self.count > 0).then_some(self.total);
        let total = ScalarValue::Decimal128(total, DECIMAL128_MAX_PRECISION, self.digits.scale);
        Ok(vec![ScalarValue::from(self.count), total])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.count {
            0 => ScalarValue::try_from(&self.digits.to),
            count => {
                let average = self.digits.divide(self.total, count)?;
                ScalarValue::new_primitive::<Decimal128Type>(Some(average), &self.digits.to)
            }
        }
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The average of different values, which DataFusion's accumulator finds.
#[derive(Debug)]
struct Distinct {
    inner: Box<dyn Accumulator>,
    digits: Digits,
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
        let mut mean = Mean { total: 0, count: 0, digits: self.digits.clone() };
        for state in self.inner.state()? {
            if let ScalarValue::List(lists) = state {
                mean.update_batch(&[Arc::clone(lists.values())])?;
            }
        }
        mean.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}

/// One average a group.
#[derive(Debug)]
struct Means {
    totals: Vec<i128>,
    counts: Vec<u64>,
    digits: Digits,
}

impl Means {
    /// Adds totals of so many values each to groups; a row that is NULL, or that the filter does not keep, adds none.
    fn add(
        &mut self,
        totals: &Decimal128Array,
        counts: impl Fn(usize) -> u64,
        groups: &[usize],
        filter: Option<&BooleanArray>,
        n_groups: usize,
    ) -> Result<()> {
        self.totals.resize(n_groups, 0);
        self.counts.resize(n_groups, 0);
        let mut overflown = false;
        let values = totals.values();
        let mut add = |row: usize| {
            let group = groups[row];
            let (total, over) = self.totals[group].overflowing_add(values[row]);
            self.totals[group] = total;
            self.counts[group] += counts(row);
            overflown |= over;
        };
        match (filter, totals.nulls()) {
            (None, None) => (0..groups.len()).for_each(add),
            (filter, nulls) => (0..groups.len()).for_each(|row| {
                let kept = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
                if kept && nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                    add(row);
                }
            }),
        }
        if overflown { Err(self.digits.overflow("total")) } else { Ok(()) }
    }

    fn states(&self, totals: Vec<i128>, counts: Vec<u64>, nulls: Option<NullBuffer>) -> Vec<ArrayRef> {
        let totals = Decimal128Array::new(totals.into(), nulls).with_data_type(self.digits.totals());
        vec![Arc::new(UInt64Array::from(counts)), Arc::new(totals)]
    }
}

impl GroupsAccumulator for Means {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        n_groups: usize,
    ) -> Result<()> {
        self.add(values[0].as_primitive::<Decimal128Type>(), |_| 1, groups, filter, n_groups)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], n_groups: usize) -> Result<()> {
        let counts = states[0].as_primitive::<UInt64Type>();
        self.add(states[1].as_primitive::<Decimal128Type>(), |row| counts.value(row), groups, None, n_groups)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let (totals, counts) = (emit.take_needed(&mut self.totals), emit.take_needed(&mut self.counts));
        let average = |(&total, &count): (&i128, &u64)| match count {
            0 => Ok(None),
            count => self.digits.divide(total, count).map(Some),
        };
        let averages: Decimal128Array = totals.iter().zip(&counts).map(average).collect::<Result<_>>()?;
        Ok(Arc::new(averages.with_data_type(self.digits.to.clone())))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let (totals, counts) = (emit.take_needed(&mut self.totals), emit.take_needed(&mut self.counts));
        let nulls = NullBuffer::from_iter(counts.iter().map(|count| *count > 0));
        Ok(self.states(totals, counts, Some(nulls)))
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = values[0].as_primitive::<Decimal128Type>();
        let unfiltered = filter.map(|filter| match filter.nulls() {
            Some(nulls) => NullBuffer::new(filter.values() & nulls.inner()),
            None => NullBuffer::new(filter.values().clone()),
        });
        let nulls = NullBuffer::union(unfiltered.as_ref(), values.nulls());
        let counts = match &nulls {
            Some(nulls) => nulls.iter().map(u64::from).collect(),
            None => vec![1; values.len()],
        };
        Ok(self.states(values.values().to_vec(), counts, nulls))
    }

    fn size(&self) -> usize {
        self.totals.capacity() * size_of::<i128>() + self.counts.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(scale: i8, precision: u8, to: i8) -> Digits {
        Digits { scale, to: DataType::Decimal128(precision, to) }
    }

    #[test]
    fn the_last_digit_is_rounded_half_away_from_zero() {
        let cents = digits(2, 10, 6);
        // 0.02 / 3 = 0.00666666..., 0.01 / 3 = 0.00333333..., of either sign.
        for (total, count, average) in [(2, 3, 6667), (1, 3, 3333), (-2, 3, -6667), (-1, 3, -3333), (4, 2, 20000)] {
            assert_eq!(cents.divide(total, count).unwrap(), average);
        }
        // A half: 0.01 / 20000 = 0.0000005.
        assert_eq!(cents.divide(1, 20_000).unwrap(), 1);
        assert_eq!(cents.divide(-1, 20_000).unwrap(), -1);
        // 38 digits of values have 42 of averages on the way: 10^37 / 2^20 by hand.
        assert_eq!(digits(0, 38, 4).divide(10i128.pow(37), 1 << 20).unwrap(), 95_367_431_640_625 * 10i128.pow(21));
        assert!(digits(0, 38, 4).divide(i128::MAX, 1).unwrap_err().to_string().contains("DECIMAL(38, 4)"));
    }

    #[test]
    fn states_that_are_merged_average_as_one() {
        let values: ArrayRef = Arc::new(
            Decimal128Array::from(vec![Some(150), None, Some(-225), Some(10_001)])
                .with_data_type(DataType::Decimal128(10, 2)),
        );
        let mut whole = Mean { total: 0, count: 0, digits: digits(2, 14, 6) };
        whole.update_batch(&[Arc::clone(&values)]).unwrap();
        // (1.50 - 2.25 + 100.01) / 3 = 33.0866...
        assert_eq!(whole.evaluate().unwrap(), ScalarValue::Decimal128(Some(33_086_667), 14, 6));
        let new = || Means { totals: Vec::new(), counts: Vec::new(), digits: digits(2, 14, 6) };
        let (mut first, mut merged) = (new(), new());
        first.update_batch(&[Arc::clone(&values)], &[0, 0, 1, 0], None, 2).unwrap();
        let states = first.state(EmitTo::All).unwrap();
        merged.merge_batch(&states, &[1, 0], 3).unwrap();
        let converted = new().convert_to_state(&[values], None).unwrap();
        merged.merge_batch(&converted, &[0, 1, 2, 0], 3).unwrap();
        let found = merged.evaluate(EmitTo::All).unwrap();
        let found: Vec<Option<i128>> = found.as_primitive::<Decimal128Type>().iter().collect();
        // Group 0: -2.25, 1.50, 100.01; group 1: 1.50, 100.01; group 2: -2.25.
        assert_eq!(found, [Some(33_086_667), Some(50_755_000), Some(-2_250_000)]);
    }
}
