//! The maximum mean discrepancy between two samples of vectors.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

/// The work that is worth a second thread: about a millisecond.
const PARALLEL: usize = 1 << 20;

/// The similarity of two vectors. Vectors of different length are padded with zeros.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// exp(-d^2 / (2 sigma^2)) with the Euclidean distance d.
    Gaussian {
        /// The width.
        sigma: f64,
    },
    /// exp(-d^2 / (2 sigma^2)) with the earth mover's distance d between the vectors as histograms, each divided by its
    /// sum, whose bins lie 1 apart. (You et al., GraphRNN (ICML 2018), App. A.3; not positive definite in general.)
    GaussianEmd {
        /// The width, in bins.
        sigma: f64,
    },
    /// The inner product: the discrepancy is the squared distance of the means.
    Linear,
}

/// Why samples have no discrepancy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MmdError {
    /// The width is no positive number.
    #[error("sigma is {0}, but must be a finite number above 0")]
    Sigma(f64),
    /// A sample is too small.
    #[error("a sample has {found} descriptors; {needed} are needed{}", if *.needed > 1 { " where unbiased => true" } else { "" })]
    TooFew {
        /// The sample's size.
        found: usize,
        /// The least size.
        needed: usize,
    },
    /// A component is NaN or infinite.
    #[error("a descriptor has the component {0}; all must be finite")]
    NotFinite(f64),
    /// A vector is no histogram, for the kernel that takes histograms.
    #[error("kernel 'gaussian_emd' takes histograms: components of at least 0 that do not all vanish; one has {0}")]
    NoHistogram(&'static str),
    /// The host stopped the work.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// The squared maximum mean discrepancy between two samples (Gretton et al., A Kernel Two-Sample Test, JMLR 2012): mean
/// kernel within `a` plus mean within `b` minus twice the mean between them. By default over all pairs, a vector with
/// itself included (Eq. 5: biased, at least 0 for a positive definite kernel); `unbiased` leaves those out (Eq. 3) and
/// can be below 0.
///
/// The samples are sorted before they are summed up, so that the answer depends on neither the order of the vectors nor
/// the number of threads. O((|a| + |b|)^2 l) time for length l; 8 (|a| + |b|) l bytes.
///
/// # Errors
/// For samples and options that [`MmdError`] describes.
pub fn mmd(
    a: &[Vec<f64>],
    b: &[Vec<f64>],
    kernel: Kernel,
    unbiased: bool,
    monitor: &dyn Monitor,
) -> Result<f64, MmdError> {
    if let Kernel::Gaussian { sigma } | Kernel::GaussianEmd { sigma } = kernel
        && !(sigma > 0.0 && sigma.is_finite())
    {
        return Err(MmdError::Sigma(sigma));
    }
    let needed = if unbiased { 2 } else { 1 };
    if let Some(small) = [a, b].into_iter().find(|sample| sample.len() < needed) {
        return Err(MmdError::TooFew { found: small.len(), needed });
    }
    let width = a.iter().chain(b).map(Vec::len).max().unwrap_or(0);
    let _held = Reservation::new(monitor, 8usize.saturating_mul(width).saturating_mul(a.len() + b.len()))?;
    let (a, b) = (Sample::new(a, width, kernel)?, Sample::new(b, width, kernel)?);
    monitor.expect((a.rows * a.rows + b.rows * b.rows + a.rows * b.rows) as u64);
    let within_a = sum_of_kernels(&a, &a, kernel, unbiased, monitor)?;
    let within_b = sum_of_kernels(&b, &b, kernel, unbiased, monitor)?;
    let between = sum_of_kernels(&a, &b, kernel, false, monitor)?;
    let pairs = |n: usize| if unbiased { n as f64 * (n - 1) as f64 } else { n as f64 * n as f64 };
    let (of_a, of_b) = (within_a / pairs(a.rows), within_b / pairs(b.rows));
    Ok(of_a + of_b - 2.0 * (between / (a.rows as f64 * b.rows as f64)))
}

/// Vectors of one length, row by row and in ascending order. Histograms are stored as the sums from the left, whose
/// absolute difference is the earth mover's distance in one dimension.
struct Sample {
    rows: usize,
    width: usize,
    values: Vec<f64>,
}

impl Sample {
    fn new(vectors: &[Vec<f64>], width: usize, kernel: Kernel) -> Result<Self, MmdError> {
        let mut order: Vec<&Vec<f64>> = vectors.iter().collect();
        order.sort_by(|a, b| {
            a.iter().zip(b.iter()).map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne()).unwrap_or(a.len().cmp(&b.len()))
        });
        let mut values = Vec::with_capacity(width * vectors.len());
        for vector in order {
            if let Some(wrong) = vector.iter().find(|value| !value.is_finite()) {
                return Err(MmdError::NotFinite(*wrong));
            }
            let end = values.len() + width;
            if let Kernel::GaussianEmd { .. } = kernel {
                if vector.iter().any(|value| *value < 0.0) {
                    return Err(MmdError::NoHistogram("a negative component"));
                }
                let total: f64 = vector.iter().sum();
                if total <= 0.0 || !total.is_finite() {
                    return Err(MmdError::NoHistogram("no positive, finite sum"));
                }
                let mut sum = 0.0;
                values.extend(vector.iter().map(|value| {
                    sum += value / total;
                    sum
                }));
                values.resize(end, 1.0);
            } else {
                values.extend(vector);
                values.resize(end, 0.0);
            }
        }
        Ok(Self { rows: vectors.len(), width, values })
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }
}

