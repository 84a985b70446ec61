//! The index structures of a pass: which rows each layer computes and along which edges.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::{BuildError, Messages, Problem};
use crate::features::{Features, SparseRows};
use crate::kernels::{Csr, RowSet, attention};
use crate::program::Prepared;

/// What the outputs of some nodes depend on, layer by layer.
#[derive(Debug, Clone)]
pub struct Scope {
    /// `rows[l]`: the nodes whose representation layer `l` (from 0) reads; the last entry: the targets.
    pub rows: Vec<Arc<RowSet>>,
    /// The edges of each layer that sends messages: into `rows[l + 1]`.
    pub forward: Vec<Arc<Operator>>,
    /// The same by source, for the rows `rows[l]`; empty in scopes that do not train.
    pub backward: Vec<Arc<Operator>>,
    /// The sparse features of the rows `rows[0]`, transposed; in scopes that train on sparse features.
    pub input_transposed: Option<Arc<SparseRows>>,
    /// What the nodes of a [`crate::program`] keep for the backward pass; there, `rows` has an entry a slot, then the
    /// targets. Empty for other models.
    pub(crate) prepared: Vec<Prepared>,
}

/// A sparse matrix over the nodes. Where neighbours were sampled, sums over them are scaled to estimate those over all,
/// without bias; degrees are the graph's.
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
}

impl Operator {
    /// The renormalised adjacency of Kipf and Welling (2017): `D^-1/2 (A + I) D^-1/2`, D with loops. O(n + m).
    pub fn symmetric(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let root = |v: u32| 1.0 / ((graph.degree(v) + 1) as f64).sqrt();
        let mut operator = Self::loops(graph, 8, reservation)?;
        operator.symmetric = graph.is_symmetric();
        operator.values = (0..graph.n_nodes() as u32)
            .flat_map(|i| operator.row(i).iter().map(move |&j| (scale(graph, i, j) * (root(i) * root(j))) as f32))
            .collect();
        Ok(operator)
    }

    /// The adjacency with loops, normalised as the hyperparameter `affinity` says. O(n + m).
    pub fn affinity(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        Ok(match problem.options.text("affinity")? {
            "random_walk" => Self::mean_with_loops(&problem.graph, reservation)?,
            _ => Self::symmetric(&problem.graph, reservation)?,
        })
    }

    /// The adjacency with loops under another power of the degrees: `D^-eta (A + I) D^-eta`, D with loops. O(n + m).
    pub fn powered(graph: &Messages, eta: f64, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let mut operator = Self::loops(graph, 8, reservation)?;
        let power = |v: u32| ((graph.degree(v) + 1) as f64).powf(-eta);
        let mut values = Vec::with_capacity(operator.n_entries());
        for i in 0..graph.n_nodes() as u32 {
            values.extend(operator.row(i).iter().map(|&j| (scale(graph, i, j) * (power(i) * power(j))) as f32));
        }
        (operator.values, operator.symmetric) = (values, graph.is_symmetric());
        Ok(operator)
    }

    /// The normalised adjacency without loops: `D^-1/2 A D^-1/2`; 0 for a node without neighbours. O(n + m).
    pub fn symmetric_without_loops(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let root = |v: u32| 1.0 / (graph.degree(v) as f64).sqrt();
        Self::neighbors(graph, |i, j| (root(i) * root(j)) as f32, reservation)
    }

    /// The neighbours without values: its entries are edges, which keep their numbers in the transpose. O(n + m).
    pub fn edges(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        reservation.grow(Self::bytes(graph.n_nodes(), graph.targets().len(), 4))?;
        Ok(Self::from_rows(graph.offsets().to_vec(), graph.targets().to_vec(), Vec::new(), false))
    }

    /// The mean over the neighbours and the node itself: `(D + I)^-1 (A + I)`. O(n + m).
    pub fn mean_with_loops(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let mut operator = Self::loops(graph, 8, reservation)?;
        let mean = |v: u32| 1.0 / (graph.degree(v) + 1) as f32;
        operator.values = (0..graph.n_nodes() as u32)
            .flat_map(|v| operator.row(v).iter().map(move |&u| scale(graph, v, u) as f32 * mean(v)))
            .collect();
        Ok(operator)
    }

    /// The adjacency itself: the sum over the neighbours. O(n + m).
    pub fn sum(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        Self::neighbors(graph, |_, _| 1.0, reservation)
    }

