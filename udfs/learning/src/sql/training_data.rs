//! A graph or a collection, read once for all of its jobs, and for other statements while it is cached.

use std::sync::Arc;

use bonnet_graph::Monitor;
use bonnet_sql::SharedStructure;

use super::collection::LoadedCollection;
use super::columns::Names;
use super::complexes::LoadedComplexes;
use super::graph::LoadedGraph;
use super::item_table::LoadedItems;
use super::items::{Data, OwnedItems};
use super::pretraining::{Standing, of_target};
use super::provenance::ContentHash;
use super::splits::{ItemsError, SplitChoice};
use super::timed::graph_items::GraphItems;
use crate::{Saved, Task, TrainError, TrainOptions};

/// A graph or a collection, read for its jobs.
#[derive(Debug)]
pub(super) enum TrainingData {
    Graph(Arc<SharedStructure<LoadedGraph>>),
    Collection(Arc<SharedStructure<LoadedCollection>>),
    Complexes(LoadedComplexes),
    Items(LoadedItems),
    GraphItems(GraphItems),
}

impl TrainingData {
    /// The hash of what a run reads.
    pub fn content(&self, options: &TrainOptions, label: &str) -> ContentHash {
        let content = match self {
            Self::Graph(graph) => graph.content(),
            Self::Collection(collection) => collection.content(),
            Self::Complexes(complexes) => complexes.content(),
            Self::Items(items) => items.content(),
            Self::GraphItems(items) => return items.content(options, label),
        };
        content.of(options, label)
    }

    /// What a run that loads a pre-trained encoder stands on; none of another run.
    pub fn standing(
        &self,
        saved: Option<&Saved>,
        options: &TrainOptions,
    ) -> std::result::Result<Option<Standing>, String> {
        match self {
            Self::Graph(graph) => of_target(saved, graph.content(), options),
            _ => Ok(None),
        }
    }

    /// Whether the items have no name of their own, so that files of runs tell them apart by their content.
    pub fn is_of_items(&self) -> bool {
        matches!(self, Self::Items(_) | Self::GraphItems(_))
    }

    /// The text of an error, with the keys of nodes where it names some.
    pub fn describe(&self, error: &TrainError) -> String {
        match self {
            Self::Graph(graph) => graph.describe(error),
            Self::Collection(collection) => collection.describe(error),
            Self::Complexes(_) | Self::Items(_) | Self::GraphItems(_) => error.to_string(),
        }
    }

    /// The bytes of what [`TrainingData::items`] copies.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Graph(graph) => graph.bytes(),
            Self::Collection(collection) => collection.bytes(),
            Self::Complexes(complexes) => complexes.bytes(),
            Self::Items(items) => items.bytes(),
            Self::GraphItems(items) => items.bytes(),
        }
    }

    /// The items of a job, with the labels of a column; `known` are the names of the classes of a run that is loaded, where its
    /// file has them.
    pub fn items(
        &self,
        options: &TrainOptions,
        label: &str,
        choice: &SplitChoice,
        known: Option<&[String]>,
        monitor: &dyn Monitor,
    ) -> Result<OwnedItems, ItemsError> {
        let seed = options.seed;
        match self {
            Self::Graph(graph) => {
                let data = graph.data(options, label)?;
                let data = match options.task {
                    Task::LinkPrediction => Data::Links(data, graph.links(choice, seed, monitor)?),
                    Task::NodeRegression => {
                        let targets = graph.values(label)?;
                        let split = graph.split_of(&targets, choice, seed)?;
                        Data::NodeValues(data, targets, split)
                    }
                    _ => {
                        let split = graph.split(&data, choice, seed)?;
                        Data::Nodes(data, split)
                    }
                };
                Ok(OwnedItems { names: graph.names(label), data })
            }
            Self::Collection(collection) => {
                let (set, classes) = collection.set(options, label)?;
                let split = collection.split(&set, choice, seed)?;
                let names = Names::new(collection.graphs(), classes);
                Ok(OwnedItems { names, data: Data::Graphs(set, split) })
            }
            Self::Complexes(complexes) => Ok(complexes.items(options, label, choice)?),
            Self::Items(items) => Ok(items.items(options, label, choice, known)?),
            Self::GraphItems(items) => Ok(items.items(options, label, choice, known)?),
        }
    }
}
