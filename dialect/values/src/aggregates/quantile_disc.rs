//! `quantile_disc(value, q)`: a quantile that is one of the values.
//!
//! Upstream: none known
//! Shows: `SELECT quantile_disc(x, 0.5) FROM (VALUES (1), (2), (10)) AS t(x)` gives `2`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{SortOptions, cast, concat, is_not_null, sort_to_indices};
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use bonnet_sql::{Body, Function, Parameter, execution_error};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

/// The registration of `quantile_disc`.
pub(crate) fn quantile_disc() -> Function {
    let signature = Signature::any(2, Volatility::Immutable);
    let body = AggregateUDF::new_from_impl(QuantileDisc { signature });
    Function::new("quantile_disc", Body::NativeAggregate(Arc::new(body)))
        .parameters([
            Parameter::column("value", "A value of any type that can be ordered."),
            Parameter::column("q", "The share of values up to the quantile, from 0 to 1, the same for all rows."),
        ])
        .returns("the type of value")
        .description(
            "The smallest value up to which at least the share q of the values lies; also quantile(value, q). The one between \
             values is quantile_cont. NULLs do not count; NULL without values. It holds and sorts all values.",
        )
        .example("SELECT quantile_disc(x, 0.5) FROM (VALUES (1), (2), (3), (10)) t(x)")
        .source("DuckDB, aggregate functions")
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct QuantileDisc {
    signature: Signature,
}

impl AggregateUDFImpl for QuantileDisc {
    fn name(&self) -> &str {
        "quantile_disc"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(given[0].clone())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Values { values: Vec::new(), bytes: 0, share: None, data_type: args.return_type().clone() }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let values = Field::new_list_field(args.return_type().clone(), true);
        Ok(vec![
            Arc::new(Field::new_list(format!("{}[values]", args.name), values, true)),
            Arc::new(Field::new(format!("{}[q]", args.name), DataType::Float64, true)),
        ])
    }
}

#[derive(Debug)]
struct Values {
    /// The values so far, without NULLs.
    values: Vec<ArrayRef>,
    bytes: usize,
    share: Option<f64>,
    data_type: DataType,
}

impl Values {
    fn add(&mut self, values: ArrayRef) -> Result<()> {
        if !values.is_empty() {
            // A part of a batch shares its memory with others.
            self.bytes += values.to_data().get_slice_memory_size()?;
            self.values.push(values);
        }
        Ok(())
    }

    fn all(&self) -> Result<ArrayRef> {
        let parts: Vec<&dyn Array> = self.values.iter().map(|part| part.as_ref()).collect();
        match parts.is_empty() {
            true => Ok(arrow::array::new_empty_array(&self.data_type)),
            false => Ok(concat(&parts)?),
        }
    }

    fn take_share(&mut self, shares: &ArrayRef) -> Result<()> {
        let shares = cast(shares, &DataType::Float64)?;
        for share in shares.as_primitive::<Float64Type>().iter().flatten() {
            if !(0.0..=1.0).contains(&share) {
                return Err(execution_error(format!("quantile_disc: q is {share}; it is a share from 0 to 1")));
            }
            if *self.share.get_or_insert(share) != share {
                return Err(execution_error(
                    "quantile_disc: q differs between rows; it is one share for all of them".to_owned(),
                ));
            }
        }
        Ok(())
    }
}

impl Accumulator for Values {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.take_share(&values[1])?;
        self.add(arrow::compute::filter(&values[0], &is_not_null(&values[0])?)?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.take_share(&states[1])?;
        let lists = states[0].as_list::<i32>();
        (0..lists.len()).try_for_each(|row| self.add(lists.value(row)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = self.all()?;
        self.values.clear();
        self.bytes = 0;
        Ok(vec![SingleRowListArrayBuilder::new(values).build_list_scalar(), ScalarValue::Float64(self.share)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let values = self.all()?;
        let Some(share) = self.share.filter(|_| !values.is_empty()) else {
            return ScalarValue::try_from(&self.data_type);
        };
        let place = ((share * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1;
        let order = sort_to_indices(&values, Some(SortOptions::default()), Some(place + 1))?;
        ScalarValue::try_from_array(&values, order.value(place) as usize)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes + size_of_val(self.values.as_slice())
    }
}
