//! Passes of functions of neighbours' rows whose gradient is written out: the quick form of a
//! [`super::composed::Composed`].

use bonnet_graph::Stopped;
use rayon::prelude::*;

use super::columns::Columns;
use super::row_kernel::{BlockGradients, gather, input_columns, parameter_gradients, parameters};
use crate::network::pieces::{PIECE, WAVE};
use crate::network::{Entries, Neighborhoods};
use crate::program::{Backward, Forward};

/// A function of rows and of those that their entries lead to, with its gradient. Rows of the inputs stand side by side,
/// without padding; parameters are flat, in their exact shape.
pub trait HopKernel: Sync {
    /// The outputs of the rows of the entries, written over zeros, from the rows that are read.
    fn values(&self, entries: Entries<'_>, x: &[f64], w: &[Vec<f64>], y: &mut [f64]);

    /// Adds the gradients of the rows that are read, and of the parameters.
    fn gradients(
        &self,
        entries: Entries<'_>,
        x: &[f64],
        w: &[Vec<f64>],
        d_y: &[f64],
        d_x: &mut [f64],
        d_w: &mut [Vec<f64>],
    );
}

/// The output.
pub(super) fn forward(
    kernel: &dyn HopKernel,
    near: &Neighborhoods,
    pass: &Forward<'_>,
    out: &mut [f32],
) -> Result<(), Stopped> {
    let inputs: Vec<&[f32]> = (0..pass.n_inputs()).map(|input| pass.input(input)).collect();
    let (columns, of_out, stride) = (input_columns(pass), Columns::new(pass.axis()), pass.axis().stride());
    let w = parameters(pass);
    let one = |(number, (piece, chunk)): (usize, (_, &mut [f32]))| {
        let (rows, reads, entries) = near.piece(piece);
        if rows.is_empty() {
            return Ok(());
        }
        pass.monitor.check()?;
        let (mut x, mut y) = (Vec::new(), vec![0.0; rows.len() * of_out.len()]);
        gather(&inputs, &columns, reads, &mut x);
        kernel.values(entries, &x, &w, &mut y);
        let written = rows.iter().zip(y.chunks_exact(of_out.len().max(1)));
        written.for_each(|(&row, y)| of_out.write(y, chunk, row as usize - number * PIECE));
        Ok(())
    };
    (0..near.len()).into_par_iter().zip(out.par_chunks_mut(PIECE * stride)).enumerate().try_for_each(one)
}

/// Adds the gradients of the inputs to what is there, and gives those of the parameters.
pub(super) fn backward(
    kernel: &dyn HopKernel,
    near: &Neighborhoods,
    pass: &mut Backward<'_>,
    d_out: &[f32],
) -> Result<(), Stopped> {
    let f = pass.forward;
    let inputs: Vec<&[f32]> = (0..f.n_inputs()).map(|input| f.input(input)).collect();
    let (columns, of_out) = (input_columns(&f), [Columns::new(f.axis())]);
    let w = parameters(&f);
    let mut sums: Vec<Vec<f64>> = w.iter().map(|block| vec![0.0; block.len()]).collect();
    let width: usize = columns.iter().map(Columns::len).sum();
    let one = |number: usize| -> Result<BlockGradients<f64>, Stopped> {
        let (rows, reads, entries) = near.piece(number);
        if rows.is_empty() {
            return Ok(None);
        }
        f.monitor.check()?;
        let (mut x, mut d_y) = (Vec::new(), Vec::new());
        gather(&inputs, &columns, reads, &mut x);
        gather(&[d_out], &of_out, rows, &mut d_y);
        let (mut d_x, mut d_w) = (vec![0.0; x.len()], w.iter().map(|block| vec![0.0; block.len()]).collect::<Vec<_>>());
        kernel.gradients(entries, &x, &w, &d_y, &mut d_x, &mut d_w);
        Ok(Some((d_x, d_w)))
    };
    let pieces: Vec<usize> = (0..near.len()).collect();
    for wave in pieces.chunks(WAVE) {
        let gradients: Vec<_> = wave.par_iter().map(|&number| one(number)).collect::<Result<_, _>>()?;
        let mut from = 0;
        for (input, columns) in columns.iter().enumerate() {
            let here = from..from + columns.len();
            from = here.end;
            let Some(mut d_x) = pass.gradient_everywhere(input) else { continue };
            for (&number, gradients) in wave.iter().zip(&gradients) {
                let Some((gradients, _)) = gradients else { continue };
                for (&row, gradient) in near.piece(number).1.iter().zip(gradients.chunks_exact(width.max(1))) {
                    columns.add(&gradient[here.clone()], |g| g as f32, &mut d_x.values, row as usize);
                }
            }
        }
        for (_, d_w) in gradients.iter().flatten() {
            for (sum, part) in sums.iter_mut().zip(d_w) {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
    }
    parameter_gradients(pass, &sums)
}
