//! Simplices of one dimension that share a face or a coface, pair by pair.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::batch::ComplexBatch;
use crate::network::Operator;

/// Ordered pairs of different simplices of one dimension that share one of the next or of the one before.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// From pairs to their first simplex, as sums: simplices x pairs.
    pub sum: Arc<Operator>,
    /// The second simplex of each pair: pairs x simplices.
    pub other: Arc<Operator>,
    /// The incidence that both share: pairs x simplices of that dimension.
    pub shared: Arc<Operator>,
}

impl ComplexBatch {
    /// The pairs of k-simplices that share a coface, k below the dimension that is read. They are the boundaries of the
    /// cofaces written out, so they are not held for the collection: to copy them is to make them. O(pairs).
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn upper_pairs(&self, k: usize, reservation: &mut Reservation<'_>) -> Result<Pairs, Stopped> {
        pairs(self.count(k), self.faces(k + 1).chunks_exact(k + 2), reservation)
    }

    /// The pairs of k-simplices that share a face, k > 0. O(pairs).
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn lower_pairs(&self, k: usize, reservation: &mut Reservation<'_>) -> Result<Pairs, Stopped> {
        let cofaces = self.boundary(k, false, reservation)?;
        pairs(self.count(k), (0..cofaces.n_rows() as u32).map(|face| cofaces.row(face)), reservation)
    }
}

/// The pairs within each group out of n simplices, groups in order, each by its first member and then by its second.
fn pairs<'g>(
    n: usize,
    groups: impl ExactSizeIterator<Item = &'g [u32]> + Clone,
    reservation: &mut Reservation<'_>,
) -> Result<Pairs, Stopped> {
    let n_groups = groups.len();
    let mut offsets = vec![0; n + 1];
    for group in groups.clone() {
        group.iter().for_each(|&first| offsets[first as usize + 1] += group.len() - 1);
    }
    (0..n).for_each(|simplex| offsets[simplex + 1] += offsets[simplex]);
    let count = offsets[n];
    reservation.grow(Operator::matrix_bytes(n, count) + 2 * Operator::matrix_bytes(count, count))?;
    let mut next = offsets.clone();
    let mut pairs_of = vec![0; count];
    let (mut others, mut shared) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (number, group) in (0u32..).zip(groups) {
        for &first in group {
            for &other in group.iter().filter(|&&other| other != first) {
                let at = &mut next[first as usize];
                pairs_of[*at] = others.len() as u32;
                *at += 1;
                others.push(other);
                shared.push(number);
            }
        }
    }
    let one_each = |columns: Vec<u32>, n_columns: usize| {
        Arc::new(Operator::rectangular((0..=count).collect(), columns, vec![1.0; count], n_columns))
    };
    Ok(Pairs {
        sum: Arc::new(Operator::rectangular(offsets, pairs_of, vec![1.0; count], count)),
        other: one_each(others, n),
        shared: one_each(shared, n_groups),
    })
}
