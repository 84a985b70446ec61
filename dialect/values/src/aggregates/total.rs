//! Exact totals of integers and decimals.

use arrow::array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt64Type,
};

/// Numbers whose sums are computed in 128 bits.
pub(crate) trait Summed: ArrowPrimitiveType + Send + Sync {
    /// The sum of the values; `None` where even 128 bits overflow.
    fn total(values: &[Self::Native]) -> Option<i128>;
    fn wide(value: Self::Native) -> i128;
    fn narrow(total: i128, to: &DataType) -> Option<Self::Native>;
}

/// The size of blocks: the sum of so many values fits 64 bits if each is within 2^49.
const BLOCK: usize = 1 << 13;

/// The sum of values by blocks. A step adds a value to a sum of 64 bits, and sets bits above 2^50 if the value is too large
/// for that; a block with such a value is summed in 128 bits.
fn by_blocks<N: Copy>(values: &[N], step: impl Fn(N, &mut i64, &mut u64), wide: impl Fn(N) -> i128) -> i128 {
    let blocks = values.chunks(BLOCK).map(|block| {
        let (mut sum, mut bits) = (0i64, 0u64);
        for &value in block {
            step(value, &mut sum, &mut bits);
        }
        if bits >> 50 == 0 { i128::from(sum) } else { block.iter().map(|&value| wide(value)).sum() }
    });
    blocks.sum()
}

impl Summed for Int64Type {
    fn total(values: &[i64]) -> Option<i128> {
        let step = |value: i64, sum: &mut i64, bits: &mut u64| {
            *sum = sum.wrapping_add(value);
            *bits |= value.wrapping_add(1 << 49) as u64;
        };
        Some(by_blocks(values, step, Self::wide))
    }

    fn wide(value: i64) -> i128 {
        value.into()
    }

    fn narrow(total: i128, _: &DataType) -> Option<i64> {
        total.try_into().ok()
    }
}

impl Summed for UInt64Type {
    fn total(values: &[u64]) -> Option<i128> {
        let step = |value: u64, sum: &mut i64, bits: &mut u64| {
            *sum = sum.wrapping_add(value as i64);
            *bits |= value;
        };
        Some(by_blocks(values, step, Self::wide))
    }

    fn wide(value: u64) -> i128 {
        value.into()
    }

    fn narrow(total: i128, _: &DataType) -> Option<u64> {
        total.try_into().ok()
    }
}

/// Timestamps, as the integers that they are.
macro_rules! as_integers {
    ($($kind:ty),*) => {$(
        impl Summed for $kind {
            fn total(values: &[i64]) -> Option<i128> {
                Int64Type::total(values)
            }

            fn wide(value: i64) -> i128 {
                value.into()
            }

            fn narrow(total: i128, _: &DataType) -> Option<i64> {
                total.try_into().ok()
            }
        }
    )*};
}

as_integers!(TimestampSecondType, TimestampMillisecondType, TimestampMicrosecondType, TimestampNanosecondType);

impl Summed for Decimal128Type {
    fn total(values: &[i128]) -> Option<i128> {
        values.iter().try_fold(0i128, |total, &value| total.checked_add(value))
    }

    fn wide(value: i128) -> i128 {
        value
    }

    fn narrow(total: i128, to: &DataType) -> Option<i128> {
        let digits = match to {
            DataType::Decimal128(digits, _) => *digits,
            _ => DECIMAL128_MAX_PRECISION,
        };
        (total.unsigned_abs() < 10u128.pow(digits.into())).then_some(total)
    }
}

/// The sum of an array's values that are not NULL.
pub(crate) fn total<T: Summed>(values: &PrimitiveArray<T>) -> Option<i128> {
    match values.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => T::total(values.values()),
        Some(nulls) => nulls
            .valid_slices()
            .try_fold(0i128, |sum, (start, end)| sum.checked_add(T::total(&values.values()[start..end])?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_add_up_to_the_literal_sum() {
        for bits in [64, 50, 49, 20] {
            let mixed = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let values: Vec<i64> = (0..20_000).map(|i| mixed(i) as i64 >> (64 - bits)).collect();
            let literal: i128 = values.iter().map(|&value| i128::from(value)).sum();
            assert_eq!(Int64Type::total(&values), Some(literal));
            let values: Vec<u64> = (0..20_000).map(|i| mixed(i) >> (64 - bits)).collect();
            let literal: i128 = values.iter().map(|&value| i128::from(value)).sum();
            assert_eq!(UInt64Type::total(&values), Some(literal));
        }
        // The largest that stay in 64 bits, and the smallest that do not.
        for value in [(1 << 49) - 1, 1 << 49, -(1 << 49), -(1 << 49) - 1, i64::MAX, i64::MIN] {
            assert_eq!(Int64Type::total(&vec![value; BLOCK]), Some(i128::from(value) * BLOCK as i128));
        }
        for value in [(1 << 50) - 1, 1 << 50, u64::MAX] {
            assert_eq!(UInt64Type::total(&vec![value; BLOCK]), Some(i128::from(value) * BLOCK as i128));
        }
    }
}
