//! The curvature regime of a graph: a label for the signs of its mean curvature and skewness (CurvBench, Sec. 3).

use std::fmt;

/// The largest absolute mean curvature that counts as near zero, unless the caller says otherwise.
pub const MEAN_TOLERANCE: f64 = 0.01;

/// The largest absolute skewness that counts as near zero, unless the caller says otherwise.
pub const SKEWNESS_TOLERANCE: f64 = 0.5;

/// The curvature regime of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Regime {
    /// Mean and skewness are both within their tolerance.
    NearZero,
    /// Neither is negative.
    Positive,
    /// Neither is positive.
    Negative,
    /// The signs differ.
    Mixed,
}

impl Regime {
    /// The name that SQL shows: `near_zero`, `positive`, `negative` or `mixed`.
    pub fn name(self) -> &'static str {
        match self {
            Regime::NearZero => "near_zero",
            Regime::Positive => "positive",
            Regime::Negative => "negative",
            Regime::Mixed => "mixed",
        }
    }
}

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A tolerance that is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RegimeError {
    /// The named tolerance is negative or not a number.
    #[error("{0} is {1}; give a number that is not negative")]
    Tolerance(&'static str, f64),
}

/// The regime of a graph with this mean curvature and skewness: near zero where both lie within their tolerance
/// (bounds included); else positive or negative where the signs agree, a zero agreeing with either; else mixed.
///
/// `None` where the mean or the skewness is not a number.
///
/// # Errors
/// [`RegimeError::Tolerance`] for a tolerance that is negative or not a number.
pub fn regime(
    mean: f64,
    skewness: f64,
    mean_tolerance: f64,
    skewness_tolerance: f64,
) -> Result<Option<Regime>, RegimeError> {
    for (name, tolerance) in [("mean_tolerance", mean_tolerance), ("skewness_tolerance", skewness_tolerance)] {
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(RegimeError::Tolerance(name, tolerance));
        }
    }
    if mean.is_nan() || skewness.is_nan() {
        return Ok(None);
    }
    Ok(Some(if mean.abs() <= mean_tolerance && skewness.abs() <= skewness_tolerance {
        Regime::NearZero
    } else if mean >= 0.0 && skewness >= 0.0 {
        Regime::Positive
    } else if mean <= 0.0 && skewness <= 0.0 {
        Regime::Negative
    } else {
        Regime::Mixed
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_default(mean: f64, skewness: f64) -> Option<Regime> {
        regime(mean, skewness, MEAN_TOLERANCE, SKEWNESS_TOLERANCE).unwrap()
    }

    #[test]
    fn the_printed_figures_fall_into_the_printed_regimes() {
        // CurvBench, Tables 1 and 2.
        for (mean, skewness, expected) in [
            (0.00749, 0.08401, Regime::NearZero),
            (0.00222, 0.38363, Regime::NearZero),
            (0.00678, 0.43122, Regime::NearZero),
            (0.01050, 0.81561, Regime::Positive),
            (0.00213, 1.33127, Regime::Positive),
            (0.12039, 1.30001, Regime::Positive),
            (0.00034, 9.42658, Regime::Positive),
            (-0.00335, -1.48057, Regime::Negative),
            (-1.14371, -11.82744, Regime::Negative),
            (-0.00301, -1.53958, Regime::Negative),
        ] {
            assert_eq!(by_default(mean, skewness), Some(expected), "{mean}, {skewness}");
        }
    }

    #[test]
    fn bounds_belong_to_near_zero_and_a_zero_agrees_with_either_sign() {
        assert_eq!(by_default(0.01, -0.5), Some(Regime::NearZero));
        assert_eq!(by_default(0.0, 0.6), Some(Regime::Positive));
        assert_eq!(by_default(0.0, -0.6), Some(Regime::Negative));
        assert_eq!(by_default(-0.02, -0.0), Some(Regime::Negative));
        assert_eq!(by_default(0.02, 0.0), Some(Regime::Positive));
        assert_eq!(by_default(-0.02, 0.1), Some(Regime::Mixed));
        assert_eq!(by_default(0.001, -0.6), Some(Regime::Mixed));
        assert_eq!(regime(0.0, 0.0, 0.0, 0.0), Ok(Some(Regime::NearZero)));
    }

    #[test]
    fn what_is_not_a_number_has_no_regime_and_a_negative_tolerance_is_refused() {
        assert_eq!(by_default(f64::NAN, 0.0), None);
        assert_eq!(by_default(0.0, f64::NAN), None);
        assert_eq!(regime(0.0, 0.0, -1.0, 0.5), Err(RegimeError::Tolerance("mean_tolerance", -1.0)));
        let error = regime(0.0, 0.0, 0.01, f64::NAN).unwrap_err();
        assert_eq!(error.to_string(), "skewness_tolerance is NaN; give a number that is not negative");
    }
}
