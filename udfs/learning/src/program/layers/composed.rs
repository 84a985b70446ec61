//! Layers written as candle expressions of rows and of the rows that messages come from, one hop away.
//!
//! As in [`super::expression`] an expression is evaluated by pieces of rows, and once more under autograd in the backward
//! pass. A piece reads the rows of its targets and of their sources, renumbered; see [`Hop`].

use std::fmt::Debug;
use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};
use candle_core::{DType, Device, Result, Tensor, bail};

use super::super::{Backward, Forward, Layer, Prepare, Prepared, Tensors};
use super::expression::{PIECE, Piece, Precision, backward, forward, spans, whole};
use super::hop_kernel::{self, Entries, HopKernel};
use super::{needs_itself, needs_sources};
use crate::kernels::RowSet;
use crate::network::Operator;
use crate::ops::Pattern;

/// A function of rows and of the rows that an operator's entries lead to.
pub trait Neighborwise: Send + Sync + Debug {
    /// The output of a piece from the inputs' rows and the parameters. Of an input, [`Hop::own`] are the rows of the
    /// output, [`Hop::source`] and [`Hop::target`] a row for each entry.
    ///
    /// # Errors
    /// Those of candle, which are errors of the expression.
    fn compute(&self, x: &[Tensor], w: &[Tensor], hop: &Hop) -> Result<Tensor>;

    /// The same function with its gradient written out, for the passes on the CPU: where a profile asks for it.
    fn kernel(&self) -> Option<&dyn HopKernel> {
        None
    }
}

/// The entries of an operator in the rows of a piece.
#[derive(Debug, Clone)]
pub struct Hop {
    pattern: Arc<Pattern>,
    /// Of each entry, a column; none for an operator without values.
    values: Option<Tensor>,
}

impl Hop {
    /// The rows of the output.
    pub fn own(&self, x: &Tensor) -> Result<Tensor> {
        x.narrow(0, 0, self.pattern.n_rows())
    }

    /// For each entry the row that it leads to.
    pub fn source(&self, x: &Tensor) -> Result<Tensor> {
        along(x, |x| self.pattern.at_sources(x))
    }

    /// For each entry its own row, of an input or of a matrix with the rows of the output.
    pub fn target(&self, x: &Tensor) -> Result<Tensor> {
        along(&self.own(x)?, |x| self.pattern.at_targets(x))
    }

    /// The values of the entries, a column, in the type of a tensor.
    pub fn values(&self, like: &Tensor) -> Result<Tensor> {
        match &self.values {
            Some(values) => values.to_dtype(like.dtype()),
            None => bail!("the operator has no values"),
        }
    }

    /// The sum of each row's entries; zeros for a row without any.
    pub fn sum(&self, entries: &Tensor) -> Result<Tensor> {
        along(entries, |entries| self.pattern.total(entries))
    }

    /// The softmax of each column over each row's entries.
    pub fn softmax(&self, entries: &Tensor) -> Result<Tensor> {
        along(entries, |entries| self.pattern.softmax(entries))
    }
}

/// An operation along entries: in the type of its argument on the CPU, in `f32` elsewhere.
fn along(x: &Tensor, operation: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    match x.device() {
        Device::Cpu => operation(x),
        _ => operation(&x.to_dtype(DType::F32)?)?.to_dtype(x.dtype()),
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

    /// The same, computed with other numbers.
    pub fn with(rows: C, operator: &Arc<Operator>, precision: Precision) -> Self {
        Self { rows, operator: Arc::clone(operator), precision }
    }
}

/// The pieces of a scope, with their entries.
#[derive(Debug)]
pub struct Neighborhoods {
    pieces: Vec<Neighborhood>,
}

#[derive(Debug)]
struct Neighborhood {
    /// The rows of the piece, then the others that its entries lead to.
    reads: Vec<u32>,
    offsets: Vec<usize>,
    sources: Vec<u32>,
    hop: Hop,
}

impl Neighborhoods {
    /// The pieces of the rows of a set. O(n + entries).
    pub fn new(
        operator: &Operator,
        set: &RowSet,
        reservation: &mut Reservation<'_>,
    ) -> std::result::Result<Self, Stopped> {
        let entries: usize = set.rows().iter().map(|&row| operator.row(row).len()).sum();
        // For each entry its ends by row and by column, its value and at most one row that is read.
        reservation.grow(28 * entries + 24 * set.len())?;
        let (csr, device) = (operator.csr(), Device::Cpu);
        let mut place = vec![u32::MAX; operator.n_rows()];
        let mut pieces = Vec::new();
        for rows in spans(set.rows(), set.n_rows()) {
            reservation.check()?;
            let mut reads = rows.to_vec();
            rows.iter().zip(0..).for_each(|(&row, at)| place[row as usize] = at);
            let (mut sources, mut values, mut offsets) = (Vec::new(), Vec::<f32>::new(), vec![0]);
            for &row in rows {
                for entry in csr.offsets[row as usize]..csr.offsets[row as usize + 1] {
                    let source = csr.columns[entry];
                    let at = &mut place[source as usize];
                    if *at == u32::MAX {
                        *at = reads.len() as u32;
                        reads.push(source);
                    }
                    sources.push(*at);
                    values.extend(csr.values.get(entry));
                }
                offsets.push(sources.len());
            }
            reads.iter().for_each(|&row| place[row as usize] = u32::MAX);
            let hop = || -> Result<Hop> {
                let pattern = Pattern::new(&offsets, &sources, reads.len(), &device)?;
                let len = values.len();
                let values = (len > 0).then(|| Tensor::from_vec(values, (len, 1), &device)).transpose()?;
                Ok(Hop { pattern, values })
            };
            let hop = hop().map_err(|error| Stopped::OutOfMemory(error.to_string()))?;
            pieces.push(Neighborhood { reads, offsets, sources, hop });
        }
        Ok(Self { pieces })
    }

    /// The number of pieces.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The rows of a piece, the rows that it reads, and its entries.
    pub(super) fn piece(&self, number: usize) -> (&[u32], &[u32], Entries<'_>) {
        let Neighborhood { reads, offsets, sources, .. } = &self.pieces[number];
        (&reads[..offsets.len() - 1], reads, Entries { offsets, sources })
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        self.pieces
            .iter()
            .map(|piece| Piece { rows: &piece.reads[..piece.hop.pattern.n_rows()], reads: &piece.reads })
            .collect()
    }
}

impl<C: Neighborwise> Layer for Composed<C> {
    fn candle(&self, tensors: &Tensors<'_>) -> Result<Tensor> {
        let sparse = tensors.operator(&self.operator)?;
        let hop = Hop { pattern: Arc::clone(&sparse.pattern), values: sparse.values().cloned() };
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
        debug_assert_eq!(near.pieces.len(), pass.rows().n_rows().div_ceil(PIECE));
        if let Some(kernel) = self.rows.kernel() {
            return hop_kernel::forward(kernel, near, pass, out);
        }
        let compute = |number: usize, x: &[Tensor], w: &[Tensor]| self.rows.compute(x, w, &near.pieces[number].hop);
        forward(pass, &near.pieces(), self.precision, out, &compute)
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
        let compute = |number: usize, x: &[Tensor], w: &[Tensor]| self.rows.compute(x, w, &near.pieces[number].hop);
        backward(pass, &near.pieces(), self.precision, d_out, &compute)
    }
}
