//! The matrices of a program (slots, parameters, features), their shapes, and the masks of dropout.

use std::sync::Arc;

use crate::ground::Axis;
use crate::network::{Operator, Site};

/// A matrix of a program: its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub(super) usize);

/// A block of parameters: its number in the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter(pub(super) usize);

/// A sparse or dense matrix of features that is no slot, since it is never stored dense: its number, and the dropout of
/// its entries in training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InputFeatures {
    pub(super) number: usize,
    pub(super) dropout: Option<Mask>,
}

/// A dropout of the program: its probability, and the number that distinguishes its masks from those of others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mask {
    pub(super) p: f64,
    pub(super) number: usize,
    pub(super) site: Site,
}

/// The rows of a slot.
#[derive(Debug, Clone)]
pub enum Space {
    /// A number of nodes, graphs or other things.
    Rows(usize),
    /// The entries of an operator. The rows of such a slot are those of the operator: a row set of nodes stands for their
    /// entries.
    Edges(Arc<Operator>),
}

impl Space {
    /// The rows of its row sets.
    pub fn rows(&self) -> usize {
        match self {
            Self::Rows(n) => *n,
            Self::Edges(operator) => operator.n_rows(),
        }
    }

    /// The rows of its matrices.
    pub fn len(&self) -> usize {
        match self {
            Self::Rows(n) => *n,
            Self::Edges(operator) => operator.n_entries(),
        }
    }

    /// Whether its matrices have no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The shape of a slot.
#[derive(Debug, Clone)]
pub struct SlotShape {
    /// The slot's rows.
    pub space: Space,
    /// The slot's columns.
    pub axis: Axis,
    /// Whether it depends on parameters.
    pub gradient: bool,
}

/// The input of a linear layer.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Features, never stored dense if they are sparse.
    Features(InputFeatures),
    /// A slot.
    Slot(Slot),
}

impl From<InputFeatures> for Source {
    fn from(features: InputFeatures) -> Self {
        Self::Features(features)
    }
}

impl From<Slot> for Source {
    fn from(slot: Slot) -> Self {
        Self::Slot(slot)
    }
}
