//! Lengths of intervals, by which intervals are compared: a month is 30 days, a day 24 hours.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/8468>
//! Shows: `SELECT INTERVAL '1 month' = INTERVAL '30 days', INTERVAL '1 month' < INTERVAL '40 days'` gives `true | true`

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

pub(crate) const NANOSECONDS_OF_A_DAY: i128 = 86_400_000_000_000;
pub(crate) const DAYS_OF_A_MONTH: i128 = 30;

/// The length of an interval of months, days and nanoseconds, in nanoseconds.
pub fn interval_length(interval: Expr) -> Expr {
    function().call(vec![interval])
}

/// The function.
pub(crate) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(IntervalLength { signature: Signature::any(1, Volatility::Immutable) })
}

/// The number of nanoseconds of an interval.
pub(crate) fn length(interval: IntervalMonthDayNano) -> i128 {
    let days = i128::from(interval.months) * DAYS_OF_A_MONTH + i128::from(interval.days);
    days * NANOSECONDS_OF_A_DAY + i128::from(interval.nanoseconds)
}

/// The function of the length.
#[derive(Debug, PartialEq, Eq, Hash)]
struct IntervalLength {
    signature: Signature,
}

impl ScalarUDFImpl for IntervalLength {
    fn name(&self) -> &str {
        "interval_length"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let intervals = args.args[0].clone().into_array(args.number_rows)?;
        let lengths = intervals.as_primitive::<IntervalMonthDayNanoType>().unary::<_, Decimal128Type>(length);
        let lengths = lengths.with_precision_and_scale(DECIMAL128_MAX_PRECISION, 0)?;
        Ok(ColumnarValue::Array(Arc::new(lengths)))
    }
}
