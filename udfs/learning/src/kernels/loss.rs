//! Softmax with negative log-likelihood.

use bonnet_graph::{Monitor, Stopped};

use super::exp::exp;
use super::parallel::for_each_block_with;
use super::rows::RowSet;
use super::simd::{self, Body, Lanes, Vectors};

/// The mean negative log-likelihood of the labels of a set's rows, and its gradient by the logits in `gradient` (rows of
/// the set only; padding columns get 0). Logits have `stride` columns, the first `n_classes` of them real; every row of
/// the set has a label. 0 for an empty set. O(rows * classes).
pub fn nll_gradient(
    set: &RowSet,
    logits: &[f32],
    stride: usize,
    n_classes: usize,
    labels: &[u32],
    gradient: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<f64, Stopped> {
    weighted_nll_gradient(set, logits, stride, n_classes, labels, &[], gradient, monitor)
}

/// The loss of [`nll_gradient`] alone.
pub fn nll(
    set: &RowSet,
    logits: &[f32],
    stride: usize,
    n_classes: usize,
    labels: &[u32],
    monitor: &dyn Monitor,
) -> Result<f64, Stopped> {
    struct Sum<'a>(&'a [u32], &'a [f32], usize, usize, &'a [u32]);
    impl Body for Sum<'_> {
        type Output = f64;
        #[inline(always)]
        fn run<V: Vectors>(self) -> f64 {
            let Self(rows, logits, stride, n_classes, labels) = self;
            let mut sum = 0.0;
            for &row in rows {
                let logits = &logits[row as usize * stride..][..n_classes];
                let max = largest(logits);
                sum += loss(logits, max, powers::<V>(logits, max, |_, _| {}), labels[row as usize]);
            }
            sum
        }
    }
    let (mut nothing, mut sums) = (vec![(); set.n_rows()], vec![0f64; set.n_blocks()]);
    for_each_block_with(set, &mut nothing, 1, &mut sums, monitor, |rows, _, _, sum| {
        *sum = simd::run(Sum(rows, logits, stride, n_classes, labels));
    })?;
    Ok(sums.iter().sum::<f64>() / set.len().max(1) as f64)
}

/// [`nll_gradient`] with a weight for each class: the weighted mean, divided by the sum of the weights of the set's rows,
/// as PyTorch's `nll_loss(weight=...)` defines it. No weights are all 1.
#[expect(clippy::too_many_arguments, reason = "the logits and labels with their sizes")]
pub fn weighted_nll_gradient(
    set: &RowSet,
    logits: &[f32],
    stride: usize,
    n_classes: usize,
    labels: &[u32],
    weights: &[f32],
    gradient: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<f64, Stopped> {
    let total = match weights {
        [] => set.len() as f64,
        _ => set.rows().iter().map(|&row| f64::from(weights[labels[row as usize] as usize])).sum(),
    };
    let total = if total > 0.0 { total } else { 1.0 };
    let scale = (1.0 / total) as f32;
    let mut sums = vec![0f64; set.n_blocks()];
    for_each_block_with(set, gradient, stride, &mut sums, monitor, |rows, first, chunk, sum| {
        *sum = simd::run(LossRows { rows, first, logits, stride, n_classes, labels, weights, scale, gradient: chunk });
    })?;
    Ok(sums.iter().sum::<f64>() / total)
}

struct LossRows<'a> {
    rows: &'a [u32],
    first: usize,
    logits: &'a [f32],
    stride: usize,
    n_classes: usize,
    labels: &'a [u32],
    weights: &'a [f32],
    scale: f32,
    gradient: &'a mut [f32],
}

impl Body for LossRows<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vectors>(self) -> f64 {
        let Self { rows, first, logits, stride, n_classes, labels, weights, scale, gradient } = self;
        let mut total = 0f64;
        for &row in rows {
            let logits = &logits[row as usize * stride..][..n_classes];
            let gradient = &mut gradient[(row as usize - first) * stride..][..stride];
            let label = labels[row as usize];
            let weight = weights.get(label as usize).copied().unwrap_or(1.0);
            let scale = scale * weight;
            let max = largest(logits);
            // Padding gets the powers of minus infinity: zeros.
            let sum = powers::<V>(logits, max, |at, powers| gradient[at..at + 8].copy_from_slice(powers));
            total += f64::from(weight) * loss(logits, max, sum, label);
            let factor = scale / sum;
            gradient.iter_mut().for_each(|g| *g *= factor);
            gradient[label as usize] -= scale;
        }
        total
    }
}

/// The largest logit, NaN aside.
#[inline(always)]
fn largest(logits: &[f32]) -> f32 {
    let (eights, rest) = logits.as_chunks::<8>();
    let mut lanes: Lanes = [f32::NEG_INFINITY; 8];
    for eight in eights {
        for c in 0..8 {
            lanes[c] = if eight[c] > lanes[c] { eight[c] } else { lanes[c] };
        }
    }
    let mut max = f32::NEG_INFINITY;
    for &z in lanes.iter().chain(rest) {
        max = if z > max { z } else { max };
    }
    max
}

