//! Student's test of paired values.

use bonnet_graph::Monitor;

use super::differences::{PairedError, PairedTest, differences, reserve};
use super::student_t::student_t_two_sided;

/// Student's t-test of the hypothesis that the mean of the differences a - b is 0, of normal differences (Student 1908):
/// t = mean / (s / sqrt(n)) with the sample deviation s, against n - 1 degrees of freedom.
///
/// Fewer than two pairs, and pairs that are all equal, have no statistic. Where all differences are one number other than
/// 0, t is infinite and p is 0. No number of pairs from two on bounds p from below: `least_p` is 0. O(n log n) time, O(n)
/// memory; the order of the rows changes no digit.
///
/// # Panics
/// If the slices differ in length.
pub fn paired_t_test(a: &[f64], b: &[f64], monitor: &dyn Monitor) -> Result<PairedTest, PairedError> {
    let _reservation = reserve(a.len(), monitor)?;
    let d = differences(a, b, monitor)?;
    let n = d.len() as f64;
    let least_p = (d.len() >= 2).then_some(0.0);
    let found = |statistic, p_value| PairedTest { statistic, p_value, n: d.len(), least_p };
    let (Some(&first), Some(&last)) = (d.first(), d.last()) else { return Ok(found(None, None)) };
    if d.len() < 2 || (first == last && first == 0.0) {
        return Ok(found(None, None));
    }
    if first == last {
        return Ok(found(Some(f64::INFINITY.copysign(first)), Some(0.0)));
    }
    let mean = d.iter().sum::<f64>() / n;
    let variance = d.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1.0);
    let t = mean / (variance / n).sqrt();
    Ok(found(Some(t), Some(student_t_two_sided(t, n - 1.0))))
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    fn test(a: &[f64], b: &[f64]) -> PairedTest {
        paired_t_test(a, b, &Unmonitored).unwrap()
    }

    #[test]
    fn it_is_students_own_example() {
        // Student 1908, Section IX: the additional hours of sleep gained by two drugs; t is about 4.06, by scipy.stats.ttest_rel 1.17.1
        // 4.062127683382037 with p = 0.00283289019738427.
        let b = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let a = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let found = test(&a, &b);
        assert!((found.statistic.unwrap() - 4.062_127_683_382_037).abs() < 1e-13);
        assert!((found.p_value.unwrap() - 0.002_832_890_197_384_27).abs() < 1e-15);
        assert_eq!((found.n, found.least_p), (10, Some(0.0)));
        let turned = test(&b, &a);
        assert_eq!((turned.statistic, turned.p_value), (found.statistic.map(|t| -t), found.p_value));
    }

    #[test]
    fn too_few_pairs_and_equal_pairs_have_no_statistic() {
        let none = |n, least_p| PairedTest { statistic: None, p_value: None, n, least_p };
        assert_eq!(test(&[], &[]), none(0, None));
        assert_eq!(test(&[1.0], &[2.0]), none(1, None));
        assert_eq!(test(&[1.0, 2.0], &[1.0, 2.0]), none(2, Some(0.0)));
        // All differ by one number: no spread.
        let shifted = test(&[1.0, 2.0, 5.0], &[2.0, 3.0, 6.0]);
        assert_eq!((shifted.statistic, shifted.p_value), (Some(f64::NEG_INFINITY), Some(0.0)));
    }

    #[test]
    fn values_without_a_difference_are_refused() {
        let error = |a: &[f64], b: &[f64]| paired_t_test(a, b, &Unmonitored).unwrap_err();
        assert_eq!(error(&[1.0, f64::INFINITY], &[0.0, 0.0]), PairedError::NotFinite(f64::INFINITY));
        assert_eq!(error(&[1e308, 1.0], &[-1e308, 0.0]), PairedError::Overflow(f64::INFINITY));
    }
}
