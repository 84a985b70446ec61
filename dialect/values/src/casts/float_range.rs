//! The range of FLOAT.

use arrow::array::Float64Array;
use bonnet_common::raise;
use datafusion::common::Result;

/// Whether a finite number is beyond the range of FLOAT.
pub(crate) fn is_beyond_float(value: f64) -> bool {
    value.is_finite() && (value as f32).is_infinite()
}

/// Fails where a number is beyond FLOAT, and says what to do about it.
pub(crate) fn check_within_float(values: &Float64Array, remedy: &str) -> Result<()> {
    match values.iter().flatten().find(|value| is_beyond_float(*value)) {
        Some(first) => raise!(OutOfRange, "{first:e} is out of range for FLOAT: {remedy}"),
        None => Ok(()),
    }
}
