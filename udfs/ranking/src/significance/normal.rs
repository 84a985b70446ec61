//! The normal distribution.

use super::gamma::upper_gamma;

/// P(Z >= z) for a standard normal Z, to twelve digits in either tail.
pub(crate) fn normal_above(z: f64) -> f64 {
    let tail = 0.5 * upper_gamma(0.5, 0.5 * z * z);
    if z < 0.0 { 1.0 - tail } else { tail }
}

/// P(Z <= z).
pub(crate) fn normal_below(z: f64) -> f64 {
    normal_above(-z)
}

/// P(|Z| >= |z|).
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    upper_gamma(0.5, 0.5 * z * z)
}

/// The density at z.
pub(crate) fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The z with P(Z <= z) = p, for p in [0, 1]; infinite at its ends. From a rational approximation (Abramowitz and Stegun
/// 26.2.23, to 4.5e-4) by Halley's steps.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // The upper tail, where p has all its digits.
    let (tail, sign) = if p < 0.5 { (p, -1.0) } else { (1.0 - p, 1.0) };
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - above / below;
    for _ in 0..3 {
        let step = (normal_above(z) - tail) / normal_density(z);
        z += step / (1.0 + 0.5 * z * step);
    }
    sign * z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_scipy() {
        // scipy.stats.norm.sf(z) and scipy.special.ndtri(sf), scipy 1.17.1.
        for (z, expected) in NORMAL {
            let found = normal_above(z);
            assert!((found - expected).abs() <= 1e-12 * expected, "{z}: {found}, not {expected}");
            assert!((normal_below(-z) - expected).abs() <= 1e-12 * expected);
        }
        for (p, expected) in QUANTILES {
            let found = normal_quantile(p);
            assert!((found - expected).abs() <= 1e-12 * f64::abs(expected).max(1.0), "{p}: {found}, not {expected}");
        }
        assert_eq!([0.0, 1.0].map(normal_quantile), [f64::NEG_INFINITY, f64::INFINITY]);
    }

    const NORMAL: [(f64, f64); 16] = [
        (-8.0, 0.9999999999999993),
        (-2.5, 0.9937903346742238),
        (-1.0, 0.8413447460685429),
        (-0.1, 0.539827837277029),
        (0.0, 0.5),
        (0.001, 0.49960105778608893),
        (0.3, 0.3820885778110474),
        (1.0, 0.15865525393145707),
        (1.7, 0.04456546275854304),
        (1.75, 0.040059156863817086),
        (1.96, 0.024997895148220435),
        (3.0, 0.0013498980316300933),
        (5.0, 2.866515718791933e-07),
        (9.0, 1.1285884059538324e-19),
        (20.0, 2.7536241186061556e-89),
        (37.0, 5.7255712225239266e-300),
    ];

    const QUANTILES: [(f64, f64); 13] = [
        (1e-300, -37.0470962993612),
        (1e-20, -9.262340089798409),
        (1e-06, -4.753424308822899),
        (0.001, -3.090232306167813),
        (0.025, -1.9599639845400545),
        (0.2, -0.8416212335729142),
        (0.4999, -0.0002506628300880075),
        (0.5, 0.0),
        (0.50001, 2.5066282748820864e-05),
        (0.7, 0.5244005127080407),
        (0.975, 1.959963984540054),
        (0.9999, 3.719016485455709),
        (0.999999999999, 7.0344869100478356),
    ];
}
