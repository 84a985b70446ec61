//! The mean of the predictions for several samples of one row, with a penalty where they differ (Zhao et al. 2021, Sec. 4.4).

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::{D, Tensor};

use super::super::{Backward, Builder, Forward, Layer, Slot, Space, Tensors};
use crate::kernels::RowSet;
use crate::kernels::exp::exp;
use crate::kernels::parallel::{for_each_block, for_each_block_with};
use crate::kernels::simd::Plain;
use crate::network::Pass;

/// What the samples of a row are held to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// The samples of a row, which follow one another.
    pub samples: usize,
    /// The factor of the penalty.
    pub weight: f64,
    /// The temperature by which the mean is sharpened, above 0.
    pub temperature: f64,
}

/// The inputs of the layer.
const LOGITS: usize = 0;
const BESIDE: usize = 1;

/// `out_i = ln(1/S sum_s p_is)`, `p_is = softmax(z_is)` the predictions for the S samples of row i.
#[derive(Debug)]
struct SampleMean {
    agreement: Agreement,
    /// The rows that the penalty is the mean over, ascending.
    held: Arc<[u32]>,
    /// How many of them the last pass computed.
    counted: usize,
    penalty: f64,
}

impl Builder<'_, '_> {
    /// The logarithm of the mean over the samples of each row of their softmax. In training the mean over the rows `held`
    /// (ascending) of `weight * sum_s |p_is - t_i|^2` is a penalty, `t_i` the mean sharpened, `mean^(1/T)` divided by its sum,
    /// through which no gradient goes. `beside`, a slot with the rows of the output, is computed wherever the output is.
    pub fn sample_mean(&mut self, logits: Slot, beside: Slot, held: Arc<[u32]>, agreement: Agreement) -> Slot {
        let (axis, rows) = (self.axis(logits), self.space(logits).rows() / agreement.samples);
        debug_assert_eq!(self.space(beside).rows(), rows);
        let layer = SampleMean { agreement, held, counted: 0, penalty: 0.0 };
        self.push(layer, &[logits, beside], &[], Space::Rows(rows), axis)
    }
}

/// The logarithms of a softmax over the first columns.
fn log_softmax(z: &[f32], out: &mut [f32]) {
    let max = z.iter().copied().fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
    let sum: f32 = z.iter().map(|z| exp::<Plain>(z - max)).sum();
    let log = max + sum.ln();
    out.iter_mut().zip(z).for_each(|(out, z)| *out = z - log);
}

impl SampleMean {
    /// The logarithms of the predictions for the samples of a row, `classes` each.
    fn predictions(&self, z: &[f32], stride: usize, classes: usize, row: u32, out: &mut [f32]) {
        let first = row as usize * self.agreement.samples;
        for (sample, out) in out.chunks_exact_mut(classes).enumerate() {
            log_softmax(&z[(first + sample) * stride..][..classes], out);
        }
    }

    /// The logarithm of their mean, from the logarithms.
    fn mean(&self, logs: &[f32], out: &mut [f32]) {
        let (classes, share) = (out.len(), (self.agreement.samples as f32).ln());
        for (c, out) in out.iter_mut().enumerate() {
            let of = || logs.chunks_exact(classes).map(|logs| logs[c]);
            let max = of().fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
            *out = max + of().map(|log| exp::<Plain>(log - max)).sum::<f32>().ln() - share;
        }
    }

    /// The mean, sharpened, from its logarithm.
    fn target(&self, mean: &[f32], out: &mut [f32]) {
        let sharp = (1.0 / self.agreement.temperature) as f32;
        let scaled: Vec<f32> = mean.iter().map(|log| sharp * log).collect();
        log_softmax(&scaled, out);
        out.iter_mut().for_each(|log| *log = exp::<Plain>(*log));
    }

    fn is_held(&self, row: u32) -> bool {
        self.held.binary_search(&row).is_ok()
    }

    fn is_penalised(&self, pass: Pass) -> bool {
        matches!(pass, Pass::Train { .. }) && self.agreement.samples > 1 && self.agreement.weight > 0.0
    }
}

