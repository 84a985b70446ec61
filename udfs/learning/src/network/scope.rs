//! The index structures of a pass: the rows that each layer computes, and those it keeps for the backward pass.

use std::sync::Arc;

use super::listed::ListedEntries;
use super::neighborhoods::Neighborhoods;
use super::operator::Operator;
use crate::data::SparseRows;
use crate::kernels::RowSet;

/// The index structures that a layer keeps in a scope: for the backward pass, but for [`Prepared::Hops`],
/// [`Prepared::Neighborhoods`], [`Prepared::Kinds`] and [`Prepared::Relations`].
#[derive(Debug, Clone, Default)]
pub enum Prepared {
    /// Nothing.
    #[default]
    None,
    /// An operator by source.
    Transposed(Arc<Operator>),
    /// Sparse features by column.
    Features(Arc<SparseRows>),
    /// The rows of powers of an operator.
    Hops(Arc<Hops>),
    /// The entries of an operator by pieces of rows.
    Neighborhoods(Arc<Neighborhoods>),
    /// The rows by their kind, which the forward pass reads, too.
    Kinds(Arc<Vec<RowSet>>),
    /// The rows of each relation, which the forward pass reads, too.
    Relations(Arc<Vec<RelationRows>>),
}

/// The rows of a relation in a scope.
#[derive(Debug)]
pub struct RelationRows {
    /// Those that have entries.
    pub targets: RowSet,
    /// Where the entries of each of them begin and end.
    pub spans: Vec<(u32, u32)>,
    /// Those that these entries lead to.
    pub sources: RowSet,
    /// In training, the operator in the rows of the targets, by source.
    pub by_source: Option<ListedEntries>,
}

/// The index structures of a polynomial of an operator `P`.
#[derive(Debug)]
pub struct Hops {
    /// The rows of the output, then those that one application more of `P` reads, and so on; each holds those before.
    pub rows: Vec<Arc<RowSet>>,
    /// In training, for each but the last: the rows of `P` in it, by source.
    pub by_source: Vec<Arc<Operator>>,
}

/// The rows that the outputs of some nodes depend on, layer by layer.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The rows of each slot of a program, then the targets; the pieces of a model on samples, then the targets.
    pub rows: Vec<Arc<RowSet>>,
    /// The index structures of each node of a program; none for a model in parts.
    pub prepared: Vec<Prepared>,
}

impl Scope {
    /// The nodes whose outputs are computed.
    pub fn targets(&self) -> &RowSet {
        &self.rows[self.rows.len() - 1]
    }
}
