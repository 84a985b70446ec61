//! Accumulators of exact totals, which `sum` and `avg` share: they differ in the last step alone.
//!
//! Shows: see `sum.rs`

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Decimal128Array, PrimitiveArray, UInt64Array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Field, FieldRef, UInt64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use datafusion::physical_expr::NullState;

use crate::aggregates::state_nulls::nulls_of_states;
use crate::aggregates::total::{Summed, total};

/// The last step of an aggregate of totals.
pub(crate) trait Finish: Clone + Debug + Send + Sync + 'static {
    /// The type of the values.
    type Of: Summed;
    /// The type of the answers.
    type To: ArrowPrimitiveType;
    /// Whether the number of values is part of the answer, and so of the states.
    const COUNTS: bool;

    /// The type of the answers.
    fn to(&self) -> &DataType;

    /// The digits of totals behind the point.
    fn scale(&self) -> i8;

    /// The answer of a total of `count` values, one or more; of any number if they are not counted.
    ///
    /// # Errors
    /// If it is not within the type of the answers.
    fn finish(&self, total: i128, count: u64) -> Result<<Self::To as ArrowPrimitiveType>::Native>;

    /// The error of a total that not even 128 bits hold.
    fn overflow(&self) -> DataFusionError;

    /// The type of totals.
    fn totals(&self) -> DataType {
        DataType::Decimal128(DECIMAL128_MAX_PRECISION, self.scale())
    }

    /// The columns of states: the count, where there is one, and the total.
    fn state_fields(&self, name: &str) -> Vec<FieldRef> {
        let field = |part, data_type| Arc::new(Field::new(format_state_name(name, part), data_type, true));
        let total = field("sum", self.totals());
        if Self::COUNTS { vec![field("count", DataType::UInt64), total] } else { vec![total] }
    }
}

/// The total of one group, or of a frame from which rows are removed again.
#[derive(Debug)]
pub(crate) struct One<F> {
    total: i128,
    count: u64,
    finish: F,
}

impl<F: Finish> One<F> {
    pub(crate) fn new(finish: F) -> Self {
        Self { total: 0, count: 0, finish }
    }

    fn add(&mut self, sum: Option<i128>) -> Result<()> {
        let total = sum.and_then(|sum| self.total.checked_add(sum));
        self.total = total.ok_or_else(|| self.finish.overflow())?;
        Ok(())
    }
}

impl<F: Finish> Accumulator for One<F> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<F::Of>();
        self.count += (values.len() - values.null_count()) as u64;
        self.add(total(values))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<F::Of>();
        self.count -= (values.len() - values.null_count()) as u64;
        self.add(total(values).and_then(i128::checked_neg))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let totals = states[states.len() - 1].as_primitive::<Decimal128Type>();
        self.count += match F::COUNTS {
            true => states[0].as_primitive::<UInt64Type>().iter().flatten().sum::<u64>(),
            false => (totals.len() - totals.null_count()) as u64,
        };
        self.add(total(totals))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let total = (self.count > 0).then_some(self.total);
        let total = ScalarValue::Decimal128(total, DECIMAL128_MAX_PRECISION, self.finish.scale());
        Ok(if F::COUNTS { vec![ScalarValue::from(self.count), total] } else { vec![total] })
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = match self.count {
            0 => None,
            count => Some(self.finish.finish(self.total, count)?),
        };
        ScalarValue::new_primitive::<F::To>(value, self.finish.to())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The total of distinct values, which DataFusion's accumulator collects.
#[derive(Debug)]
pub(crate) struct Distinct<F> {
    inner: Box<dyn Accumulator>,
    finish: F,
}

impl<F: Finish> Distinct<F> {
    pub(crate) fn new(inner: Box<dyn Accumulator>, finish: F) -> Self {
        Self { inner, finish }
    }
}

impl<F: Finish> Accumulator for Distinct<F> {
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
        let mut one = One::new(self.finish.clone());
        for state in self.inner.state()? {
            if let ScalarValue::List(lists) = state {
                one.update_batch(&[Arc::clone(lists.values())])?;
            }
        }
        one.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}

