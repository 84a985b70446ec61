//! The edges of all relations as the entries of one operator.

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use crate::network::{Operator, Relations};

/// The edges of all relations into each node, one relation after the other, with the relation of each; with `loops` then an entry
/// of the node itself, of a kind behind the last relation. O(n * relations + m).
///
/// # Errors
/// If the host refuses the memory.
pub(super) fn of_relations(
    relations: &Relations,
    loops: bool,
    reservation: &mut Reservation<'_>,
) -> Result<(Arc<Operator>, Arc<[u32]>), Stopped> {
    let (n, list) = (relations.kinds().of.len(), relations.list());
    let edges: usize = list.iter().map(|relation| relation.messages.targets().len()).sum();
    let count = edges + if loops { n } else { 0 };
    reservation.grow(8 * (n + 1) + 8 * count)?;
    let (mut offsets, mut columns, mut kinds) = (vec![0], Vec::with_capacity(count), Vec::with_capacity(count));
    for node in 0..n as u32 {
        for (number, relation) in (0u32..).zip(list) {
            columns.extend_from_slice(relation.messages.neighbors(node));
            kinds.resize(columns.len(), number);
        }
        if loops {
            columns.push(node);
            kinds.push(list.len() as u32);
        }
        offsets.push(columns.len());
    }
    Ok((Arc::new(Operator::from_rows(offsets, columns, Vec::new(), false)), kinds.into()))
}

/// The nodes that any relation leads from, in the row of each node that it leads to, each once. O(m log m).
///
/// # Errors
/// If the host refuses the memory.
pub(super) fn of_nodes(relations: &Relations, reservation: &mut Reservation<'_>) -> Result<Arc<Operator>, Stopped> {
    let n = relations.kinds().of.len();
    let edges: usize = relations.list().iter().map(|relation| relation.messages.targets().len()).sum();
    reservation.grow(8 * (n + 1) + 4 * edges)?;
    let (mut offsets, mut columns, mut row) = (vec![0], Vec::with_capacity(edges), Vec::new());
    for node in 0..n as u32 {
        row.clear();
        relations.list().iter().for_each(|relation| row.extend_from_slice(relation.messages.neighbors(node)));
        row.sort_unstable();
        row.dedup();
        columns.extend_from_slice(&row);
        offsets.push(columns.len());
    }
    Ok(Arc::new(Operator::from_rows(offsets, columns, Vec::new(), false)))
}
