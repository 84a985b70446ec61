//! The nodes within some edges of each node, with their distances.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use crate::network::{Messages, Operator};

/// The nodes within some edges of each node, itself among them, as the entries of an operator.
#[derive(Debug)]
pub(super) struct Balls {
    /// Without values; the nodes of a row ascend.
    pub operator: Arc<Operator>,
    /// The number of edges between both ends of an entry.
    pub distances: Arc<[u32]>,
    /// Of each entry -ln of how many nodes of its row have its distance.
    pub shares: Arc<[f32]>,
}

impl Balls {
    /// Those of all nodes. O(the edges of the nodes within), 16 bytes an entry.
    ///
    /// # Errors
    /// If the host refuses the memory, or wants no answer any more.
    pub fn new(messages: &Messages, hops: usize, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let n = messages.n_nodes();
        reservation.grow(12 * n)?;
        // The row in which a node was met last.
        let (mut met, mut offsets) = (vec![u32::MAX; n], vec![0]);
        let (mut columns, mut distances, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        let (mut row, mut counts) = (Vec::new(), Vec::new());
        for node in 0..n as u32 {
            if node % 256 == 0 {
                reservation.check()?;
            }
            row.clear();
            counts.clear();
            row.push((node, 0u32));
            counts.push(1usize);
            met[node as usize] = node;
            let mut ring = 0..1;
            for distance in 1..=hops as u32 {
                for at in ring.clone() {
                    for &other in messages.neighbors(row[at].0) {
                        if std::mem::replace(&mut met[other as usize], node) != node {
                            row.push((other, distance));
                        }
                    }
                }
                ring = ring.end..row.len();
                counts.push(ring.len());
            }
            row.sort_unstable();
            // While a list is made shared it is there twice.
            reservation.grow(20 * row.len())?;
            columns.extend(row.iter().map(|entry| entry.0));
            distances.extend(row.iter().map(|entry| entry.1));
            shares.extend(row.iter().map(|entry| -(counts[entry.1 as usize] as f64).ln() as f32));
            offsets.push(columns.len());
        }
        let operator = Arc::new(Operator::from_rows(offsets, columns, Vec::new(), false));
        Ok(Self { operator, distances: distances.into(), shares: shares.into() })
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::{Graph, Unmonitored};

    use super::*;

    #[test]
    fn a_ball_holds_each_node_once_at_its_distance() {
        // A cycle of five nodes with a leaf.
        let graph = Arc::new(Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (0, 5)]));
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let balls = Balls::new(&Messages::from(&graph), 2, &mut reservation).unwrap();
        let entries = balls.operator.offsets()[5]..balls.operator.offsets()[6];
        assert_eq!(balls.operator.row(5), [0, 1, 4, 5]);
        assert_eq!(balls.distances[entries.clone()], [1, 2, 2, 0]);
        let expected = [0.0, -(2f32.ln()), -(2f32.ln()), 0.0];
        assert!(balls.shares[entries].iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-7));
        assert_eq!(balls.operator.row(0), [0, 1, 2, 3, 4, 5]);
    }
}
