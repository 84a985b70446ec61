//! Sparse matrices: the adjacency of nodes under the normalisations that models propagate with, and the operators of
//! complexes.

use std::ops::Range;

use bonnet_graph::{Reservation, Stopped};

use super::messages::Messages;
use super::relations::Kinds;
use crate::ground::BuildError;
use crate::kernels::{Csr, RowSet, attention};

/// A sparse matrix over the nodes, or between simplices. Where neighbours were sampled, sums over them are scaled to
/// estimate those over all, without bias; degrees are the graph's.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    /// Empty for attention, whose values are computed.
    values: Vec<f32>,
    /// In a transposed attention operator, the number of each edge in the original.
    edges: Vec<u32>,
    /// Whether the matrix is known to equal its transpose.
    symmetric: bool,
    /// The number of columns.
    n_columns: usize,
}

impl Operator {
    /// The renormalised adjacency of Kipf and Welling (2017): `D^-1/2 (A + I) D^-1/2`, D with loops. O(n + m).
    ///
    /// # Errors
    /// [`BuildError::Weight`] for a negative weight, or the host's.
    pub fn symmetric(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        graph.expect_positive()?;
        let root = |v: u32| 1.0 / (graph.strength(v) + 1.0).sqrt();
        Self::with_loops(graph, graph.is_symmetric(), |scale, i, j| scale * (root(i) * root(j)), reservation)
    }

    /// The adjacency with loops under another power of the degrees: `D^-eta (A + I) D^-eta`, D with loops. O(n + m).
    ///
    /// # Errors
    /// The errors of [`Operator::symmetric`].
    pub fn powered(graph: &Messages, eta: f64, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        graph.expect_positive()?;
        let power = |v: u32| (graph.strength(v) + 1.0).powf(-eta);
        Self::with_loops(graph, graph.is_symmetric(), |scale, i, j| scale * (power(i) * power(j)), reservation)
    }

    /// The normalised adjacency without loops: `D^-1/2 A D^-1/2`; 0 for a node without neighbours, or from one that no arc leads
    /// to. O(n + m).
    ///
    /// # Errors
    /// The errors of [`Operator::symmetric`].
    pub fn symmetric_without_loops(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        graph.expect_positive()?;
        let root = |v: u32| if graph.strength(v) == 0.0 { 0.0 } else { 1.0 / graph.strength(v).sqrt() };
        Ok(Self::neighbors(graph, |i, j| (root(i) * root(j)) as f32, reservation)?)
    }

    /// The neighbours without values: its entries are edges, which keep their numbers in the transpose. O(n + m).
    pub fn edges(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        reservation.grow(Self::bytes(graph.n_nodes(), graph.targets().len(), 4))?;
        Ok(Self::from_rows(graph.offsets().to_vec(), graph.targets().to_vec(), Vec::new(), false))
    }

    /// The mean over the neighbours and the node itself: `(D + I)^-1 (A + I)`. O(n + m).
    ///
    /// # Errors
    /// The errors of [`Operator::symmetric`].
    pub fn mean_with_loops(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        graph.expect_positive()?;
        let mean = |v: u32| 1.0 / (graph.strength(v) + 1.0) as f32;
        Self::with_loops(graph, false, |scale, v, _| f64::from(scale as f32 * mean(v)), reservation)
    }

    /// The adjacency itself: the sum over the neighbours. O(n + m).
    pub fn sum(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        Self::neighbors(graph, |_, _| 1.0, reservation)
    }

    /// A square matrix from its compressed rows; `symmetric` if it equals its transpose.
    pub(crate) fn from_rows(offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f32>, symmetric: bool) -> Self {
        let n_columns = offsets.len() - 1;
        Self { offsets, columns, values, edges: Vec::new(), symmetric, n_columns }
    }

    /// A matrix with columns of another kind than its rows.
    pub(crate) fn rectangular(offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f32>, n_columns: usize) -> Self {
        Self { offsets, columns, values, edges: Vec::new(), symmetric: false, n_columns }
    }

    fn neighbors(
        graph: &Messages,
        value: impl Fn(u32, u32) -> f32,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let (n, arcs) = (graph.n_nodes(), graph.targets().len());
        reservation.grow(Self::bytes(n, arcs, 8))?;
        let mut values = Vec::with_capacity(arcs);
        for v in 0..n as u32 {
            let (scale, weights) = (graph.scale(v) as f32, graph.weights(v));
            let weight = |at: usize| weights.map_or(1.0, |weights| weights[at] as f32);
            values.extend(graph.neighbors(v).iter().enumerate().map(|(at, &u)| scale * value(v, u) * weight(at)));
        }
        let (offsets, columns) = (graph.offsets().to_vec(), graph.targets().to_vec());
        Ok(Self::from_rows(offsets, columns, values, graph.is_symmetric()))
    }

