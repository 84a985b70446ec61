//! Matrices of which few rows have entries: of a relation in a sample. A row that has none is not there, and costs nothing.

use bonnet_graph::{Reservation, Stopped};

use super::messages::Messages;
use super::operator::Operator;
use super::sampling::expanded;
use crate::ground::BuildError;

/// A sparse matrix of the nodes that keeps the rows with entries alone.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedOperator {
    n: usize,
    rows: Vec<u32>,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl ListedOperator {
    /// The mean over the neighbours, `D^-1 A`, times a factor, with the values of [`Operator::mean`]. O(rows with edges + edges),
    /// and the nodes where messages do not list the rows that have some.
    ///
    /// # Errors
    /// The errors of [`Operator::mean`].
    pub fn mean(graph: &Messages, factor: Option<f32>, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        graph.expect_positive()?;
        let arcs = graph.targets().len();
        let (rows, offsets) = match graph {
            Messages::Listed(edges) => {
                reservation.grow(20 * edges.rows.len() + 8 * arcs)?;
                (edges.rows.clone(), edges.offsets.clone())
            }
            _ => {
                let all = graph.offsets();
                let rows: Vec<u32> =
                    (0..graph.n_nodes() as u32).filter(|&v| all[v as usize] < all[v as usize + 1]).collect();
                reservation.grow(12 * rows.len() + 8 * arcs)?;
                let starts = rows.iter().map(|&row| all[row as usize]);
                let offsets = starts.chain([arcs]).collect();
                (rows, offsets)
            }
        };
        let mut values = Vec::with_capacity(arcs);
        for (at, &v) in rows.iter().enumerate() {
            // The same numbers, rounded in the same order, as those of the operator of all rows.
            let (degree, count) = match graph {
                Messages::Listed(edges) => (f64::from(edges.degrees[at]), offsets[at + 1] - offsets[at]),
                _ => (graph.strength(v), 0),
            };
            let scale = match graph {
                Messages::Listed(_) => (degree / count.max(1) as f64) as f32,
                _ => graph.scale(v) as f32,
            };
            let (mean, weights) = (if degree == 0.0 { 1.0 } else { 1.0 / degree as f32 }, graph.weights(v));
            values.extend((0..offsets[at + 1] - offsets[at]).map(|edge| {
                let value = scale * mean * weights.map_or(1.0, |weights| weights[edge] as f32);
                factor.map_or(value, |factor| factor * value)
            }));
        }
        Ok(Self { n: graph.n_nodes(), rows, offsets, columns: graph.targets().to_vec(), values })
    }

    /// The number of rows, those without entries among them.
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// The rows with entries, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Where the entries of the i-th of [`ListedOperator::rows`] stand.
    pub fn span(&self, at: usize) -> std::ops::Range<usize> {
        self.offsets[at]..self.offsets[at + 1]
    }

    /// The columns of all entries.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Their values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The matrix with all rows. O(rows + entries).
    pub fn whole(&self) -> Operator {
        let offsets = expanded(self.n, &self.rows, &self.offsets);
        Operator::from_rows(offsets, self.columns.clone(), self.values.clone(), false)
    }
}

impl From<&Operator> for ListedOperator {
    fn from(operator: &Operator) -> Self {
        let all = operator.offsets();
        let rows: Vec<u32> =
            (0..operator.n_rows() as u32).filter(|&row| all[row as usize] < all[row as usize + 1]).collect();
        let offsets = rows.iter().map(|&row| all[row as usize]).chain([operator.n_entries()]).collect();
        let csr = operator.csr();
        Self { n: operator.n_rows(), rows, offsets, columns: csr.columns.to_vec(), values: csr.values.to_vec() }
    }
}

/// The entries of some rows of a listed matrix, or of its transpose.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListedEntries {
    /// Where the entries of each of these rows begin and end.
    pub spans: Vec<(u32, u32)>,
    /// The columns of the entries; none where they are those of the matrix itself.
    pub columns: Vec<u32>,
    /// Their values, likewise.
    pub values: Vec<f32>,
}

