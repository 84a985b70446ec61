//! `percentile_cont` and `quantile_cont` with their whole weight between two values.
//!
//! DataFusion 55 cuts the weight after its sixth digit: of 1, 2, 3 and 4 the quantile at 0.3 is 1.899999 there. Its accumulators hold
//! all values; here the answer is computed from these.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/25266>
//! Shows: `SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY x) FROM (VALUES (1.0), (2.0), (3.0), (4.0)) AS t(x)` gives `1.9`

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::percentile_cont::percentile_cont_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator};
use datafusion::physical_expr::expressions::Literal;

use crate::aggregates::inner_aggregate::{as_inner_aggregate, with_inner_states};

/// The aggregate, in place of DataFusion's of the same name.
pub(crate) fn percentile_cont() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(PercentileCont { inner: percentile_cont_udaf() }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PercentileCont {
    inner: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for PercentileCont {
    as_inner_aggregate!();
    with_inner_states!();

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(match share(&args)? {
            Some(share) => Box::new(Exact { share, data_type: type_of(&args), inner: self.inner.accumulator(args)? }),
            None => self.inner.accumulator(args)?,
        })
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(match share(&args)? {
            Some(share) => {
                let data_type = type_of(&args);
                Box::new(ExactGroups { share, data_type, inner: self.inner.create_groups_accumulator(args)? })
            }
            None => self.inner.create_groups_accumulator(args)?,
        })
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match args.is_distinct {
            // How often a value is in the frame is no part of the state.
            true => self.inner.create_sliding_accumulator(args),
            false => self.accumulator(args),
        }
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.inner.simplify()
    }

    fn supports_within_group_clause(&self) -> bool {
        true
    }
}

pub(crate) fn type_of(args: &AccumulatorArgs) -> DataType {
    args.expr_fields[0].data_type().clone()
}

/// The share of the values below, by ascending order; `None` where the inner aggregate answers, with an error or NULL.
pub(crate) fn share(args: &AccumulatorArgs) -> Result<Option<f64>> {
    let Some(literal) = args.exprs.get(1).and_then(|expr| expr.downcast_ref::<Literal>()) else { return Ok(None) };
    if !type_of(args).is_floating() {
        return Ok(None);
    }
    let ScalarValue::Float64(Some(share)) = literal.value().cast_to(&DataType::Float64)? else { return Ok(None) };
    let descending = args.order_bys.first().is_some_and(|order| order.options.descending);
    Ok((0.0..=1.0).contains(&share).then_some(if descending { 1.0 - share } else { share }))
}

/// The value at a share of sorted values, between two of them by their distance (Hyndman and Fan 1996, definition 7).
pub(crate) fn at_share(values: &mut [f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = (place.floor() as usize).min(last);
    let weight = place - below as f64;
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    if weight == 0.0 {
        return Some(low);
    }
    let high = above.iter().copied().min_by(f64::total_cmp)?;
    Some(if low == high { low } else { low + (high - low) * weight })
}

/// Of each list, the value at a share.
fn of_lists(lists: &ArrayRef, share: f64, data_type: &DataType) -> Result<ArrayRef> {
    let lists = lists.as_list::<i32>();
    let values = cast(lists.values(), &DataType::Float64)?;
    let mut values = values.as_primitive::<Float64Type>().values().to_vec();
    let ranges = lists.value_offsets().windows(2);
    let answers: Float64Array =
        ranges.map(|range| at_share(&mut values[range[0] as usize..range[1] as usize], share)).collect();
    Ok(cast(&answers, data_type)?)
}

#[derive(Debug)]
struct Exact {
    share: f64,
    data_type: DataType,
    inner: Box<dyn Accumulator>,
}

impl Accumulator for Exact {
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
        let state = self.inner.state()?.iter().map(ScalarValue::to_array).collect::<Result<Vec<_>>>()?;
        let answer = of_lists(&state[0], self.share, &self.data_type)?;
        // A frame goes on with its values, which the state has taken.
        self.inner.merge_batch(&state)?;
        ScalarValue::try_from_array(&answer, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }
}

struct ExactGroups {
    share: f64,
    data_type: DataType,
    inner: Box<dyn GroupsAccumulator>,
}

impl GroupsAccumulator for ExactGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.inner.update_batch(values, groups, filter, count)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        of_lists(&self.inner.state(emit_to)?[0], self.share, &self.data_type)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.inner.state(emit_to)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.inner.merge_batch(states, groups, count)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.inner.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        self.inner.size()
    }
}

#[cfg(test)]
mod tests {
    use super::at_share;

    #[test]
    fn quantiles_lie_between_values_by_their_whole_weight() {
        let values = || [4.0, 1.0, 3.0, 2.0];
        for (share, expected) in [(0.0, 1.0), (0.3, 1.0 + 0.3 * 3.0), (0.5, 2.5), (1.0, 4.0)] {
            assert_eq!(at_share(&mut values(), share), Some(expected), "{share}");
        }
        assert_eq!(at_share(&mut [], 0.5), None);
        assert_eq!(at_share(&mut [f64::INFINITY, f64::INFINITY, 0.0], 0.9), Some(f64::INFINITY));
        assert_eq!(at_share(&mut [7.0], 0.123), Some(7.0));
    }
}
