//! Pairs of points: the Fermi-Dirac logit of their distance, losses of distances and their gradients.

use bonnet_graph::{Monitor, Stopped};
use candle_core::{Device, Result, Tensor, Var};
use rayon::prelude::*;

use super::Space;
use crate::kernels::pairs::{RADIUS, TEMPERATURE, cross_entropy, sigmoid};
use crate::network::Axis;

/// Pairs that are evaluated at a time.
const PIECE: usize = 1024;

/// Pieces whose gradients are held at once.
const WAVE: usize = 32;

fn rows(x: &[f32], axis: Axis, nodes: impl Iterator<Item = u32>) -> Result<Tensor> {
    let values: Vec<f64> = nodes
        .flat_map(|v| {
            let row = &x[v as usize * axis.stride()..][..axis.stride()];
            axis.positions().map(|at| f64::from(row[at]))
        })
        .collect();
    Tensor::from_vec(values, ((), axis.len()), &Device::Cpu)
}

fn logit(space: &Space, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    space.square_distance(x, y)?.affine(-1.0 / TEMPERATURE, RADIUS / TEMPERATURE)
}

/// An expression that does not fit its rows is an error of the program.
fn valid<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("a distance does not fit its points: {error}"))
}

/// The logits `(r - d^2) / t` of pairs (Krioukov et al. 2010), r = 2, t = 1; `x` has rows of the space, padded.
pub fn logits(
    space: &Space,
    pairs: &[(u32, u32)],
    x: &[f32],
    out: &mut [f64],
    monitor: &dyn Monitor,
) -> std::result::Result<(), Stopped> {
    let axis = Axis::padded(1, space.columns());
    pairs.par_chunks(PIECE).zip(out.par_chunks_mut(PIECE)).try_for_each(|(pairs, out)| {
        monitor.check()?;
        let found = || -> Result<Vec<f64>> {
            let (u, v) = (rows(x, axis, pairs.iter().map(|p| p.0))?, rows(x, axis, pairs.iter().map(|p| p.1))?);
            logit(space, &u, &v)?.flatten_all()?.to_vec1()
        };
        out.copy_from_slice(&valid(found()));
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
) -> std::result::Result<f64, Stopped> {
    let scale = 1.0 / pairs.len().max(1) as f64;
    let of = |at: usize, square: f64| {
        let (z, positive) = ((RADIUS - square) / TEMPERATURE, at < positives);
        let slope = (sigmoid(z) - f64::from(u8::from(positive))) * scale;
        (cross_entropy(z, positive), -slope / TEMPERATURE)
    };
    Ok(self::gradient(space, pairs, x, gradient, monitor, &of)? * scale)
}

/// A loss of a pair, by its number and the squared distance of the two, and its slope by that.
pub type OfSquare<'a> = &'a (dyn Fn(usize, f64) -> (f64, f64) + Sync);

/// The sum of a loss over pairs, and its gradient by every row of `x`. Summed in the order of the pairs: the same bits for
/// any number of threads. O(rows + pairs * columns).
pub fn gradient(
    space: &Space,
    pairs: &[(u32, u32)],
    x: &[f32],
    gradient: &mut [f32],
    monitor: &dyn Monitor,
    of: OfSquare<'_>,
) -> std::result::Result<f64, Stopped> {
    let axis = Axis::padded(1, space.columns());
    let positions: Vec<usize> = axis.positions().collect();
    let one = |first: usize, pairs: &[(u32, u32)]| -> Result<(f64, [Vec<f64>; 2])> {
        let (u, v) = (rows(x, axis, pairs.iter().map(|p| p.0))?, rows(x, axis, pairs.iter().map(|p| p.1))?);
        let (u, v) = (Var::from_tensor(&u)?, Var::from_tensor(&v)?);
        let square = space.square_distance(&u, &v)?;
        let (mut sum, mut slopes) = (0.0, Vec::with_capacity(pairs.len()));
        for (at, square) in square.flatten_all()?.to_vec1::<f64>()?.into_iter().enumerate() {
            let (loss, slope) = of(first + at, square);
            sum += loss;
            slopes.push(slope);
        }
        let slopes = Tensor::from_vec(slopes, (pairs.len(), 1), &Device::Cpu)?;
        let store = (square * slopes)?.backward()?;
        let values = |x: &Var| match store.get(x) {
            Some(gradient) => gradient.contiguous()?.flatten_all()?.to_vec1(),
            None => Ok(vec![0.0; x.elem_count()]),
        };
        Ok((sum, [values(&u)?, values(&v)?]))
    };
    gradient.fill(0.0);
    let mut sum = 0.0;
    for (wave, pairs) in pairs.chunks(WAVE * PIECE).enumerate() {
        let parts = pairs.par_chunks(PIECE).enumerate().map(|(at, pairs)| {
            monitor.check()?;
            Ok(valid(one((wave * WAVE + at) * PIECE, pairs)))
        });
        let parts: Vec<(f64, [Vec<f64>; 2])> = parts.collect::<std::result::Result<_, Stopped>>()?;
        for (pairs, (part, gradients)) in pairs.chunks(PIECE).zip(&parts) {
            sum += part;
            for (at, &(u, v)) in pairs.iter().enumerate() {
                for (node, from) in [u, v].into_iter().zip(gradients) {
                    let to = &mut gradient[node as usize * axis.stride()..][..axis.stride()];
                    let from = &from[at * positions.len()..];
                    positions.iter().zip(from).for_each(|(&at, g)| to[at] += *g as f32);
                }
            }
        }
    }
    Ok(sum)
}