impl ListedEntries {
    /// The transpose of some rows of a matrix, those of `targets` with their spans: its rows are `sources` (ascending), all to
    /// which these lead. `place` has room for a number a node. The entries of a row ascend by target.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn transposed(
        operator: &ListedOperator,
        targets: (&[u32], &[(u32, u32)]),
        sources: &[u32],
        place: &mut [u32],
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let entries: usize = targets.1.iter().map(|span| (span.1 - span.0) as usize).sum();
        reservation.grow(8 * entries + 8 * sources.len())?;
        let mut spans = vec![(0u32, 0u32); sources.len()];
        (0u32..).zip(sources).for_each(|(at, &source)| place[source as usize] = at);
        let of = |span: &(u32, u32)| span.0 as usize..span.1 as usize;
        for &source in targets.1.iter().flat_map(|span| &operator.columns[of(span)]) {
            spans[place[source as usize] as usize].1 += 1;
        }
        let mut end = 0;
        for span in &mut spans {
            let count = span.1;
            *span = (end, end);
            end += count;
        }
        let (mut columns, mut values) = (vec![0; entries], vec![0.0; entries]);
        for (&row, span) in targets.0.iter().zip(targets.1) {
            for entry in of(span) {
                let span = &mut spans[place[operator.columns[entry] as usize] as usize];
                (columns[span.1 as usize], values[span.1 as usize]) = (row, operator.values[entry]);
                span.1 += 1;
            }
        }
        Ok(Self { spans, columns, values })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bonnet_graph::{Digraph, Graph, Unmonitored};

    use super::super::sampling::{ListedEdges, Sample};
    use super::*;
    use crate::kernels::RowSet;

    #[test]
    fn rows_that_are_listed_are_those_of_the_whole_matrix_bit_for_bit() {
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        // Rows 1, 4 and 5 of seven, of which not all neighbours were drawn.
        let (rows, offsets, targets) = (vec![1, 4, 5], vec![0, 2, 3, 6], vec![0, 3, 6, 1, 2, 6]);
        let listed = ListedEdges::new(7, rows, offsets, targets.clone(), vec![5, 1, 7]);
        let all = Sample {
            nodes: Vec::new(),
            offsets: vec![0, 0, 2, 2, 2, 3, 6, 6],
            targets,
            degrees: vec![0, 5, 0, 0, 1, 7, 0],
        };
        let (few, many) = (Messages::Listed(Arc::new(listed)), Messages::Sampled(Arc::new(all)));
        assert_eq!((few.offsets(), few.targets(), few.n_nodes()), (many.offsets(), many.targets(), 7));
        for v in 0..7 {
            assert_eq!(
                (few.neighbors(v), few.degree(v), few.scale(v)),
                (many.neighbors(v), many.degree(v), many.scale(v))
            );
        }
        let expected = Operator::mean(&many, &mut reservation).unwrap();
        let operator = ListedOperator::mean(&few, None, &mut reservation).unwrap();
        assert_eq!(operator.whole(), expected);
        assert_eq!(ListedOperator::mean(&many, None, &mut reservation).unwrap(), operator);
        assert_eq!(ListedOperator::from(&expected), operator);
        // Weights of edges, and arcs.
        let graph = Arc::new(Graph::from_edges(4, &[(0, 1), (1, 2)]));
        let weighted = Messages::from(&graph).weighted(vec![2.0, 2.0, 0.5, 0.5]);
        let arcs = Messages::Arcs { incoming: Arc::new(Digraph::from_arcs(4, &[(1, 0), (1, 2)])), graph };
        for messages in [weighted, arcs] {
            let listed = ListedOperator::mean(&messages, Some(0.5), &mut reservation).unwrap();
            let whole = Operator::mean(&messages, &mut reservation).unwrap().with_values(|_, _, value| 0.5 * value);
            assert_eq!(listed.whole(), whole);
        }
        // The transpose of two of the rows.
        let set = RowSet::new(7, vec![1, 5]);
        let transposed = expected.transposed_rows(&set, &mut reservation).unwrap();
        let (sources, mut place) = ([0, 1, 2, 3, 6], vec![u32::MAX; 7]);
        let spans = [(0, 2), (3, 6)];
        let found =
            ListedEntries::transposed(&operator, (&[1, 5], &spans), &sources, &mut place, &mut reservation).unwrap();
        for (&source, &(start, end)) in sources.iter().zip(&found.spans) {
            assert_eq!(found.columns[start as usize..end as usize], *transposed.row(source));
        }
        assert_eq!(found.values, transposed.csr().values);
    }
}
