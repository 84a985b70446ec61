//! `kurtosis(x)` and `kurtosis_pop(x)`: how heavy the tails of numbers are.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/12250> <https://github.com/apache/datafusion/issues/12251>
//! Shows: `SELECT round(kurtosis(x), 3) FROM (VALUES (1.0), (2.0), (3.0), (4.0), (10.0)) AS t(x)` gives `3.152`

use bonnet_graph::Stopped;
use bonnet_sql::{Function, number_aggregate};

/// The registrations.
pub(crate) fn functions() -> [Function; 2] {
    [
        number_aggregate("kurtosis", [("x", "Numbers.")], |[x], _| Ok::<_, Stopped>(sample(x)))
            .description(
                "The excess kurtosis of a sample, without bias: 0 of the normal distribution. NULLs do not count; NULL for \
                 fewer than four numbers and where all are equal, NaN with an infinity or NaN.",
            )
            .example("SELECT kurtosis(x) FROM (VALUES (0), (1), (5), (6), (9)) t(x)")
            .source("DuckDB, statistical aggregates"),
        number_aggregate("kurtosis_pop", [("x", "Numbers.")], |[x], _| Ok::<_, Stopped>(population(x)))
            .description(
                "The excess kurtosis of a population: the fourth central moment over the squared variance, less 3. NULLs do \
                 not count; NULL for fewer than two numbers and where all are equal, NaN with an infinity or NaN.",
            )
            .example("SELECT kurtosis_pop(x) FROM (VALUES (0), (1), (5), (6), (9)) t(x)")
            .source("DuckDB, statistical aggregates"),
    ]
}

/// Between these sizes the fourth powers of numbers stay well within the floats.
const UNITS: [f64; 2] = [1e-60, 1e60];

fn population(x: &[f64]) -> Option<f64> {
    let largest = x.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if UNITS[0] < largest && largest < UNITS[1] || largest == 0.0 || !largest.is_finite() {
        return in_ones(x);
    }
    // Kurtosis is the same in any unit: here the power of two below the largest number.
    let unit = largest.log2().floor().exp2();
    let units: Vec<f64> = x.iter().map(|value| value / unit).collect();
    in_ones(&units)
}

fn in_ones(x: &[f64]) -> Option<f64> {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let moment = |power: i32| x.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    (x.len() > 1 && variance != 0.0).then(|| moment(4) / (variance * variance) - 3.0)
}

fn sample(x: &[f64]) -> Option<f64> {
    let n = x.len() as f64;
    let excess = population(x).filter(|_| x.len() > 3)?;
    Some((n - 1.0) / ((n - 2.0) * (n - 3.0)) * ((n + 1.0) * excess + 6.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kurtosis_is_that_of_its_definition() {
        // Two points: the fourth moment is the squared variance. As DuckDB 2.0 answers for the others.
        assert_eq!(population(&[1.0, 2.0]), Some(-2.0));
        assert_eq!((population(&[4.0; 3]), population(&[]), sample(&[1.0, 2.0, 3.0])), (None, None, None));
        let x = [0.0, 1.0, 5.0, 6.0, 9.0];
        assert!((population(&x).unwrap() + 1.405_322_606_425_488_7).abs() < 1e-12);
        assert!((sample(&x).unwrap() + 1.621_290_425_701_954_7).abs() < 1e-12);
        assert!(population(&[1.0, f64::INFINITY]).unwrap().is_nan());
    }

    #[test]
    fn kurtosis_is_the_same_in_any_unit() {
        for unit in [1e-320, 1e-200, 1e-90, 1e90, 1e200, 1e307] {
            let found = population(&[0.0, 1.0, 5.0, 6.0, 9.0].map(|x| x * unit)).unwrap();
            let tolerance = if unit < 1e-300 { 1e-2 } else { 1e-12 };
            assert!((found + 1.405_322_606_425_488_7).abs() < tolerance, "{unit}: {found}");
        }
    }
}
