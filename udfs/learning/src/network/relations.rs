//! The relations along which models of typed graphs send their messages: those of the whole graph, or of a sample of it.

use std::sync::Arc;

use bonnet_graph::{Graph, Reservation, Stopped};

use super::messages::Messages;
use super::sampling::Lists;
use crate::data::GraphTypes;
use crate::kernels::RowSet;

/// The kinds of some rows: the type of each node, or the relation that a row stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kinds {
    /// The names of the kinds.
    pub names: Arc<[String]>,
    /// The kind of each row.
    pub of: Arc<[u32]>,
}

impl Kinds {
    /// The rows of a set by their kind. O(rows).
    pub fn divide(&self, set: &RowSet) -> Vec<RowSet> {
        let mut rows = vec![Vec::new(); self.names.len()];
        set.rows().iter().for_each(|&row| rows[self.of[row as usize] as usize].push(row));
        rows.into_iter().map(|rows| RowSet::new(set.n_rows(), rows)).collect()
    }
}

/// A relation with the messages along it.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The type of its edges.
    pub name: String,
    /// The type of the sources, a position in the names of the types; [`Relation::ANY`] where they are of any.
    pub source: u32,
    /// The type of the targets.
    pub target: u32,
    /// Whether messages go against the rows of edges.
    pub inverse: bool,
    /// The edges into each target; nodes of other types have none.
    pub messages: Messages,
}

impl Relation {
    /// The type of the ends of a relation that joins nodes of any types.
    pub const ANY: u32 = u32::MAX;
}

/// The columns in which the features of nodes may have entries, where these are known before the nodes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindColumns {
    /// Those of each type. What rows decide comes last: more rows change nothing of what stands before.
    pub of: Vec<Vec<u32>>,
    /// As many as a type may have by its schema, whatever rows there are.
    pub most: usize,
}

/// The types of the nodes, and the relations. A graph without types has one type and one relation, all of its edges.
#[derive(Debug, Clone)]
pub struct Relations {
    kinds: Kinds,
    list: Vec<Relation>,
    columns: Option<Arc<KindColumns>>,
}

impl Relations {
    /// Those of a typed graph. O(relations).
    pub fn new(types: &GraphTypes, graph: &Arc<Graph>) -> Self {
        let list = types.relations().iter().map(|relation| Relation {
            name: relation.name.clone(),
            source: relation.source,
            target: relation.target,
            inverse: relation.inverse,
            messages: Messages::Arcs { graph: Arc::clone(graph), incoming: Arc::clone(&relation.incoming) },
        });
        let kinds = Kinds { names: types.names().into(), of: types.of().into() };
        Self { list: list.collect(), kinds, columns: None }
    }

    /// All messages as those of one relation within one type. O(n).
    pub fn plain(messages: &Messages) -> Self {
        let (name, messages) = ("edge".to_owned(), messages.clone());
        let kinds = Kinds { names: ["node".to_owned()].into(), of: vec![0; messages.n_nodes()].into() };
        Self { list: vec![Relation { name, source: 0, target: 0, inverse: false, messages }], kinds, columns: None }
    }

    /// The relations of a sample of the nodes: of each its sampled edges.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub(crate) fn sampled(
        &self,
        nodes: &[u32],
        samples: impl IntoIterator<Item = Messages>,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        reservation.grow(size_of_val(nodes))?;
        let of = nodes.iter().map(|&node| self.kinds.of[node as usize]).collect();
        let sampled = |(relation, messages): (&Relation, Messages)| {
            let Relation { name, source, target, inverse, .. } = relation;
            Relation { name: name.clone(), source: *source, target: *target, inverse: *inverse, messages }
        };
        let list = self.list.iter().zip(samples).map(sampled).collect();
        let kinds = Kinds { names: Arc::clone(&self.kinds.names), of };
        Ok(Self { list, kinds, columns: self.columns.clone() })
    }

    /// Other relations between the same nodes. O(relations).
    pub fn with(&self, list: Vec<Relation>) -> Self {
        Self { kinds: self.kinds.clone(), list, columns: self.columns.clone() }
    }

    /// The same relations of nodes whose features have entries in these columns alone.
    pub fn with_columns(self, columns: KindColumns) -> Self {
        Self { columns: Some(Arc::new(columns)), ..self }
    }

    /// The columns of the nodes' features by type, where they are known: of items, and of samples of their nodes.
    pub fn columns(&self) -> Option<&KindColumns> {
        self.columns.as_deref()
    }

    /// The types of the nodes.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// The number of types.
    pub fn n_types(&self) -> usize {
        self.kinds.names.len()
    }

    /// The relations.
    pub fn list(&self) -> &[Relation] {
        &self.list
    }

    /// The name of a relation among all: its types and its own, as a metapath of one step is written, `^` for messages against
    /// the rows of edges; its own alone where it joins nodes of any types.
    pub fn name(&self, relation: &Relation) -> String {
        if relation.source == Relation::ANY {
            return relation.name.clone();
        }
        let kind = |kind: u32| self.kinds.names[kind as usize].as_str();
        let mark = if relation.inverse { "^" } else { "" };
        format!("{}>{mark}{}>{}", kind(relation.source), relation.name, kind(relation.target))
    }

    /// The neighbours in each relation, for a sampler.
    pub(crate) fn lists(&self) -> Vec<Lists<'_>> {
        self.list.iter().map(|relation| (relation.messages.offsets(), relation.messages.targets())).collect()
    }

    /// The number of relations into each type.
    pub fn count_into_types(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_types()];
        let of_types = self.list.iter().filter(|relation| relation.target != Relation::ANY);
        of_types.for_each(|relation| counts[relation.target as usize] += 1);
        counts
    }
}
