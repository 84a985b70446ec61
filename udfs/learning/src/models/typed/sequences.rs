//! Sequences of the nodes around a node: what a transformer over neighbourhoods reads.

use std::sync::Arc;

use bonnet_graph::Reservation;

use crate::ground::random::{Stream, key};
use crate::ground::{BuildError, OptionError};
use crate::network::{Messages, Operator};

/// Separates the draw of sequences from other uses of the seed.
const SEQUENCES: u64 = 23;

/// How sequences are drawn: the node itself, then the neighbours of each member in turn that are not there yet, those of a member
/// in random order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    /// The most nodes of a sequence.
    pub length: usize,
    /// The most edges between a node and a member of its sequence.
    pub hops: usize,
    /// The most neighbours that are drawn of a member.
    pub neighbors: usize,
    /// The sequences of a node.
    pub samples: usize,
    /// Members behind the nodes of each sequence that are no nodes.
    pub globals: usize,
    /// Draws.
    pub seed: u64,
}

/// The sequences of all nodes, those of a node one after the other, members one after the other.
#[derive(Debug)]
pub(super) struct Sequences {
    /// To each member the node that it is; nothing to one that is none.
    pub members: Arc<Operator>,
    /// To each member that is no node its number among those of its sequence.
    pub globals: Arc<Operator>,
    /// All pairs of members of one sequence.
    pub pairs: Arc<Operator>,
    /// To each sequence its first member.
    pub first: Arc<Operator>,
    /// Where the members of each sequence begin, and one more.
    pub starts: Vec<usize>,
}

impl Sequences {
    /// Draws them. O(the pairs).
    ///
    /// # Errors
    /// If there are 2^32 members or more, the host refuses the memory, or wants no answer any more.
    pub fn new(messages: &Messages, draw: Draw, reservation: &mut Reservation<'_>) -> Result<Self, BuildError> {
        let (n, Draw { samples, globals, .. }) = (messages.n_nodes(), draw);
        reservation.grow(4 * n)?;
        // The sequence in which a node was met last.
        let mut met = vec![u32::MAX; n];
        let (mut columns, mut offsets, mut starts) = (Vec::new(), vec![0], vec![0]);
        let mut row = Vec::new();
        for node in 0..n as u32 {
            if node % 256 == 0 {
                reservation.check()?;
            }
            for sample in 0..samples {
                draw.around(messages, node, sample, &mut met, &mut row);
                row.iter().for_each(|&member| met[member as usize] = u32::MAX);
                reservation.grow(4 * row.len() + 8 * (row.len() + globals))?;
                columns.extend_from_slice(&row);
                offsets.extend(offsets[offsets.len() - 1] + 1..=offsets[offsets.len() - 1] + row.len());
                offsets.resize(offsets.len() + globals, offsets[offsets.len() - 1]);
                starts.push(offsets.len() - 1);
            }
        }
        let (tokens, sequences) = (offsets.len() - 1, n * samples);
        if u32::try_from(tokens).is_err() {
            let most = (u32::MAX as usize / sequences.max(1)).saturating_sub(globals);
            let valid = format!("{most} at most: {sequences} sequences have 2^32 - 1 members together");
            return Err(OptionError::invalid("length", draw.length, &valid).into());
        }
        let count: usize = starts.windows(2).map(|row| (row[1] - row[0]) * (row[1] - row[0])).sum();
        let of_globals = sequences * globals;
        reservation
            .grow(Operator::matrix_bytes(3 * tokens + sequences, columns.len() + sequences + of_globals) + 4 * count)?;
        let (mut pair_offsets, mut pairs) = (vec![0], Vec::with_capacity(count));
        for row in starts.windows(2) {
            for _ in row[0]..row[1] {
                pairs.extend(row[0] as u32..row[1] as u32);
                pair_offsets.push(pairs.len());
            }
        }
        let mut global_offsets = vec![0];
        for row in starts.windows(2) {
            let end = global_offsets[global_offsets.len() - 1];
            global_offsets.resize(global_offsets.len() + row[1] - row[0] - globals, end);
            global_offsets.extend(end + 1..=end + globals);
        }
        let numbers = (0..sequences).flat_map(|_| 0..globals as u32).collect();
        let first = starts[..sequences].iter().map(|&start| start as u32).collect();
        let ones = |count: usize| vec![1.0; count];
        let members = columns.len();
        Ok(Self {
            members: Arc::new(Operator::rectangular(offsets, columns, ones(members), n)),
            globals: Arc::new(Operator::rectangular(global_offsets, numbers, ones(of_globals), globals)),
            pairs: Arc::new(Operator::from_rows(pair_offsets, pairs, Vec::new(), false)),
            first: Arc::new(Operator::rectangular((0..=sequences).collect(), first, ones(sequences), tokens)),
            starts,
        })
    }
}

