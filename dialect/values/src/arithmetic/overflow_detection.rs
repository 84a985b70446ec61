//! Overflow detection within the pass that computes sums, differences and products of signed integers and decimals: a loop
//! without branches that sets flags where a result may be wrong. Arrow's checked kernels branch on each value, which takes
//! twice as long.
//!
//! Shows: see `operators.rs`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, Datum, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type};
use bonnet_graph::compiled_for_each_isa;
use bonnet_graph::isa::Isa;
use datafusion::logical_expr::Operator;

/// The results, of the type `to`; `None` if one of them may have overflowed, so that the caller has to check each.
pub(crate) fn compute(operator: Operator, left: &dyn Datum, right: &dyn Datum, to: &DataType) -> Option<ArrayRef> {
    match left.get().0.data_type() {
        DataType::Decimal128(_, scale) => decimals(operator, (left, *scale), right, to),
        DataType::Int8 => integers::<Int8Type>(operator, left, right),
        DataType::Int16 => integers::<Int16Type>(operator, left, right),
        DataType::Int32 => integers::<Int32Type>(operator, left, right),
        DataType::Int64 => integers::<Int64Type>(operator, left, right),
        _ => None,
    }
}

/// Bits that the operations of a pass set, by which an overflow shows.
#[derive(Clone, Copy, Default)]
struct OverflowBits<N>(N, N);

/// Signed integers.
trait Signed: Copy + Default {
    fn add(self, other: Self, flags: &mut OverflowBits<Self>) -> Self;
    fn subtract(self, other: Self, flags: &mut OverflowBits<Self>) -> Self;
    fn multiply(self, other: Self, flags: &mut OverflowBits<Self>) -> Self;
    /// Whether no sum or difference overflowed.
    fn sums_fit(flags: OverflowBits<Self>) -> bool;
    /// Whether no product can have overflowed. The flags tell the highest bit of a factor that differs from the next, by
    /// which the factor is bounded.
    fn products_fit(flags: OverflowBits<Self>) -> bool;
}

macro_rules! signed {
    ($($native:ty),*) => {$(
        impl Signed for $native {
            #[inline(always)]
            fn add(self, other: Self, flags: &mut OverflowBits<Self>) -> Self {
                let sum = self.wrapping_add(other);
                flags.0 |= (self ^ sum) & (other ^ sum);
                sum
            }

            #[inline(always)]
            fn subtract(self, other: Self, flags: &mut OverflowBits<Self>) -> Self {
                let difference = self.wrapping_sub(other);
                flags.0 |= (self ^ other) & (self ^ difference);
                difference
            }

            #[inline(always)]
            fn multiply(self, other: Self, flags: &mut OverflowBits<Self>) -> Self {
                flags.0 |= self ^ (self << 1);
                flags.1 |= other ^ (other << 1);
                self.wrapping_mul(other)
            }

            fn sums_fit(flags: OverflowBits<Self>) -> bool {
                flags.0 >= 0
            }

            fn products_fit(flags: OverflowBits<Self>) -> bool {
                let power = |bits: Self| Self::BITS.saturating_sub(1 + bits.leading_zeros());
                power(flags.0) + power(flags.1) <= Self::BITS - 2
            }
        }
    )*};
}

signed!(i8, i16, i32, i64);

fn integers<T: ArrowPrimitiveType>(operator: Operator, left: &dyn Datum, right: &dyn Datum) -> Option<ArrayRef>
where
    T::Native: Signed,
{
    let results = match operator {
        Operator::Plus => pass::<T, _>(left, right, T::Native::add, T::Native::sums_fit),
        Operator::Minus => pass::<T, _>(left, right, T::Native::subtract, T::Native::sums_fit),
        Operator::Multiply => pass::<T, _>(left, right, T::Native::multiply, T::Native::products_fit),
        _ => None,
    }?;
    Some(Arc::new(results))
}