/// The totals of many groups.
pub(crate) struct Groups<F> {
    totals: Vec<i128>,
    /// The numbers of values; empty where they are not counted.
    counts: Vec<u64>,
    nulls: NullState,
    finish: F,
}

impl<F: Finish> Groups<F> {
    pub(crate) fn new(finish: F) -> Self {
        Self { totals: Vec::new(), counts: Vec::new(), nulls: NullState::new(), finish }
    }

    /// Adds values to the totals of groups, and `count` for each to their counts. Rows that are NULL, or that the filter
    /// drops, add nothing.
    fn add<T: Summed>(
        &mut self,
        values: &PrimitiveArray<T>,
        count: u64,
        groups: &[usize],
        filter: Option<&BooleanArray>,
        n_groups: usize,
    ) -> Result<()> {
        self.totals.resize(n_groups, 0);
        if F::COUNTS {
            self.counts.resize(n_groups, 0);
        }
        let (totals, counts, mut overflown) = (&mut self.totals, &mut self.counts, false);
        self.nulls.accumulate(groups, values, filter, n_groups, |group, value| {
            let (total, over) = totals[group].overflowing_add(T::wide(value));
            totals[group] = total;
            overflown |= over;
            if F::COUNTS {
                counts[group] += count;
            }
        });
        if overflown { Err(self.finish.overflow()) } else { Ok(()) }
    }

    fn states(&self, totals: Vec<i128>, counts: Vec<u64>, nulls: Option<NullBuffer>) -> Vec<ArrayRef> {
        let totals = Arc::new(Decimal128Array::new(totals.into(), nulls).with_data_type(self.finish.totals()));
        if F::COUNTS { vec![Arc::new(UInt64Array::from(counts)), totals] } else { vec![totals] }
    }

    fn take(&mut self, emit: EmitTo) -> (Vec<i128>, Vec<u64>, Option<NullBuffer>) {
        let counts = if F::COUNTS { emit.take_needed(&mut self.counts) } else { Vec::new() };
        (emit.take_needed(&mut self.totals), counts, self.nulls.build(emit))
    }
}

impl<F: Finish> GroupsAccumulator for Groups<F> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        n_groups: usize,
    ) -> Result<()> {
        self.add(values[0].as_primitive::<F::Of>(), 1, groups, filter, n_groups)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], n_groups: usize) -> Result<()> {
        self.add(states[states.len() - 1].as_primitive::<Decimal128Type>(), 0, groups, None, n_groups)?;
        if F::COUNTS {
            let counts = states[0].as_primitive::<UInt64Type>();
            groups.iter().zip(counts.values()).for_each(|(&group, count)| self.counts[group] += count);
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let (totals, counts, nulls) = self.take(emit);
        let is_null = |group| nulls.as_ref().is_some_and(|nulls| nulls.is_null(group));
        let finished = totals.iter().enumerate().map(|(group, &total)| match is_null(group) {
            true => Ok(Default::default()),
            false => self.finish.finish(total, counts.get(group).copied().unwrap_or(1)),
        });
        let values = finished.collect::<Result<Vec<<F::To as ArrowPrimitiveType>::Native>>>()?;
        let answers = PrimitiveArray::<F::To>::new(values.into(), nulls).with_data_type(self.finish.to().clone());
        Ok(Arc::new(answers))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let (totals, counts, nulls) = self.take(emit);
        Ok(self.states(totals, counts, nulls))
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = values[0].as_primitive::<F::Of>();
        let nulls = nulls_of_states(values, filter);
        let counts = match &nulls {
            _ if !F::COUNTS => Vec::new(),
            Some(nulls) => nulls.iter().map(u64::from).collect(),
            None => vec![1; values.len()],
        };
        Ok(self.states(values.values().iter().map(|&value| F::Of::wide(value)).collect(), counts, nulls))
    }

    fn size(&self) -> usize {
        self.totals.capacity() * size_of::<i128>() + self.counts.capacity() * size_of::<u64>() + self.nulls.size()
    }
}
