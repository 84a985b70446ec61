//! The inequality of numbers.

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::merge;

/// Pairs of values between two checks.
const PAIRS: usize = 1 << 16;

/// Why numbers have no Gini coefficient.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GiniError {
    /// A negative or infinite value, or NaN.
    #[error("a value is {0}, expected finite numbers of at least 0")]
    OutOfRange(f64),
    /// The computation was stopped.
    #[error("{0}")]
    Stopped(#[from] Stopped),
}

/// The Gini coefficient of finite numbers of at least 0: half their mean absolute difference over their mean, without
/// correction for small samples, so from 0 where all are equal to (n - 1) / n where one has everything. `None` for no
/// values, and where all are 0: shares of nothing are not defined. (Gini 1912; `Gini` of R's package ineq.)
///
/// The values are summed in ascending order: the order of the rows changes no digit. O(n log n) time, O(n) memory.
///
/// # Errors
/// For a value that is negative or not finite: of several, the least, else the largest. If the monitor stops the work.
pub fn gini(values: &[f64], monitor: &dyn Monitor) -> Result<Option<f64>, GiniError> {
    // The values, and a buffer to merge them.
    let _reservation = Reservation::new(monitor, 2 * size_of_val(values))?;
    let mut values = values.to_vec();
    merge::sort(&mut values, |a, b| a.total_cmp(b).is_lt(), monitor)?;
    let (Some(&least), Some(&largest)) = (values.first(), values.last()) else { return Ok(None) };
    // In this order NaN stands at the ends.
    if let Some(&value) = [least, largest].iter().find(|value| !(value.is_finite() && **value >= 0.0)) {
        return Err(GiniError::OutOfRange(value));
    }
    let n = values.len() as f64;
    // The coefficient is the same in another unit: one in which no sum overflows.
    let unit = if (n * n * largest).is_finite() { 1.0 } else { largest };
    // sum_i (2 i - n - 1) x_i pairs the ends, then their neighbours, and so on: no term is negative.
    let (low, high) = values.split_at(values.len() / 2);
    let (mut sum, mut spread) = (0.0, 0.0);
    for (block, (low, high)) in low.chunks(PAIRS).zip(high.rchunks(PAIRS)).enumerate() {
        for (i, (low, high)) in low.iter().zip(high.iter().rev()).enumerate() {
            let (low, high) = (low / unit, high / unit);
            sum += low + high;
            spread += (n - 1.0 - 2.0 * (block * PAIRS + i) as f64) * (high - low);
        }
        monitor.check()?;
    }
    if high.len() > low.len() {
        sum += high[0] / unit;
    }
    Ok((largest > 0.0).then(|| spread / (n * sum)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(values: &[f64]) -> Option<f64> {
        gini(values, &Unmonitored).unwrap()
    }

    #[test]
    fn closed_forms() {
        for n in [1, 2, 3, 10, 11, 2 * PAIRS, 300_001] {
            let size = n as f64;
            let near = |values: Vec<f64>, expected: f64| {
                let found = of(&values).unwrap();
                assert!((found - expected).abs() < 1e-12, "{n}: {found}, expected {expected}");
            };
            // 1, 2, ..., n, the largest first: (n - 1) / 3 n.
            near((1..=n).rev().map(|i| i as f64).collect(), (size - 1.0) / (3.0 * size));
            // One has everything.
            near((0..n).map(|i| if i == n / 2 { 5.0 } else { 0.0 }).collect(), (size - 1.0) / size);
            assert_eq!(of(&vec![0.1; n]), Some(0.0));
        }
    }

    #[test]
    fn shares_of_nothing_are_not_defined() {
        assert_eq!([of(&[]), of(&[0.0]), of(&[0.0, -0.0, 0.0])], [None; 3]);
    }

    #[test]
    fn the_unit_does_not_matter() {
        for unit in [f64::MAX / 4.0, 1e200, f64::MIN_POSITIVE] {
            assert!((of(&[unit, 3.0 * unit, 2.0 * unit]).unwrap() - 2.0 / 9.0).abs() < 1e-15, "{unit}");
        }
    }

    #[test]
    fn what_is_negative_or_not_finite_is_refused() {
        for value in [-1.0, f64::NEG_INFINITY, f64::INFINITY] {
            assert_eq!(gini(&[2.0, value, 1.0], &Unmonitored), Err(GiniError::OutOfRange(value)));
        }
        for value in [f64::NAN, -f64::NAN] {
            assert!(matches!(gini(&[2.0, value], &Unmonitored), Err(GiniError::OutOfRange(it)) if it.is_nan()));
        }
    }

    proptest! {
        #[test]
        fn it_is_half_the_mean_difference_over_the_mean(
            values in prop::collection::vec(prop_oneof![Just(0.0), 0.0..9.0f64], 1..60),
        ) {
            let (mut differences, mut sums) = (0.0, 0.0);
            for a in &values {
                for b in &values {
                    differences += (a - b).abs();
                    sums += a + b;
                }
            }
            match of(&values) {
                Some(found) => prop_assert!((found - differences / sums).abs() < 1e-12),
                None => prop_assert_eq!(sums, 0.0),
            }
            let turned: Vec<f64> = values.iter().rev().copied().collect();
            prop_assert_eq!(of(&turned), of(&values));
        }
    }
}
