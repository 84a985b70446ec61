//! The items that a run trains on, of every task.

use crate::data::{ComplexSet, GraphData, GraphSet, LinkSplit, Split, Targets};
use crate::ground::{DataError, OptionError, TrainError};
use crate::options::{ClassWeights, FeatureSource, Task, TrainOptions};

/// The items of a task, and their split.
#[derive(Debug, Clone, Copy)]
pub enum Items<'a> {
    /// Labelled nodes.
    Nodes(&'a GraphData, &'a Split),
    /// Nodes with a number each, or several; the labels of the data do not matter.
    NodeValues(&'a GraphData, &'a Targets, &'a Split),
    /// The edges of a graph, whose labels do not matter. Messages go along training edges only.
    Links(&'a GraphData, &'a LinkSplit),
    /// The graphs of a collection.
    Graphs(&'a GraphSet, &'a Split),
    /// The complexes of a collection.
    Complexes(&'a ComplexSet, &'a Split),
}

impl Items<'_> {
    /// The source of the features of a run that asks for `source`: what `auto` stands for, any other itself.
    pub fn input(&self, source: FeatureSource) -> FeatureSource {
        match self {
            Self::Nodes(data, _) | Self::NodeValues(data, ..) | Self::Links(data, _) => data.input(source),
            Self::Graphs(set, _) => set.input(source),
            Self::Complexes(set, _) => set.input(source),
        }
    }
}

/// Refuses items that are not those of the options' task, or a split of others.
pub(crate) fn check(items: Items<'_>, options: &TrainOptions) -> Result<(), TrainError> {
    let given = match items {
        Items::Nodes(..) => Task::NodeClassification,
        Items::NodeValues(..) => Task::NodeRegression,
        Items::Links(..) => Task::LinkPrediction,
        Items::Graphs(GraphSet { targets, .. }, _) | Items::Complexes(ComplexSet { targets, .. }, _) => match targets {
            Targets::Classes(..) => Task::GraphClassification,
            Targets::Values(_) | Targets::Vectors(..) => Task::GraphRegression,
        },
    };
    if given != options.task {
        return Err(TrainError::WrongTask { asked: options.task.name(), given: given.name() });
    }
    let n_classes = match items {
        Items::Nodes(data, split) => {
            let labelled = |v: u32| data.labels.get(v as usize).copied().flatten().is_some();
            if let Some(v) = outside(split, labelled) {
                return Err(TrainError::NotLabelled(v));
            }
            if split.train.is_empty() && options.epochs > 0 {
                return Err(TrainError::NoTrainingNodes);
            }
            data.n_classes
        }
        Items::NodeValues(data, targets, split) => {
            targets.check("node")?;
            let (nodes, found) = (data.graph.n_nodes(), targets.len());
            if nodes != found {
                return Err(DataError::Length { what: "targets", nodes, found }.into());
            }
            if matches!(targets, Targets::Classes(..)) {
                return Err(TrainError::WrongTask {
                    asked: options.task.name(),
                    given: Task::NodeClassification.name(),
                });
            }
            if let Some(v) = outside(split, |node| targets.is_known(node as usize)) {
                return Err(TrainError::NotLabelled(v));
            }
            if split.train.is_empty() && options.epochs > 0 {
                return Err(TrainError::NoTrainingNodes);
            }
            0
        }
        Items::Links(data, split) => {
            let n = data.graph.n_nodes() as u32;
            for ((u, v), _, is_edge) in split.pairs() {
                if u >= v || v >= n {
                    return Err(TrainError::Pair(u, v, "is no pair of two nodes of the graph, the smaller first"));
                }
                if data.graph.has_edge(u, v) != is_edge {
                    let why = if is_edge { "is no edge of the graph" } else { "is an edge of the graph" };
                    return Err(TrainError::Pair(u, v, why));
                }
            }
            if split.train.is_empty() {
                return Err(TrainError::NothingToTrain("edge"));
            }
            2
        }
        Items::Graphs(GraphSet { targets, .. }, split) | Items::Complexes(ComplexSet { targets, .. }, split) => {
            if let Some(graph) = outside(split, |graph| targets.is_known(graph as usize)) {
                return Err(TrainError::NoTarget(graph));
            }
            if split.train.is_empty() {
                return Err(TrainError::NothingToTrain("graph with a target"));
            }
            match targets {
                Targets::Classes(_, classes) => *classes,
                Targets::Values(_) | Targets::Vectors(..) => 0,
            }
        }
    };
    if let ClassWeights::Given(weights) = &options.class_weights
        && weights.len() != n_classes
    {
        let valid = format!("a weight for each of the {n_classes} classes, in the order of their values");
        return Err(OptionError::invalid("class_weights", &options.class_weights, &valid).into());
    }
    if options.select_by.needs_two_classes() && n_classes != 2 {
        let selections = options.task.selections().into_iter().filter(|figure| !figure.needs_two_classes());
        let valid = selections.map(|figure| figure.name()).collect::<Vec<_>>().join(", ");
        let valid = format!("{valid} for other than two classes");
        return Err(OptionError::invalid("select_by", options.select_by, &valid).into());
    }
    Ok(())
}

/// An item of a split that has no target.
fn outside(split: &Split, known: impl Fn(u32) -> bool) -> Option<u32> {
    [&split.train, &split.val, &split.test].into_iter().flatten().copied().find(|&item| !known(item))
}
