//! Columns brought to mean 0 and deviation 1 over the rows of a step.

use bonnet_graph::{Monitor, Stopped};
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Tensors};
use crate::kernels::RowSet;
use crate::kernels::parallel::{for_each_block, sum_blocks};
use crate::kernels::rows::block_rows;
use crate::network::{BatchMoments, Pass};

/// `gain * (x - mean) / sqrt(variance + 1e-5)`, column by column. In training the moments are those of all rows of the input;
/// else the stored ones. The parameters are the gain, then three statistics ([`crate::ground::Block::statistic`]): the
/// stored mean and variance, and the number of steps. Every step moves them, and measured moments replace them
/// ([`crate::network::Statistics`]).
#[derive(Debug)]
pub struct BatchNorm {
    /// The number of rows whose moments the last forward pass used; 0 if it used the stored moments.
    measured: usize,
    /// Of the last forward pass: the mean, the variance and the inverse of the deviation of each stored column.
    mean: Vec<f32>,
    variance: Vec<f32>,
    inverse: Vec<f32>,
    /// Of a backward pass: the sum of the gradient, and that of its product with the normalised rows.
    sum: Vec<f32>,
    along: Vec<f32>,
    /// Sums by block of rows.
    partials: Vec<f32>,
}

const EPSILON: f32 = 1e-5;

/// The share of a step in the running moments once there are many.
const SHARE: f32 = 0.1;

impl BatchNorm {
    /// The length of the buffer of a layer of `rows` rows and `width` stored columns.
    pub fn room(rows: usize, width: usize) -> usize {
        (5 + rows.div_ceil(block_rows(rows))) * width
    }

    /// A layer of `width` stored columns, with zeros as its [`BatchNorm::room`]; without any for a device.
    pub fn new(mut room: Vec<f32>, width: usize) -> Self {
        let mut part = || room.split_off(room.len().saturating_sub(width));
        let [mean, variance, inverse, sum, along] = std::array::from_fn(|_| part());
        Self { measured: 0, mean, variance, inverse, sum, along, partials: room }
    }

    /// Measures the moments of the rows of a set; zeros where it is empty. The mean is computed from differences to the first
    /// row, so that a constant column has no rounding error: the division by `sqrt(1e-5)` would amplify it.
    fn measure(&mut self, set: &RowSet, x: &[f32], width: usize, monitor: &dyn Monitor) -> Result<(), Stopped> {
        self.measured = set.len();
        let Self { mean, variance, partials, .. } = self;
        let Some(&first) = set.rows().first() else {
            mean.fill(0.0);
            variance.fill(0.0);
            return Ok(());
        };
        let share = 1.0 / set.len() as f32;
        let row = |row: u32| &x[row as usize * width..][..width];
        let first = row(first);
        sum_blocks(set, width, partials, mean, monitor, |rows, sums| {
            for &at in rows {
                sums.iter_mut().zip(row(at)).zip(first).for_each(|((sum, x), first)| *sum += x - first);
            }
        })?;
        mean.iter_mut().zip(first).for_each(|(mean, first)| *mean = first + share * *mean);
        sum_blocks(set, width, partials, variance, monitor, |rows, sums| {
            for &at in rows {
                sums.iter_mut().zip(row(at)).zip(&*mean).for_each(|((sum, x), mean)| *sum += (x - mean) * (x - mean));
            }
        })?;
        variance.iter_mut().for_each(|variance| *variance *= share);
        Ok(())
    }

    /// Moves the stored moments and the count of the steps, as the gradient that a step subtracts; nothing without rows.
    fn move_statistics(&self, pass: &mut Backward<'_>, n: usize) -> Result<(), Stopped> {
        let (f, moves) = (pass.forward, matches!(pass.forward.pass(), Pass::Train { .. }) && n > 0);
        // The first steps count alike: else runs of few steps would keep what the moments start with.
        let share = if moves { SHARE.max(1.0 / (f.parameter(3)[0] + 1.0)) } else { 0.0 };
        let unbiased = if n > 1 { n as f32 / (n - 1) as f32 } else { 1.0 };
        for (parameter, now, scale) in [(1, &self.mean, 1.0), (2, &self.variance, unbiased)] {
            pass.parameter_gradient(parameter, |out, _, _| {
                for ((out, running), now) in out.iter_mut().zip(f.parameter(parameter)).zip(now) {
                    *out = share * (running - scale * now);
                }
                Ok(())
            })?;
        }
        pass.parameter_gradient(3, |out, _, _| {
            out.fill(if moves { -1.0 } else { 0.0 });
            Ok(())
        })
    }
}