/// The sum over all pairs, row by row. `others` leaves out the pairs of a row with itself.
fn sum_of_kernels(a: &Sample, b: &Sample, kernel: Kernel, others: bool, monitor: &dyn Monitor) -> Result<f64, Stopped> {
    let row = |i: usize| {
        monitor.check()?;
        let of = |j: usize| value(kernel, a.row(i), b.row(j));
        let sum: f64 = (0..b.rows).filter(|j| !others || *j != i).map(of).sum();
        monitor.advance(b.rows as u64);
        Ok(sum)
    };
    let sums: Vec<f64> = if a.rows * b.rows * a.width.max(1) < PARALLEL {
        (0..a.rows).map(row).collect::<Result<_, Stopped>>()?
    } else {
        (0..a.rows).into_par_iter().map(row).collect::<Result<_, Stopped>>()?
    };
    Ok(sums.into_iter().sum())
}

fn value(kernel: Kernel, a: &[f64], b: &[f64]) -> f64 {
    match kernel {
        Kernel::Gaussian { sigma } => (-sum(a, b, |a, b| (a - b) * (a - b)) / (2.0 * sigma * sigma)).exp(),
        Kernel::GaussianEmd { sigma } => {
            let distance = sum(a, b, |a, b| (a - b).abs());
            (-distance * distance / (2.0 * sigma * sigma)).exp()
        }
        Kernel::Linear => sum(a, b, |a, b| a * b),
    }
}

