//! Attention masks: from which nodes a node takes messages, each as a relation (Lin et al. 2024, H2GB, Sec. 4).

use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::metapaths::Metapath;
use crate::ground::BuildError;
use crate::network::sampling::Sample;
use crate::network::{Messages, Operator, Relation, Relations};

/// A mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mask<'a> {
    /// The neighbours in each relation.
    Direct,
    /// Those, and as one relation more, `far`, the other nodes at most so many edges away, the node itself among them.
    Hops(usize),
    /// Those, and as one relation more, `far`, all other nodes, the node itself among them.
    None,
    /// The nodes that metapaths lead from, a relation a path.
    Metapaths(&'a str),
}

/// The name of the relation between nodes that no edge joins.
pub(super) const FAR: &str = "far";

impl Mask<'_> {
    /// The relations that messages go along. O(n + m) for [`Mask::Direct`], the pairs that it lets through for others.
    ///
    /// # Errors
    /// If a metapath names what is not there, the host refuses the memory, or wants no answer any more.
    pub fn relations(
        self,
        relations: &Arc<Relations>,
        reservation: &mut Reservation<'_>,
    ) -> Result<Arc<Relations>, BuildError> {
        let further = match self {
            Self::Direct => return Ok(Arc::clone(relations)),
            Self::Metapaths(text) => {
                let mut list = Vec::new();
                for path in Metapath::parse(text, relations)? {
                    let edges = path.edges(relations, reservation)?;
                    list.push(anywhere(&path.name, edges, reservation)?);
                }
                return Ok(Arc::new(relations.with(list)));
            }
            Self::Hops(hops) => within(relations, hops, reservation)?,
            Self::None => {
                let n = relations.kinds().of.len();
                reservation.grow(size_of::<u32>() * n * n)?;
                within(relations, usize::MAX, reservation)?
            }
        };
        let mut list = relations.list().to_vec();
        list.push(anywhere(FAR, further, reservation)?);
        Ok(Arc::new(relations.with(list)))
    }
}

/// A relation between nodes of any types.
fn anywhere(name: &str, edges: Operator, reservation: &mut Reservation<'_>) -> Result<Relation, Stopped> {
    let n = edges.n_rows();
    reservation.grow(Operator::matrix_bytes(n, edges.n_entries()) + 8 * n)?;
    let degrees = edges.offsets().windows(2).map(|row| (row[1] - row[0]) as u32).collect();
    let targets = edges.incoming().sources.to_vec();
    let rows = Sample { nodes: (0..n as u32).collect(), offsets: edges.offsets().to_vec(), targets, degrees };
    let messages = Messages::Sampled(Arc::new(rows));
    Ok(Relation { name: name.to_owned(), source: Relation::ANY, target: Relation::ANY, inverse: false, messages })
}

/// In the row of each node those that at most so many edges of any relation lead from, itself among them, but for the sources of
/// its own edges; for `usize::MAX` hops all nodes but these.
fn within(relations: &Relations, hops: usize, reservation: &mut Reservation<'_>) -> Result<Operator, Stopped> {
    let n = relations.kinds().of.len();
    reservation.grow(16 * n)?;
    // The row in which a node was met last.
    let (mut met, mut offsets, mut columns) = (vec![u32::MAX; n], vec![0], Vec::new());
    let (mut here, mut next, mut row) = (Vec::new(), Vec::new(), Vec::new());
    for node in 0..n as u32 {
        if node % 256 == 0 {
            reservation.check()?;
        }
        let into = |of: u32| relations.list().iter().flat_map(move |relation| relation.messages.neighbors(of));
        row.clear();
        // A loop is an edge.
        for &source in into(node) {
            if std::mem::replace(&mut met[source as usize], node) != node {
                next.push(source);
            }
        }
        std::mem::swap(&mut here, &mut next);
        if std::mem::replace(&mut met[node as usize], node) != node {
            row.push(node);
        }
        match hops {
            usize::MAX => {
                row.extend((0..n as u32).filter(|&other| met[other as usize] != node));
            }
            hops => {
                for _ in 1..hops {
                    for &at in &here {
                        for &source in into(at) {
                            if std::mem::replace(&mut met[source as usize], node) != node {
                                next.push(source);
                            }
                        }
                    }
                    row.extend_from_slice(&next);
                    here.clear();
                    std::mem::swap(&mut here, &mut next);
                }
            }
        }
        here.clear();
        row.sort_unstable();
        if hops != usize::MAX {
            reservation.grow(8 * row.len())?;
        }
        columns.extend_from_slice(&row);
        offsets.push(columns.len());
    }
    Ok(Operator::from_rows(offsets, columns, Vec::new(), false))
}

#[cfg(test)]
mod tests {
    use bonnet_graph::{Graph, Unmonitored};

    use super::*;
    use crate::GraphTypes;

    /// A path of five nodes of two types, edges from the smaller number, both ways.
    fn path() -> Arc<Relations> {
        let graph = Arc::new(Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]));
        let names = ["even", "odd"].map(str::to_owned).to_vec();
        let of = (0..5).map(|v| v % 2).collect();
        let edges = graph.edges().map(|(u, v)| (u, v, 0)).collect::<Vec<_>>();
        let types = GraphTypes::new(names, of, &["next".to_owned()], edges, true).unwrap();
        Arc::new(Relations::new(&types, &graph))
    }

    fn rows(mask: Mask<'_>, name: &str) -> Vec<Vec<u32>> {
        let masked = mask.relations(&path(), &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap();
        let named = |relation: &&Relation| masked.name(relation) == name;
        let relation = masked.list().iter().find(named).unwrap();
        (0..5).map(|v| relation.messages.neighbors(v).to_vec()).collect()
    }

    #[test]
    fn what_a_mask_lets_through_is_there_once() {
        assert_eq!(rows(Mask::Hops(1), FAR), [vec![0], vec![1], vec![2], vec![3], vec![4]]);
        assert_eq!(rows(Mask::Hops(2), FAR), [vec![0, 2], vec![1, 3], vec![0, 2, 4], vec![1, 3], vec![2, 4]]);
        assert_eq!(rows(Mask::Hops(3), FAR)[0], [0, 2, 3]);
        assert_eq!(rows(Mask::Hops(9), FAR), rows(Mask::None, FAR));
        assert_eq!(rows(Mask::None, FAR)[1], [1, 3, 4]);
        assert_eq!(rows(Mask::Metapaths("even>odd>even"), "even>odd>even")[2], [0, 2, 4]);
        // The relations themselves stay.
        assert_eq!(rows(Mask::Hops(2), "even>next>odd")[1], [0]);
    }
}
