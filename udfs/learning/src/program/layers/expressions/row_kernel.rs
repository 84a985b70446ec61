//! Passes of functions of rows whose gradient is written out: the quick form of an [`super::expression::Expression`].
//!
//! Rows are read in blocks, in `f64`, and nothing but the slots is kept between the passes. Gradients of parameters are
//! summed block by block, in order: the same bits for any number of threads.

use bonnet_graph::Stopped;
use rayon::prelude::*;

use super::columns::Columns;
use crate::kernels::parallel::for_each_block;
use crate::program::{Backward, Forward};

/// A function of rows with its gradient. Rows of the inputs stand side by side, without padding; parameters are flat, in
/// their exact shape.
pub trait RowKernel: Sync {
    /// The values that rows read of the parameters: themselves, or functions of them that are computed once.
    fn read(&self, w: &[Vec<f64>]) -> Vec<Vec<f64>> {
        w.to_vec()
    }

    /// The gradient of the parameters from that of what rows read.
    fn pull(&self, _w: &[Vec<f64>], _read: &[Vec<f64>], d_read: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        d_read
    }

    /// The outputs of `n` rows, written over zeros.
    fn values(&self, n: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]);

    /// Adds the gradients of `n` rows.
    fn gradients(&self, n: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]);
}

/// Rows that a kernel gets at a time: their numbers stay in the cache.
const ROWS: usize = 64;

/// The rows of some matrices side by side.
pub(super) fn gather(matrices: &[&[f32]], columns: &[Columns], rows: &[u32], out: &mut Vec<f64>) {
    out.clear();
    out.reserve(rows.len() * columns.iter().map(Columns::len).sum::<usize>());
    for &row in rows {
        matrices.iter().zip(columns).for_each(|(matrix, columns)| columns.read(matrix, row as usize, out));
    }
}

/// The columns of the inputs.
pub(super) fn input_columns(pass: &Forward<'_>) -> Vec<Columns> {
    (0..pass.n_inputs()).map(|input| Columns::new(pass.input_axis(input))).collect()
}

/// The parameters, flat in their exact shape.
pub(super) fn parameters(pass: &Forward<'_>) -> Vec<Vec<f64>> {
    let one = |number: usize| {
        let ((rows, columns), values) = (pass.parameter_axes(number), pass.parameter(number));
        let stride = columns.stride();
        let at = rows.positions().flat_map(|row| columns.positions().map(move |column| row * stride + column));
        at.map(|at| f64::from(values[at])).collect()
    };
    (0..pass.n_parameters()).map(one).collect()
}

/// The output.
pub(super) fn forward(kernel: &dyn RowKernel, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
    let inputs: Vec<&[f32]> = (0..pass.n_inputs()).map(|input| pass.input(input)).collect();
    let (columns, of_out, stride) = (input_columns(pass), Columns::new(pass.axis()), pass.axis().stride());
    let read = kernel.read(&parameters(pass));
    for_each_block(pass.rows(), out, stride, pass.monitor, |rows, first, chunk| {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for rows in rows.chunks(ROWS) {
            gather(&inputs, &columns, rows, &mut x);
            y.clear();
            y.resize(rows.len() * of_out.len(), 0.0);
            kernel.values(rows.len(), &x, &read, &mut y);
            let written = rows.iter().zip(y.chunks_exact(of_out.len().max(1)));
            written.for_each(|(&row, y)| of_out.write(y, chunk, row as usize - first));
        }
    })
}

/// The gradients that a block of rows gives: of its inputs, and of each parameter.
pub(super) type BlockGradients<T> = Option<(Vec<T>, Vec<Vec<f64>>)>;

/// Adds the gradients of the inputs to what is there, and gives those of the parameters.
pub(super) fn backward(kernel: &dyn RowKernel, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
    let f = pass.forward;
    let set = f.rows();
    let inputs: Vec<&[f32]> = (0..f.n_inputs()).map(|input| f.input(input)).collect();
    let (columns, of_out) = (input_columns(&f), [Columns::new(f.axis())]);
    let width: usize = columns.iter().map(Columns::len).sum();
    let w = parameters(&f);
    let read = kernel.read(&w);
    let zeros = || read.iter().map(|block| vec![0.0; block.len()]).collect::<Vec<Vec<f64>>>();
    let block = |number: usize| -> Result<BlockGradients<f32>, Stopped> {
        let rows = set.block(number);
        if rows.is_empty() {
            return Ok(None);
        }
        f.monitor.check()?;
        let (mut x, mut d_y, mut d_x, mut d_read) = (Vec::new(), Vec::new(), Vec::new(), zeros());
        let mut gradients = Vec::with_capacity(rows.len() * width);
        for rows in rows.chunks(ROWS) {
            gather(&inputs, &columns, rows, &mut x);
            gather(&[d_out], &of_out, rows, &mut d_y);
            d_x.clear();
            d_x.resize(x.len(), 0.0);
            kernel.gradients(rows.len(), &x, &read, &d_y, &mut d_x, &mut d_read);
            gradients.extend(d_x.iter().map(|g| *g as f32));
        }
        Ok(Some((gradients, d_read)))
    };
    let mut sums = zeros();
    let blocks: Vec<usize> = (0..set.n_blocks()).collect();
    for wave in blocks.chunks(2 * rayon::current_num_threads()) {
        // Too small a set for tasks to pay.
        let gradients: Vec<_> = match set.len() < 256 {
            true => wave.iter().map(|&number| block(number)).collect::<Result<_, _>>()?,
            false => wave.par_iter().map(|&number| block(number)).collect::<Result<_, _>>()?,
        };
        let mut from = 0;
        for (input, columns) in columns.iter().enumerate() {
            let here = from..from + columns.len();
            from = here.end;
            let Some(mut d_x) = pass.gradient_everywhere(input) else { continue };
            for (&number, gradients) in wave.iter().zip(&gradients) {
                let Some((gradients, _)) = gradients else { continue };
                for (&row, gradient) in set.block(number).iter().zip(gradients.chunks_exact(width.max(1))) {
                    columns.add(&gradient[here.clone()], |g| g, &mut d_x.values, row as usize);
                }
            }
        }
        for (_, d_read) in gradients.iter().flatten() {
            for (sum, part) in sums.iter_mut().zip(d_read) {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
    }
    parameter_gradients(pass, &kernel.pull(&w, &read, sums))
}

/// Gives the gradients of the parameters, flat in their exact shape.
pub(super) fn parameter_gradients(pass: &mut Backward<'_>, gradients: &[Vec<f64>]) -> Result<(), Stopped> {
    for (number, gradient) in gradients.iter().enumerate() {
        let (rows, columns) = pass.forward.parameter_axes(number);
        pass.parameter_gradient(number, |out, _, _| {
            out.fill(0.0);
            let stride = columns.stride();
            let at = rows.positions().flat_map(|row| columns.positions().map(move |column| row * stride + column));
            at.zip(gradient).for_each(|(at, g)| out[at] = *g as f32);
            Ok(())
        })?;
    }
    Ok(())
}
