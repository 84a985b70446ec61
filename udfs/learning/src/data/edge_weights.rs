//! The weights of edges.

/// An error in the weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum WeightError {
    /// A weight that is no finite number.
    #[error("the edge of nodes {from} and {to} has the weight {weight}: a finite number is expected")]
    NotFinite {
        /// One endpoint.
        from: u32,
        /// The other endpoint.
        to: u32,
        /// The weight.
        weight: f64,
    },
    /// An edge with two weights.
    #[error("the edge of nodes {from} and {to} has the weights {} and {}: rows of one edge agree", weights.0, weights.1)]
    Two {
        /// One endpoint.
        from: u32,
        /// The other endpoint.
        to: u32,
        /// The two weights.
        weights: (f64, f64),
    },
}

/// A weight for each edge, or each arc, of a graph. O(log m) to look one up; 16 bytes an edge.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeWeights {
    /// Ascending; an edge has the smaller node first.
    ends: Vec<(u32, u32)>,
    weights: Vec<f64>,
    directed: bool,
}

impl EdgeWeights {
    /// The weights of rows `(from, to, weight)`, of arcs if `directed`; loops do not count. O(m log m).
    ///
    /// # Errors
    /// [`WeightError::NotFinite`] for a weight that is not finite, [`WeightError::Two`] for an edge with two of them.
    pub fn new(rows: impl Iterator<Item = (u32, u32, f64)>, directed: bool) -> Result<Self, WeightError> {
        let order = |from: u32, to: u32| if directed || from < to { (from, to) } else { (to, from) };
        let mut rows: Vec<((u32, u32), f64)> =
            rows.filter(|(from, to, _)| from != to).map(|(from, to, weight)| (order(from, to), weight)).collect();
        // By weight as well: an error names the same two whatever the order of the rows.
        rows.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        if let Some(&((from, to), weight)) = rows.iter().find(|row| !row.1.is_finite()) {
            return Err(WeightError::NotFinite { from, to, weight });
        }
        if let Some(two) = rows.windows(2).find(|two| two[0].0 == two[1].0 && two[0].1 != two[1].1) {
            let ((from, to), first) = two[0];
            return Err(WeightError::Two { from, to, weights: (first, two[1].1) });
        }
        rows.dedup_by(|a, b| a.0 == b.0);
        let (ends, weights) = rows.into_iter().unzip();
        Ok(Self { ends, weights, directed })
    }

    /// The weight of messages from `from` to `to`; none where no edge joins them.
    pub fn of(&self, from: u32, to: u32) -> Option<f64> {
        let ends = if self.directed || from < to { (from, to) } else { (to, from) };
        self.ends.binary_search(&ends).ok().map(|at| self.weights[at])
    }

    /// The bytes that it holds.
    pub fn resident_bytes(&self) -> usize {
        Self::bytes(self.ends.len())
    }

    /// The bytes that weights of so many edges take.
    pub fn bytes(edges: usize) -> usize {
        edges * (size_of::<(u32, u32)>() + size_of::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_an_edge_agree() {
        let new = |rows: &[(u32, u32, f64)], directed| EdgeWeights::new(rows.iter().copied(), directed);
        let edges = new(&[(2, 1, 0.5), (1, 2, 0.5), (3, 3, 9.0), (0, 1, -2.0)], false).unwrap();
        assert_eq!((edges.of(1, 2), edges.of(2, 1), edges.of(1, 0)), (Some(0.5), Some(0.5), Some(-2.0)));
        assert_eq!((edges.of(3, 3), edges.of(0, 2)), (None, None));
        let arcs = new(&[(2, 1, 0.5), (1, 2, 1.5)], true).unwrap();
        assert_eq!((arcs.of(2, 1), arcs.of(1, 2)), (Some(0.5), Some(1.5)));
        let error = |rows: &[(u32, u32, f64)]| new(rows, false).unwrap_err();
        for rows in [[(2, 1, 0.5), (1, 2, 1.5)], [(1, 2, 1.5), (2, 1, 0.5)]] {
            assert_eq!(error(&rows), WeightError::Two { from: 1, to: 2, weights: (0.5, 1.5) });
        }
        assert!(matches!(error(&[(1, 0, f64::NAN)]), WeightError::NotFinite { from: 0, to: 1, .. }));
    }
}
