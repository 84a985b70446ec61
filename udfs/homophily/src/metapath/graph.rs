//! A graph whose nodes and edges have types.

use bonnet_graph::{Monitor, Stopped};

use super::Relation;

/// The edges of one type between two types of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedRelation {
    /// The type of its edges.
    pub name: String,
    /// The type of the sources, as a position in [`HeteroGraph::node_types`].
    pub from: usize,
    /// The type of the targets.
    pub to: usize,
    /// The rows of edges, repeats included.
    pub rows: u64,
    /// The relation's pairs.
    pub pairs: Relation,
    /// The relation's pairs turned round; `None` where that is the same relation: edges without direction within one type.
    pub inverse: Option<Relation>,
}

/// The types of a graph, and its edges by type. Nodes are numbered from 0 within their type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeteroGraph {
    /// The types of nodes, in ascending order, each with the number of its nodes.
    pub node_types: Vec<(String, usize)>,
    /// The relations, in ascending order of their source type, name and target type.
    pub relations: Vec<TypedRelation>,
}

impl TypedRelation {
    /// A relation of rows. Within one type, rows without direction are read both ways.
    ///
    /// # Panics
    /// If an end is not below the number of nodes of its type.
    pub fn new(
        name: String,
        (from, to): (usize, usize),
        (n_from, n_to): (usize, usize),
        rows: &[(u32, u32)],
        directed: bool,
        monitor: &dyn Monitor,
    ) -> Result<Self, Stopped> {
        let stored = rows.iter().copied();
        let (pairs, inverse) = if from == to && !directed {
            let both = stored.clone().chain(rows.iter().map(|&(u, v)| (v, u)));
            (Relation::from_pairs(n_from, n_to, both, monitor)?, None)
        } else {
            let pairs = Relation::from_pairs(n_from, n_to, stored, monitor)?;
            let inverse = pairs.inverse(monitor)?;
            (pairs, Some(inverse))
        };
        Ok(Self { name, from, to, rows: rows.len() as u64, pairs, inverse })
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        self.pairs.bytes() + self.inverse.as_ref().map_or(0, Relation::bytes)
    }
}
