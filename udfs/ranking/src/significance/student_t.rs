//! Student's t distribution and Welch's test.

use super::gamma::ln_gamma;

/// The regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1], by its continued fraction on the side
/// where that converges fast (Abramowitz and Stegun 26.5.8; evaluated from the front, Lentz 1976). `y` is 1 - x, which the
/// caller may know to more digits.
fn regularized_beta(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - regularized_beta(y, x, b, a);
    }
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            fraction *= c * d;
            change = c * d;
        }
        if (change - 1.0f64).abs() < 1e-16 {
            break;
        }
    }
    let front = a * x.ln() + b * y.ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    (front.exp() * fraction / a).clamp(0.0, 1.0)
}

/// P(|T| >= |t|) for Student's t with `freedom` > 0 degrees of freedom (Student 1908), in [0, 1].
pub fn student_t_two_sided(t: f64, freedom: f64) -> f64 {
    let sum = freedom + t * t;
    regularized_beta(freedom / sum, t * t / sum, 0.5 * freedom, 0.5)
}

/// The two-sided p-value of Welch's test for equal means of two samples of at least two values each (Welch 1947). Where
/// neither sample varies: 1 if the means agree, else 0.
///
/// # Panics
/// If a sample has fewer than two values.
pub fn welch_test(a: &[f64], b: &[f64]) -> f64 {
    assert!(a.len() >= 2 && b.len() >= 2, "two values at least");
    let moments = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
        (mean, variance / n, n)
    };
    let ((mean_a, error_a, n_a), (mean_b, error_b, n_b)) = (moments(a), moments(b));
    let error = error_a + error_b;
    // The rounding of a mean is no difference.
    let rounding = 1e-14 * (mean_a.abs() + mean_b.abs());
    if error <= rounding * rounding {
        return if (mean_a - mean_b).abs() <= rounding { 1.0 } else { 0.0 };
    }
    let t = (mean_a - mean_b) / error.sqrt();
    let freedom = error * error / (error_a * error_a / (n_a - 1.0) + error_b * error_b / (n_b - 1.0));
    student_t_two_sided(t, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_scipy() {
        // 2 * scipy.stats.t.sf(t, df), scipy 1.17.1.
        for (t, freedom, expected) in [
            (0.0, 1.5, 1.0),
            (0.0, 3.0, 1.0),
            (0.0, 7.3, 1.0),
            (0.0, 30.0, 1.0),
            (0.0, 99.5, 1.0),
            (0.0, 198.0, 1.0),
            (0.0, 5000.0, 1.0),
            (1e-06, 1.5, 0.9999993185300374),
            (1e-06, 3.0, 0.9999992648948061),
            (1e-06, 7.3, 0.9999992288968349),
            (1e-06, 30.0, 0.9999992087356302),
            (1e-06, 99.5, 0.9999992041176242),
            (1e-06, 198.0, 0.9999992031222292),
            (1e-06, 5000.0, 0.9999992021553324),
            (0.1, 1.5, 0.9320414534869628),
            (0.1, 3.0, 0.9266523488008059),
            (0.1, 7.3, 0.9230354971398295),
            (0.1, 30.0, 0.9210096117902712),
            (0.1, 99.5, 0.9205455358489126),
            (0.1, 198.0, 0.9204455036413141),
            (0.1, 5000.0, 0.9203483345657316),
            (0.7, 1.5, 0.5764382408826868),
            (0.7, 3.0, 0.5343269983047636),
            (0.7, 7.3, 0.5056171401862584),
            (0.7, 30.0, 0.48932044349967163),
            (0.7, 99.5, 0.48556075805336496),
            (0.7, 198.0, 0.48474894153010617),
            (0.7, 5000.0, 0.48395987129671386),
            (1.0, 1.5, 0.45113536727671033),
            (1.0, 3.0, 0.3910022189557705),
            (1.0, 7.3, 0.34929845645311447),
            (1.0, 30.0, 0.3253086154260302),
            (1.0, 99.5, 0.3197362540153868),
            (1.0, 198.0, 0.3185310379087347),
            (1.0, 5000.0, 0.31735889958802993),
            (1.96, 1.5, 0.2296598973467142),
            (1.96, 3.0, 0.14485220856485365),
            (1.96, 7.3, 0.08912287210001851),
            (1.96, 30.0, 0.05934231289605049),
            (1.96, 99.5, 0.05279293643299676),
            (1.96, 198.0, 0.051398897727830795),
            (1.96, 5000.0, 0.050051252291819504),
            (2.5, 1.5, 0.16980650261469604),
            (2.5, 3.0, 0.08770664700806556),
            (2.5, 7.3, 0.03965023466560043),
            (2.5, 30.0, 0.01811564906806669),
            (2.5, 99.5, 0.014054149865199383),
            (2.5, 198.0, 0.013231389058614157),
            (2.5, 5000.0, 0.01245111619972114),
            (5.0, 1.5, 0.06537576762115621),
            (5.0, 3.0, 0.015392438073302294),
            (5.0, 7.3, 0.0013827743793134609),
            (5.0, 30.0, 2.32966854670078e-05),
            (5.0, 99.5, 2.465667337587343e-06),
            (5.0, 198.0, 1.2593397221218733e-06),
            (5.0, 5000.0, 5.928947459121322e-07),
            (12.0, 1.5, 0.018042029274027864),
            (12.0, 3.0, 0.0012450158007893362),
            (12.0, 7.3, 4.55578522957055e-06),
            (12.0, 30.0, 5.580185415199261e-13),
            (12.0, 99.5, 4.747570748691488e-21),
            (12.0, 198.0, 2.749309211067588e-25),
            (12.0, 5000.0, 9.966656426348314e-33),
            (40.0, 1.5, 0.002979624390931245),
            (40.0, 3.0, 3.4380680789158506e-05),
            (40.0, 7.3, 8.037135167913725e-10),
            (40.0, 30.0, 1.3726045194406417e-27),
            (40.0, 99.5, 3.9627106782971386e-63),
            (40.0, 198.0, 8.390743454365965e-97),
        ] {
            let found = student_t_two_sided(t, freedom);
            assert!((found - expected).abs() <= 1e-10 * expected, "t = {t}, {freedom}: {found}, not {expected}");
        }
    }

    #[test]
    fn one_and_two_degrees_of_freedom_have_closed_forms() {
        for t in [-40.0, -1.5f64, -0.1, 0.0, 1e-8, 0.3, 1.0, 2.0, 12.0, 300.0] {
            // Cauchy: 1 - (2 / pi) atan |t|; two: 1 - |t| / sqrt(2 + t^2).
            let one = 2.0 / std::f64::consts::PI * (1.0 / t.abs()).atan();
            assert!((student_t_two_sided(t, 1.0) - one).abs() < 1e-14, "{t}");
            let two = 1.0 - t.abs() / (2.0 + t * t).sqrt();
            assert!((student_t_two_sided(t, 2.0) - two).abs() < 1e-14, "{t}");
        }
    }

    #[test]
    fn welch_agrees_with_scipy_and_takes_constant_samples() {
        let (a, b) = ([0.5, 0.55, 0.6, 0.45, 0.52], [0.61, 0.4, 0.72, 0.66]);
        let expected = 0.37945180571915477;
        assert!((welch_test(&a, &b) - expected).abs() < 1e-13, "{}", welch_test(&a, &b));
        assert_eq!(welch_test(&[0.1; 7], &[0.1; 9]), 1.0);
        assert_eq!(welch_test(&[0.1; 7], &[0.2; 9]), 0.0);
    }
}