/// The sum of `e^(z - max)`. `keep` sees the powers with the number of the first, eight at a time, zeros after the last.
#[inline(always)]
fn powers<V: Vectors>(logits: &[f32], max: f32, mut keep: impl FnMut(usize, &Lanes)) -> f32 {
    let mut sums: Lanes = [0.0; 8];
    for at in (0..logits.len()).step_by(8) {
        let mut powers = [f32::NEG_INFINITY; 8];
        match logits[at..].first_chunk() {
            Some(eight) => powers = *eight,
            None => powers[..logits.len() - at].copy_from_slice(&logits[at..]),
        }
        for c in 0..8 {
            powers[c] = exp::<V>(powers[c] - max);
            sums[c] += powers[c];
        }
        keep(at, &powers);
    }
    let four = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
    (four[0] + four[2]) + (four[1] + four[3])
}

/// The negative log-likelihood of a label, from the largest logit and the sum of the powers.
#[inline(always)]
fn loss(logits: &[f32], max: f32, sum: f32, label: u32) -> f64 {
    f64::from(sum).ln() - f64::from(logits[label as usize] - max)
}

/// The class of the largest logit; among equals the first.
pub fn arg_max(logits: &[f32]) -> u32 {
    if logits.first().is_none_or(|z| z.is_nan()) {
        return 0;
    }
    let max = largest(logits);
    logits.iter().position(|z| *z == max).unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::*;

    #[test]
    fn weighted_losses_and_gradients_equal_those_of_the_definition() {
        let (stride, classes) = (8, 3);
        let mut logits = vec![0f32; 5 * stride];
        for (at, z) in logits.iter_mut().enumerate().filter(|(at, _)| at % stride < classes) {
            *z = ((at as f32) * 0.7).sin() * 2.0;
        }
        let (labels, weights) = ([0, 2, 1, 0, 2], [0.5f32, 2.0, 1.25]);
        let set = RowSet::new(5, vec![0, 1, 2, 4]);
        let loss_of = |logits: &[f32]| {
            let (mut sum, mut total) = (0.0, 0.0);
            for &row in set.rows() {
                let z: Vec<f64> = logits[row as usize * stride..][..classes].iter().map(|&z| f64::from(z)).collect();
                let normal = z.iter().map(|z| z.exp()).sum::<f64>().ln();
                let label = labels[row as usize] as usize;
                let weight = f64::from(weights[label]);
                sum += weight * (normal - z[label]);
                total += weight;
            }
            sum / total
        };
        let mut gradient = vec![f32::NAN; logits.len()];
        let loss =
            weighted_nll_gradient(&set, &logits, stride, classes, &labels, &weights, &mut gradient, &Unmonitored);
        assert!((loss.unwrap() - loss_of(&logits)).abs() < 1e-6);
        for row in [0, 1, 2, 4] {
            for c in 0..stride {
                let at = row * stride + c;
                let mut moved = [logits.clone(), logits.clone()];
                (moved[0][at], moved[1][at]) = (logits[at] + 1e-2, logits[at] - 1e-2);
                let slope = if c < classes { (loss_of(&moved[0]) - loss_of(&moved[1])) / 2e-2 } else { 0.0 };
                assert!((f64::from(gradient[at]) - slope).abs() < 2e-5, "row {row}, column {c}");
            }
        }
        assert!(gradient[3 * stride].is_nan(), "rows outside the set are left alone");
        // Neither weights nor a gradient.
        let plain = nll_gradient(&set, &logits, stride, classes, &labels, &mut gradient, &Unmonitored).unwrap();
        assert!(nll(&set, &logits, stride, classes, &labels, &Unmonitored).unwrap() == plain);
        // Equal weights are no weights.
        let mut equal = vec![0f32; logits.len()];
        let weights = [3.0; 3];
        weighted_nll_gradient(&set, &logits, stride, classes, &labels, &weights, &mut equal, &Unmonitored).unwrap();
        let mut plain = vec![0f32; logits.len()];
        nll_gradient(&set, &logits, stride, classes, &labels, &mut plain, &Unmonitored).unwrap();
        assert!(equal.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-7));
    }

    #[test]
    fn many_classes_are_summed_and_compared_eight_at_a_time() {
        let (stride, classes) = (24, 19);
        let z: Vec<f32> = (0..stride).map(|c| if c < classes { ((c * 7) as f32).sin() * 3.0 } else { 50.0 }).collect();
        let sum: f64 = z[..classes].iter().map(|&z| f64::from(z).exp()).sum();
        let mut gradient = vec![f32::NAN; stride];
        for label in [0, 8, 18] {
            let loss = nll_gradient(&RowSet::all(1), &z, stride, classes, &[label], &mut gradient, &Unmonitored);
            assert!((loss.unwrap() - (sum.ln() - f64::from(z[label as usize]))).abs() < 1e-6);
            for (c, &g) in gradient.iter().enumerate() {
                let expected = match c {
                    c if c >= classes => 0.0,
                    c => f64::from(z[c]).exp() / sum - f64::from(u8::from(c == label as usize)),
                };
                assert!((f64::from(g) - expected).abs() < 1e-6, "class {c}: {g} for {expected}");
            }
        }
        let mut row = vec![-1.0f32; classes];
        for class in (0..classes).rev() {
            row[class] = 2.0;
            assert_eq!(arg_max(&row), class as u32, "among equals the first");
        }
        assert_eq!((arg_max(&[]), arg_max(&[f32::NAN, 1.0]), arg_max(&[0.0, f32::NAN, 1.0])), (0, 0, 2));
        assert_eq!(arg_max(&[f32::NEG_INFINITY; 3]), 0);
    }
}
