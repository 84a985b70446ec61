//! The kernel two-sample test.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// The answer of [`kernel_two_sample_test`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelTest {
    /// The squared maximum mean discrepancy of the two samples.
    pub mmd: f64,
    /// (1 + the number of regroupings with at least that discrepancy) / (1 + the number of regroupings).
    pub p_value: f64,
    /// The share of regroupings with a larger discrepancy.
    pub share_above: f64,
}

/// Whether two samples differ, by a kernel of all pairs of items, `kernel[i * n + j]`: their squared maximum mean discrepancy (Gretton et
/// al., A Kernel Two-Sample Test, JMLR 2012) against that of `permutations` random regroupings of the same sizes. By default over all
/// pairs, an item with itself included (Eq. 5); `unbiased` leaves those out (Eq. 3). The p-value counts the observed grouping (Phipson and
/// Smyth, 2010).
///
/// `in_first[i]` says whether item i is of the first sample. O(n^2) time a regrouping, regroupings in parallel. The answer depends on the
/// order of the items only by the regroupings that are drawn.
///
/// # Errors
/// The monitor stopped the work.
///
/// # Panics
/// If the lengths do not fit, or a sample is empty, or has one item where `unbiased` is asked for.
pub fn kernel_two_sample_test(
    kernel: &[f64],
    in_first: &[bool],
    unbiased: bool,
    permutations: usize,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<KernelTest, Stopped> {
    let n = in_first.len();
    let first = in_first.iter().filter(|&&first| first).count();
    let least = if unbiased { 2 } else { 1 };
    assert!(kernel.len() == n * n && first >= least && n - first >= least, "two samples");
    let _held = Reservation::new(monitor, 16 * n * rayon::current_num_threads())?;
    let observed = discrepancy(kernel, in_first, unbiased);

    monitor.expect(permutations as u64);
    let counts = (0..permutations).into_par_iter().with_min_len(4).map_init(
        || (Vec::new(), vec![false; n]),
        |(order, in_first), i| {
            monitor.check()?;
            // Each regrouping has its own stream of random numbers.
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(i as u64);
            order.clear();
            order.extend(0..n);
            in_first.fill(false);
            for k in 0..first {
                let other = random.random_range(k..n);
                order.swap(k, other);
                in_first[order[k]] = true;
            }
            let regrouped = discrepancy(kernel, in_first, unbiased);
            monitor.advance(1);
            Ok((usize::from(regrouped > observed), usize::from(regrouped >= observed)))
        },
    );
    let (above, at_least) = counts.try_reduce(|| (0, 0), |a, b| Ok((a.0 + b.0, a.1 + b.1)))?;
    Ok(KernelTest {
        mmd: observed,
        p_value: (1 + at_least) as f64 / (1 + permutations) as f64,
        share_above: above as f64 / permutations.max(1) as f64,
    })
}

/// The squared discrepancy of the items of the first sample from the others.
fn discrepancy(kernel: &[f64], in_first: &[bool], unbiased: bool) -> f64 {
    let n = in_first.len();
    // Within the first sample, within the other, and of items with themselves in either.
    let (mut within, mut own, mut between) = ([0.0; 2], [0.0; 2], 0.0);
    for i in 0..n {
        let row = &kernel[i * n..i * n + i];
        let mut sums = [0.0; 2];
        for (value, &first) in row.iter().zip(in_first) {
            sums[usize::from(!first)] += value;
        }
        let sample = usize::from(!in_first[i]);
        within[sample] += 2.0 * sums[sample];
        between += sums[1 - sample];
        own[sample] += kernel[i * n + i];
    }
    let first = in_first.iter().filter(|&&first| first).count() as f64;
    let sizes = [first, n as f64 - first];
    let mean = |sample: usize| match unbiased {
        true => within[sample] / (sizes[sample] * (sizes[sample] - 1.0)),
        false => (within[sample] + own[sample]) / (sizes[sample] * sizes[sample]),
    };
    mean(0) + mean(1) - 2.0 * between / (sizes[0] * sizes[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, mmd};
    use bonnet_graph::Unmonitored;

    fn linear(points: &[Vec<f64>]) -> Vec<f64> {
        points.iter().flat_map(|a| points.iter().map(|b| a.iter().zip(b).map(|(a, b)| a * b).sum())).collect()
    }

    fn sample() -> (Vec<Vec<f64>>, Vec<bool>) {
        let points = (0..14).map(|i| vec![(i * 7 % 5) as f64, (i * 3 % 4) as f64 - 0.5 * (i % 2) as f64]).collect();
        (points, (0..14).map(|i| i % 3 == 0).collect())
    }

    #[test]
    fn the_discrepancy_is_that_of_the_vectors() {
        let (points, in_first) = sample();
        let of = |first: bool| -> Vec<Vec<f64>> {
            points.iter().zip(&in_first).filter(|(_, it)| **it == first).map(|(point, _)| point.clone()).collect()
        };
        for unbiased in [false, true] {
            let found = kernel_two_sample_test(&linear(&points), &in_first, unbiased, 10, 0, &Unmonitored).unwrap();
            let expected = mmd(&of(true), &of(false), Kernel::Linear, unbiased, &Unmonitored).unwrap();
            assert!((found.mmd - expected).abs() < 1e-12, "{} {expected}", found.mmd);
        }
    }

    #[test]
    fn p_values_come_near_those_of_all_regroupings() {
        let (points, in_first) = sample();
        let (points, in_first) = (&points[..9], &in_first[..9]);
        let kernel = linear(points);
        let observed = discrepancy(&kernel, in_first, false);
        let groupings = (0u32..1 << 9).filter(|set| set.count_ones() == 3);
        let all: Vec<f64> = groupings
            .map(|set| discrepancy(&kernel, &(0..9).map(|i| set >> i & 1 == 1).collect::<Vec<_>>(), false))
            .collect();
        let exact = all.iter().filter(|&&value| value >= observed).count() as f64 / all.len() as f64;
        let found = kernel_two_sample_test(&kernel, in_first, false, 20_000, 1, &Unmonitored).unwrap();
        // Four standard deviations of a share of 20,000 draws.
        assert!((found.p_value - exact).abs() < 0.0142, "{} {exact}", found.p_value);
        assert_eq!(found, kernel_two_sample_test(&kernel, in_first, false, 20_000, 1, &Unmonitored).unwrap());
    }

    #[test]
    fn samples_far_apart_have_the_least_p_value() {
        let points: Vec<Vec<f64>> =
            (0..20).map(|i| vec![f64::from(i % 5) + if i < 10 { 0.0 } else { 100.0 }]).collect();
        let in_first: Vec<bool> = (0..20).map(|i| i < 10).collect();
        let found = kernel_two_sample_test(&linear(&points), &in_first, true, 999, 0, &Unmonitored).unwrap();
        assert!(found.p_value <= 0.003, "{}", found.p_value);
    }
}
