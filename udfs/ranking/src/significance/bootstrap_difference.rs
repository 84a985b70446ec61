//! The bootstrap interval of a mean difference.

use bonnet_graph::{Monitor, Reservation};
use rayon::prelude::*;

use super::differences::{PairedError, differences, reserve};
use super::normal::{normal_below, normal_quantile};
use crate::merge::sort;
use crate::random::Random;

/// Sums that differ by less than this share of the largest possible are equal: sums of the same values in another order.
const SLACK: f64 = 1e-12;
/// Draws between two checks.
const DRAWS: usize = 1 << 16;

/// How an interval is made of a bootstrap distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootstrapMethod {
    /// Bias-corrected and accelerated (Efron 1987).
    Bca,
    /// The quantiles themselves.
    Percentile,
}

impl BootstrapMethod {
    /// All methods, with their names.
    pub const ALL: [(&'static str, Self); 2] = [("bca", Self::Bca), ("percentile", Self::Percentile)];
}

/// Options of a bootstrap.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapOptions {
    /// The confidence of the interval, in (0, 1).
    pub confidence: f64,
    /// The number of resamples, at least 1.
    pub samples: usize,
    /// How the interval is made.
    pub method: BootstrapMethod,
    /// The seed of the resamples.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { confidence: 0.95, samples: 9999, method: BootstrapMethod::Bca, seed: 0 }
    }
}

/// What the bootstrap of a mean difference found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The mean difference; `None` for fewer than two pairs, as all that follows.
    pub statistic: Option<f64>,
    /// The lower end of the interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// (1 + the resamples whose mean is at least as far from the mean as the mean is from 0) / (1 + the resamples).
    pub p_value: Option<f64>,
    /// The pairs that count.
    pub n: usize,
    /// The least p-value of so many resamples: 1 / (1 + their number). Pairs set no other.
    pub least_p: Option<f64>,
}

/// The mean of the differences a - b with its bootstrap interval, and the p-value of the hypothesis that it is 0. Pairs are drawn with
/// replacement, as many as there are, `samples` times.
///
/// The interval: quantiles of the means of the resamples, interpolated linearly (Hyndman and Fan 1996, number 7), at the two ends of the
/// confidence, or moved by bias and acceleration (Efron 1987; Efron and Tibshirani 1993, Sec. 14.3: the bias from the share of resamples
/// below, ties half; the acceleration from the jackknife). Where all differences are equal, both ends are that difference. The p-value:
/// resamples of the differences less their mean, which obey the hypothesis (Efron and Tibshirani 1993, Sec. 16.4), two-sided.
///
/// The same seed gives the same answer for any order of the rows and any number of threads. O(samples x n) time, O(samples + n) memory.
///
/// # Panics
/// If the slices differ in length.
pub fn bootstrap_difference(
    a: &[f64],
    b: &[f64],
    options: &BootstrapOptions,
    monitor: &dyn Monitor,
) -> Result<Bootstrap, PairedError> {
    let _reservation = reserve(a.len(), monitor)?;
    let d = differences(a, b, monitor)?;
    let n = d.len();
    if n < 2 {
        return Ok(Bootstrap { statistic: None, low: None, high: None, p_value: None, n, least_p: None });
    }
    let _sums = Reservation::new(monitor, 2 * size_of::<f64>() * options.samples)?;
    monitor.expect(options.samples as u64);
    let sum = |sample: usize| {
        let mut random = Random::new(options.seed, sample as u64);
        let mut sum = 0.0;
        for from in (0..n).step_by(DRAWS) {
            monitor.check()?;
            sum += (from..n.min(from + DRAWS)).map(|_| d[random.below(n as u64) as usize]).sum::<f64>();
        }
        monitor.advance(1);
        Ok::<f64, PairedError>(sum)
    };
    let mut sums = (0..options.samples).into_par_iter().map(sum).collect::<Result<Vec<_>, _>>()?;
    sort(&mut sums, |a, b| a < b, monitor)?;
    Ok(of_sums(&d, &sums, options))
}