    /// The mean over the neighbours, `D^-1 A`; 0 for a node without any. O(n + m).
    ///
    /// # Errors
    /// The errors of [`Operator::symmetric`].
    pub fn mean(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        graph.expect_positive()?;
        let mean = |v: u32| if graph.strength(v) == 0.0 { 1.0 } else { 1.0 / graph.strength(v) as f32 };
        let mut operator = Self::neighbors(graph, |v, _| mean(v), reservation)?;
        operator.symmetric = false;
        Ok(operator)
    }

    /// The neighbours and the node itself, without values. O(n + m).
    pub fn attention(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        Self::loops(graph, 4, reservation)
    }

    /// The neighbours and the node itself, without values, in the rows of the nodes of one kind; other rows are empty. O(n + m).
    pub fn attention_within(
        graph: &Messages,
        kinds: &Kinds,
        kind: u32,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let all = Self::attention(graph, reservation)?;
        if kinds.names.len() == 1 {
            return Ok(all);
        }
        reservation.grow(Self::bytes(all.n_rows(), all.n_entries(), 4))?;
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for (row, &of) in (0u32..).zip(&*kinds.of) {
            columns.extend_from_slice(if of == kind { all.row(row) } else { &[] });
            offsets.push(columns.len());
        }
        Ok(Self::from_rows(offsets, columns, Vec::new(), false))
    }

    /// `value(scale, i, j)` times the weight of the entry, 1 for loops; the scale is that of a sample.
    fn with_loops(
        graph: &Messages,
        symmetric: bool,
        value: impl Fn(f64, u32, u32) -> f64,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, BuildError> {
        let mut operator = Self::loops(graph, 8, reservation)?;
        let mut values = Vec::with_capacity(operator.n_entries());
        for i in 0..graph.n_nodes() as u32 {
            let weights = graph.weights(i);
            let mut weights = weights.into_iter().flatten();
            for &j in operator.row(i) {
                let weight = if i == j { 1.0 } else { weights.next().copied().unwrap_or(1.0) };
                values.push((value(scale(graph, i, j), i, j) * weight) as f32);
            }
        }
        (operator.values, operator.symmetric) = (values, symmetric);
        Ok(operator)
    }

    fn loops(graph: &Messages, entry: usize, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let n = graph.n_nodes();
        reservation.grow(Self::bytes(n, graph.targets().len() + n, entry))?;
        let mut columns = Vec::with_capacity(graph.targets().len() + n);
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        for v in 0..n as u32 {
            let neighbors = graph.neighbors(v);
            let below = neighbors.partition_point(|&u| u < v);
            // A relation may hold the loop already.
            let above = below + usize::from(neighbors.get(below) == Some(&v));
            columns.extend_from_slice(&neighbors[..below]);
            columns.push(v);
            columns.extend_from_slice(&neighbors[above..]);
            offsets.push(columns.len());
        }
        Ok(Self::from_rows(offsets, columns, Vec::new(), false))
    }

    fn bytes(n: usize, entries: usize, entry: usize) -> usize {
        (n + 1) * size_of::<usize>() + entries * entry
    }

    /// The bytes that a matrix of so many rows and entries holds, with its values.
    pub(crate) fn matrix_bytes(n: usize, entries: usize) -> usize {
        Self::bytes(n, entries, 8)
    }

    /// Where each row's entries start; one more at the end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Whether the matrix is known to equal its transpose.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// The transpose of the rows of a set, other rows taken as empty. Its entries keep their numbers in this matrix if it
    /// has no values. O(n + entries).
    pub(crate) fn transposed_rows(&self, rows: &RowSet, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let n = self.n_columns;
        let count: usize = rows.rows().iter().map(|&row| self.row(row).len()).sum();
        reservation.grow(Self::bytes(2 * n, count, 8))?;
        let mut offsets = vec![0usize; n + 1];
        for &row in rows.rows() {
            self.row(row).iter().for_each(|&column| offsets[column as usize + 1] += 1);
        }
        for v in 0..n {
            offsets[v + 1] += offsets[v];
        }
        let with_values = !self.values.is_empty();
        let mut next = offsets.clone();
        let mut columns = vec![0; count];
        let mut values = vec![0.0; if with_values { count } else { 0 }];
        let mut edges = vec![0; if with_values { 0 } else { count }];
        for &row in rows.rows() {
            for edge in self.offsets[row as usize]..self.offsets[row as usize + 1] {
                let at = &mut next[self.columns[edge] as usize];
                columns[*at] = row;
                if with_values {
                    values[*at] = self.values[edge];
                } else {
                    edges[*at] = edge as u32;
                }
                *at += 1;
            }
        }
        let symmetric = self.symmetric && rows.is_all();
        Ok(Self { offsets, columns, values, edges, symmetric, n_columns: self.n_rows() })
    }

    /// Blocks of a block-diagonal matrix, by their rows and columns, side by side on the diagonal of a smaller one. Entries
    /// keep their order in a row. O(rows + entries of the answer).
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub(crate) fn diagonal_blocks(
        &self,
        blocks: &[(Range<usize>, Range<usize>)],
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let entries_of = |rows: &Range<usize>| self.offsets[rows.start]..self.offsets[rows.end];
        let n_rows: usize = blocks.iter().map(|(rows, _)| rows.len()).sum();
        let count: usize = blocks.iter().map(|(rows, _)| entries_of(rows).len()).sum();
        reservation.grow(Self::matrix_bytes(n_rows, count))?;
        let mut offsets = Vec::with_capacity(n_rows + 1);
        let (mut columns, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut n_columns = 0;
        offsets.push(0);
        for (rows, own) in blocks {
            let (entries, before) = (entries_of(rows), columns.len());
            let ends = &self.offsets[rows.start..=rows.end][1..];
            offsets.extend(ends.iter().map(|end| end - entries.start + before));
            let (first, shift) = (own.start as u32, n_columns as u32);
            columns.extend(self.columns[entries.clone()].iter().map(|column| column - first + shift));
            values.extend_from_slice(&self.values[entries]);
            n_columns += own.len();
        }
        Ok(Self { offsets, columns, values, edges: Vec::new(), symmetric: self.symmetric, n_columns })
    }

    /// The matrix with `value(row, column, value)` in place of each value; a symmetric one must stay so.
    pub(crate) fn with_values(mut self, value: impl Fn(usize, u32, f32) -> f32) -> Self {
        for (row, range) in self.offsets.windows(2).enumerate() {
            for entry in range[0]..range[1] {
                self.values[entry] = value(row, self.columns[entry], self.values[entry]);
            }
        }
        self
    }

    /// The columns of a row.
    pub fn row(&self, row: u32) -> &[u32] {
        &self.columns[self.offsets[row as usize]..self.offsets[row as usize + 1]]
    }

    /// The number of entries.
    pub fn n_entries(&self) -> usize {
        self.columns.len()
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The matrix with its values.
    pub fn csr(&self) -> Csr<'_> {
        Csr { offsets: &self.offsets, columns: &self.columns, values: &self.values }
    }

    /// The edges into the rows.
    pub fn incoming(&self) -> attention::Incoming<'_> {
        attention::Incoming { offsets: &self.offsets, sources: &self.columns }
    }

    /// The edges by source, of a transposed operator.
    pub fn outgoing(&self) -> attention::Outgoing<'_> {
        attention::Outgoing { offsets: &self.offsets, targets: &self.columns, edges: &self.edges }
    }
}

