//! Pairs of points: the Fermi-Dirac logit of their distance, losses of distances and their gradients.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

use super::Space;
use super::distance::Scratch;
use crate::ground::Axis;
use crate::kernels::pairs::{RADIUS, TEMPERATURE, cross_entropy, sigmoid};

/// Pairs of a task.
const PIECE: usize = 1024;

/// Pieces whose gradients are held at once.
const WAVE: usize = 32;

/// A node's row without padding.
fn row(x: &[f32], axis: Axis, node: u32, out: &mut Vec<f64>) {
    let row = &x[node as usize * axis.stride()..][..axis.stride()];
    out.clear();
    out.extend(axis.positions().map(|at| f64::from(row[at])));
}

/// The logits `(r - d^2) / t` of pairs (Krioukov et al. 2010), r = 2, t = 1; `x` has rows of the space, padded.
pub fn logits(
    space: &Space,
    pairs: &[(u32, u32)],
    x: &[f32],
    out: &mut [f64],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let axis = Axis::padded(1, space.columns());
    pairs.par_chunks(PIECE).zip(out.par_chunks_mut(PIECE)).try_for_each(|(pairs, out)| {
        monitor.check()?;
        let (mut first, mut second, mut scratch) = (Vec::new(), Vec::new(), Scratch::default());
        for (&(u, v), out) in pairs.iter().zip(out) {
            row(x, axis, u, &mut first);
            row(x, axis, v, &mut second);
            *out = (RADIUS - space.square(&first, &second, &mut scratch)) / TEMPERATURE;
        }
        Ok(())
    })
}

/// The mean binary cross-entropy of pairs, the first `positives` of them edges, and its gradient by every row of `x`.
/// O(rows + pairs * columns).
pub fn loss(
    space: &Space,
    pairs: &[(u32, u32)],
    positives: usize,
    x: &[f32],
    gradient: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<f64, Stopped> {
    let scale = 1.0 / pairs.len().max(1) as f64;
    let of = |at: usize, square: f64| {
        let (z, positive) = ((RADIUS - square) / TEMPERATURE, at < positives);
        let slope = (sigmoid(z) - f64::from(u8::from(positive))) * scale;
        (cross_entropy(z, positive), -slope / TEMPERATURE)
    };
    Ok(self::gradient(space, pairs, x, gradient, monitor, &of)? * scale)
}

/// A loss of a pair, by its number and the squared distance of the two, and its slope by that.
pub(super) type OfSquare<'a> = &'a (dyn Fn(usize, f64) -> (f64, f64) + Sync);

/// The sum of a loss over pairs, and its gradient by every row of `x`. Summed in the order of the pairs: the same bits for
/// any number of threads. O(rows + pairs * columns).
pub(super) fn gradient(
    space: &Space,
    pairs: &[(u32, u32)],
    x: &[f32],
    gradient: &mut [f32],
    monitor: &dyn Monitor,
    of: OfSquare<'_>,
) -> Result<f64, Stopped> {
    let axis = Axis::padded(1, space.columns());
    let (positions, columns) = (axis.positions().collect::<Vec<_>>(), space.columns());
    let one = |first: usize, pairs: &[(u32, u32)]| -> (f64, Vec<f64>) {
        let (mut u, mut v, mut scratch) = (Vec::new(), Vec::new(), Scratch::default());
        let (mut sum, mut gradients) = (0.0, vec![0.0; 2 * columns * pairs.len()]);
        for ((at, pair), d) in pairs.iter().enumerate().zip(gradients.chunks_exact_mut(2 * columns)) {
            row(x, axis, pair.0, &mut u);
            row(x, axis, pair.1, &mut v);
            let (d_u, d_v) = d.split_at_mut(columns);
            let slope = |square: f64| {
                let (loss, slope) = of(first + at, square);
                sum += loss;
                slope
            };
            space.square_gradient([&u, &v], &mut scratch, slope, [d_u, d_v]);
        }
        (sum, gradients)
    };
    gradient.fill(0.0);
    let mut sum = 0.0;
    for (wave, pairs) in pairs.chunks(WAVE * PIECE).enumerate() {
        let parts = pairs.par_chunks(PIECE).enumerate().map(|(at, pairs)| {
            monitor.check()?;
            Ok(one((wave * WAVE + at) * PIECE, pairs))
        });
        let parts: Vec<(f64, Vec<f64>)> = parts.collect::<Result<_, Stopped>>()?;
        for (pairs, (part, gradients)) in pairs.chunks(PIECE).zip(&parts) {
            sum += part;
            for (&(u, v), from) in pairs.iter().zip(gradients.chunks_exact(2 * columns)) {
                for (node, from) in [u, v].into_iter().zip(from.chunks_exact(columns)) {
                    let to = &mut gradient[node as usize * axis.stride()..][..axis.stride()];
                    positions.iter().zip(from).for_each(|(&at, g)| to[at] += *g as f32);
                }
            }
        }
    }
    Ok(sum)
}
