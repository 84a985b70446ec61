//! An affine map of its own for the tokens of each order.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::ground::{Axis, Initial};
use crate::kernels::RowSet;
use crate::kernels::dense::{self, Left, Then};
use crate::kernels::elementwise::{Finish, column_sums};
use crate::program::{Backward, Builder, Forward, Layer, Scratch, Shapes, Slot, Tensors};

/// `x_r W_k + b_k` with `k = r` modulo the number of orders.
#[derive(Debug)]
struct OrderAffine {
    orders: usize,
}

impl Builder<'_, '_> {
    /// An affine map for each order: row r has that of `r` modulo `orders`. `{name}.weight` holds the matrices one below the
    /// other, `{name}.bias` a row an order.
    pub fn order_affine(&mut self, x: Slot, name: &str, orders: usize, columns: Axis) -> Slot {
        let axis = self.axis(x);
        let (stored, width) = axis.group();
        let groups = axis.stride() / stored.max(1);
        let rows = Axis::padded(orders * groups, width);
        let weights = self.parameter(format!("{name}.weight"), rows, columns, Initial::linear(axis.len()));
        let bias = self.parameter(format!("{name}.bias"), Axis::exact(orders), columns, Initial::Zeros);
        let space = self.space(x);
        self.push(OrderAffine { orders }, &[x], &[weights, bias], space, columns)
    }
}

impl OrderAffine {
    /// The rows of each order.
    fn sets(&self, set: &RowSet) -> Vec<RowSet> {
        let of = |k: usize| set.rows().iter().copied().filter(|row| *row as usize % self.orders == k).collect();
        (0..self.orders).map(|k| RowSet::new(set.n_rows(), of(k))).collect()
    }
}

impl Layer for OrderAffine {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (x, orders) = (&tensors.inputs[0], self.orders);
        let (rows, width) = x.dims2()?;
        let columns = tensors.parameters[0].dim(1)?;
        let x = x.reshape((rows / orders, orders, width))?.transpose(0, 1)?.contiguous()?;
        let z = x.matmul(&tensors.parameters[0].reshape((orders, width, columns))?)?;
        let z = z.broadcast_add(&tensors.parameters[1].unsqueeze(1)?)?;
        z.transpose(0, 1)?.contiguous()?.reshape((rows, columns))
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        let weights = shapes.parameter(0) / self.orders;
        Scratch { partials: shapes.blocks() * weights.max(shapes.output().axis.stride()), transposed: weights }
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, k, n) = (pass.input(0), pass.input_axis(0).stride(), pass.width());
        let (weights, biases) = (pass.parameter(0), pass.parameter(1));
        for (order, set) in self.sets(pass.rows()).iter().enumerate() {
            let bias = Some(&biases[order * n..][..n]);
            let then = Then::Finish(Finish { bias, ..Finish::NOTHING });
            dense::product(set, Left::new(x, k), &weights[order * k * n..][..k * n], n, then, out, pass.monitor)?;
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        let (sets, k, n) = (self.sets(f.rows()), f.input_axis(0).stride(), f.width());
        pass.parameter_gradient(0, |out, partials, _| {
            for (set, out) in sets.iter().zip(out.chunks_exact_mut(k * n)) {
                dense::transposed_product(set, Left::new(f.input(0), k), d_out, n, partials, out, f.monitor)?;
            }
            Ok(())
        })?;
        pass.parameter_gradient(1, |out, partials, _| {
            for (set, out) in sets.iter().zip(out.chunks_exact_mut(n)) {
                column_sums(set, d_out, n, partials, out, f.monitor)?;
            }
            Ok(())
        })?;
        let Some(mut d_x) = pass.gradient(0) else { return Ok(()) };
        let then = match d_x.add {
            true => Then::Add,
            false => pass.gate(0).map_or(Then::Finish(Finish::NOTHING), Then::Gate),
        };
        let (_, transposed) = pass.scratch();
        for (order, set) in sets.iter().enumerate() {
            let weights = &f.parameter(0)[order * k * n..][..k * n];
            let (left, out) = (Left::new(d_out, n), &mut d_x.values);
            dense::product_by_transposed(set, left, weights, k, transposed, then, out, f.monitor)?;
        }
        Ok(())
    }
}
