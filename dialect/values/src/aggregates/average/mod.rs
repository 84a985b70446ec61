//! `avg` of decimals: the exact total divided once, and rounded half away from zero in its last digit. DataFusion's
//! truncates. And `avg` of intervals, dates and timestamps.
//!
//! Upstream: none known
//! Shows: `SELECT avg(x::decimal(10, 0)) FROM (VALUES (0), (1), (1)) AS t(x)` gives `0.6667`

pub(crate) mod interval_average;
pub(crate) mod moment_average;

use std::fmt::Debug;
use std::sync::Arc;

use arrow::datatypes::{
    DataType, Decimal128Type, FieldRef, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, i256,
};
use bonnet_common::{ErrorKind, Raised};
use datafusion::common::{DataFusionError, Result, internal_err, plan_err};
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Coercion, Documentation, GroupsAccumulator, ReversedUDAF, Signature,
    TypeSignature, TypeSignatureClass,
};

use crate::aggregates::average::interval_average::IntervalAverage;
use crate::aggregates::average::moment_average::{Moments, of_moments};
use crate::aggregates::exact_accumulators::{Distinct, Finish, Groups, One};
use crate::aggregates::inner_aggregate::moments;
use crate::aggregates::sliding_aggregates::SlidingFloats;
use crate::names::type_names::sql_name;
use crate::times::moments::INTERVAL;

/// The aggregate, in place of DataFusion's of the same name.
pub(crate) fn avg() -> Arc<AggregateUDF> {
    let inner = avg_udaf();
    let mut signature = inner.signature().clone();
    if let TypeSignature::OneOf(kinds) = &mut signature.type_signature {
        kinds.push(TypeSignature::Coercible(vec![Coercion::new_exact(TypeSignatureClass::Interval)]));
        kinds.push(moments());
    }
    Arc::new(AggregateUDF::new_from_impl(Average { inner, signature }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Average {
    /// DataFusion's average, which serves floats and durations.
    inner: Arc<AggregateUDF>,
    /// That of DataFusion's, intervals, dates and timestamps.
    signature: Signature,
}

/// The last step of `avg`: the division, by the digits of values and averages.
#[derive(Debug, Clone)]
struct Digits {
    /// The digits of the values behind the point.
    scale: i8,
    /// The type of the average, which has more digits.
    to: DataType,
}

impl Digits {
    /// The digits of an average of decimals of up to 38 digits; `None` for other types.
    fn of(values: &DataType, to: &DataType) -> Option<Self> {
        match (values, to) {
            (DataType::Decimal128(_, scale), DataType::Decimal128(..)) => Some(Self { scale: *scale, to: to.clone() }),
            _ => None,
        }
    }

    fn of_call(args: &AccumulatorArgs) -> Option<Self> {
        Self::of(args.expr_fields[0].data_type(), args.return_type())
    }

    /// The average of `count` values, one or more.
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
        average.ok_or_else(|| self.beyond("average"))
    }

    fn beyond(&self, what: &str) -> DataFusionError {
        let to = sql_name(&self.to);
        let text = format!("overflow: the {what} of avg is not within {to}; CAST the values AS DOUBLE");
        Raised::new(ErrorKind::OutOfRange, text).into()
    }
}

impl Finish for Digits {
    type Of = Decimal128Type;
    type To = Decimal128Type;
    const COUNTS: bool = true;

    fn to(&self) -> &DataType {
        &self.to
    }

    fn scale(&self) -> i8 {
        self.scale
    }

    fn finish(&self, total: i128, count: u64) -> Result<i128> {
        self.divide(total, count)
    }

    fn overflow(&self) -> DataFusionError {
        self.beyond("total")
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
        &self.signature
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        match given {
            [DataType::Interval(_)] => Ok(INTERVAL),
            [moment @ DataType::Timestamp(..)] => Ok(moment.clone()),
            _ => self.inner.return_type(given),
        }
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(given)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let digits = Digits::of_call(&args);
        let distinct = args.is_distinct;
        refuse_distinct(distinct, args.return_type())?;
        let to = args.return_type().clone();
        match digits {
            None if !distinct && *args.return_type() == INTERVAL => Ok(Box::<IntervalAverage>::default()),
            Some(digits) if distinct => Ok(Box::new(Distinct::new(self.inner.accumulator(args)?, digits))),
            Some(digits) => Ok(Box::new(One::new(digits))),
            None => Ok(of_moments!(&to, self.inner.accumulator(args)?, |finish| Box::new(One::new(finish)))),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        match Digits::of(args.input_fields[0].data_type(), args.return_type()) {
            None if !args.is_distinct && *args.return_type() == INTERVAL => {
                Ok(interval_average::state_fields(args.name))
            }
            Some(digits) if !args.is_distinct => Ok(digits.state_fields(args.name)),
            _ => {
                refuse_distinct(args.is_distinct, args.return_type())?;
                let to = args.return_type().clone();
                Ok(of_moments!(&to, self.inner.state_fields(args)?, |finish| finish.state_fields(args.name)))
            }
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        matches!(args.return_type(), DataType::Timestamp(..)) && !args.is_distinct
            || *args.return_type() != INTERVAL && self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        match Digits::of_call(&args) {
            Some(digits) => Ok(Box::new(Groups::new(digits))),
            None => {
                let to = args.return_type().clone();
                Ok(of_moments!(&to, self.inner.create_groups_accumulator(args)?, |finish| {
                    Box::new(Groups::new(finish))
                }))
            }
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match Digits::of_call(&args) {
            Some(digits) if !args.is_distinct => Ok(Box::new(One::new(digits))),
            None if !args.is_distinct && *args.return_type() == INTERVAL => Ok(Box::<IntervalAverage>::default()),
            None if !args.is_distinct && *args.expr_fields[0].data_type() == DataType::Float64 => {
                Ok(Box::new(SlidingFloats::mean()))
            }
            _ => {
                refuse_distinct(args.is_distinct, args.return_type())?;
                let to = args.return_type().clone();
                Ok(of_moments!(&to, self.inner.create_sliding_accumulator(args)?, |finish| Box::new(One::new(finish))))
            }
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

fn refuse_distinct(is_distinct: bool, of: &DataType) -> Result<()> {
    match is_distinct && matches!(of, DataType::Timestamp(..)) {
        true => plan_err!("avg(DISTINCT ...) takes no dates or timestamps: avg over a subquery with SELECT DISTINCT"),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, AsArray, Decimal128Array};
    use datafusion::common::ScalarValue;
    use datafusion::logical_expr::EmitTo;

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
        let mut whole = One::new(digits(2, 14, 6));
        whole.update_batch(&[Arc::clone(&values)]).unwrap();
        // (1.50 - 2.25 + 100.01) / 3 = 33.0866...
        assert_eq!(whole.evaluate().unwrap(), ScalarValue::Decimal128(Some(33_086_667), 14, 6));
        let new = || Groups::new(digits(2, 14, 6));
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
