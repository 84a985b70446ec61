//! Sums, differences and products of signed integers whose overflow is noticed in the same pass: a vector loop without
//! branches that raises an alarm where a result may be wrong. Arrow's checked kernels look at each value, which takes twice
//! as long.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, Datum, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Int8Type, Int16Type, Int32Type, Int64Type};
use datafusion::logical_expr::Operator;

/// The results, where none of them is alarming; else the caller has to look at each.
pub(crate) fn compute(operator: Operator, left: &dyn Datum, right: &dyn Datum) -> Option<ArrayRef> {
    match left.get().0.data_type() {
        DataType::Int8 => of::<Int8Type>(operator, left, right),
        DataType::Int16 => of::<Int16Type>(operator, left, right),
        DataType::Int32 => of::<Int32Type>(operator, left, right),
        DataType::Int64 => of::<Int64Type>(operator, left, right),
        _ => None,
    }
}

/// What a pass has seen: an operation puts bits here that say whether its results are right.
#[derive(Clone, Copy, Default)]
struct Seen<N>(N, N);

/// Signed integers.
trait Signed: Copy + Default {
    fn add(self, other: Self, seen: &mut Seen<Self>) -> Self;
    fn subtract(self, other: Self, seen: &mut Seen<Self>) -> Self;
    fn multiply(self, other: Self, seen: &mut Seen<Self>) -> Self;
    /// Whether no sum or difference overflowed.
    fn sums_fit(seen: Seen<Self>) -> bool;
    /// Whether no product can have overflowed: a factor is at most two to the power of its highest bit that differs from
    /// the next.
    fn products_fit(seen: Seen<Self>) -> bool;
}

macro_rules! signed {
    ($($native:ty),*) => {$(
        impl Signed for $native {
            #[inline(always)]
            fn add(self, other: Self, seen: &mut Seen<Self>) -> Self {
                let sum = self.wrapping_add(other);
                seen.0 |= (self ^ sum) & (other ^ sum);
                sum
            }

            #[inline(always)]
            fn subtract(self, other: Self, seen: &mut Seen<Self>) -> Self {
                let difference = self.wrapping_sub(other);
                seen.0 |= (self ^ other) & (self ^ difference);
                difference
            }

            #[inline(always)]
            fn multiply(self, other: Self, seen: &mut Seen<Self>) -> Self {
                seen.0 |= self ^ (self << 1);
                seen.1 |= other ^ (other << 1);
                self.wrapping_mul(other)
            }

            fn sums_fit(seen: Seen<Self>) -> bool {
                seen.0 >= 0
            }

            fn products_fit(seen: Seen<Self>) -> bool {
                let power = |bits: Self| Self::BITS.saturating_sub(1 + bits.leading_zeros());
                power(seen.0) + power(seen.1) <= Self::BITS - 2
            }
        }
    )*};
}

signed!(i8, i16, i32, i64);

fn of<T: ArrowPrimitiveType>(operator: Operator, left: &dyn Datum, right: &dyn Datum) -> Option<ArrayRef>
where
    T::Native: Signed,
{
    match operator {
        Operator::Plus => pass::<T>(left, right, T::Native::add, T::Native::sums_fit),
        Operator::Minus => pass::<T>(left, right, T::Native::subtract, T::Native::sums_fit),
        Operator::Multiply => pass::<T>(left, right, T::Native::multiply, T::Native::products_fit),
        _ => None,
    }
}

fn pass<T: ArrowPrimitiveType>(
    left: &dyn Datum,
    right: &dyn Datum,
    step: impl Fn(T::Native, T::Native, &mut Seen<T::Native>) -> T::Native,
    fit: impl Fn(Seen<T::Native>) -> bool,
) -> Option<ArrayRef>
where
    T::Native: Signed,
{
    let ((left, left_is_scalar), (right, right_is_scalar)) = (left.get(), right.get());
    let (left, right) = (left.as_primitive_opt::<T>()?, right.as_primitive_opt::<T>()?);
    let mut seen = Seen::default();
    let one = |array: &PrimitiveArray<T>| array.is_valid(0).then(|| array.value(0));
    let (values, nulls): (Vec<T::Native>, _) = match (left_is_scalar, right_is_scalar) {
        (false, false) if left.len() == right.len() => {
            let pairs = left.values().iter().zip(right.values().iter());
            let values = pairs.map(|(&left, &right)| step(left, right, &mut seen)).collect();
            (values, NullBuffer::union(left.nulls(), right.nulls()))
        }
        (false, true) => {
            let right = one(right)?;
            (left.values().iter().map(|&left| step(left, right, &mut seen)).collect(), left.nulls().cloned())
        }
        (true, false) => {
            let left = one(left)?;
            (right.values().iter().map(|&right| step(left, right, &mut seen)).collect(), right.nulls().cloned())
        }
        _ => return None,
    };
    fit(seen).then(|| Arc::new(PrimitiveArray::<T>::new(values.into(), nulls)) as ArrayRef)
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int8Array, Scalar};

    use super::*;

    #[test]
    fn every_pair_of_bytes_is_right_or_alarming() {
        for left in i8::MIN..=i8::MAX {
            for right in i8::MIN..=i8::MAX {
                let (a, b) = (Int8Array::from(vec![left]), Int8Array::from(vec![right]));
                for (operator, literal) in [
                    (Operator::Plus, left.checked_add(right)),
                    (Operator::Minus, left.checked_sub(right)),
                    (Operator::Multiply, left.checked_mul(right)),
                ] {
                    let scalar = Scalar::new(b.clone());
                    for found in [compute(operator, &a, &b), compute(operator, &a, &scalar)].into_iter().flatten() {
                        assert_eq!(
                            Some(found.as_primitive::<Int8Type>().value(0)),
                            literal,
                            "{left} {operator} {right}"
                        );
                    }
                }
                // Sums are alarming only where they overflow.
                assert_eq!(compute(Operator::Plus, &a, &b).is_some(), left.checked_add(right).is_some());
            }
        }
    }
}