    /// A square matrix from its compressed rows; `symmetric` if it equals its transpose.
    pub(crate) fn from_rows(offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f32>, symmetric: bool) -> Self {
        Self { offsets, columns, values, edges: Vec::new(), symmetric }
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
            let scale = graph.scale(v) as f32;
            values.extend(graph.neighbors(v).iter().map(|&u| scale * value(v, u)));
        }
        let (offsets, columns) = (graph.offsets().to_vec(), graph.targets().to_vec());
        Ok(Self::from_rows(offsets, columns, values, graph.is_symmetric()))
    }

    /// The mean over the neighbours, `D^-1 A`; 0 for a node without any. O(n + m).
    pub fn mean(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let mut operator = Self::neighbors(graph, |v, _| 1.0 / graph.degree(v).max(1) as f32, reservation)?;
        operator.symmetric = false;
        Ok(operator)
    }

    /// The neighbours and the node itself, without values. O(n + m).
    pub fn attention(graph: &Messages, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        Self::loops(graph, 4, reservation)
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
            columns.extend_from_slice(&neighbors[..below]);
            columns.push(v);
            columns.extend_from_slice(&neighbors[below..]);
            offsets.push(columns.len());
        }
        Ok(Self { offsets, columns, values: Vec::new(), edges: Vec::new(), symmetric: false })
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
        let n = self.n_rows();
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
        Ok(Self { offsets, columns, values, edges, symmetric: self.symmetric && rows.is_all() })
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

    /// An attention operator by source, with the numbers of its edges.
    pub(crate) fn by_source(&self) -> Self {
        self.transpose()
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

    /// The rows of a set; other rows become empty.
    fn restricted(&self, rows: &RowSet, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let n = rows.n_rows();
        let entries: usize = rows.rows().iter().map(|&row| self.row(row).len()).sum();
        let with_values = !self.values.is_empty();
        reservation.grow(Self::bytes(n, entries, if with_values { 8 } else { 4 }))?;
        let mut offsets = vec![0; n + 1];
        let mut columns = Vec::with_capacity(entries);
        let mut values = Vec::with_capacity(if with_values { entries } else { 0 });
        for &row in rows.rows() {
            columns.extend_from_slice(self.row(row));
            if with_values {
                values.extend_from_slice(&self.values[self.offsets[row as usize]..self.offsets[row as usize + 1]]);
            }
            offsets[row as usize + 1] = self.row(row).len();
        }
        for v in 0..n {
            offsets[v + 1] += offsets[v];
        }
        Ok(Self { offsets, columns, values, edges: Vec::new(), symmetric: false })
    }

    /// The transposed operator; each row's columns ascend. Without values it keeps the numbers of the edges.
    fn transposed(&self, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        reservation.grow(Self::bytes(2 * self.n_rows(), self.n_entries(), 8))?;
        Ok(self.transpose())
    }

    fn transpose(&self) -> Self {
        let (n, entries) = (self.n_rows(), self.n_entries());
        let mut offsets = vec![0usize; n + 1];
        self.columns.iter().for_each(|&column| offsets[column as usize + 1] += 1);
        for v in 0..n {
            offsets[v + 1] += offsets[v];
        }
        let mut next = offsets.clone();
        let with_values = !self.values.is_empty();
        let mut columns = vec![0; entries];
        let mut values = vec![0.0; if with_values { entries } else { 0 }];
        let mut edges = vec![0; if with_values { 0 } else { entries }];
        for row in 0..n {
            for edge in self.offsets[row]..self.offsets[row + 1] {
                let at = &mut next[self.columns[edge] as usize];
                columns[*at] = row as u32;
                if with_values {
                    values[*at] = self.values[edge];
                } else {
                    edges[*at] = edge as u32;
                }
                *at += 1;
            }
        }
        Self { offsets, columns, values, edges, symmetric: self.symmetric }
    }
}

/// What an entry of a matrix with loops is multiplied by: a node hears itself whatever was sampled.
fn scale(graph: &Messages, i: u32, j: u32) -> f64 {
    if i == j { 1.0 } else { graph.scale(i) }
}

impl Scope {
    /// The scope of `layers` layers that send no messages: every layer computes the targets.
    pub fn local(
        n: usize,
        layers: usize,
        targets: &[u32],
        train: bool,
        pruned: bool,
        features: &Features,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let set = Arc::new(row_set(n, targets, pruned, reservation)?);
        let rows = vec![set; layers + 1];
        let input_transposed = transposed_input(features, &rows[0], train, reservation)?;
        Ok(Self { rows, forward: Vec::new(), backward: Vec::new(), input_transposed, prepared: Vec::new() })
    }

