//! Sums of slots with a coefficient a row.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Tensors};
use super::map_rows;
use crate::kernels::parallel::for_each_block;

/// Row by row `sum of gates[i] x_i`; the last input holds the gates.
#[derive(Debug)]
pub struct MixRows;

impl Layer for MixRows {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let [terms @ .., gates] = tensors.inputs else { candle_core::bail!("a sum has gates") };
        let mut sum = tensors.inputs[0].zeros_like()?;
        for (term, x) in terms.iter().enumerate() {
            sum = (sum + x.broadcast_mul(&gates.narrow(1, term, 1)?)?)?;
        }
        Ok(sum)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (terms, width) = (pass.n_inputs() - 1, pass.width());
        let (gates, stride) = (pass.input(terms), pass.input_axis(terms).stride());
        let xs: Vec<&[f32]> = (0..terms).map(|term| pass.input(term)).collect();
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let from = row as usize * width;
                let out = &mut chunk[from - first * width..][..width];
                out.fill(0.0);
                for (term, x) in xs.iter().enumerate() {
                    let gate = gates[row as usize * stride + term];
                    out.iter_mut().zip(&x[from..]).for_each(|(out, x)| *out += gate * x);
                }
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (terms, width) = (f.n_inputs() - 1, f.width());
        let (gates, stride) = (f.input(terms), f.input_axis(terms).stride());
        for term in 0..terms {
            map_rows(pass, term, |row, out| {
                let gate = gates[row as usize * stride + term];
                out.iter_mut().zip(&d_out[row as usize * width..]).for_each(|(out, d)| *out += gate * d);
            })?;
        }
        let xs: Vec<&[f32]> = (0..terms).map(|term| f.input(term)).collect();
        map_rows(pass, terms, |row, out| {
            let d_out = &d_out[row as usize * width..][..width];
            for (out, x) in out.iter_mut().zip(&xs) {
                let x = &x[row as usize * width..];
                *out += d_out.iter().zip(x).map(|(d, x)| d * x).sum::<f32>();
            }
        })
    }
}
