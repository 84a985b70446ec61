//! Shifts of integers, as in DuckDB: bits that `<<` would lose, and a count below 0, are errors; `>>` by a count out of range
//! answers 0. DataFusion 55 takes the count modulo the width of the type.
//!
//! Upstream: <https://github.com/apache/arrow-rs/pull/4148>
//! Shows: `SELECT x >> 64 FROM (VALUES (1::bigint)) AS t(x)` gives `0`
//! Shows: `SELECT x << 64 FROM (VALUES (1::bigint)) AS t(x)` is refused

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, AsArray, Datum, PrimitiveArray, new_null_array,
};
use arrow::compute::kernels::arity::try_binary;
use arrow::datatypes::{
    DataType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::error::ArrowError;
use bonnet_common::{ErrorKind, Raised};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr_common::datum::apply;

use crate::names::type_names::sql_name;

/// The shift of one integer by another of the same type.
pub(crate) fn shift(operator: Operator, left: &ColumnarValue, right: &ColumnarValue) -> Result<ColumnarValue> {
    let shifted = apply(left, right, |left, right| shift_datum(operator, left, right));
    shifted.map_err(|error| match error {
        DataFusionError::ArrowError(inner, trace) => match *inner {
            ArrowError::ComputeError(text) => DataFusionError::Execution(text),
            ArrowError::ExternalError(inner) => DataFusionError::External(inner),
            other => DataFusionError::ArrowError(Box::new(other), trace),
        },
        other => other,
    })
}

fn shift_datum(operator: Operator, left: &dyn Datum, right: &dyn Datum) -> Result<ArrayRef, ArrowError> {
    macro_rules! of_type {
        ($kind:ty) => {
            each::<$kind>(left, right, |value, count| {
                let bits = 8 * size_of::<<$kind as ArrowPrimitiveType>::Native>() as i128;
                let to = i128::from(value);
                let count = i128::from(count);
                let shifted = match operator {
                    Operator::BitwiseShiftRight if (0..bits).contains(&count) => Some(to >> count),
                    Operator::BitwiseShiftRight => Some(0),
                    _ if count < 0 => {
                        return Err(ArrowError::ComputeError(format!("{to} << {count}: the count is negative")));
                    }
                    _ if to == 0 => Some(0),
                    _ => (count < bits).then(|| to << count),
                };
                let fits = shifted.and_then(|shifted| shifted.try_into().ok());
                fits.ok_or_else(|| {
                    let within = sql_name(&<$kind as ArrowPrimitiveType>::DATA_TYPE);
                    let text = format!("overflow: {to} << {count} is not within {within}");
                    DataFusionError::from(Raised::new(ErrorKind::OutOfRange, text)).into()
                })
            })
        };
    }
    match left.get().0.data_type() {
        DataType::Int8 => of_type!(Int8Type),
        DataType::Int16 => of_type!(Int16Type),
        DataType::Int32 => of_type!(Int32Type),
        DataType::Int64 => of_type!(Int64Type),
        DataType::UInt8 => of_type!(UInt8Type),
        DataType::UInt16 => of_type!(UInt16Type),
        DataType::UInt32 => of_type!(UInt32Type),
        DataType::UInt64 => of_type!(UInt64Type),
        other => Err(ArrowError::InvalidArgumentError(format!("{operator} shifts integers, not {other}"))),
    }
}

/// The values of rows, where either side may be one value for all of them.
fn each<T: ArrowPrimitiveType>(
    left: &dyn Datum,
    right: &dyn Datum,
    shift: impl Fn(T::Native, T::Native) -> Result<T::Native, ArrowError>,
) -> Result<ArrayRef, ArrowError>
where
    T::Native: ArrowNativeTypeOp,
{
    let ((left, one_left), (right, one_right)) = (left.get(), right.get());
    let (left, right) = (left.as_primitive::<T>(), right.as_primitive::<T>());
    let shifted: PrimitiveArray<T> = match (one_left, one_right) {
        (true, false) if left.is_null(0) => return Ok(new_null_array(&T::DATA_TYPE, right.len())),
        (false, true) if right.is_null(0) => return Ok(new_null_array(&T::DATA_TYPE, left.len())),
        (true, false) => {
            let value = left.value(0);
            right.try_unary(|count| shift(value, count))?
        }
        (false, true) => {
            let count = right.value(0);
            left.try_unary(|value| shift(value, count))?
        }
        _ => try_binary(left, right, shift)?,
    };
    Ok(Arc::new(shifted))
}

#[cfg(test)]
mod tests {
    use datafusion::common::ScalarValue;

    use super::*;

    #[test]
    fn bits_that_are_lost_are_an_error_and_a_wide_shift_to_the_right_is_zero() {
        let of = |operator, value, count| {
            let [value, count] = [value, count].map(|it| ColumnarValue::Scalar(ScalarValue::Int64(Some(it))));
            match shift(operator, &value, &count) {
                Ok(ColumnarValue::Scalar(ScalarValue::Int64(shifted))) => shifted,
                _ => None,
            }
        };
        let (left, right) = (Operator::BitwiseShiftLeft, Operator::BitwiseShiftRight);
        for (value, count, expected) in [
            (1, 62, Some(1 << 62)),
            (-1, 63, Some(i64::MIN)),
            (0, 64, Some(0)),
            (1, 63, None),
            (1, 64, None),
            (1, -1, None),
        ] {
            assert_eq!(of(left, value, count), expected, "{value} << {count}");
        }
        for (value, count, expected) in [(-8, 1, -4), (1, 64, 0), (-8, 64, 0), (1, -1, 0)] {
            assert_eq!(of(right, value, count), Some(expected), "{value} >> {count}");
        }
    }
}
