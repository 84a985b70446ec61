//! A collection of graphs with a target each.

use std::sync::Arc;

use bonnet_graph::Graph;

use crate::error::DataError;
use crate::features::Features;
use crate::split::{Split, SplitError, SplitScheme};

/// Graphs as one: the nodes of graph `g` are `starts[g]..starts[g + 1]`, and no edge joins two graphs.
#[derive(Debug, Clone)]
pub struct GraphSet {
    pub(crate) graph: Arc<Graph>,
    pub(crate) features: Arc<Features>,
    pub(crate) starts: Vec<u32>,
    pub(crate) targets: Targets,
}

/// What is to be predicted of each graph; `None` where it is not known.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Classes below a number.
    Classes(Vec<Option<u32>>, usize),
    /// Finite numbers.
    Values(Vec<Option<f64>>),
}

impl Targets {
    /// The number of graphs.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(labels, _) => labels.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the target of a graph is known.
    pub(crate) fn is_known(&self, graph: usize) -> bool {
        match self {
            Self::Classes(labels, _) => labels.get(graph).is_some_and(Option::is_some),
            Self::Values(values) => values.get(graph).is_some_and(Option::is_some),
        }
    }
}

impl GraphSet {
    /// Joins the graphs with their features and targets.
    ///
    /// # Errors
    /// If lengths disagree, an edge joins two graphs, a label is no class, or a value is not finite.
    pub fn new(
        graph: impl Into<Arc<Graph>>,
        features: impl Into<Arc<Features>>,
        starts: Vec<u32>,
        targets: Targets,
    ) -> Result<Self, DataError> {
        let (graph, features) = (graph.into(), features.into());
        let nodes = graph.n_nodes();
        if let Some(found) = features.n_rows().filter(|&found| found != nodes) {
            return Err(DataError::Length { what: "features", nodes, found });
        }
        let ascending = starts.first() == Some(&0) && starts.windows(2).all(|w| w[0] <= w[1]);
        let covered = starts.last().map_or(0, |&last| last as usize);
        if !ascending || covered != nodes {
            return Err(DataError::Length { what: "graphs", nodes, found: covered });
        }
        if targets.len() != starts.len() - 1 {
            return Err(DataError::Targets { graphs: starts.len() - 1, found: targets.len() });
        }
        for g in 0..targets.len() {
            let last = starts[g + 1];
            for v in starts[g]..last {
                if let Some(&other) = graph.neighbors(v).iter().find(|&&u| u < starts[g] || u >= last) {
                    return Err(DataError::Across { from: v, to: other });
                }
            }
        }
        match &targets {
            Targets::Classes(labels, classes) => {
                let wrong = labels
                    .iter()
                    .enumerate()
                    .find_map(|(g, label)| label.filter(|&class| class as usize >= *classes).map(|class| (g, class)));
                if let Some((graph, class)) = wrong {
                    return Err(DataError::GraphTarget(format!(
                        "graph {graph} has class {class}, but there are {classes} classes"
                    )));
                }
            }
            Targets::Values(values) => {
                let wrong = values.iter().enumerate().find(|(_, value)| value.is_some_and(|value| !value.is_finite()));
                if let Some((graph, Some(value))) = wrong {
                    return Err(DataError::GraphTarget(format!(
                        "the target of graph {graph} is {value}; targets must be finite"
                    )));
                }
            }
        }
        Ok(Self { graph, features, starts, targets })
    }

    /// The number of graphs.
    pub fn n_graphs(&self) -> usize {
        self.targets.len()
    }

    /// The targets.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Draws a split of the graphs whose target is known.
    ///
    /// # Errors
    /// For a scheme that needs classes or times which the graphs have not, and for `public`.
    pub fn split(&self, scheme: SplitScheme, seed: u64) -> Result<Split, SplitError> {
        match &self.targets {
            Targets::Classes(labels, classes) => scheme.draw(labels, *classes, None, seed),
            Targets::Values(_) if scheme.needs_classes() => Err(SplitError::NoClasses(scheme.to_string())),
            Targets::Values(values) => {
                let known: Vec<Option<u32>> = values.iter().map(|value| value.map(|_| 0)).collect();
                scheme.draw(&known, 1, None, seed)
            }
        }
    }

    /// A stored split. Graphs without a target are left out.
    ///
    /// # Errors
    /// If a graph does not exist, or stands in a part twice or in two parts.
    pub fn given_split(&self, train: &[u32], val: &[u32], test: &[u32]) -> Result<Split, SplitError> {
        Split::of_items(self.n_graphs(), "graph", |graph| self.targets.is_known(graph), train, val, test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(targets: Targets) -> Result<GraphSet, DataError> {
        GraphSet::new(Graph::from_edges(5, &[(0, 1), (3, 4)]), Features::None, vec![0, 3, 3, 5], targets)
    }

    #[test]
    fn what_does_not_fit_the_graphs_is_refused() {
        let error = |targets| set(targets).unwrap_err().to_string();
        assert!(set(Targets::Classes(vec![Some(0), None, Some(1)], 2)).is_ok());
        assert_eq!(error(Targets::Classes(vec![None; 2], 2)), "there are 3 graphs, but targets for 2");
        let class = error(Targets::Classes(vec![None, Some(2), None], 2));
        assert_eq!(class, "graph 1 has class 2, but there are 2 classes");
        assert!(error(Targets::Values(vec![None, None, Some(f64::NAN)])).contains("graph 2 is NaN"));
        let graph = || Graph::from_edges(5, &[(2, 3)]);
        let targets = || Targets::Values(vec![None; 3]);
        let across = GraphSet::new(graph(), Features::None, vec![0, 3, 3, 5], targets()).unwrap_err().to_string();
        assert!(across.contains("2 and 3"), "{across}");
        assert!(GraphSet::new(graph(), Features::None, vec![0, 3, 3, 4], targets()).is_err());
    }

    #[test]
    fn splits_are_drawn_over_the_graphs_with_targets() {
        let values = set(Targets::Values(vec![Some(1.0), None, Some(2.0)])).unwrap();
        let split = values.split("random:50/0/50".parse().unwrap(), 1).unwrap();
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (1, 0, 1));
        let error = values.split("stratified:60/20/20".parse().unwrap(), 1).unwrap_err().to_string();
        assert!(error.contains("needs classes") && error.contains("random"), "{error}");
        assert!(values.split("time".parse().unwrap(), 1).is_err());
        let given = values.given_split(&[0], &[1], &[2]).unwrap();
        assert_eq!((given.train, given.val, given.test), (vec![0], vec![], vec![2]));
        assert!(values.given_split(&[0], &[3], &[]).unwrap_err().to_string().contains("graph 3 of the val part"));
    }
}
