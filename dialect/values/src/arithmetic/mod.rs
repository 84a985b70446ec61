//! Arithmetic: operators whose overflow is an error, shifts and bits of integers, rounding.

pub(crate) mod bit_operands;
pub(crate) mod even;
pub(crate) mod finite;
pub(crate) mod operators;
pub(crate) mod overflow_detection;
pub(crate) mod quotient;
pub(crate) mod rounded_digits;
pub(crate) mod shifts;
pub(crate) mod whole_decimals;
