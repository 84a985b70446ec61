//! The sources of all relations, one relation after the other: rows for what a relation makes of a node.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::operator::Operator;
use super::relations::{Kinds, Relations};

/// A row for each relation and each node that its messages come from.
#[derive(Debug, Clone)]
pub struct StackedSources {
    /// The node of each row.
    pub nodes: Arc<[u32]>,
    /// The relation of each row, ascending.
    pub kinds: Kinds,
    /// Where the rows of each node begin in [`StackedSources::rows`]; one more at the end.
    pub offsets: Arc<[usize]>,
    /// The rows of all nodes, one node after the other, ascending.
    pub rows: Arc<[u32]>,
    /// The messages of all relations, from these rows to the nodes.
    pub edges: Arc<Operator>,
}

impl StackedSources {
    /// The sources of the relations, named as [`Relations::name`] has it. O(relations + n + m log m).
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn new(relations: &Relations, reservation: &mut Reservation<'_>) -> Result<Self, Stopped> {
        let n = relations.kinds().of.len();
        let entries: usize = relations.list().iter().map(|relation| relation.messages.targets().len()).sum();
        // Rows have a node, a relation and a place among those of their node; entries the row that they come from, twice.
        reservation.grow(20 * entries + 28 * n)?;
        let (mut nodes, mut of) = (Vec::<u32>::new(), Vec::<u32>::new());
        let (mut place, mut columns) = (vec![u32::MAX; n], Vec::new());
        for (number, relation) in (0u32..).zip(relations.list()) {
            let sources = relation.messages.targets();
            let first = nodes.len();
            for &source in sources {
                if std::mem::replace(&mut place[source as usize], 0) == u32::MAX {
                    nodes.push(source);
                }
            }
            nodes[first..].sort_unstable();
            (first as u32..).zip(&nodes[first..]).for_each(|(row, &node)| place[node as usize] = row);
            of.resize(nodes.len(), number);
            columns.push(sources.iter().map(|&source| place[source as usize]).collect::<Vec<u32>>());
            nodes[first..].iter().for_each(|&node| place[node as usize] = u32::MAX);
        }
        let (mut offsets, mut joined) = (vec![0], Vec::with_capacity(entries));
        for target in 0..n {
            for (relation, columns) in relations.list().iter().zip(&columns) {
                let starts = relation.messages.offsets();
                joined.extend_from_slice(&columns[starts[target]..starts[target + 1]]);
            }
            offsets.push(joined.len());
        }
        let edges = Arc::new(Operator::rectangular(offsets, joined, Vec::new(), nodes.len()));
        let mut starts = vec![0usize; n + 1];
        nodes.iter().for_each(|&node| starts[node as usize + 1] += 1);
        (0..n).for_each(|node| starts[node + 1] += starts[node]);
        let (mut next, mut rows) = (starts.clone(), vec![0; nodes.len()]);
        for (row, &node) in (0u32..).zip(&nodes) {
            rows[next[node as usize]] = row;
            next[node as usize] += 1;
        }
        let names = relations.list().iter().map(|relation| relations.name(relation)).collect();
        let kinds = Kinds { names, of: of.into() };
        Ok(Self { nodes: nodes.into(), kinds, offsets: starts.into(), rows: rows.into(), edges })
    }
}