/// The results of decimals whose scales need no adjustment.
fn decimals(operator: Operator, left: (&dyn Datum, i8), right: &dyn Datum, to: &DataType) -> Option<ArrayRef> {
    let (left, left_scale) = left;
    let (DataType::Decimal128(_, right_scale), DataType::Decimal128(_, scale)) = (right.get().0.data_type(), to) else {
        return None;
    };
    let equal = left_scale == *right_scale && left_scale == *scale;
    let results = match operator {
        Operator::Plus if equal => decimal_sums(left, right, i128::wrapping_add, |right| right),
        Operator::Minus if equal => decimal_sums(left, right, i128::wrapping_sub, |right| !right),
        // The product of two numbers of 64 bits is at most 2^126, which has 38 digits.
        Operator::Multiply if left_scale.checked_add(*right_scale) == Some(*scale) => pass::<Decimal128Type, _>(
            left,
            right,
            |left, right, flags| {
                *flags |= beyond_64_bits(left) | beyond_64_bits(right);
                i128::from(left as i64) * i128::from(right as i64)
            },
            |flags: i64| flags == 0,
        ),
        _ => return None,
    }?;
    Some(Arc::new(results.with_data_type(to.clone())))
}

/// The sums, or the differences: those overflow where the sum with the complement of the right side does.
fn decimal_sums(
    left: &dyn Datum,
    right: &dyn Datum,
    compute: impl Fn(i128, i128) -> i128,
    summand: impl Fn(i128) -> i128,
) -> Option<PrimitiveArray<Decimal128Type>> {
    let step = |left, right, flags: &mut i64| {
        let result = compute(left, right);
        *flags |= overflow(left, summand(right), result) | bits(result);
        result
    };
    pass(left, right, step, has_digits_left)
}

/// All bits if a sum has overflowed, none otherwise.
#[inline(always)]
fn overflow(left: i128, right: i128, sum: i128) -> i64 {
    (((left ^ sum) & (right ^ sum)) >> 127) as i64
}

/// The upper half of the bits of a number, without its sign.
#[inline(always)]
fn bits(value: i128) -> i64 {
    ((value ^ (value >> 127)) >> 64) as i64
}

/// Not 0 if a number has more than 64 bits.
#[inline(always)]
fn beyond_64_bits(value: i128) -> i64 {
    (value >> 64) as i64 ^ (value as i64 >> 63)
}

/// Whether no value has more than 126 bits, and so none more than 38 digits.
fn has_digits_left(flags: i64) -> bool {
    (flags as u64) >> 62 == 0
}

/// A side of an operation.
#[derive(Clone, Copy)]
enum Operand<'a, N> {
    Column(&'a [N]),
    Constant(N),
}

/// The results of a loop over both operands, if its flags `fit`; `None` otherwise, and where a constant is NULL.
fn pass<T: ArrowPrimitiveType, S: Default>(
    left: &dyn Datum,
    right: &dyn Datum,
    step: impl Fn(T::Native, T::Native, &mut S) -> T::Native,
    fit: impl Fn(S) -> bool,
) -> Option<PrimitiveArray<T>> {
    let ((left, left_is_scalar), (right, right_is_scalar)) = (left.get(), right.get());
    let (left, right) = (left.as_primitive_opt::<T>()?, right.as_primitive_opt::<T>()?);
    let constant = |array: &PrimitiveArray<T>| array.is_valid(0).then(|| Operand::Constant(array.value(0)));
    let (operands, nulls) = match (left_is_scalar, right_is_scalar) {
        (false, false) if left.len() == right.len() => (
            (Operand::Column(left.values()), Operand::Column(right.values())),
            NullBuffer::union(left.nulls(), right.nulls()),
        ),
        (false, true) => ((Operand::Column(left.values()), constant(right)?), left.nulls().cloned()),
        (true, false) => ((constant(left)?, Operand::Column(right.values())), right.nulls().cloned()),
        _ => return None,
    };
    let mut values = Vec::with_capacity(left.len().max(right.len()));
    let mut flags = S::default();
    each(Isa::detect(), operands, step, &mut flags, &mut values);
    fit(flags).then(|| PrimitiveArray::<T>::new(values.into(), nulls))
}

