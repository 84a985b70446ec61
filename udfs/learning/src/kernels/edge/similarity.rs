//! Similarities of the features of the two ends of an edge.

use bonnet_graph::{Monitor, Stopped};

use super::{Incoming, for_each_edge_block};
use crate::kernels::Csr;
use crate::kernels::rows::RowSet;

/// A measure of two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Similarity {
    /// `<x, y> / (|x| |y|)`, in [-1, 1]; 0 if either row is 0.
    Cosine,
    /// The Euclidean distance `|x - y|`.
    Distance,
    /// The Euclidean distance of the rows after each is scaled to length 1 (a row of zeros stays): in [0, 2].
    UnitDistance,
}

/// Rows of features.
#[derive(Debug, Clone, Copy)]
pub enum FeatureRows<'a> {
    /// Row-major, with the number of columns.
    Dense(&'a [f32], usize),
    /// Sparse; the columns of a row ascend.
    Sparse(Csr<'a>),
}

impl FeatureRows<'_> {
    fn product(self, i: u32, j: u32) -> f64 {
        match self {
            Self::Dense(values, columns) => {
                let row = |v: u32| &values[v as usize * columns..][..columns];
                row(i).iter().zip(row(j)).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
            }
            Self::Sparse(Csr { offsets, columns, values }) => {
                let (mut a, end_a) = (offsets[i as usize], offsets[i as usize + 1]);
                let (mut b, end_b) = (offsets[j as usize], offsets[j as usize + 1]);
                let mut sum = 0.0;
                while a < end_a && b < end_b {
                    let (x, y) = (columns[a], columns[b]);
                    if x == y {
                        sum += f64::from(values[a]) * f64::from(values[b]);
                    }
                    a += usize::from(x <= y);
                    b += usize::from(y <= x);
                }
                sum
            }
        }
    }
}

/// The similarity of the two ends of every edge into the rows of a set; the same in either direction. `norms` has room for
/// the squared lengths of all nodes. O(edges * entries of a row).
pub fn similarities(
    set: &RowSet,
    edges: Incoming<'_>,
    rows: FeatureRows<'_>,
    similarity: Similarity,
    norms: &mut [f64],
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    for (v, norm) in norms.iter_mut().enumerate() {
        if v % 1024 == 0 {
            monitor.check()?;
        }
        *norm = rows.product(v as u32, v as u32);
    }
    let norms = &*norms;
    for_each_edge_block(set, edges, out, 1, monitor, |block, first_edge, out| {
        for &i in block {
            let range = edges.row(i);
            for (out, &j) in out[range.start - first_edge..].iter_mut().zip(&edges.sources[range]) {
                // In one order for both directions: the same bits.
                let product = rows.product(i.min(j), i.max(j));
                let (a, b) = (norms[i as usize], norms[j as usize]);
                let lengths = (a * b).sqrt();
                let cosine = if lengths > 0.0 { (product / lengths).clamp(-1.0, 1.0) } else { 0.0 };
                let unit = |norm: f64| f64::from(u8::from(norm > 0.0));
                *out = match similarity {
                    Similarity::Cosine => cosine,
                    Similarity::Distance => (a + b - 2.0 * product).max(0.0).sqrt(),
                    Similarity::UnitDistance => (unit(a) + unit(b) - 2.0 * cosine).max(0.0).sqrt(),
                } as f32;
            }
        }
    })
}
