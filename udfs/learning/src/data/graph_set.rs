//! A collection of graphs with a target each.

use std::sync::Arc;

use bonnet_graph::Graph;

use super::{EdgeWeights, Features, Split};
use crate::ground::DataError;
use crate::options::{FeatureSource, SplitError, SplitScheme};

/// Graphs as one: the nodes of graph `g` are `starts[g]..starts[g + 1]`, and no edge joins two graphs.
#[derive(Debug, Clone)]
pub struct GraphSet {
    pub(crate) graph: Arc<Graph>,
    pub(crate) features: Arc<Features>,
    pub(crate) starts: Vec<u32>,
    pub(crate) targets: Targets,
    pub(crate) weights: Option<Arc<EdgeWeights>>,
}

/// The target of each graph; `None` where it is not known.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Classes below a number.
    Classes(Vec<Option<u32>>, usize),
    /// Finite numbers.
    Values(Vec<Option<f64>>),
    /// As many finite numbers each.
    Vectors(Vec<Option<Box<[f64]>>>, usize),
}

impl Targets {
    /// The number of graphs.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(labels, _) => labels.len(),
            Self::Values(values) => values.len(),
            Self::Vectors(vectors, _) => vectors.len(),
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
            Self::Vectors(vectors, _) => vectors.get(graph).is_some_and(Option::is_some),
        }
    }

    /// The numbers of a target of regression; empty where it is not known, or a class.
    pub(crate) fn numbers(&self, graph: u32) -> &[f64] {
        match self {
            Self::Classes(..) => &[],
            Self::Values(values) => values[graph as usize].as_slice(),
            Self::Vectors(vectors, _) => vectors[graph as usize].as_deref().unwrap_or_default(),
        }
    }

    /// The outputs that a model has for a target.
    pub fn n_outputs(&self) -> usize {
        match self {
            Self::Classes(_, classes) => *classes,
            Self::Values(_) => 1,
            Self::Vectors(_, width) => *width,
        }
    }

    /// Refuses a target that cannot be learnt; `kind` is the word for what has it.
    pub(crate) fn check(&self, kind: &str) -> Result<(), DataError> {
        match self {
            Self::Classes(labels, classes) => {
                let wrong = labels
                    .iter()
                    .enumerate()
                    .find_map(|(g, label)| label.filter(|&class| class as usize >= *classes).map(|class| (g, class)));
                if let Some((graph, class)) = wrong {
                    return Err(DataError::GraphTarget(format!(
                        "{kind} {graph} has class {class}, but there are {classes} classes"
                    )));
                }
            }
            Self::Values(_) | Self::Vectors(..) => {
                let width = self.n_outputs();
                for graph in (0..self.len() as u32).filter(|&graph| self.is_known(graph as usize)) {
                    let numbers = self.numbers(graph);
                    if numbers.len() != width {
                        let found = numbers.len();
                        return Err(DataError::GraphTarget(format!(
                            "the target of {kind} {graph} has {found} numbers, where others have {width}"
                        )));
                    }
                    if let Some(value) = numbers.iter().find(|value| !value.is_finite()) {
                        return Err(DataError::GraphTarget(format!(
                            "the target of {kind} {graph} is {value}; targets must be finite"
                        )));
                    }
                }
            }
        }
        Ok(())
    }

    /// A stored split of the items whose target is known.
    pub(crate) fn given_split(
        &self,
        kind: &'static str,
        train: &[u32],
        val: &[u32],
        test: &[u32],
    ) -> Result<Split, SplitError> {
        Split::of_items(self.len(), kind, |item| self.is_known(item), train, val, test)
    }

    /// Draws a split of the items whose target is known, with the times of all items where they have some.
    pub(crate) fn split(&self, scheme: SplitScheme, times: Option<&[f64]>, seed: u64) -> Result<Split, SplitError> {
        let known = || (0..self.len()).map(|at| self.is_known(at).then_some(0)).collect::<Vec<Option<u32>>>();
        match self {
            Self::Classes(labels, classes) => scheme.draw(labels, *classes, times, seed),
            Self::Values(_) if scheme.needs_classes() => Err(SplitError::NoClasses(scheme.to_string())),
            Self::Vectors(vectors, _) if scheme.needs_classes() => {
                // Equal vectors are a class.
                let order = |a: &&[f64], b: &&[f64]| a.iter().map(|x| x.to_bits()).cmp(b.iter().map(|x| x.to_bits()));
                let mut distinct: Vec<&[f64]> = vectors.iter().flatten().map(|vector| &**vector).collect();
                distinct.sort_unstable_by(order);
                distinct.dedup();
                let class = |vector: &[f64]| distinct.partition_point(|other| order(other, &vector).is_lt()) as u32;
                let labels: Vec<Option<u32>> = vectors.iter().map(|vector| vector.as_deref().map(class)).collect();
                scheme.draw(&labels, distinct.len(), times, seed)
            }
            Self::Values(_) | Self::Vectors(..) => scheme.draw(&known(), 1, times, seed),
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
        targets.check("graph")?;
        Ok(Self { graph, features, starts, targets, weights: None })
    }

    /// Adds the weights of the edges, for models that read them.
    pub fn with_weights(mut self, weights: impl Into<Arc<EdgeWeights>>) -> Self {
        self.weights = Some(weights.into());
        self
    }

    /// The source that `auto` stands for here: the given features where there are some, else the degree, which nodes of graphs
    /// that are not trained on have, too. Any other source is itself.
    pub fn input(&self, source: FeatureSource) -> FeatureSource {
        source.or_stand_in(self.features.n_rows().is_some(), FeatureSource::Degree)
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
        self.targets.split(scheme, None, seed)
    }

    /// A stored split. Graphs without a target are left out.
    ///
    /// # Errors
    /// If a graph does not exist, or stands in a part twice or in two parts.
    pub fn given_split(&self, train: &[u32], val: &[u32], test: &[u32]) -> Result<Split, SplitError> {
        self.targets.given_split("graph", train, val, test)
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