impl Layer for SampleMean {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let p = self.by_row(tensors)?;
        p.mean(1)?.log()
    }

    fn candle_penalty(&self, tensors: &Tensors<'_>) -> candle_core::Result<Option<Tensor>> {
        if !self.is_penalised(tensors.pass) || self.held.is_empty() {
            return Ok(None);
        }
        let held = Tensor::from_slice(&self.held, self.held.len(), tensors.device())?;
        let p = self.by_row(tensors)?.index_select(&held, 0)?;
        let sharp = p.mean_keepdim(1)?.detach().powf(1.0 / self.agreement.temperature)?;
        let target = sharp.broadcast_div(&sharp.sum_keepdim(D::Minus1)?)?;
        let apart = p.broadcast_sub(&target)?.sqr()?.sum_all()?.reshape((1, 1))?;
        Ok(Some((apart * (self.agreement.weight / self.held.len() as f64))?))
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        let per_row = if input == BESIDE { 1 } else { self.agreement.samples };
        rows.rows().iter().for_each(|&row| needed[row as usize * per_row..][..per_row].fill(true));
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (z, stride, classes) = (pass.input(LOGITS), pass.width(), pass.axis().len());
        let (penalised, samples) = (self.is_penalised(pass.pass()), self.agreement.samples);
        let mut apart = vec![(0usize, 0f64); pass.rows().n_blocks()];
        let own = &*self;
        for_each_block_with(pass.rows(), out, stride, &mut apart, pass.monitor, |rows, first, out, (count, sum)| {
            let (mut logs, mut target) = (vec![0f32; samples * classes], vec![0f32; classes]);
            for &row in rows {
                own.predictions(z, stride, classes, row, &mut logs);
                let out = &mut out[(row as usize - first) * stride..][..stride];
                own.mean(&logs, &mut out[..classes]);
                if penalised && own.is_held(row) {
                    own.target(&out[..classes], &mut target);
                    let square = |(log, target): (&f32, &f32)| f64::from(exp::<Plain>(*log) - target).powi(2);
                    *sum +=
                        logs.chunks_exact(classes).flat_map(|logs| logs.iter().zip(&target)).map(square).sum::<f64>();
                    *count += 1;
                }
            }
        })?;
        self.counted = apart.iter().map(|(count, _)| count).sum();
        let sum: f64 = apart.iter().map(|(_, sum)| sum).sum();
        self.penalty = self.agreement.weight * sum / self.counted.max(1) as f64;
        Ok(())
    }

    fn penalty(&self) -> f64 {
        self.penalty
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (z, y, stride, classes) = (f.input(LOGITS), f.output(), f.width(), f.axis().len());
        let (penalised, samples) = (self.is_penalised(f.pass()), self.agreement.samples);
        let factor = (2.0 * self.agreement.weight / self.counted.max(1) as f64) as f32;
        let Some(mut d_z) = pass.gradient_everywhere(LOGITS) else { return Ok(()) };
        let (add, own) = (d_z.add, &*self);
        // A row of the chunk is that of all samples of a row of the output.
        let wide = samples * stride;
        let all = f.input_rows(LOGITS);
        if !add {
            all.rows().iter().for_each(|&row| d_z.values[row as usize * stride..][..stride].fill(0.0));
        }
        for_each_block(f.rows(), &mut d_z.values, wide, f.monitor, |rows, first, chunk| {
            let (mut logs, mut target) = (vec![0f32; samples * classes], vec![0f32; classes]);
            let mut d_logs = vec![0f32; classes];
            for &row in rows {
                own.predictions(z, stride, classes, row, &mut logs);
                let mean = &y[row as usize * stride..][..classes];
                let d = &d_out[row as usize * stride..][..classes];
                let held = penalised && own.is_held(row);
                if held {
                    own.target(mean, &mut target);
                }
                let d_z = &mut chunk[(row as usize - first) * wide..][..wide];
                for (logs, d_z) in logs.chunks_exact(classes).zip(d_z.chunks_exact_mut(stride)) {
                    for (c, d_log) in d_logs.iter_mut().enumerate() {
                        *d_log = d[c] * exp::<Plain>(logs[c] - mean[c]) / samples as f32;
                        if held {
                            let p = exp::<Plain>(logs[c]);
                            *d_log += factor * (p - target[c]) * p;
                        }
                    }
                    let sum: f32 = d_logs.iter().sum();
                    for (c, d_log) in d_logs.iter().enumerate() {
                        d_z[c] += d_log - exp::<Plain>(logs[c]) * sum;
                    }
                }
            }
        })
    }
}

impl SampleMean {
    /// The predictions, rows x samples x classes.
    fn by_row(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let z = &tensors.inputs[LOGITS];
        let (rows, classes) = z.dims2()?;
        let p = candle_nn::ops::softmax(z, D::Minus1)?;
        p.reshape((rows / self.agreement.samples, self.agreement.samples, classes))
    }
}
