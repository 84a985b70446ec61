//! `approx_percentile_cont` and `approx_median`, exact of few values.
//!
//! DataFusion 55 answers from a digest of the values at once: of 70, 70, 80 and 100 the median was 72.5. Here the first
//! values are kept as well, and answer while there are no others.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/21528>
//! Shows: `SELECT approx_median(x) FROM (VALUES (70.0), (70.0), (80.0), (100.0)) AS t(x)` gives `75.0`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::approx_median::approx_median_udaf;
use datafusion::functions_aggregate::approx_percentile_cont::approx_percentile_cont_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl};

use crate::aggregates::inner_aggregate::as_inner_aggregate;
use crate::aggregates::percentile_cont::{at_share, share, type_of};

/// Values up to this number are kept.
const FEW: usize = 1000;

/// The aggregates, in place of DataFusion's of the same names.
pub(crate) fn approximate_quantiles() -> [Arc<AggregateUDF>; 2] {
    [approx_percentile_cont_udaf(), approx_median_udaf()]
        .map(|inner| Arc::new(AggregateUDF::new_from_impl(Approximate { inner })))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Approximate {
    inner: Arc<AggregateUDF>,
}

impl Approximate {
    /// The share of the values below; `None` where the inner aggregate answers for itself.
    fn share(&self, args: &AccumulatorArgs) -> Result<Option<f64>> {
        match self.inner.name() == "approx_median" {
            true => Ok((type_of(args).is_floating() && !args.is_distinct).then_some(0.5)),
            false => share(args),
        }
    }
}

impl AggregateUDFImpl for Approximate {
    as_inner_aggregate!();

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let few = format_state_name(args.name, "few");
        let mut fields = self.inner.state_fields(args)?;
        fields.push(Arc::new(Field::new_list(few, Field::new_list_field(DataType::Float64, true), true)));
        Ok(fields)
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        false
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let share = self.share(&args)?;
        let data_type = args.return_type().clone();
        let inner = self.inner.accumulator(args)?;
        Ok(Box::new(Few { share, data_type, inner, values: share.map(|_| Vec::new()) }))
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner.inner().supports_within_group_clause()
    }
}

/// The quantile of one group.
#[derive(Debug)]
struct Few {
    share: Option<f64>,
    data_type: DataType,
    inner: Box<dyn Accumulator>,
    /// All values, unless there are more than [`FEW`].
    values: Option<Vec<f64>>,
}

impl Few {
    /// More values; `None` if they are not known.
    fn keep(&mut self, more: Option<&ArrayRef>) -> Result<()> {
        let Some(values) = &mut self.values else { return Ok(()) };
        let more = more.filter(|more| values.len() + more.len() - more.null_count() <= FEW);
        match more {
            Some(more) => {
                values.extend(cast(more, &DataType::Float64)?.as_primitive::<Float64Type>().iter().flatten());
            }
            None => self.values = None,
        }
        Ok(())
    }
}

impl Accumulator for Few {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.keep(Some(&values[0]))?;
        self.inner.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some((few, inner)) = states.split_last() else { return Ok(()) };
        few.as_list::<i32>().iter().try_for_each(|values| self.keep(values.as_ref()))?;
        self.inner.merge_batch(inner)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut state = self.inner.state()?;
        state.push(match &self.values {
            Some(values) => {
                let values: Vec<ScalarValue> = values.iter().copied().map(ScalarValue::from).collect();
                ScalarValue::List(ScalarValue::new_list_nullable(&values, &DataType::Float64))
            }
            None => ScalarValue::new_null_list(DataType::Float64, true, 1),
        });
        Ok(state)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match (&mut self.values, self.share) {
            (Some(values), Some(share)) => ScalarValue::Float64(at_share(values, share)).cast_to(&self.data_type),
            _ => self.inner.evaluate(),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.as_ref().map_or(0, |values| 8 * values.capacity()) + self.inner.size()
    }
}
