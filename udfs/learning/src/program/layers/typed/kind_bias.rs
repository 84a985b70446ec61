//! A row of parameters for each kind, added to the rows of the kind.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::super::{Backward, Builder, Forward, Layer, Scratch, Shapes, Slot, Tensors};
use super::super::add_rows;
use crate::ground::{Axis, Initial};
use crate::kernels::elementwise::Finish;
use crate::kernels::parallel::{for_each_block, sum_blocks};
use crate::kernels::simd::{self, Body, Vectors};
use crate::network::Kinds;
use crate::ops::Pattern;

/// `x_i + b_t` with the kind `t` of row `i`.
#[derive(Debug)]
struct KindBias {
    kinds: Kinds,
}

impl Builder<'_, '_> {
    /// `x_i + b_t` with a new row of parameters for each kind of rows, in one block.
    pub fn kind_bias(&mut self, x: Slot, kinds: &Kinds, name: impl Into<String>, initial: Initial) -> Slot {
        let columns = self.axis(x);
        let rows = self.parameter(name, Axis::exact(kinds.names.len()), columns, initial);
        self.like(KindBias { kinds: kinds.clone() }, &[x], &[rows])
    }
}

/// The row of a table, one a kind, for each row.
pub(super) fn of_rows(kinds: &Kinds, table: &Tensor, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
    let n = kinds.of.len();
    let offsets: Vec<usize> = (0..=n).collect();
    let pattern = Pattern::new(&offsets, &kinds.of, kinds.names.len(), tensors.device())?;
    pattern.sum(&tensors.of_pass(&vec![1.0; n], n, 1)?, table)
}

impl Layer for KindBias {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        &tensors.inputs[0] + of_rows(&self.kinds, &tensors.parameters[0], tensors)?
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * shapes.parameter(0), transposed: 0 }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn rereads_inputs(&self) -> bool {
        false
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        struct Add<'a> {
            rows: &'a [u32],
            first: usize,
            x: &'a [f32],
            kinds: &'a [u32],
            bias: &'a [f32],
            width: usize,
            finish: Finish<'a>,
            out: &'a mut [f32],
        }
        impl Body for Add<'_> {
            type Output = ();
            #[inline(always)]
            fn run<V: Vectors>(self) {
                let Self { rows, first, x, kinds, bias, width, finish, out } = self;
                for &row in rows {
                    let out = &mut out[(row as usize - first) * width..][..width];
                    let bias = &bias[kinds[row as usize] as usize * width..][..width];
                    let x = &x[row as usize * width..][..width];
                    out.iter_mut().zip(x.iter().zip(bias)).for_each(|(out, (x, bias))| *out = x + bias);
                    finish.row::<V>(row, out);
                }
            }
        }
        let (x, kinds, bias, width) = (pass.input(0), &*self.kinds.of, pass.parameter(0), pass.width());
        let finish = pass.finish();
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, out| {
            simd::run(Add { rows, first, x, kinds, bias, width, finish, out });
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (f, kinds) = (pass.forward, &*self.kinds.of);
        let width = f.width();
        pass.parameter_gradient(0, |out, partials, _| {
            sum_blocks(f.rows(), f.parameter(0).len(), partials, out, f.monitor, |rows, sums| {
                for &row in rows {
                    let sums = &mut sums[kinds[row as usize] as usize * width..][..width];
                    sums.iter_mut().zip(&d_out[row as usize * width..]).for_each(|(sum, d)| *sum += d);
                }
            })
        })?;
        add_rows(pass, 0, 1.0, d_out)
    }
}
