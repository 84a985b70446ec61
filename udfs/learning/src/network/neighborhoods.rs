//! The entries of an operator by pieces of rows, with the rows that each piece reads renumbered.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};
use candle_core::{DType, Device, Result, Tensor, bail};

use super::operator::Operator;
use super::pieces::{Piece, spans};
use crate::kernels::RowSet;
use crate::ops::Pattern;

/// The entries of some rows. Rows that are read are renumbered: the first are the rows of the entries themselves.
#[derive(Debug, Clone, Copy)]
pub struct Entries<'a> {
    /// Where the entries of each row begin, and one more.
    pub offsets: &'a [usize],
    /// The row that each entry leads to.
    pub sources: &'a [u32],
}

impl<'a> Entries<'a> {
    /// The number of rows.
    pub fn rows(self) -> usize {
        self.offsets.len() - 1
    }

    /// The rows that the entries of a row lead to.
    pub fn of(self, row: usize) -> &'a [u32] {
        &self.sources[self.offsets[row]..self.offsets[row + 1]]
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
    /// The entries of a pattern with their values, a column, if there are any.
    pub(crate) fn new(pattern: Arc<Pattern>, values: Option<Tensor>) -> Self {
        Self { pattern, values }
    }

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
        // For each entry its endpoints by row and by column, its value and at most one row that is read.
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
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The rows of a piece, the rows that it reads, and its entries.
    pub(crate) fn piece(&self, number: usize) -> (&[u32], &[u32], Entries<'_>) {
        let Neighborhood { reads, offsets, sources, .. } = &self.pieces[number];
        (&reads[..offsets.len() - 1], reads, Entries { offsets, sources })
    }

    /// The operations along the entries of a piece.
    pub(crate) fn hop(&self, number: usize) -> &Hop {
        &self.pieces[number].hop
    }

    /// The rows of each piece and the rows that it reads.
    pub(crate) fn pieces(&self) -> Vec<Piece<'_>> {
        self.pieces
            .iter()
            .map(|piece| Piece { rows: &piece.reads[..piece.hop.pattern.n_rows()], reads: &piece.reads })
            .collect()
    }
}
