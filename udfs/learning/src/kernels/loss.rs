//! Softmax with negative log-likelihood.

use bonnet_graph::{Monitor, Stopped};

use super::exp::exp;
use super::parallel::for_each_block_with;
use super::rows::RowSet;
use super::simd::{self, Body, Vectors};

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
    let scale = (1.0 / set.len().max(1) as f64) as f32;
    let mut sums = vec![0f64; set.n_blocks()];
    for_each_block_with(set, gradient, stride, &mut sums, monitor, |rows, first, chunk, sum| {
        *sum = simd::run(Rows { rows, first, logits, stride, n_classes, labels, scale, gradient: chunk });
    })?;
    Ok(sums.iter().sum::<f64>() / set.len().max(1) as f64)
}

struct Rows<'a> {
    rows: &'a [u32],
    first: usize,
    logits: &'a [f32],
    stride: usize,
    n_classes: usize,
    labels: &'a [u32],
    scale: f32,
    gradient: &'a mut [f32],
}

impl Body for Rows<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vectors>(self) -> f64 {
        let Self { rows, first, logits, stride, n_classes, labels, scale, gradient } = self;
        let mut loss = 0f64;
        for &row in rows {
            let logits = &logits[row as usize * stride..][..n_classes];
            let gradient = &mut gradient[(row as usize - first) * stride..][..stride];
            let label = labels[row as usize] as usize;
            let max = logits.iter().fold(f32::NEG_INFINITY, |max, &z| if z > max { z } else { max });
            gradient.fill(0.0);
            for (g, &z) in gradient.iter_mut().zip(logits) {
                *g = exp::<V>(z - max);
            }
            let sum: f32 = gradient[..n_classes].iter().sum();
            loss += f64::from(sum).ln() - f64::from(logits[label] - max);
            let factor = scale / sum;
            gradient[..n_classes].iter_mut().for_each(|g| *g *= factor);
            gradient[label] -= scale;
        }
        loss
    }
}

/// The class of the largest logit; among equals the first.
pub fn arg_max(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (class, z) in logits.iter().enumerate() {
        if *z > logits[best] {
            best = class;
        }
    }
    best as u32
}