/// The answer from the sums of the resamples, in ascending order.
fn of_sums(d: &[f64], sums: &[f64], options: &BootstrapOptions) -> Bootstrap {
    let (n, samples) = (d.len() as f64, sums.len() as f64);
    let total: f64 = d.iter().sum();
    let mean = total / n;
    let slack = SLACK * n * d.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
    let reached = sums.iter().filter(|sum| (*sum - total).abs() >= total.abs() - slack).count();
    let tail = 0.5 * (1.0 - options.confidence);
    let (low, high) = match options.method {
        _ if d.first() == d.last() => (Some(mean), Some(mean)),
        BootstrapMethod::Percentile => (quantile(sums, tail), quantile(sums, 1.0 - tail)),
        BootstrapMethod::Bca => {
            let below = sums.iter().filter(|sum| **sum < total - slack).count();
            let up_to = sums.iter().filter(|sum| **sum <= total + slack).count();
            let bias = normal_quantile((below + up_to) as f64 / (2.0 * samples));
            let moment = |k: i32| d.iter().map(|d| (d - mean).powi(k)).sum::<f64>();
            let acceleration = moment(3) / (6.0 * moment(2).powf(1.5));
            let moved = |z: f64| normal_below(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
            let z = normal_quantile(tail);
            (quantile(sums, moved(z)), quantile(sums, moved(-z)))
        }
    };
    let of_mean = |end: Option<f64>| if d.first() == d.last() { end } else { end.map(|sum| sum / n) };
    Bootstrap {
        statistic: Some(mean),
        low: of_mean(low),
        high: of_mean(high),
        p_value: Some((1.0 + reached as f64) / (1.0 + samples)),
        n: d.len(),
        least_p: Some(1.0 / (1.0 + samples)),
    }
}

/// The quantile of sorted values at `p`, interpolated linearly; `None` where `p` is no number.
fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if p.is_nan() || sorted.is_empty() {
        return None;
    }
    let place = p * (sorted.len() - 1) as f64;
    let (from, part) = (place.floor(), place.fract());
    let at = |i: f64| sorted[(i as usize).min(sorted.len() - 1)];
    Some(at(from) + part * (at(from + 1.0) - at(from)))
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::super::golden::{Lcg, golden};
    use super::*;

    fn bootstrap(a: &[f64], b: &[f64], options: &BootstrapOptions) -> Bootstrap {
        bootstrap_difference(a, b, options, &Unmonitored).unwrap()
    }

    /// The resamples of a generator that Python has, too.
    #[test]
    fn intervals_are_those_of_scipy() {
        let mut lcg = Lcg::new(3);
        for (row, expected) in golden("bootstrap").into_iter().enumerate() {
            let n = 2 + lcg.below(9) as usize;
            let mut d: Vec<f64> = (0..n).map(|_| lcg.below(13) as f64 - 5.0).collect();
            d.sort_by(f64::total_cmp);
            let mut sums: Vec<f64> = (0..99).map(|_| (0..n).map(|_| d[lcg.below(n as u64) as usize]).sum()).collect();
            sums.sort_by(f64::total_cmp);
            for (i, (_, method)) in BootstrapMethod::ALL.into_iter().enumerate() {
                let options = BootstrapOptions { confidence: 0.9, method, ..BootstrapOptions::default() };
                let found = of_sums(&d, &sums, &options);
                for (found, expected) in [found.low, found.high].into_iter().zip(&expected[2 * i..]) {
                    // SciPy has no BCa interval of equal differences, and none where no resample is below the mean.
                    let Some(expected) = expected else {
                        assert!(d[0] == d[n - 1] || found.is_none(), "{row}: {found:?}");
                        continue;
                    };
                    let found = found.unwrap();
                    assert!((found - expected).abs() < 1e-9, "{row}, {method:?}: {found}, not {expected}");
                }
            }
        }
    }

    /// All resamples of four pairs, as they are.
    #[test]
    fn p_comes_near_the_share_of_all_resamples() {
        let d = [3.0, -1.0, 2.0, 1.5];
        let mean = d.iter().sum::<f64>() / 4.0;
        let means = (0..256usize).map(|i| [0, 2, 4, 6].map(|shift| d[i >> shift & 3] - mean).iter().sum::<f64>() / 4.0);
        let p = means.filter(|of_sample| of_sample.abs() >= mean - 1e-12).count() as f64 / 256.0;
        let options = BootstrapOptions { samples: 40_000, seed: 5, ..BootstrapOptions::default() };
        let found = bootstrap(&d, &[0.0; 4], &options);
        let error = (p * (1.0 - p) / 40_000.0).sqrt();
        assert!((found.p_value.unwrap() - p).abs() < 5.0 * error, "{found:?}, not {p}");
        assert_eq!((found.statistic, found.n, found.least_p), (Some(mean), 4, Some(1.0 / 40_001.0)));
    }

    #[test]
    fn rows_in_another_order_and_other_threads_change_nothing() {
        let a: Vec<f64> = (0..200).map(|i| f64::from(i * 7 % 31) / 7.0).collect();
        let b: Vec<f64> = (0..200).map(|i| f64::from(i * 5 % 29) / 7.0).collect();
        let options = BootstrapOptions { samples: 500, seed: 1, ..BootstrapOptions::default() };
        let on = |threads: usize, a: &[f64], b: &[f64]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bootstrap(a, b, &options))
        };
        let first = on(1, &a, &b);
        let turned = |v: &[f64]| v.iter().rev().copied().collect::<Vec<_>>();
        assert_eq!(first, on(3, &turned(&a), &turned(&b)));
        assert!(first.low < first.statistic && first.statistic < first.high);
        assert_ne!(first, bootstrap(&a, &b, &BootstrapOptions { seed: 2, ..options.clone() }));
        // The deviation of a mean of 200: the interval is about 2 x 1.96 of it wide.
        let d: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let mean = d.iter().sum::<f64>() / 200.0;
        let deviation = (d.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 200.0 / 200.0).sqrt();
        let width = first.high.unwrap() - first.low.unwrap();
        assert!((width / (3.92 * deviation) - 1.0).abs() < 0.15, "{width}, {deviation}");
    }

    #[test]
    fn equal_differences_and_too_few_have_no_spread() {
        for (_, method) in BootstrapMethod::ALL {
            let options = BootstrapOptions { samples: 9, method, ..BootstrapOptions::default() };
            let found = bootstrap(&[1.5, 2.5], &[1.0, 2.0], &options);
            assert_eq!((found.low, found.high, found.p_value), (Some(0.5), Some(0.5), Some(0.1)));
            let equal = bootstrap(&[1.5, 2.5], &[1.5, 2.5], &options);
            assert_eq!((equal.statistic, equal.p_value), (Some(0.0), Some(1.0)));
            let one = bootstrap(&[1.5], &[1.5], &options);
            assert_eq!((one.statistic, one.low, one.p_value, one.n), (None, None, None, 1));
        }
    }
}
