//! Aggregation among all pairs of nodes through a few columns.

use bonnet_graph::{Monitor, Stopped};
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, Gradient, Layer, Scratch, Shapes, Slot, Tensors};
use crate::kernels::dense::{Left, Then, product, transpose, transposed_product};
use crate::kernels::elementwise::Finish;
use crate::kernels::rows::block_rows;
use crate::kernels::{RowSet, low_rank};
use crate::ops;

/// `X S` into a gradient, whether it has values already or not.
fn add_product(
    set: &RowSet,
    x: &[f32],
    small: &[f32],
    k: usize,
    gradient: &mut Gradient<'_>,
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let then = if gradient.add { Then::Add } else { Then::Finish(Finish::NOTHING) };
    product(set, Left::new(x, k), small, k, then, &mut gradient.values, monitor)
}

/// The room for sums of `k x k` products.
fn scratch(shapes: &Shapes<'_>) -> Scratch {
    let k = shapes.output().axis.stride();
    Scratch { partials: shapes.blocks() * k * k, transposed: 0 }
}

impl Builder<'_, '_> {
    /// `scale * H (c H' H + a I)^-1` of all rows of a slot together: see [`low_rank::Ridge`]. O(rows * k^2) time.
    ///
    /// # Errors
    /// If the host refuses the memory for small matrices.
    pub fn ridge(&mut self, h: Slot, form: low_rank::Ridge) -> Result<Slot, Stopped> {
        let (space, axis) = (self.space(h), self.axis(h));
        let (square, n) = (axis.stride() * axis.stride(), space.rows());
        let layer = Ridge {
            form,
            small: self.zeros(square)?,
            d_small: self.zeros(square)?,
            symmetric: self.zeros(square)?,
            partials: self.zeros(n.div_ceil(block_rows(n)) * square)?,
        };
        Ok(self.push(layer, &[h], &[], space, axis))
    }

    /// `scale * X (Y' Z)` of slots with the same rows and columns: every node takes the rows of `Z` with the weights
    /// `scale * X Y'`, which are never formed. O(rows * k^2) time.
    ///
    /// # Errors
    /// If the host refuses the memory for small matrices.
    pub fn all_pairs(&mut self, x: Slot, y: Slot, z: Slot, scale: f64) -> Result<Slot, Stopped> {
        let (space, axis) = (self.space(x), self.axis(x));
        debug_assert!(self.axis(y) == axis && self.axis(z) == axis);
        let (square, n) = (axis.stride() * axis.stride(), space.rows());
        let layer = Triple {
            scale: scale as f32,
            small: self.zeros(square)?,
            d_small: self.zeros(square)?,
            transposed: self.zeros(square)?,
            partials: self.zeros(n.div_ceil(block_rows(n)) * square)?,
        };
        Ok(self.push(layer, &[x, y, z], &[], space, axis))
    }
}

/// `scale * H (c H' H + a I)^-1`, `H` in its place among all nodes.
#[derive(Debug)]
struct Ridge {
    form: low_rank::Ridge,
    small: Vec<f32>,
    d_small: Vec<f32>,
    symmetric: Vec<f32>,
    partials: Vec<f32>,
}

impl Layer for Ridge {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (h, k) = (&tensors.inputs[0], tensors.axis().len());
        let gram = (h.t()?.contiguous()?.matmul(h)? * self.form.c)?;
        let shifted = (gram + (Tensor::eye(k, h.dtype(), h.device())? * self.form.a)?)?;
        h.matmul(&ops::inverse(&shifted)?)? * self.form.scale
    }

    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        needed.fill(!rows.is_empty());
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        scratch(shapes)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (h, k, all) = (pass.input(0), pass.width(), pass.input_rows(0));
        self.form.forward(all, h, k, &mut self.partials, &mut self.small, pass.monitor)?;
        product(pass.rows(), Left::new(h, k), &self.small, k, Then::Finish(Finish::NOTHING), out, pass.monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (forward, k) = (pass.forward, pass.forward.width());
        let (h, set, all, monitor) = (forward.input(0), forward.rows(), forward.input_rows(0), forward.monitor);
        transposed_product(set, Left::new(h, k), d_out, k, pass.scratch().0, &mut self.d_small, monitor)?;
        self.form.backward(k, &self.small, &self.d_small, &mut self.symmetric);
        let Some(mut gradient) = pass.gradient_everywhere(0) else { return Ok(()) };
        add_product(all, h, &self.symmetric, k, &mut gradient, monitor)?;
        gradient.add = true;
        // The small matrix is symmetric.
        add_product(set, d_out, &self.small, k, &mut gradient, monitor)
    }
}

/// `scale * X (Y' Z)`: what every node takes from every other, with the weights `scale * X Y'`.
#[derive(Debug)]
struct Triple {
    scale: f32,
    small: Vec<f32>,
    d_small: Vec<f32>,
    transposed: Vec<f32>,
    partials: Vec<f32>,
}

/// The inputs of [`Triple`].
const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

impl Layer for Triple {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let [x, y, z] = tensors.inputs else { candle_core::bail!("three inputs") };
        x.matmul(&y.t()?.contiguous()?.matmul(z)?)? * f64::from(self.scale)
    }

    fn reach(&self, input: usize, rows: &RowSet, needed: &mut [bool]) {
        if input == X {
            rows.rows().iter().for_each(|&row| needed[row as usize] = true);
        } else {
            needed.fill(!rows.is_empty());
        }
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        scratch(shapes)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (k, all, monitor) = (pass.width(), pass.input_rows(Y), pass.monitor);
        transposed_product(
            all,
            Left::new(pass.input(Y), k),
            pass.input(Z),
            k,
            &mut self.partials,
            &mut self.small,
            monitor,
        )?;
        self.small.iter_mut().for_each(|x| *x *= self.scale);
        product(pass.rows(), Left::new(pass.input(X), k), &self.small, k, Then::Finish(Finish::NOTHING), out, monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (forward, k) = (pass.forward, pass.forward.width());
        let (set, all, monitor) = (forward.rows(), forward.input_rows(Y), forward.monitor);
        transposed_product(
            set,
            Left::new(forward.input(X), k),
            d_out,
            k,
            pass.scratch().0,
            &mut self.d_small,
            monitor,
        )?;
        self.d_small.iter_mut().for_each(|d| *d *= self.scale);
        if let Some(mut gradient) = pass.gradient(X) {
            transpose(&self.small, k, k, &mut self.transposed);
            add_product(set, d_out, &self.transposed, k, &mut gradient, monitor)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(Y) {
            transpose(&self.d_small, k, k, &mut self.transposed);
            add_product(all, forward.input(Z), &self.transposed, k, &mut gradient, monitor)?;
        }
        if let Some(mut gradient) = pass.gradient_everywhere(Z) {
            add_product(all, forward.input(Y), &self.d_small, k, &mut gradient, monitor)?;
        }
        Ok(())
    }
}