/// A sum over components in a fixed order that a vector unit can follow.
fn sum(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let (blocks_a, rest_a) = a.as_chunks::<4>();
    let (blocks_b, rest_b) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in blocks_a.iter().zip(blocks_b) {
        (0..4).for_each(|lane| sums[lane] += term(a[lane], b[lane]));
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| term(*a, *b)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    fn of(a: &[Vec<f64>], b: &[Vec<f64>], kernel: Kernel, unbiased: bool) -> f64 {
        mmd(a, b, kernel, unbiased, &Unmonitored).unwrap()
    }

    fn samples() -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        (
            vec![vec![0.5, 0.5], vec![0.0, 0.25, 0.75], vec![1.0]],
            vec![vec![0.1, 0.2, 0.3, 0.4], vec![0.0, 0.0, 0.0, 1.0], vec![0.25, 0.25, 0.25, 0.25], vec![0.9, 0.1]],
        )
    }

    #[test]
    fn values_are_those_of_scipy() {
        // scipy.spatial.distance.cdist and scipy.stats.wasserstein_distance over the padded vectors, summed by numpy.
        let (a, b) = samples();
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        close(of(&a, &b, Kernel::Gaussian { sigma: 1.0 }, false), SCIPY[0]);
        close(of(&a, &b, Kernel::Gaussian { sigma: 0.3 }, true), SCIPY[1]);
        close(of(&a, &b, Kernel::GaussianEmd { sigma: 1.0 }, false), SCIPY[2]);
        close(of(&a, &b, Kernel::GaussianEmd { sigma: 2.5 }, true), SCIPY[3]);
        close(of(&a, &b, Kernel::Linear, false), SCIPY[4]);
    }

    const SCIPY: [f64; 5] =
        [0.15974892015585973, -0.10313225842940954, 0.2764598068490912, 0.02087642397654621, 0.23062500000000002];

    #[test]
    fn the_linear_kernel_gives_the_squared_distance_of_the_means() {
        let (a, b) = (vec![vec![1.0, 2.0], vec![3.0, 0.0]], vec![vec![0.0, 0.0], vec![0.0, -2.0]]);
        assert_eq!(of(&a, &b, Kernel::Linear, false), 4.0 + 4.0);
    }

    #[test]
    fn equal_samples_are_at_zero_and_distant_ones_at_two() {
        let (a, _) = samples();
        assert_eq!(of(&a, &a, Kernel::Gaussian { sigma: 0.7 }, false), 0.0);
        let far: Vec<Vec<f64>> = vec![vec![1e6]; 2];
        assert_eq!(of(&[vec![0.0], vec![0.0]], &far, Kernel::Gaussian { sigma: 1.0 }, false), 2.0);
        assert_eq!(of(&[vec![0.0], vec![0.0]], &far, Kernel::Gaussian { sigma: 1.0 }, true), 2.0);
    }

    #[test]
    fn histograms_may_be_counts() {
        let (a, b) = samples();
        let counts = |sample: &[Vec<f64>]| -> Vec<Vec<f64>> {
            sample.iter().map(|vector| vector.iter().map(|value| value * 8.0).collect()).collect()
        };
        let kernel = Kernel::GaussianEmd { sigma: 1.0 };
        assert!((of(&counts(&a), &counts(&b), kernel, false) - of(&a, &b, kernel, false)).abs() < 1e-15);
    }

    #[test]
    fn the_threads_do_not_change_a_bit() {
        let sample = |shift: usize| -> Vec<Vec<f64>> {
            (0..150).map(|i| (0..100).map(|j| ((i * 31 + j * 17 + shift) % 97) as f64 / 97.0).collect()).collect()
        };
        let (a, b) = (sample(1), sample(40));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| of(&a, &b, Kernel::Gaussian { sigma: 2.0 }, true)).to_bits()
        };
        assert_eq!(run(1), run(4));
    }

    #[test]
    fn wrong_input_is_refused() {
        let error = |a: &[Vec<f64>], b: &[Vec<f64>], kernel, unbiased| {
            mmd(a, b, kernel, unbiased, &Unmonitored).unwrap_err().to_string()
        };
        let (a, b) = samples();
        assert!(error(&a, &b, Kernel::Gaussian { sigma: 0.0 }, false).contains("sigma is 0"));
        assert!(error(&a, &[], Kernel::Linear, false).contains("a sample has 0 descriptors; 1 are needed"));
        assert!(error(&a, &b[..1], Kernel::Linear, true).contains("1 descriptors; 2 are needed where unbiased"));
        assert!(error(&a, &[vec![f64::NAN]], Kernel::Linear, false).contains("NaN"));
        let emd = Kernel::GaussianEmd { sigma: 1.0 };
        assert!(error(&a, &[vec![-1.0, 2.0]], emd, false).contains("a negative component"));
        assert!(error(&a, &[vec![0.0, 0.0]], emd, false).contains("no positive, finite sum"));
    }

    proptest! {
        #[test]
        fn the_biased_value_is_not_negative_and_the_order_does_not_matter(
            a in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 1..6), 1..6),
            b in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 1..6), 1..6),
        ) {
            let kernel = Kernel::Gaussian { sigma: 0.5 };
            let found = of(&a, &b, kernel, false);
            prop_assert!(found > -1e-12);
            let (reversed_a, reversed_b): (Vec<_>, Vec<_>) = (a.iter().rev().cloned().collect(), b.iter().rev().cloned().collect());
            prop_assert_eq!(of(&reversed_a, &reversed_b, kernel, false).to_bits(), found.to_bits());
        }
    }
}