/// The factor of an entry of a matrix with loops: a loop is never sampled.
fn scale(graph: &Messages, i: u32, j: u32) -> f64 {
    if i == j { 1.0 } else { graph.scale(i) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bonnet_graph::{Graph, Unmonitored};

    use super::*;

    fn path() -> Messages {
        Messages::Whole(Arc::new(Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3)])))
    }

    #[test]
    fn the_operators_hold_their_definitions() {
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let symmetric = Operator::symmetric(&path(), &mut reservation).unwrap();
        assert_eq!(symmetric.row(1), [0, 1, 2]);
        let close = |a: f32, b: f64| assert!((f64::from(a) - b).abs() < 1e-7, "{a} for {b}");
        close(symmetric.csr().values[0], 0.5);
        close(symmetric.csr().values[1], 1.0 / 6f64.sqrt());
        close(symmetric.csr().values[symmetric.n_entries() - 1], 1.0);
        let mean = Operator::mean(&path(), &mut reservation).unwrap();
        assert_eq!((mean.row(4).len(), mean.csr().values), (0, &[1.0, 0.5, 0.5, 0.5, 0.5, 1.0][..]));
        // Of arcs, those that lead to a node.
        let (graph, arcs) = (Arc::new(Graph::from_edges(3, &[(0, 1), (1, 2)])), [(1, 0), (2, 1)]);
        let incoming = Arc::new(bonnet_graph::Digraph::from_arcs(3, &arcs).reversed());
        let arcs = Messages::Arcs { graph, incoming };
        let attention = Operator::attention(&arcs, &mut reservation).unwrap();
        assert_eq!((attention.row(0), attention.row(1), attention.row(2)), (&[0, 1][..], &[1, 2][..], &[2][..]));
        let without = Operator::symmetric_without_loops(&arcs, &mut reservation).unwrap();
        assert_eq!(without.csr().values, [1.0, 0.0]);
        // The transpose of a transpose is the matrix; the symmetric operator is its own.
        let all = RowSet::all(5);
        let mut transposed = |operator: &Operator| operator.transposed_rows(&all, &mut reservation).unwrap();
        let once = transposed(&mean);
        assert_eq!(transposed(&once), mean);
        assert_eq!(transposed(&symmetric), symmetric);
    }
}
