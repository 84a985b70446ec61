//! Edge homophily of features: the mean cosine of the ends.

use bonnet_graph::{Digraph, Monitor, Stopped};
use rayon::prelude::*;

use crate::FeatureRows;

/// Nodes of a block of work.
const BLOCK: usize = 1 << 10;

/// A cosine in steps of 2^-52: sums of integers do not depend on their order.
const SCALE: f64 = (1u64 << 52) as f64;

/// A sum of cosines that is the same for any order and any partition of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CosineSum {
    /// The sum in steps of 2^-52.
    pub sum: i128,
    /// The number of rows.
    pub n_rows: u64,
}

impl CosineSum {
    /// Adds one cosine.
    pub fn add(&mut self, cosine: f64) {
        self.sum += i128::from((cosine * SCALE).round() as i64);
        self.n_rows += 1;
    }

    /// Adds the sum of another part of the rows.
    pub fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.n_rows += other.n_rows;
    }

    /// The mean, in [-1, 1]; `None` without rows.
    pub fn mean(&self) -> Option<f64> {
        (self.n_rows > 0).then(|| self.sum as f64 / SCALE / self.n_rows as f64)
    }
}

/// The cosine of two vectors given by their entries in ascending order of the columns, in [-1, 1]; 0 where one of them is
/// zero. Sums in double precision.
pub fn cosine(a: (&[u32], &[f32]), b: (&[u32], &[f32])) -> f64 {
    let square = |values: &[f32]| values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>();
    let squares = square(a.1) * square(b.1);
    if squares == 0.0 {
        return 0.0;
    }
    let mut dot = 0.0;
    let (mut i, mut j) = (0, 0);
    while i < a.0.len() && j < b.0.len() {
        let (left, right) = (a.0[i], b.0[j]);
        if left == right {
            dot += f64::from(a.1[i]) * f64::from(b.1[j]);
        }
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    (dot / squares.sqrt()).clamp(-1.0, 1.0)
}

/// The mean over arcs of the cosine of the ends' features, in [-1, 1]. (H_GE, Eq. 8 of Luan et al., Are heterophilic GNNs
/// and homophily metrics really effective?; Jin et al., RAW-GNN, IJCAI 2022.)
///
/// `present` says which nodes have features: arcs at the others do not count. A vector of zeros has the cosine 0. `None`
/// without such arcs. O(m w) time for rows of w entries.
///
/// # Panics
/// If `features` or `present` have not one entry a node.
pub fn generalized_edge_homophily(
    graph: &Digraph,
    features: &FeatureRows,
    present: &[bool],
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    let n = graph.n_nodes();
    assert!(features.len() == n && present.len() == n, "one row of features a node");
    monitor.expect(n as u64);
    let blocks = (0..n.div_ceil(BLOCK)).into_par_iter().map(|block| {
        monitor.check()?;
        let mut sum = CosineSum::default();
        let nodes = block * BLOCK..n.min((block + 1) * BLOCK);
        let length = nodes.len();
        for node in nodes.filter(|&node| present[node]) {
            for &other in graph.successors(node as u32).iter().filter(|&&other| present[other as usize]) {
                sum.add(cosine(features.entries(node), features.entries(other as usize)));
            }
        }
        monitor.advance(length as u64);
        Ok(sum)
    });
    let mut total = CosineSum::default();
    blocks.collect::<Result<Vec<_>, Stopped>>()?.iter().for_each(|sum| total.merge(sum));
    Ok(total.mean())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn cosines_worked_by_hand() {
        let rows = FeatureRows::from_dense(3, &[1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, -2.0, 0.0, -2.0]);
        let of = |a, b| cosine(rows.entries(a), rows.entries(b));
        assert!((of(0, 1) - 0.5).abs() < 1e-15);
        assert_eq!(of(0, 2), 0.0);
        assert_eq!(of(2, 2), 0.0);
        assert!((of(0, 3) + 1.0).abs() < 1e-15);
        assert!((of(0, 0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_graph_averages_over_arcs_whose_ends_have_features() {
        let rows = FeatureRows::from_dense(2, &[1.0, 0.0, 1.0, 1.0, 0.0, 3.0, 0.0, 0.0]);
        let graph = Digraph::from_arcs(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]);
        let found = |present: [bool; 4]| generalized_edge_homophily(&graph, &rows, &present, &Unmonitored).unwrap();
        let half = 0.5f64.sqrt();
        assert!((found([true; 4]).unwrap() - 2.0 * half / 4.0).abs() < 1e-15);
        assert!((found([true, true, true, false]).unwrap() - 2.0 * half / 3.0).abs() < 1e-15);
        assert_eq!(found([true, false, false, true]), None);
    }

    #[test]
    fn any_order_and_partition_give_the_same_mean() {
        let values: Vec<f64> = (0..1000).map(|i| ((i * 37 % 1000) as f64 / 500.0 - 1.0) / 3.0).collect();
        let sum = |values: &mut dyn Iterator<Item = &f64>| {
            let mut sum = CosineSum::default();
            values.for_each(|value| sum.add(*value));
            sum
        };
        let whole = sum(&mut values.iter());
        assert_eq!(whole, sum(&mut values.iter().rev()));
        let mut parts = sum(&mut values[700..].iter());
        parts.merge(&sum(&mut values[..700].iter()));
        assert_eq!(whole, parts);
        let mean = values.iter().sum::<f64>() / 1000.0;
        assert!((whole.mean().unwrap() - mean).abs() < 1e-15);
        assert_eq!(CosineSum::default().mean(), None);
    }
}
