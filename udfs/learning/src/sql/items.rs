//! The items of a run, with the keys and labels of their numbers.

use super::columns::Names;
use crate::data::ComplexSet;
use crate::{GraphData, GraphSet, Items, LinkSplit, Saved, Split, Targets};

/// The names of the classes in the header of a file.
pub(super) const CLASSES: &str = "classes";

/// The names of the classes of a saved run, where its file has them.
pub(super) fn classes_of(saved: &Saved) -> Option<Vec<String>> {
    let names = saved.description().get(CLASSES)?.as_array()?;
    names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

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

    /// The names of the classes that have fewer labelled items than `least`.
    pub fn classes_below(&self, least: usize) -> Vec<&str> {
        let of_targets = |targets: &'_ Targets| match targets {
            Targets::Classes(labels, n) => Some((labels.clone(), *n)),
            Targets::Values(_) | Targets::Vectors(..) => None,
        };
        let classes = match &self.data {
            Data::Nodes(data, _) => Some((data.labels().to_vec(), data.n_classes())),
            Data::Graphs(set, _) => of_targets(set.targets()),
            Data::Complexes(set, _) => of_targets(set.targets()),
            Data::NodeValues(..) | Data::Links(..) => None,
        };
        let Some((labels, n)) = classes else { return Vec::new() };
        let mut counts = vec![0usize; n];
        labels.iter().flatten().for_each(|&class| counts[class as usize] += 1);
        let few = self.names.classes.iter().zip(&counts).filter(|(_, count)| **count > 0 && **count < least);
        few.map(|(name, _)| name.as_str()).collect()
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