impl Draw {
    /// The nodes of a sequence into `row`; they stay marked in `met`.
    fn around(self, messages: &Messages, node: u32, sample: usize, met: &mut [u32], row: &mut Vec<u32>) {
        row.clear();
        row.push(node);
        met[node as usize] = node;
        let (mut at, mut ring, mut hop, mut near) = (0, 1, 0, Vec::new());
        while at < row.len() && row.len() < self.length && hop < self.hops {
            near.clear();
            near.extend_from_slice(messages.neighbors(row[at]));
            let of_sample = key(&[self.seed, SEQUENCES, u64::from(node), at as u64]);
            Stream::new(if sample == 0 { of_sample } else { key(&[of_sample, sample as u64]) }).shuffle(&mut near);
            for &other in near.iter().take(self.neighbors) {
                if row.len() < self.length && std::mem::replace(&mut met[other as usize], node) != node {
                    row.push(other);
                }
            }
            at += 1;
            if at == ring {
                (ring, hop) = (row.len(), hop + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bonnet_graph::{Graph, Unmonitored};

    use super::*;

    #[test]
    fn sequences_begin_with_their_node_and_go_no_further_than_they_may() {
        let edges: Vec<(u32, u32)> = (1..30).map(|v| (v / 3, v)).collect();
        let graph = Arc::new(Graph::from_edges(30, &edges));
        let messages = Messages::from(&graph);
        let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
        let draw = Draw { length: 6, hops: 2, neighbors: 2, samples: 3, globals: 2, seed: 1 };
        let found = Sequences::new(&messages, draw, &mut reservation).unwrap();
        assert_eq!((found.starts.len(), found.first.n_rows()), (91, 90));
        let mut distinct = 0;
        for node in 0..30u32 {
            let members = |sample: usize| -> Vec<u32> {
                let (start, end) =
                    (found.starts[3 * node as usize + sample], found.starts[3 * node as usize + sample + 1]);
                assert_eq!(found.first.row(3 * node + sample as u32), [start as u32]);
                assert_eq!(found.pairs.row(start as u32), (start as u32..end as u32).collect::<Vec<_>>());
                for (at, global) in (end - 2..end).zip(0..) {
                    assert!(found.members.row(at as u32).is_empty());
                    assert_eq!(found.globals.row(at as u32), [global]);
                }
                (start..end - 2).flat_map(|at| found.members.row(at as u32).to_vec()).collect()
            };
            for sample in 0..3 {
                let row = members(sample);
                assert!(row[0] == node && row.len() <= 6);
                let near = |a: u32, b: u32| a == b || graph.has_edge(a, b);
                assert!(row.iter().all(|&u| (0..30).any(|w| near(node, w) && near(w, u))), "{node}: {row:?}");
                assert!((1..row.len()).all(|at| !row[..at].contains(&row[at])));
            }
            distinct += usize::from(members(0) != members(1));
        }
        assert!(distinct > 5, "samples differ where there is something to draw: {distinct}");
        // Without limits all nodes are there.
        let draw = Draw { length: 99, hops: usize::MAX, neighbors: usize::MAX, samples: 1, globals: 0, seed: 1 };
        let all = Sequences::new(&messages, draw, &mut reservation).unwrap();
        assert_eq!(all.members.n_entries(), 900);
    }
}
