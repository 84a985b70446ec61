//! Terms of the scores of an attention that hang on an entry alone, out of a learnt table.

use std::sync::Arc;

use bonnet_graph::Stopped;
use candle_core::Tensor;

use crate::ground::{Axis, Initial};
use crate::kernels::edge::{EdgeTerms, Incoming, TableShape};
use crate::ops::Pattern;
use crate::program::{Backward, Builder, Forward, Slot, Space, Tensors};

/// What each entry of an operator takes of a table, a slot of so many rows with a column a head.
#[derive(Debug, Clone)]
pub struct EntryTerms {
    of: Of,
    rows: usize,
}

#[derive(Debug, Clone)]
enum Of {
    Kinds(Arc<[u32]>),
    Weights(Arc<[f32]>),
}

impl EntryTerms {
    /// The row of each entry's kind, below `rows`.
    pub fn of_kinds(kinds: Arc<[u32]>, rows: usize) -> Self {
        Self { of: Of::Kinds(kinds), rows }
    }

    /// All rows, each times a number of the entry: `rows` numbers an entry.
    pub fn of_weights(weights: Arc<[f32]>, rows: usize) -> Self {
        Self { of: Of::Weights(weights), rows }
    }

    /// The rows of the table.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn kernel(&self) -> EdgeTerms<'_> {
        match &self.of {
            Of::Kinds(kinds) => EdgeTerms::Kinds(kinds),
            Of::Weights(weights) => EdgeTerms::Weights(weights, self.rows),
        }
    }

    /// The terms of all entries.
    pub(super) fn candle(&self, tensors: &Tensors<'_>, table: usize) -> candle_core::Result<Tensor> {
        let table = &tensors.inputs[table];
        match &self.of {
            Of::Kinds(kinds) => {
                let offsets: Vec<usize> = (0..=kinds.len()).collect();
                Pattern::new(&offsets, kinds, self.rows, tensors.device())?.at_sources(table)
            }
            Of::Weights(weights) => tensors.constant(weights, weights.len() / self.rows, self.rows)?.matmul(table),
        }
    }

    /// Adds the terms to the scores of the entries in the rows of the output.
    pub(super) fn add(
        &self,
        pass: &Forward<'_>,
        edges: Incoming<'_>,
        (heads, table): (usize, usize),
        scores: &mut [f32],
    ) -> Result<(), Stopped> {
        let shape = TableShape { heads, stride: pass.input_axis(table).stride() };
        self.kernel().add(pass.rows(), edges, shape, pass.input(table), scores, pass.monitor)
    }

    /// Passes the gradient of the scores, divided by a factor, on to the table.
    pub(super) fn table_gradient(
        &self,
        pass: &mut Backward<'_>,
        edges: Incoming<'_>,
        (heads, table): (usize, usize),
        d_scores: &[f32],
        factor: f32,
    ) -> Result<(), Stopped> {
        let forward = pass.forward;
        if !forward.needs_gradient(table) {
            return Ok(());
        }
        let shape = TableShape { heads, stride: forward.input_axis(table).stride() };
        let mut sums = vec![0.0; self.rows * shape.stride];
        let (set, monitor) = (forward.rows(), forward.monitor);
        self.kernel().gradient(set, edges, shape, d_scores, pass.scratch().0, &mut sums, monitor)?;
        let Some(mut gradient) = pass.gradient_everywhere(table) else { return Ok(()) };
        let add = gradient.add;
        for (out, sum) in gradient.values.iter_mut().zip(&sums) {
            *out = sum / factor + if add { *out } else { 0.0 };
        }
        Ok(())
    }

    /// The numbers of partial sums that the gradient of a table of so many stored columns takes for a block.
    pub(super) fn partials(&self, stride: usize) -> usize {
        self.rows * stride
    }
}

/// Every row of a table is read.
pub(super) fn needs_table(needed: &mut [bool]) {
    needed.fill(true);
}

impl Builder<'_, '_> {
    /// A learnt matrix as a slot: the block `name` of `rows` rows.
    ///
    /// # Errors
    /// If the host refuses the memory for its rows squared.
    pub fn table(
        &mut self,
        name: impl Into<String>,
        rows: usize,
        columns: Axis,
        initial: Initial,
    ) -> Result<Slot, Stopped> {
        let axis = Axis::padded(1, rows);
        let units = self.constant(Space::Rows(rows), axis, |values| {
            values.chunks_exact_mut(axis.stride()).enumerate().for_each(|(row, values)| values[row] = 1.0);
        })?;
        let values = self.parameter(name, axis, columns, initial);
        Ok(self.linear_with(units, values))
    }
}
