//! Layers written as candle expressions of rows and of the rows that messages come from, one hop away.
//!
//! As in [`super::expression`] an expression is evaluated by pieces of rows, and once more under autograd in the backward
//! pass. A piece reads the rows of its targets and of their sources, renumbered; see [`Hop`].

use std::fmt::Debug;
use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::{Result, Tensor};

use super::expression::{Precision, backward, forward, whole};
use super::hop_kernel::{self, HopKernel};
use crate::kernels::RowSet;
use crate::network::pieces::PIECE;
use crate::network::{Hop, Neighborhoods, Operator};
use crate::program::reach::{needs_itself, needs_sources};
use crate::program::{Backward, Forward, Layer, Prepare, Prepared, Tensors};

/// A function of rows and of the rows that an operator's entries lead to.
pub trait Neighborwise: Send + Sync + Debug {
    /// The output of a piece from the inputs' rows and the parameters. Of an input, [`Hop::own`] are the rows of the
    /// output, [`Hop::source`] and [`Hop::target`] a row for each entry.
    ///
    /// # Errors
    /// The errors of candle, which are errors of the expression.
    fn compute(&self, x: &[Tensor], w: &[Tensor], hop: &Hop) -> Result<Tensor>;

    /// The numbers that [`Neighborwise::compute`] holds at once for an entry, those of its gradient among them, from the columns of
    /// the inputs: for functions of many entries a row, whose memory is then reserved while a piece is evaluated.
    fn numbers_an_entry(&self, _columns: &[usize]) -> usize {
        0
    }

    /// The same function with its gradient written out, for the passes on the CPU: where a profile asks for it.
    fn kernel(&self) -> Option<&dyn HopKernel> {
        None
    }
}

/// The layer of a [`Neighborwise`] function.
#[derive(Debug)]
pub struct Composed<C> {
    rows: C,
    operator: Arc<Operator>,
    precision: Precision,
}

impl<C: Neighborwise> Composed<C> {
    /// Messages along the entries of an operator, computed in `f64`.
    pub fn new(rows: C, operator: &Arc<Operator>) -> Self {
        Self::with(rows, operator, Precision::Double)
    }

    /// The function, computed with other numbers.
    pub fn with(rows: C, operator: &Arc<Operator>, precision: Precision) -> Self {
        Self { rows, operator: Arc::clone(operator), precision }
    }
}

impl<C: Neighborwise> Composed<C> {
    /// The bytes of the evaluation of each piece.
    fn bytes<'a>(&self, pass: &Forward<'_>, near: &'a Neighborhoods) -> impl Fn(usize) -> usize + Sync + use<'a, C> {
        let columns: Vec<usize> = (0..pass.n_inputs()).map(|input| pass.input_axis(input).len()).collect();
        let numbers = self.rows.numbers_an_entry(&columns);
        move |number| 8 * numbers * near.piece(number).2.sources.len()
    }
}

impl<C: Neighborwise> Layer for Composed<C> {
    fn candle(&self, tensors: &Tensors<'_>) -> Result<Tensor> {
        let sparse = tensors.operator(&self.operator)?;
        let hop = Hop::new(Arc::clone(&sparse.pattern), sparse.values().cloned());
        whole(tensors, self.precision, |x, w| self.rows.compute(x, w, &hop))
    }

    fn reach(&self, _: usize, rows: &RowSet, needed: &mut [bool]) {
        needs_itself(rows, needed);
        needs_sources(&self.operator, rows, needed);
    }

    fn prepare(&self, prepare: &mut Prepare<'_, '_>) -> std::result::Result<Prepared, Stopped> {
        prepare.neighborhoods(&self.operator)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> std::result::Result<(), Stopped> {
        let Prepared::Neighborhoods(near) = pass.prepared() else { return Ok(()) };
        debug_assert_eq!(near.len(), pass.rows().n_rows().div_ceil(PIECE));
        if let Some(kernel) = self.rows.kernel() {
            return hop_kernel::forward(kernel, near, pass, out);
        }
        let compute = |number: usize, x: &[Tensor], w: &[Tensor]| self.rows.compute(x, w, near.hop(number));
        forward(pass, &near.pieces(), self.precision, out, (&self.bytes(pass, near), &compute))
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> std::result::Result<(), Stopped> {
        let Prepared::Neighborhoods(near) = pass.forward.prepared() else { return Ok(()) };
        for input in 0..pass.forward.n_inputs() {
            let (stride, rows) = (pass.forward.input_axis(input).stride(), pass.forward.input_rows(input));
            if let Some(mut d_x) = pass.gradient_everywhere(input)
                && !d_x.add
            {
                rows.rows().iter().for_each(|&row| d_x.values[row as usize * stride..][..stride].fill(0.0));
            }
        }
        let near = Arc::clone(near);
        if let Some(kernel) = self.rows.kernel() {
            return hop_kernel::backward(kernel, &near, pass, d_out);
        }
        let compute = |number: usize, x: &[Tensor], w: &[Tensor]| self.rows.compute(x, w, near.hop(number));
        let bytes = self.bytes(&pass.forward, &near);
        backward(pass, &near.pieces(), self.precision, d_out, (&bytes, &compute))
    }
}
