//! Whether an edge joins nodes of one class, as a loss of its logit: the sum of a number of the target and one of the
//! source.

use bonnet_graph::{Monitor, Stopped};

use super::{Incoming, PairScores, for_each_edge_block};
use crate::kernels::parallel::for_each_block_with;
use crate::kernels::rows::RowSet;

/// The edges whose two ends have a label; an edge's answer is 1 where the labels agree.
#[derive(Debug, Clone, Copy)]
pub struct LabelledEdges<'a> {
    /// The edges.
    pub edges: Incoming<'a>,
    /// The label of each node; `u32::MAX` for none.
    pub labels: &'a [u32],
}

impl LabelledEdges<'_> {
    /// The number of those into the rows of a set. O(edges).
    pub fn count(self, set: &RowSet) -> usize {
        set.rows().iter().map(|&row| self.row(row).count()).sum()
    }

    /// The mean binary cross-entropy of the logits of the `count` edges into the rows of a set; 0 without any. One head;
    /// the gate is not applied. O(edges).
    pub fn loss(
        self,
        set: &RowSet,
        count: usize,
        scores: PairScores<'_>,
        monitor: &dyn Monitor,
    ) -> Result<f64, Stopped> {
        let mut sums = vec![0f64; set.n_blocks()];
        let mut nothing = vec![(); set.n_rows()];
        for_each_block_with(set, &mut nothing, 1, &mut sums, monitor, |rows, _, _, sum| {
            for &row in rows {
                for (e, answer) in self.row(row) {
                    let z = self.logit(scores, row, e);
                    // -ln of the logistic function of z or -z, without overflow.
                    *sum += z.max(0.0) - z * answer + (-z.abs()).exp().ln_1p();
                }
            }
        })?;
        Ok(sums.iter().sum::<f64>() / count.max(1) as f64)
    }

    /// Adds `scale` times the gradient of [`LabelledEdges::loss`] by the logits to the edges' `gradient`. O(edges).
    pub fn add_gradient(
        self,
        set: &RowSet,
        count: usize,
        scores: PairScores<'_>,
        scale: f64,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        let share = scale / count.max(1) as f64;
        for_each_edge_block(set, self.edges, gradient, 1, monitor, |rows, first_edge, gradient| {
            for &row in rows {
                for (e, answer) in self.row(row) {
                    let logistic = 1.0 / (1.0 + (-self.logit(scores, row, e)).exp());
                    gradient[e - first_edge] += (share * (logistic - answer)) as f32;
                }
            }
        })
    }

    /// The labelled edges into a row, with their answers.
    fn row(self, row: u32) -> impl Iterator<Item = (usize, f64)> {
        let label = self.labels[row as usize];
        let edges = if label == u32::MAX { 0..0 } else { self.edges.row(row) };
        edges.filter_map(move |e| {
            let other = self.labels[self.edges.sources[e] as usize];
            (other != u32::MAX).then(|| (e, f64::from(u8::from(label == other))))
        })
    }

    fn logit(self, scores: PairScores<'_>, row: u32, edge: usize) -> f64 {
        let source = self.edges.sources[edge] as usize;
        f64::from(scores.target[row as usize * scores.stride] + scores.source[source * scores.stride])
    }
}
