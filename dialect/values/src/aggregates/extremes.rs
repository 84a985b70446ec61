//! `min` and `max` of floats, where NaN is greater than all other numbers, as in ORDER BY.
//!
//! And of rows `(a, b)`, where a NULL within is greater than all values, as in ORDER BY: DataFusion 55 left such rows out.
//!
//! With GROUP BY, DataFusion 55 lost a NaN or the values before it, and never answered infinity for an extreme, since it
//! starts from the greatest finite number. And it answered from statistics of files, which leave NaN out.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/24432>
//! Shows: `SELECT max(x) FROM (VALUES (1, 'NaN'::double), (1, 2.0)) AS t(k, x) GROUP BY k` gives `NaN`
//! Shows: `SELECT min(x) FROM (VALUES (1, 'inf'::double)) AS t(k, x) GROUP BY k` gives `inf`

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{DataType, FieldRef, Float16Type, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, SetMonotonicity,
    StatisticsArgs,
};
use datafusion::physical_expr::NullState;

use crate::aggregates::extreme_row::ExtremeRow;
use crate::aggregates::inner_aggregate::as_inner_aggregate;
use crate::aggregates::state_nulls::nulls_of_states;

/// The aggregates, in place of DataFusion's of the same names.
pub(crate) fn extremes() -> [Arc<AggregateUDF>; 2] {
    let extreme = |inner, ordering| Arc::new(AggregateUDF::new_from_impl(Extreme { inner, ordering }));
    [extreme(min_udaf(), Ordering::Less), extreme(max_udaf(), Ordering::Greater)]
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Extreme {
    /// DataFusion's aggregate, which serves all other types, and aggregates without GROUP BY.
    inner: Arc<AggregateUDF>,
    /// The order of the extreme relative to all other values.
    ordering: Ordering,
}

impl AggregateUDFImpl for Extreme {
    as_inner_aggregate!();

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !matches!(args.return_type(), DataType::Struct(_)) && self.inner.groups_accumulator_supported(args)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match args.return_type() {
            kind @ DataType::Struct(_) => Ok(Box::new(ExtremeRow::new(kind, self.ordering)?)),
            _ => self.inner.accumulator(args),
        }
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        match args.return_type() {
            DataType::Float16 => Ok(Box::new(Groups::<Float16Type>::new(self.ordering))),
            DataType::Float32 => Ok(Box::new(Groups::<Float32Type>::new(self.ordering))),
            DataType::Float64 => Ok(Box::new(Groups::<Float64Type>::new(self.ordering))),
            _ => self.inner.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match args.return_type() {
            DataType::Struct(_) => self.accumulator(args),
            _ => self.inner.create_sliding_accumulator(args),
        }
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner.is_descending()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }

    fn value_from_stats(&self, args: &StatisticsArgs) -> Option<ScalarValue> {
        match args.return_type.is_floating() {
            true => None,
            false => self.inner.value_from_stats(args),
        }
    }
}

/// The order of two floats: NaN is greater than all others, and the zeros are equal.
fn compare<N: PartialOrd>(one: &N, other: &N) -> Ordering {
    // NaN alone is not ordered relative to itself.
    let is_nan = |value: &N| value.partial_cmp(value).is_none();
    one.partial_cmp(other).unwrap_or_else(|| is_nan(one).cmp(&is_nan(other)))
}

/// The extremes of many groups.
struct Groups<T: ArrowPrimitiveType> {
    extremes: Vec<T::Native>,
    /// Whether a group has an extreme yet.
    found: Vec<bool>,
    nulls: NullState,
    ordering: Ordering,
}

impl<T: ArrowPrimitiveType> Groups<T> {
    fn new(ordering: Ordering) -> Self {
        Self { extremes: Vec::new(), found: Vec::new(), nulls: NullState::new(), ordering }
    }
}

impl<T: ArrowPrimitiveType + Send> GroupsAccumulator for Groups<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        n_groups: usize,
    ) -> Result<()> {
        self.extremes.resize(n_groups, T::default_value());
        self.found.resize(n_groups, false);
        let (extremes, found, ordering) = (&mut self.extremes, &mut self.found, self.ordering);
        self.nulls.accumulate(groups, values[0].as_primitive::<T>(), filter, n_groups, |group, value| {
            if !found[group] || compare(&value, &extremes[group]) == ordering {
                found[group] = true;
                extremes[group] = value;
            }
        });
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], n_groups: usize) -> Result<()> {
        self.update_batch(states, groups, None, n_groups)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        emit.take_needed(&mut self.found);
        let (extremes, nulls) = (emit.take_needed(&mut self.extremes), self.nulls.build(emit));
        Ok(Arc::new(PrimitiveArray::<T>::new(extremes.into(), nulls)))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = values[0].as_primitive::<T>();
        let nulls = nulls_of_states(values, filter);
        Ok(vec![Arc::new(PrimitiveArray::<T>::new(values.values().clone(), nulls))])
    }

    fn size(&self) -> usize {
        self.extremes.capacity() * size_of::<T::Native>() + self.found.capacity() + self.nulls.size()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Float64Array;

    use super::*;

    #[test]
    fn nan_is_the_greatest_in_any_order_and_infinity_an_extreme() {
        let values = vec![Some(1.0), Some(f64::NAN), Some(2.0), Some(f64::NEG_INFINITY), Some(-f64::NAN), None];
        let values: ArrayRef = Arc::new(Float64Array::from(values));
        for (ordering, expected) in [
            (Ordering::Less, [Some("1.0"), Some("-inf"), Some("NaN"), None]),
            (Ordering::Greater, [Some("NaN"), Some("-inf"), Some("NaN"), None]),
        ] {
            let new = || Groups::<Float64Type>::new(ordering);
            let (mut first, mut merged) = (new(), new());
            first.update_batch(&[Arc::clone(&values)], &[0, 0, 0, 1, 2, 3], None, 4).unwrap();
            let states = first.state(EmitTo::All).unwrap();
            merged.merge_batch(&states, &[0, 1, 2, 3], 4).unwrap();
            merged.merge_batch(&new().convert_to_state(&states, None).unwrap(), &[0, 1, 2, 3], 4).unwrap();
            let found = merged.evaluate(EmitTo::All).unwrap();
            let found: Vec<_> =
                found.as_primitive::<Float64Type>().iter().map(|it| it.map(|it| format!("{it:?}"))).collect();
            assert_eq!(found, expected.map(|it| it.map(str::to_owned)));
        }
    }
}
