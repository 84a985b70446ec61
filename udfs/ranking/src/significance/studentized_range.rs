//! The studentized range with infinitely many degrees of freedom: the range of k independent standard normals.

use super::normal::{normal_above, normal_below, normal_density};

/// The step of the sum for the integral: halved, no digit changes.
const STEP: f64 = 0.05;
/// Beyond this many deviations nothing is left.
const REACH: f64 = 9.0;

/// P(R >= q) for the range R of `k` >= 2 independent standard normals (Tukey 1953; Harter 1960), in [0, 1].
///
/// 1 is k times the integral of phi(z) Phi(z)^(k - 1), and P(R < q) that of phi(z) (Phi(z) - Phi(z - q))^(k - 1), z being
/// the largest: their difference is integrated term by term, so that small values keep their digits. The sum over equal
/// steps converges faster than any power of the step, since the integrand falls off as a normal density on both sides.
pub(crate) fn range_above(q: f64, k: u32) -> f64 {
    if q <= 0.0 {
        return 1.0;
    }
    if q.is_infinite() {
        return 0.0;
    }
    let steps = ((2.0 * REACH + 0.5 * q) / STEP).ceil() as u32;
    let term = |i: u32| {
        let z = f64::from(i) * STEP - REACH;
        let (all, beyond) = (normal_below(z), normal_above(q - z));
        // x^m - y^m = (x - y) (x^(m - 1) + ... + y^(m - 1)), where x - y is `beyond`; by Horner's rule.
        let rest = all - beyond;
        let mut powers = 1.0;
        let mut of_rest = 1.0;
        for _ in 1..k - 1 {
            of_rest *= rest;
            powers = powers * all + of_rest;
        }
        normal_density(z) * beyond * powers
    };
    (f64::from(k) * STEP * (0..=steps).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

/// The q with P(R >= q) = p, for p in (0, 1): by false position (Illinois) on the logarithm.
pub(crate) fn range_quantile(p: f64, k: u32) -> f64 {
    let excess = |q: f64| (range_above(q, k) / p).ln().max(-1e4);
    let (mut low, mut high) = (0.0, 1.0);
    while excess(high) > 0.0 {
        (low, high) = (high, 2.0 * high);
    }
    let (mut at_low, mut at_high) = (excess(low), excess(high));
    let mut q = high;
    for _ in 0..100 {
        q = (low * at_high - high * at_low) / (at_high - at_low);
        let here = excess(q);
        if here.abs() < 1e-14 || high - low < 1e-14 * high {
            break;
        }
        if here > 0.0 {
            (low, at_low, at_high) = (q, here, 0.5 * at_high);
        } else {
            (high, at_high, at_low) = (q, here, 0.5 * at_low);
        }
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_two_is_that_of_a_difference() {
        // The difference of two has the variance 2: P(R >= q) = P(|Z| >= q / sqrt 2).
        for q in [0.01, 0.5, 1.0, 2.77, 4.0, 9.0, 20.0] {
            let expected = 2.0 * normal_above(q / std::f64::consts::SQRT_2);
            let found = range_above(q, 2);
            assert!((found - expected).abs() <= 1e-12 * expected, "{q}: {found}, not {expected}");
        }
        assert_eq!((range_above(0.0, 5), range_above(f64::INFINITY, 5)), (1.0, 0.0));
    }

    #[test]
    fn it_agrees_with_scipy() {
        // scipy.stats.studentized_range.sf(q, k, inf), scipy 1.17.1; its own error is some 1e-13.
        for (q, k, expected) in RANGES {
            let found = range_above(q, k);
            assert!((found - expected).abs() <= 1e-9 * expected + 1e-12, "{q}, {k}: {found}, not {expected}");
        }
    }

    #[test]
    fn its_quantiles_are_the_printed_ones() {
        // Demsar 2006, Table 5: q_0.05 and q_0.10 over the root of 2, for 2 to 10 models.
        let five = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164];
        let ten = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920];
        for (alpha, printed) in [(0.05, five), (0.10, ten)] {
            for (k, expected) in (2..).zip(printed) {
                let found = range_quantile(alpha, k) / std::f64::consts::SQRT_2;
                assert!((found - expected).abs() < 0.001, "{alpha}, {k}: {found}, not {expected}");
                assert!((range_above(range_quantile(alpha, k), k) - alpha).abs() < 1e-13);
            }
        }
        for (alpha, k) in [(1e-9, 3), (0.999, 40), (0.5, 200)] {
            assert!((range_above(range_quantile(alpha, k), k) / alpha - 1.0).abs() < 1e-12);
        }
    }

    const RANGES: [(f64, u32, f64); 36] = [
        (0.1, 2, 0.9436280222029834),
        (1.0, 2, 0.4795001221869535),
        (2.0, 2, 0.15729920705028522),
        (3.3, 2, 0.01962441497663958),
        (4.2, 2, 0.002979466656332863),
        (5.5, 2, 0.00010062192211957033),
        (0.1, 3, 0.9972471806248685),
        (1.0, 3, 0.7592873587706612),
        (2.0, 3, 0.33349932504015),
        (3.3, 3, 0.05131090641818992),
        (4.2, 3, 0.008375869035411765),
        (5.5, 3, 0.00029637948247296375),
        (0.1, 4, 0.9998732505583245),
        (1.0, 4, 0.8943255121281808),
        (2.0, 4, 0.49036940998054945),
        (3.3, 4, 0.09053749724537585),
        (4.2, 4, 0.015772164664000554),
        (5.5, 4, 0.0005824878665817712),
        (0.1, 7, 0.9999999893680309),
        (1.0, 7, 0.9922240055110103),
        (2.0, 7, 0.7943959943660897),
        (3.3, 7, 0.22791932188268227),
        (4.2, 7, 0.04698070113735453),
        (5.5, 7, 0.0019423474467372692),
        (0.1, 12, 0.9999999999999986),
        (1.0, 12, 0.9999166193298119),
        (2.0, 12, 0.9610803080430776),
        (3.3, 12, 0.45246218168096564),
        (4.2, 12, 0.1174358157633073),
        (5.5, 12, 0.005684651755227699),
        (0.1, 20, 1.0),
        (1.0, 20, 0.9999999503866243),
        (2.0, 20, 0.9976642506094628),
        (3.3, 20, 0.7110127152093351),
        (4.2, 20, 0.24801114740513952),
        (5.5, 20, 0.01482831669053375),
    ];
}
