//! The earth mover's distance of two lists of numbers.

use std::cmp::Ordering;

/// The earth mover's distance of two lists of numbers as distributions on the line, each of equal weights (the 1-Wasserstein distance;
/// Rubner, Tomasi and Guibas 2000): the area between their two distribution functions. The lists are sorted in place. `None` where a
/// list is empty. O(n log n).
///
/// The numbers must be finite.
pub fn earth_movers_distance(a: &mut [f64], b: &mut [f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let (n, m) = (a.len() as i128, b.len() as i128);
    let (mut i, mut j, mut before, mut area) = (0, 0, a[0].min(b[0]), 0.0);
    while i < a.len() || j < b.len() {
        // The distribution functions between two points, over the common denominator: whole numbers.
        let apart = (i as i128 * m - j as i128 * n).unsigned_abs() as f64;
        let at = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) if x.total_cmp(&y) == Ordering::Greater => y,
            (Some(&x), _) => x,
            (None, Some(&y)) => y,
            (None, None) => break,
        };
        // Half of each, so that the width stays within the range of numbers.
        area += (0.5 * at - 0.5 * before) * apart;
        before = at;
        while a.get(i).is_some_and(|&x| x <= at) {
            i += 1;
        }
        while b.get(j).is_some_and(|&y| y <= at) {
            j += 1;
        }
    }
    Some(2.0 * (area / (n as f64 * m as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(a: &[f64], b: &[f64]) -> Option<f64> {
        earth_movers_distance(&mut a.to_vec(), &mut b.to_vec())
    }

    #[test]
    fn values_are_those_of_scipy() {
        // scipy.stats.wasserstein_distance 1.17.1.
        let close = |a: &[f64], b: &[f64], expected: f64| {
            let found = of(a, b).unwrap();
            assert!((found - expected).abs() < 1e-14 * expected.max(1.0), "{found} {expected}");
        };
        close(&[0.0, 1.0, 3.0], &[5.0, 6.0, 8.0], 5.0);
        close(&[3.4, 3.9, 7.5, 7.8], &[4.5, 1.4], SCIPY[0]);
        close(&[0.1, -2.0, 5.5, 5.5, 1e3], &[7.0, 0.1, 0.1], SCIPY[1]);
    }

    const SCIPY: [f64; 2] = [2.7, 200.65999999999997];

    #[test]
    fn lists_of_the_same_shares_are_at_0_and_empty_ones_nowhere() {
        assert_eq!(of(&[1.0, 2.0], &[2.0, 1.0, 1.0, 2.0]), Some(0.0));
        assert_eq!(of(&[0.0], &[-0.0]), Some(0.0));
        assert_eq!(of(&[1.0], &[4.0]), Some(3.0));
        assert_eq!((of(&[], &[1.0]), of(&[1.0], &[]), of(&[], &[])), (None, None, None));
        assert_eq!(of(&[-f64::MAX], &[f64::MAX / 2.0]), Some(1.5 * f64::MAX));
    }

    proptest! {
        #[test]
        fn of_lists_of_one_length_it_is_the_mean_difference_in_their_order(
            pairs in prop::collection::vec((-50.0f64..50.0, -50.0f64..50.0), 1..30),
        ) {
            let (mut a, mut b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let found = earth_movers_distance(&mut a, &mut b).unwrap();
            let expected = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum::<f64>() / a.len() as f64;
            prop_assert!((found - expected).abs() < 1e-10);
        }
    }
}
