//! The items of a run, with the keys and labels of their numbers.

use super::columns::Names;
use crate::data::ComplexSet;
use crate::{GraphData, GraphSet, Items, LinkSplit, Split, Targets};

/// The items that a run trains on, with their names.
#[derive(Debug)]
pub(super) struct OwnedItems {
    pub names: Names,
    pub data: Data,
}

#[derive(Debug)]
pub(super) enum Data {
    Nodes(GraphData, Split),
    NodeValues(GraphData, Targets, Split),
    Links(GraphData, LinkSplit),
    Graphs(GraphSet, Split),
    Complexes(ComplexSet, Split),
}

impl OwnedItems {
    /// The items as training takes them.
    pub fn as_items(&self) -> Items<'_> {
        match &self.data {
            Data::Nodes(data, split) => Items::Nodes(data, split),
            Data::NodeValues(data, targets, split) => Items::NodeValues(data, targets, split),
            Data::Links(data, split) => Items::Links(data, split),
            Data::Graphs(set, split) => Items::Graphs(set, split),
            Data::Complexes(set, split) => Items::Complexes(set, split),
        }
    }

    /// Whether there is something to select or to test by.
    pub fn is_held_out(&self) -> bool {
        match &self.data {
            Data::Nodes(_, split)
            | Data::NodeValues(_, _, split)
            | Data::Graphs(_, split)
            | Data::Complexes(_, split) => !split.val.is_empty() || !split.test.is_empty(),
            Data::Links(_, split) => !split.val.is_empty() || !split.test.is_empty(),
        }
    }
}