    /// The scope of `layers` layers that each send messages along `operator` and read their own node too.
    pub fn message_passing(
        operator: &Arc<Operator>,
        layers: usize,
        targets: &[u32],
        train: bool,
        pruned: bool,
        features: &Features,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let n = operator.offsets.len() - 1;
        let mut rows = vec![Arc::new(row_set(n, targets, pruned, reservation)?)];
        let mut forward: Vec<Arc<Operator>> = Vec::new();
        // From the last layer to the first; the lists are turned round at the end.
        for _ in 0..layers {
            let outputs = &rows[rows.len() - 1];
            if outputs.is_all() {
                forward.push(Arc::clone(operator));
                rows.push(Arc::clone(outputs));
                continue;
            }
            let restricted = operator.restricted(outputs, reservation)?;
            let mut needed = vec![false; n];
            outputs.rows().iter().chain(&restricted.columns).for_each(|&v| needed[v as usize] = true);
            let inputs: Vec<u32> = (0..n as u32).filter(|&v| needed[v as usize]).collect();
            reservation.grow(RowSet::bytes(inputs.len()))?;
            rows.push(Arc::new(RowSet::new(n, inputs)));
            forward.push(Arc::new(restricted));
        }
        rows.reverse();
        forward.reverse();
        let mut backward: Vec<Arc<Operator>> = Vec::new();
        for (layer, operator) in forward.iter().enumerate().take(if train { layers } else { 0 }) {
            match forward[..layer].iter().position(|earlier| Arc::ptr_eq(earlier, operator)) {
                Some(earlier) => backward.push(Arc::clone(&backward[earlier])),
                None => backward.push(Arc::new(operator.transposed(reservation)?)),
            }
        }
        let input_transposed = transposed_input(features, &rows[0], train, reservation)?;
        Ok(Self { rows, forward, backward, input_transposed, prepared: Vec::new() })
    }

    /// The nodes whose outputs are computed.
    pub fn targets(&self) -> &RowSet {
        &self.rows[self.rows.len() - 1]
    }
}

fn row_set(n: usize, targets: &[u32], pruned: bool, reservation: &mut Reservation<'_>) -> Result<RowSet, Stopped> {
    let len = if pruned { targets.len() } else { n };
    reservation.grow(RowSet::bytes(len))?;
    Ok(if pruned { RowSet::new(n, targets.to_vec()) } else { RowSet::all(n) })
}

fn transposed_input(
    features: &Features,
    rows: &RowSet,
    train: bool,
    reservation: &mut Reservation<'_>,
) -> Result<Option<Arc<SparseRows>>, Stopped> {
    match features {
        Features::Sparse(sparse) if train => {
            let entries: usize = rows.rows().iter().map(|&row| sparse.row(row as usize).0.len()).sum();
            reservation.grow(2 * (sparse.n_columns() + 1) * size_of::<usize>() + 8 * entries)?;
            Ok(Some(Arc::new(sparse.transposed(rows))))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
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
        // The transpose of a transpose is the matrix; the symmetric operator is its own.
        assert_eq!(mean.transposed(&mut reservation).unwrap().transposed(&mut reservation).unwrap(), mean);
        assert_eq!(symmetric.transposed(&mut reservation).unwrap(), symmetric);
    }

    #[test]
    fn a_pruned_scope_reaches_one_hop_a_layer() {
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let operator = Arc::new(Operator::attention(&path(), &mut reservation).unwrap());
        let scope = Scope::message_passing(&operator, 2, &[0], true, true, &Features::None, &mut reservation).unwrap();
        let rows: Vec<&[u32]> = scope.rows.iter().map(|set| set.rows()).collect();
        assert_eq!(rows, [&[0, 1, 2][..], &[0, 1], &[0]]);
        assert_eq!((scope.forward[1].row(0), scope.forward[1].row(1)), (&[0, 1][..], &[][..]));
        assert_eq!((scope.backward[1].row(1), scope.backward[1].outgoing().edges), (&[0][..], &[0, 1][..]));
        let full = Scope::message_passing(&operator, 2, &[0], true, false, &Features::None, &mut reservation).unwrap();
        assert!(full.rows.iter().all(|set| set.is_all()) && Arc::ptr_eq(&full.backward[0], &full.backward[1]));
    }
}
