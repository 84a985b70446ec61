//! The mean of groups of columns: heads that are averaged.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, Layer, Slot, Tensors};
use super::map_rows;
use crate::ground::Axis;
use crate::kernels::parallel::for_each_block;

/// The mean of the groups of columns of a row.
#[derive(Debug)]
struct MeanHeads;

impl Builder<'_, '_> {
    /// The mean of the groups of a slot's columns, `heads` of `width` columns each.
    pub fn mean_heads(&mut self, x: Slot, heads: usize, width: usize) -> Slot {
        debug_assert_eq!(self.axis(x), Axis::padded(heads, width));
        let space = self.space(x);
        self.push(MeanHeads, &[x], &[], space, Axis::padded(1, width))
    }
}

impl Layer for MeanHeads {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (n, all) = tensors.inputs[0].dims2()?;
        let width = tensors.axis().len();
        tensors.inputs[0].reshape((n, all / width, width))?.mean(1)
    }

    fn rereads_inputs(&self) -> bool {
        false
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, stride, width) = (pass.input(0), pass.input_axis(0).stride(), pass.width());
        let share = width as f32 / stride as f32;
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let out = &mut chunk[(row as usize - first) * width..][..width];
                out.fill(0.0);
                for head in x[row as usize * stride..][..stride].chunks_exact(width) {
                    out.iter_mut().zip(head).for_each(|(out, x)| *out += x);
                }
                out.iter_mut().for_each(|out| *out *= share);
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (stride, width) = (pass.forward.input_axis(0).stride(), pass.forward.width());
        let share = width as f32 / stride as f32;
        map_rows(pass, 0, |row, gradient| {
            let d_out = &d_out[row as usize * width..][..width];
            for head in gradient.chunks_exact_mut(width) {
                head.iter_mut().zip(d_out).for_each(|(g, d)| *g += share * d);
            }
        })
    }
}