impl Layer for BatchNorm {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (x, parameters) = (&tensors.inputs[0], tensors.parameters);
        let (mean, variance) = match tensors.pass {
            Pass::Train { .. } | Pass::Measure if x.dim(0)? > 0 => {
                let mean = x.mean_keepdim(0)?;
                let variance = x.broadcast_sub(&mean)?.sqr()?.mean_keepdim(0)?;
                (mean, variance)
            }
            _ => (parameters[1].clone(), parameters[2].clone()),
        };
        let deviation = (variance + f64::from(EPSILON))?.sqrt()?;
        x.broadcast_sub(&mean)?.broadcast_div(&deviation)?.broadcast_mul(&parameters[0])
    }

    /// The moments are those of all rows.
    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        if !rows.is_empty() {
            needed.fill(true);
        }
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, gain, width) = (pass.input(0), pass.parameter(0), pass.width());
        match pass.pass() {
            Pass::Train { .. } | Pass::Measure => self.measure(pass.input_rows(0), x, width, pass.monitor)?,
            Pass::Evaluate => {
                self.measured = 0;
                self.mean.copy_from_slice(pass.parameter(1));
                self.variance.copy_from_slice(pass.parameter(2));
            }
        }
        let Self { mean, variance, inverse, .. } = self;
        inverse.iter_mut().zip(&*variance).for_each(|(inverse, v)| *inverse = 1.0 / (v + EPSILON).sqrt());
        let (mean, inverse) = (&*mean, &*inverse);
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let x = &x[row as usize * width..][..width];
                let out = &mut chunk[(row as usize - first) * width..][..width];
                for (c, out) in out.iter_mut().enumerate() {
                    *out = gain[c] * ((x[c] - mean[c]) * inverse[c]);
                }
            }
        })
    }

    fn moments(&self) -> Option<BatchMoments<'_>> {
        let Self { measured, mean, variance, .. } = self;
        Some(BatchMoments { parameters: [1, 2], rows: *measured, mean, variance })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (x, gain, width, set, all) = (f.input(0), f.parameter(0), f.width(), f.rows(), f.input_rows(0));
        self.move_statistics(pass, all.len())?;
        let Self { mean, inverse, sum, along, partials, .. } = self;
        let (mean, inverse) = (&*mean, &*inverse);
        sum_blocks(set, width, partials, sum, f.monitor, |rows, sums| {
            for &row in rows {
                let d = &d_out[row as usize * width..][..width];
                sums.iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
            }
        })?;
        sum_blocks(set, width, partials, along, f.monitor, |rows, sums| {
            for &row in rows {
                let (x, d) = (&x[row as usize * width..][..width], &d_out[row as usize * width..][..width]);
                sums.iter_mut().enumerate().for_each(|(c, sum)| *sum += d[c] * ((x[c] - mean[c]) * inverse[c]));
            }
        })?;
        let (sum, along) = (&*sum, &*along);
        pass.parameter_gradient(0, |out, _, _| {
            out.copy_from_slice(along);
            Ok(())
        })?;
        let Some(mut d_x) = pass.gradient_everywhere(0) else { return Ok(()) };
        // By way of the moments, in training, a row moves all others.
        let (add, share) = (d_x.add, if matches!(f.pass(), Pass::Train { .. }) { 1.0 / all.len() as f32 } else { 0.0 });
        for_each_block(all, &mut d_x.values, width, f.monitor, |rows, first, chunk| {
            for &row in rows {
                let x = &x[row as usize * width..][..width];
                let out = &mut chunk[(row as usize - first) * width..][..width];
                if !add {
                    out.fill(0.0);
                }
                for (c, out) in out.iter_mut().enumerate() {
                    let standard = (x[c] - mean[c]) * inverse[c];
                    *out -= gain[c] * inverse[c] * share * (sum[c] + standard * along[c]);
                }
            }
        })?;
        for_each_block(set, &mut d_x.values, width, f.monitor, |rows, first, chunk| {
            for &row in rows {
                let d = &d_out[row as usize * width..][..width];
                let out = &mut chunk[(row as usize - first) * width..][..width];
                out.iter_mut().enumerate().for_each(|(c, out)| *out += gain[c] * inverse[c] * d[c]);
            }
        })
    }
}