compiled_for_each_isa! {
    fn each[N: Copy, S](
        operands: (Operand<N>, Operand<N>),
        step: impl Fn(N, N, &mut S) -> N,
        flags: &mut S,
        values: &mut Vec<N>,
    ) = every_value
}

#[inline(always)]
fn every_value<N: Copy, S>(
    operands: (Operand<N>, Operand<N>),
    step: impl Fn(N, N, &mut S) -> N,
    flags: &mut S,
    values: &mut Vec<N>,
) {
    match operands {
        (Operand::Column(left), Operand::Column(right)) => {
            values.extend(left.iter().zip(right).map(|(&left, &right)| step(left, right, flags)));
        }
        (Operand::Column(left), Operand::Constant(right)) => {
            values.extend(left.iter().map(|&left| step(left, right, flags)));
        }
        (Operand::Constant(left), Operand::Column(right)) => {
            values.extend(right.iter().map(|&right| step(left, right, flags)));
        }
        (Operand::Constant(left), Operand::Constant(right)) => values.push(step(left, right, flags)),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Decimal128Array, Int8Array, Scalar};

    use super::*;

    #[test]
    fn every_pair_of_bytes_is_right_or_flagged() {
        for left in i8::MIN..=i8::MAX {
            for right in i8::MIN..=i8::MAX {
                let byte = DataType::Int8;
                let (a, b) = (Int8Array::from(vec![left]), Int8Array::from(vec![right]));
                for (operator, literal) in [
                    (Operator::Plus, left.checked_add(right)),
                    (Operator::Minus, left.checked_sub(right)),
                    (Operator::Multiply, left.checked_mul(right)),
                ] {
                    let scalar = Scalar::new(b.clone());
                    for found in
                        [compute(operator, &a, &b, &byte), compute(operator, &a, &scalar, &byte)].into_iter().flatten()
                    {
                        assert_eq!(
                            Some(found.as_primitive::<Int8Type>().value(0)),
                            literal,
                            "{left} {operator} {right}"
                        );
                    }
                }
                // Sums are flagged only where they overflow.
                assert_eq!(compute(Operator::Plus, &a, &b, &byte).is_some(), left.checked_add(right).is_some());
            }
        }
    }

    /// Pairs near the limits, compared with Arrow's kernels and a check of every value.
    #[test]
    fn every_pair_of_decimals_is_right_or_flagged() {
        let limit = 10i128.pow(38) - 1;
        let near = [0, 1, 7, i128::from(i64::MAX), 1 << 64, 1 << 126, limit / 2, limit - 1, limit, i128::MAX];
        let values: Vec<i128> = near.iter().flat_map(|&value| [value, -value, !value, value / 3]).collect();
        let one = |value: i128, scale| Decimal128Array::from(vec![value]).with_precision_and_scale(38, scale).unwrap();
        let mut computed = 0;
        for (&left, &right) in values.iter().flat_map(|left| values.iter().map(move |right| (left, right))) {
            for (operator, scale, literal) in [
                (Operator::Plus, 2, left.checked_add(right)),
                (Operator::Minus, 2, left.checked_sub(right)),
                (Operator::Multiply, 4, left.checked_mul(right)),
            ] {
                let to = DataType::Decimal128(38, scale);
                let (a, b) = (one(left, 2), one(right, 2));
                let scalar = Scalar::new(b.clone());
                for found in [compute(operator, &a, &b, &to), compute(operator, &a, &scalar, &to)].into_iter().flatten()
                {
                    assert_eq!(found.data_type(), &to);
                    let value = found.as_primitive::<Decimal128Type>().value(0);
                    assert_eq!(Some(value), literal, "{left} {operator} {right}");
                    assert!(value.unsigned_abs() <= limit as u128, "{left} {operator} {right}");
                    computed += 1;
                }
            }
        }
        assert!(computed > 1000, "{computed}");
        // Digits that would have to be shifted are not computed here.
        assert!(compute(Operator::Plus, &one(1, 2), &one(1, 3), &DataType::Decimal128(38, 3)).is_none());
    }
}
