//! Rows brought to unit length, or to mean 0 and deviation 1.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Scratch, Shapes, Tensors};
use super::map_rows;
use crate::kernels::parallel::{for_each_block, sum_blocks};

/// `x / |x|`; zeros stay zeros and pass no gradient.
#[derive(Debug)]
pub struct UnitRows;

fn inverse_norm(x: &[f32]) -> f32 {
    let squares: f32 = x.iter().map(|x| x * x).sum();
    if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 }
}

impl Layer for UnitRows {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let x = &tensors.inputs[0];
        let squares = x.sqr()?.sum_keepdim(1)?;
        // 1 where there is a length, and a length of 1 elsewhere.
        let some = squares.gt(0.0)?.to_dtype(x.dtype())?.detach();
        let length = (squares + (1.0 - &some)?)?.sqrt()?;
        x.broadcast_mul(&(some / length)?)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, width) = (pass.input(0), pass.width());
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let x = &x[row as usize * width..][..width];
                let inverse = inverse_norm(x);
                let out = &mut chunk[(row as usize - first) * width..][..width];
                out.iter_mut().zip(x).for_each(|(out, x)| *out = x * inverse);
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (x, y) = (pass.forward.input(0), pass.forward.output());
        map_rows(pass, 0, |row, out| {
            let (from, width) = (row as usize * out.len(), out.len());
            let (x, y, d_out) = (&x[from..][..width], &y[from..][..width], &d_out[from..][..width]);
            let inverse = inverse_norm(x);
            let along: f32 = y.iter().zip(d_out).map(|(y, d)| y * d).sum();
            for ((out, y), d) in out.iter_mut().zip(y).zip(d_out) {
                *out += inverse * (d - y * along);
            }
        })
    }
}

/// `gain * (x - mean) / sqrt(variance + 1e-5)` over the real columns of each row.
#[derive(Debug)]
pub struct LayerNorm;

const EPSILON: f32 = 1e-5;

/// The mean of a row and the inverse of its deviation.
fn moments(x: &[f32], columns: impl Iterator<Item = usize> + Clone, count: usize) -> (f32, f32) {
    let mean = columns.clone().map(|c| x[c]).sum::<f32>() / count as f32;
    let variance = columns.map(|c| (x[c] - mean).powi(2)).sum::<f32>() / count as f32;
    (mean, 1.0 / (variance + EPSILON).sqrt())
}

impl Layer for LayerNorm {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let x = &tensors.inputs[0];
        let centred = x.broadcast_sub(&x.mean_keepdim(1)?)?;
        let deviation = (centred.sqr()?.mean_keepdim(1)? + f64::from(EPSILON))?.sqrt()?;
        centred.broadcast_div(&deviation)?.broadcast_mul(&tensors.parameters[0])
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * shapes.output().axis.stride(), transposed: 0 }
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, gain, width, axis) = (pass.input(0), pass.parameter(0), pass.width(), pass.axis());
        let positions: Vec<usize> = axis.positions().collect();
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let x = &x[row as usize * width..][..width];
                let (mean, inverse) = moments(x, positions.iter().copied(), positions.len());
                let out = &mut chunk[(row as usize - first) * width..][..width];
                positions.iter().for_each(|&c| out[c] = gain[c] * (x[c] - mean) * inverse);
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (x, gain, width) = (f.input(0), f.parameter(0), f.width());
        let positions: Vec<usize> = f.axis().positions().collect();
        let count = positions.len() as f32;
        pass.parameter_gradient(0, |out, partials, _| {
            sum_blocks(f.rows(), width, partials, out, f.monitor, |rows, sums| {
                for &row in rows {
                    let (x, d) = (&x[row as usize * width..][..width], &d_out[row as usize * width..][..width]);
                    let (mean, inverse) = moments(x, positions.iter().copied(), positions.len());
                    positions.iter().for_each(|&c| sums[c] += d[c] * (x[c] - mean) * inverse);
                }
            })
        })?;
        map_rows(pass, 0, |row, out| {
            let (x, d) = (&x[row as usize * width..][..width], &d_out[row as usize * width..][..width]);
            let (mean, inverse) = moments(x, positions.iter().copied(), positions.len());
            let (mut sum, mut along) = (0.0, 0.0);
            for &c in &positions {
                sum += d[c] * gain[c];
                along += d[c] * gain[c] * (x[c] - mean) * inverse;
            }
            for &c in &positions {
                let standard = (x[c] - mean) * inverse;
                out[c] += inverse * (d[c] * gain[c] - (sum + standard * along) / count);
            }
        })
    }
}
