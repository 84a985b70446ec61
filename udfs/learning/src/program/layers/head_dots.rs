//! Scalar products of the heads of a row with one learnt vector a head.

use bonnet_graph::Stopped;

use super::super::{Backward, Builder, Forward, Layer, Lower, Scratch, Shapes, Sink, Slot};
use super::map_rows;
use crate::device::{DeviceError, args};
use crate::kernels::parallel::{for_each_block, sum_blocks};
use crate::models::{Axis, Initial};

/// `s[h] = <x's columns of head h, a's columns of head h>` in the first `heads` columns.
#[derive(Debug)]
struct HeadDots {
    heads: usize,
    dim: usize,
}

impl Builder<'_, '_, '_> {
    /// The scalar product of each of the `heads` groups of columns of a slot with a new parameter of the same columns: one
    /// number a head.
    pub fn head_dots(&mut self, x: Slot, name: impl Into<String>, heads: usize, initial: Initial) -> Slot {
        let (axis, space) = (self.axis(x), self.space(x));
        let vectors = self.parameter(name, Axis::exact(1), axis, initial);
        let layer = HeadDots { heads, dim: axis.stride() / heads };
        self.push(layer, &[x], &[vectors], space, Axis::padded(1, heads))
    }
}

impl Layer for HeadDots {
    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * self.heads * self.dim, transposed: 0 }
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, vectors, stride, width) = (pass.input(0), pass.parameter(0), self.heads * self.dim, pass.width());
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let x = x[row as usize * stride..][..stride].chunks_exact(self.dim);
                let out = &mut chunk[(row as usize - first) * width..][..self.heads];
                for (out, (x, a)) in out.iter_mut().zip(x.zip(vectors.chunks_exact(self.dim))) {
                    *out = x.iter().zip(a).map(|(x, a)| x * a).sum();
                }
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (dim, stride, width) = (self.dim, self.heads * self.dim, f.width());
        let (x, vectors) = (f.input(0), f.parameter(0));
        pass.parameter_gradient(0, |out, partials, _| {
            sum_blocks(f.rows(), stride, partials, out, f.monitor, |rows, sums| {
                for &row in rows {
                    let (x, d) = (&x[row as usize * stride..][..stride], &d_out[row as usize * width..]);
                    for (c, (sum, x)) in sums.iter_mut().zip(x).enumerate() {
                        *sum += d[c / dim] * x;
                    }
                }
            })
        })?;
        map_rows(pass, 0, |row, out| {
            let d = &d_out[row as usize * width..];
            for (c, (out, a)) in out.iter_mut().zip(vectors).enumerate() {
                *out += d[c / dim] * a;
            }
        })
    }

    fn lower_forward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let (rows, width) = (lower.rows(), lower.width());
        let args = args![self.heads, self.dim, lower.input(0), lower.parameter(0), lower.output(), width];
        lower.by_warp("head_dots", rows, args);
        Ok(())
    }

    fn lower_backward(&self, lower: &mut Lower<'_, '_>) -> Result<(), DeviceError> {
        let (rows, width, stride, d_out) = (lower.rows(), lower.width(), self.heads * self.dim, lower.d_out());
        let terms = lower.scratch(0, lower.all_rows() * stride)?;
        let args = args![self.heads, self.dim, d_out, width, lower.input(0), stride, false, terms];
        lower.by_element("head_scale", rows, stride, args);
        let sink = lower.parameter_gradient(0);
        lower.column_sums(rows, terms, stride, sink)?;
        if let Some(Sink { buffer, add }) = lower.gradient(0)? {
            let args = args![self.heads, self.dim, d_out, width, lower.parameter(0), 0u32, add, buffer];
            lower.by_element("head_scale", rows, stride, args);
        }
        Ok(())
    }
}
