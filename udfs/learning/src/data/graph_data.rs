//! A graph with features and labels, as models train on it.

use std::sync::Arc;

use bonnet_graph::{Digraph, Graph};

use super::{EdgeWeights, Features, GraphTypes, ItemRows};
use crate::ground::DataError;
use crate::options::FeatureSource;

/// A graph with node features and node labels, checked: lengths agree, labels are classes, features are finite.
#[derive(Debug, Clone)]
pub struct GraphData {
    pub(crate) graph: Arc<Graph>,
    pub(crate) features: Arc<Features>,
    pub(crate) labels: Vec<Option<u32>>,
    pub(crate) n_classes: usize,
    pub(crate) times: Option<Vec<f64>>,
    pub(crate) arcs: Option<Arc<Digraph>>,
    pub(crate) weights: Option<Arc<EdgeWeights>>,
    pub(crate) types: Option<Arc<GraphTypes>>,
    pub(crate) rows: Option<Arc<ItemRows>>,
}

impl GraphData {
    /// Joins a graph with its features and labels. A label is an index below `n_classes`, or `None`: an unlabelled node
    /// carries messages, but never loss or score.
    ///
    /// # Errors
    /// If lengths differ from the number of nodes or a label is no class.
    pub fn new(
        graph: impl Into<Arc<Graph>>,
        features: impl Into<Arc<Features>>,
        labels: Vec<Option<u32>>,
        n_classes: usize,
    ) -> Result<Self, DataError> {
        let (graph, features) = (graph.into(), features.into());
        let nodes = graph.n_nodes();
        if let Some(found) = features.n_rows().filter(|&found| found != nodes) {
            return Err(DataError::Length { what: "features", nodes, found });
        }
        if labels.len() != nodes {
            return Err(DataError::Length { what: "labels", nodes, found: labels.len() });
        }
        for (node, class) in labels.iter().enumerate().filter_map(|(node, label)| label.map(|class| (node, class))) {
            if class as usize >= n_classes {
                return Err(DataError::Class { node, class, classes: n_classes });
            }
        }
        Ok(Self { graph, features, labels, n_classes, times: None, arcs: None, weights: None, types: None, rows: None })
    }

    /// Adds the nodes' times, which the split scheme `time` sorts by.
    ///
    /// # Errors
    /// If there is not one time a node.
    pub fn with_times(mut self, times: Vec<f64>) -> Result<Self, DataError> {
        if times.len() != self.labels.len() {
            return Err(DataError::Length { what: "times", nodes: self.labels.len(), found: times.len() });
        }
        self.times = Some(times);
        Ok(self)
    }

    /// Adds the arcs whose edges the graph has, for models of directed edges.
    ///
    /// # Errors
    /// If they are arcs of another number of nodes.
    pub fn with_arcs(mut self, arcs: impl Into<Arc<Digraph>>) -> Result<Self, DataError> {
        let (arcs, nodes) = (arcs.into(), self.labels.len());
        if arcs.n_nodes() != nodes {
            return Err(DataError::Length { what: "arcs", nodes, found: arcs.n_nodes() });
        }
        self.arcs = Some(arcs);
        Ok(self)
    }

    /// Adds the weights of the edges, or of the arcs, for models that read them.
    pub fn with_weights(mut self, weights: impl Into<Arc<EdgeWeights>>) -> Self {
        self.weights = Some(weights.into());
        self
    }

    /// Adds the types of the nodes and the relations of the edges, for models of typed graphs.
    ///
    /// # Errors
    /// If they are those of another number of nodes.
    pub fn with_types(mut self, types: impl Into<Arc<GraphTypes>>) -> Result<Self, DataError> {
        let (types, nodes) = (types.into(), self.labels.len());
        if types.of().len() != nodes {
            return Err(DataError::Length { what: "types", nodes, found: types.of().len() });
        }
        self.types = Some(types);
        Ok(self)
    }

    /// Says that the nodes are items, of which each is a node of another graph at a time: features are what an item brings beside
    /// those of its row, or none.
    ///
    /// # Errors
    /// If there is not one row an item.
    pub fn with_rows(mut self, rows: impl Into<Arc<ItemRows>>) -> Result<Self, DataError> {
        let (rows, nodes) = (rows.into(), self.labels.len());
        if rows.len() != nodes {
            return Err(DataError::Length { what: "rows", nodes, found: rows.len() });
        }
        self.rows = Some(rows);
        Ok(self)
    }

    /// The source that `auto` stands for here: the given features where there are some, else identity, or random columns where
    /// there are more nodes than a layer should learn vectors for; for items of another graph those of its rows. Any other source
    /// is itself.
    pub fn input(&self, source: FeatureSource) -> FeatureSource {
        if self.rows.is_some() && source == FeatureSource::Auto {
            return FeatureSource::Given;
        }
        source.or_stand_in(self.features.n_rows().is_some(), FeatureSource::of_nodes(self.graph.n_nodes()))
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The given features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The class of each node, or none.
    pub fn labels(&self) -> &[Option<u32>] {
        &self.labels
    }

    /// The number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// The types of the nodes and the relations of the edges.
    pub fn types(&self) -> Option<&Arc<GraphTypes>> {
        self.types.as_ref()
    }

    /// The nodes' times.
    pub fn times(&self) -> Option<&[f64]> {
        self.times.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_the_graph_is_refused() {
        let graph = || Graph::from_edges(2, &[(0, 1)]);
        let error = |features: Features, labels: Vec<Option<u32>>| {
            GraphData::new(graph(), features, labels, 2).unwrap_err().to_string()
        };
        assert_eq!(error(Features::None, vec![None]), "there are 2 nodes, but labels for 1");
        assert_eq!(error(Features::None, vec![None, Some(2)]), "node 1 has class 2, but there are 2 classes");
        let three = Features::dense(1, vec![0.0; 3]).unwrap();
        assert_eq!(error(three, vec![None; 2]), "there are 2 nodes, but features for 3");
        let data = GraphData::new(graph(), Features::None, vec![None; 2], 2).unwrap();
        assert!(data.clone().with_arcs(Digraph::from_arcs(3, &[(0, 1)])).is_err());
        let one = GraphTypes::new(vec!["a".to_owned()], vec![0], &[], [], true).unwrap();
        assert!(data.clone().with_types(one).is_err());
        assert!(data.with_times(vec![0.0]).is_err());
    }

    #[test]
    fn features_stand_in_where_none_are_given_and_nobody_asks_for_any() {
        let data =
            |n: usize, features| GraphData::new(Graph::from_edges(n, &[(0, 1)]), features, vec![None; n], 1).unwrap();
        let input = |n, features, source| data(n, features).input(source).to_string();
        assert_eq!(input(10_000, Features::None, FeatureSource::Auto), "identity");
        assert_eq!(input(10_001, Features::None, FeatureSource::Auto), "random:64");
        let given = || Features::dense(1, vec![0.5; 2]).unwrap();
        assert_eq!(input(2, given(), FeatureSource::Auto), "given");
        for named in [FeatureSource::Given, FeatureSource::Degree, FeatureSource::Random(3)] {
            assert_eq!(data(2, Features::None).input(named), named);
            assert_eq!(data(2, given()).input(named), named);
        }
    }
}
