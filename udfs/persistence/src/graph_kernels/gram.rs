//! A value for each pair of graphs.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

/// A symmetric matrix of `n` rows by its lower triangle, row after row: entry (i, j), j <= i, stands at i (i + 1) / 2 + j.
#[derive(Debug, Clone, PartialEq)]
pub struct PairValues {
    n: usize,
    values: Vec<f64>,
}

impl PairValues {
    /// The bytes of the values of `n` graphs.
    pub fn bytes(n: usize) -> usize {
        4usize.saturating_mul(n).saturating_mul(n + 1)
    }

    /// The values of the rows: `row` gives that of number i up to its diagonal. Each thread has scratch of its own.
    pub(super) fn by_rows<S>(
        n: usize,
        monitor: &dyn Monitor,
        scratch: impl Fn() -> S + Send + Sync,
        row: impl Fn(&mut S, usize) -> Result<Vec<f64>, Stopped> + Send + Sync,
    ) -> Result<Self, Stopped> {
        monitor.expect(n as u64);
        let rows = (0..n).into_par_iter().with_max_len(16).map_init(scratch, |scratch, i| {
            monitor.check()?;
            let row = row(scratch, i)?;
            monitor.advance(1);
            Ok(row)
        });
        let rows = rows.collect::<Result<Vec<_>, Stopped>>()?;
        Ok(Self { n, values: rows.into_iter().flatten().collect() })
    }

    /// The number of graphs.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no graphs.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The value of two graphs.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        self.values[i * (i + 1) / 2 + j]
    }

    /// The lower triangle, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Each value over the square roots of those on the diagonal of its row and of its column, so that the diagonal is 1; 0 where one
    /// of these is 0.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        let diagonal: Vec<f64> = (0..self.n).map(|i| self.get(i, i)).collect();
        let mut at = 0;
        for i in 0..self.n {
            for j in 0..=i {
                let scale = (diagonal[i] * diagonal[j]).sqrt();
                let value = &mut self.values[at];
                *value = match (scale > 0.0, i == j) {
                    (false, _) => 0.0,
                    (true, true) => 1.0,
                    (true, false) => *value / scale,
                };
                at += 1;
            }
        }
        self
    }
}
