//! The types of a graph's nodes, and its edges by relation.

use std::collections::BTreeMap;
use std::sync::Arc;

use bonnet_graph::{Digraph, Graph};

use crate::ground::DataError;

/// The edges of one kind from the nodes of one type to those of another, as messages go along them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphRelation {
    /// The type of its edges.
    pub name: String,
    /// The type of the sources, a position in [`GraphTypes::names`].
    pub source: u32,
    /// The type of the targets.
    pub target: u32,
    /// Whether messages go against the rows of edges.
    pub inverse: bool,
    /// The arcs the other way round, over all nodes of the graph: the row of a target has its sources, ascending and
    /// distinct.
    pub incoming: Arc<Digraph>,
}

/// The types of a graph's nodes, and its edges by relation, each relation with its inverse as a relation of its own.
///
/// 4 bytes a node, and for each relation 16 bytes a node and 8 an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphTypes {
    names: Vec<String>,
    of: Vec<u32>,
    relations: Vec<GraphRelation>,
}

impl GraphTypes {
    /// The types of `of.len()` nodes, and the rows `(source, target, name)` of edges by relation, where `edge_names[name]` is the
    /// type of an edge. Rows of one name between other types are another relation. Relations ascend by the type of their
    /// sources, their name and the type of their targets, each followed by its inverse; edges without direction within one
    /// type are both at once, and have none. O(n relations + m log m).
    ///
    /// # Errors
    /// If a node's type is none of `names`, or an edge ends at no node.
    ///
    /// # Panics
    /// If an edge's name is not below the length of `edge_names`.
    pub fn new(
        names: Vec<String>,
        of: Vec<u32>,
        edge_names: &[String],
        edges: impl IntoIterator<Item = (u32, u32, u32)>,
        directed: bool,
    ) -> Result<Self, DataError> {
        let nodes = of.len();
        if let Some((node, &kind)) = of.iter().enumerate().find(|(_, kind)| **kind as usize >= names.len()) {
            return Err(DataError::NodeType { node, kind, types: names.len() });
        }
        let mut rows: BTreeMap<(u32, u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
        for (source, target, name) in edges {
            let end = |node: u32| of.get(node as usize).copied().ok_or(DataError::End { node, nodes });
            rows.entry((end(source)?, name, end(target)?)).or_default().push((source, target));
        }
        let mut relations = Vec::with_capacity(2 * rows.len());
        for ((source, name, target), rows) in rows {
            let turned = rows.iter().map(|&(from, to)| (to, from));
            let relation = |source, target, inverse, arcs: Vec<(u32, u32)>| GraphRelation {
                name: edge_names[name as usize].clone(),
                source,
                target,
                inverse,
                incoming: Arc::new(Digraph::with_loops(nodes, &arcs)),
            };
            if source == target && !directed {
                relations.push(relation(source, target, false, turned.chain(rows.iter().copied()).collect()));
            } else {
                relations.push(relation(source, target, false, turned.collect()));
                relations.push(relation(target, source, true, rows));
            }
        }
        Ok(Self { names, of, relations })
    }

    /// The names of the types of nodes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The type of each node.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// The relations.
    pub fn relations(&self) -> &[GraphRelation] {
        &self.relations
    }

    /// The same types and relations with the edges between nodes that are joined in a graph, and loops. O(n relations + m log m).
    ///
    /// # Panics
    /// If the graph has another number of nodes.
    pub fn within(&self, graph: &Graph) -> Self {
        assert_eq!(graph.n_nodes(), self.of.len(), "a graph of the same nodes");
        let kept = |relation: &GraphRelation| {
            let is_there = |&(to, from): &(u32, u32)| to == from || graph.has_edge(to, from);
            let arcs: Vec<(u32, u32)> = relation.incoming.arcs().filter(is_there).collect();
            let incoming = Arc::new(Digraph::with_loops(self.of.len(), &arcs));
            GraphRelation { name: relation.name.clone(), incoming, ..*relation }
        };
        let relations = self.relations.iter().map(kept).collect();
        Self { names: self.names.clone(), of: self.of.clone(), relations }
    }

    /// The nodes of a type, ascending. O(n).
    pub fn members(&self, kind: u32) -> Vec<u32> {
        (0u32..).zip(&self.of).filter_map(|(node, &of)| (of == kind).then_some(node)).collect()
    }

    /// The bytes that it holds.
    pub fn resident_bytes(&self) -> usize {
        let relations: usize = self.relations.iter().map(|relation| relation.incoming.resident_bytes()).sum();
        size_of_val(self.of.as_slice()) + relations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Authors 0 and 1, papers 2, 3 and 4: "writes" leads from authors to papers, "cites" from papers to papers.
    fn types(directed: bool) -> GraphTypes {
        let text = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let edges = [(0, 2, 1), (0, 3, 1), (1, 3, 1), (0, 2, 1), (2, 3, 0), (3, 4, 0)];
        GraphTypes::new(text(["author", "paper"]), vec![0, 0, 1, 1, 1], &text(["cites", "writes"]), edges, directed)
            .unwrap()
    }

    #[test]
    fn each_relation_is_followed_by_its_inverse() {
        let types = types(true);
        let found: Vec<_> = types
            .relations()
            .iter()
            .map(|r| (r.name.as_str(), r.source, r.target, r.inverse, r.incoming.arcs().collect::<Vec<_>>()))
            .collect();
        assert_eq!(found[0], ("writes", 0, 1, false, vec![(2, 0), (3, 0), (3, 1)]));
        assert_eq!(found[1], ("writes", 1, 0, true, vec![(0, 2), (0, 3), (1, 3)]));
        assert_eq!(found[2], ("cites", 1, 1, false, vec![(3, 2), (4, 3)]));
        assert_eq!(found[3], ("cites", 1, 1, true, vec![(2, 3), (3, 4)]));
        assert_eq!(types.members(1), [2, 3, 4]);
    }

    #[test]
    fn edges_without_direction_within_a_type_are_their_own_inverse() {
        let types = types(false);
        assert_eq!(types.relations().len(), 3);
        let cites = &types.relations()[2];
        assert_eq!(cites.incoming.arcs().collect::<Vec<_>>(), [(2, 3), (3, 2), (3, 4), (4, 3)]);
    }

    #[test]
    fn within_a_graph_relations_keep_the_edges_that_it_has() {
        let graph = Graph::from_edges(5, &[(0, 2), (3, 4), (1, 2)]);
        let (types, kept) = (types(true), types(true).within(&graph));
        let arcs = |at: usize| kept.relations()[at].incoming.arcs().collect::<Vec<_>>();
        assert_eq!([arcs(0), arcs(1), arcs(2), arcs(3)], [vec![(2, 0)], vec![(0, 2)], vec![(4, 3)], vec![(3, 4)]]);
        assert_eq!((kept.names(), kept.of()), (types.names(), types.of()));
        assert_eq!(types.within(&Graph::from_edges(5, &[])).relations().len(), 4, "relations without edges stay");
    }

    #[test]
    fn what_is_no_type_and_no_node_is_refused() {
        let names = || vec!["a".to_owned()];
        let error = GraphTypes::new(names(), vec![0, 1], &names(), [], true).unwrap_err();
        assert_eq!(error.to_string(), "node 1 has type 1, but there is 1 type");
        let error = GraphTypes::new(names(), vec![0, 0], &names(), [(0, 2, 0)], true).unwrap_err();
        assert_eq!(error.to_string(), "an edge ends at node 2, but there are 2 nodes");
    }
}
