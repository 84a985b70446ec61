//! Quotients of decimals whose intermediate values fit 128 bits, as nearly all do.
//!
//! Shows: see `operators.rs`

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Datum, Decimal128Array, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Decimal128Type};

/// The quotients, rounded half away from zero; `None` if one has to be computed with more bits, or is an error.
pub(crate) fn short(left: &dyn Datum, right: &dyn Datum, to: &DataType) -> Option<ArrayRef> {
    let ((dividends, one_dividend), (divisors, one_divisor)) = (left.get(), right.get());
    let (
        DataType::Decimal128(_, scale),
        DataType::Decimal128(_, divisor_scale),
        DataType::Decimal128(digits, to_scale),
    ) = (dividends.data_type(), divisors.data_type(), to)
    else {
        return None;
    };
    let finer = 10i128
        .checked_pow(u32::try_from(i32::from(*to_scale) + i32::from(*divisor_scale) - i32::from(*scale)).ok()?)?;
    let most = 10i128.checked_pow((*digits).into())?;
    let (dividends, divisors) = (dividends.as_primitive::<Decimal128Type>(), divisors.as_primitive::<Decimal128Type>());
    let rows = if one_dividend { divisors.len() } else { dividends.len() };
    let nulls = NullBuffer::union(
        null_mask(dividends, one_dividend, rows).as_ref(),
        null_mask(divisors, one_divisor, rows).as_ref(),
    );
    let at =
        |values: &PrimitiveArray<Decimal128Type>, one: bool, row: usize| values.values()[if one { 0 } else { row }];
    let mut quotients = Vec::with_capacity(rows);
    for row in 0..rows {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            quotients.push(0);
            continue;
        }
        let dividend = at(dividends, one_dividend, row).checked_mul(finer)?;
        let quotient = divide(dividend, at(divisors, one_divisor, row))?;
        if quotient <= -most || quotient >= most {
            return None;
        }
        quotients.push(quotient);
    }
    Some(Arc::new(Decimal128Array::new(quotients.into(), nulls).with_data_type(to.clone())))
}

/// The null mask of a column that has one value for all rows, or one for each.
fn null_mask(values: &PrimitiveArray<Decimal128Type>, one: bool, rows: usize) -> Option<NullBuffer> {
    match one {
        true => (values.null_count() > 0).then(|| NullBuffer::new_null(rows)),
        false => values.nulls().cloned(),
    }
}

/// The quotient, rounded half away from zero; `None` by zero, or beyond 128 bits.
fn divide(dividend: i128, divisor: i128) -> Option<i128> {
    // A processor has an instruction for the division of 64 bits.
    if let (Ok(dividend), Ok(divisor)) = (i64::try_from(dividend), i64::try_from(divisor))
        && let (Some(quotient), Some(rest)) = (dividend.checked_div(divisor), dividend.checked_rem(divisor))
    {
        let up = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
        return Some(i128::from(quotient) + away(up && rest != 0, dividend < 0, divisor < 0));
    }
    let (quotient, rest) = (dividend.checked_div(divisor)?, dividend.checked_rem(divisor)?);
    let up = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    Some(quotient + away(up && rest != 0, dividend < 0, divisor < 0))
}

/// The step away from zero by which a quotient is rounded up.
fn away(up: bool, dividend_negative: bool, divisor_negative: bool) -> i128 {
    match (up, dividend_negative == divisor_negative) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => -1,
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Scalar;

    use super::*;

    #[test]
    fn quotients_are_rounded_half_away_from_zero() {
        for (dividend, divisor, quotient) in
            [(7, 2, 4), (-7, 2, -4), (7, -2, -4), (-7, -2, 4), (6, 4, 2), (5, 4, 1), (-5, 4, -1), (0, 3, 0), (1, 3, 0)]
        {
            assert_eq!(divide(dividend, divisor), Some(quotient));
            // The same beyond 64 bits.
            let large = 10i128.pow(20);
            assert_eq!(divide(dividend * large, divisor * large), Some(quotient));
        }
        assert_eq!(divide(1, 0), None);
        assert_eq!(divide(i64::MIN.into(), -1), Some(-i128::from(i64::MIN)));
        assert_eq!(divide(i128::MIN, -1), None);
    }

    #[test]
    fn what_does_not_fit_is_left_to_more_digits() {
        let decimals = |values: Vec<Option<i128>>, digits, scale| {
            Decimal128Array::from(values).with_precision_and_scale(digits, scale).expect("the digits fit")
        };
        let to = DataType::Decimal128(24, 6);
        let (left, right) = (decimals(vec![Some(17), None, Some(-5)], 18, 2), decimals(vec![Some(3)], 18, 0));
        let quotient = short(&left, &Scalar::new(right), &to).expect("short");
        let expected = decimals(vec![Some(56667), None, Some(-16667)], 24, 6);
        assert_eq!(quotient.as_primitive::<Decimal128Type>(), &expected);
        let zero = decimals(vec![Some(0); 3], 18, 0);
        assert!(short(&left, &zero, &to).is_none());
        let none = decimals(vec![None; 3], 18, 0);
        assert_eq!(short(&left, &none, &to).expect("NULL").null_count(), 3);
        let large = decimals(vec![Some(10i128.pow(37)); 3], 38, 0);
        assert!(short(&large, &left, &DataType::Decimal128(38, 4)).is_none());
    }
}
