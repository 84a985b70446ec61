//! Heterophily along metapaths, and its mean or maximum over them.

use bonnet_graph::{Monitor, Stopped};

use super::{HeteroGraph, Metapath, PairCounts, metapath_pairs};
use crate::adjusted_homophily::adjusted;

/// The figures of one metapath.
#[derive(Debug, Clone, PartialEq)]
pub struct MetapathValue {
    /// The edges of the graph that it induces on the labelled target nodes.
    pub edges: u64,
    /// The share of edges between different classes, in [0, 1]; `None` without edges.
    pub edge_heterophily: Option<f64>,
    /// One minus the adjusted homophily: 0 where edges stay within classes, 1 on average where ends are joined at random;
    /// `None` without edges, or if all endpoints are in one class.
    pub adjusted_heterophily: Option<f64>,
}

impl MetapathValue {
    fn of(counts: &PairCounts) -> Self {
        let share = || (counts.edges - counts.equal) as f64 / counts.edges as f64;
        Self {
            edges: counts.edges,
            edge_heterophily: (counts.edges > 0).then(share),
            adjusted_heterophily: adjusted(counts.equal, counts.ends.iter().copied()).map(|homophily| 1.0 - homophily),
        }
    }
}

/// The heterophily of the graph that a metapath induces on the target nodes with a label. (Lin et al., When heterophily
/// meets heterogeneity: new graph benchmarks and effective methods, Sec. 3.3.)
///
/// A metapath and the same read backwards induce the same graph: a value is computed once for both. See
/// [`metapath_pairs`] for the cost.
///
/// # Panics
/// If a path does not lead back to its type, or `labels` has not one entry for each of its nodes.
pub fn metapath_heterophily(
    graph: &HeteroGraph,
    paths: &[Metapath],
    labels: &[Option<u32>],
    closed_walks: bool,
    monitor: &dyn Monitor,
) -> Result<Vec<MetapathValue>, Stopped> {
    let mut values: Vec<MetapathValue> = Vec::with_capacity(paths.len());
    for (i, path) in paths.iter().enumerate() {
        let turned = path.turned(graph);
        let value = match paths[..i].iter().position(|other| *other == turned) {
            Some(known) => values[known].clone(),
            None => MetapathValue::of(&metapath_pairs(graph, path, labels, closed_walks, monitor)?),
        };
        values.push(value);
    }
    Ok(values)
}

/// The combination of the values of several metapaths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// The mean of the metapaths.
    Mean,
    /// The largest.
    Max,
}

/// The mean or maximum of those values that are there; `None` if none is.
pub fn aggregate(values: impl Iterator<Item = Option<f64>>, how: Aggregate) -> Option<f64> {
    let mut values: Vec<f64> = values.flatten().collect();
    values.sort_unstable_by(f64::total_cmp);
    match how {
        Aggregate::Max => values.last().copied(),
        Aggregate::Mean => (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::TypedRelation;
    use super::*;
    use bonnet_graph::Unmonitored;

    /// Four papers of classes x x y y; author 0 wrote 0, 1, 2, author 1 wrote 2, 3; subject 0 has 0, 1, subject 1 has 3.
    fn graph() -> (HeteroGraph, Vec<Option<u32>>) {
        let relation = |name: &str, to, n_to, rows: &[(u32, u32)]| {
            TypedRelation::new(name.to_owned(), (1, to), (4, n_to), rows, true, &Unmonitored).unwrap()
        };
        let by = relation("by", 0, 2, &[(0, 0), (1, 0), (2, 0), (2, 1), (3, 1)]);
        let on = relation("on", 2, 2, &[(0, 0), (1, 0), (3, 1)]);
        let node_types = vec![("author".to_owned(), 2), ("paper".to_owned(), 4), ("subject".to_owned(), 2)];
        (HeteroGraph { node_types, relations: vec![by, on] }, vec![Some(0), Some(0), Some(1), Some(1)])
    }

    #[test]
    fn an_index_counted_by_hand() {
        // paper>author>paper: 0-1 (equal), 0-2, 1-2, 2-3 (equal): edges 4, equal 2, D = (4, 4): h = 1/2, chance 1/2:
        // homophily 0, heterophily 1. paper>subject>paper: 0-1: one class, no adjusted value, edge heterophily 0.
        let (graph, labels) = graph();
        let paths = graph.metapaths(1, 2, true).unwrap();
        assert_eq!(
            paths.iter().map(|path| graph.name(path)).collect::<Vec<_>>(),
            ["paper>author>paper", "paper>subject>paper"]
        );
        let values = metapath_heterophily(&graph, &paths, &labels, false, &Unmonitored).unwrap();
        assert_eq!(values[0], MetapathValue { edges: 4, edge_heterophily: Some(0.5), adjusted_heterophily: Some(1.0) });
        assert_eq!(values[1], MetapathValue { edges: 1, edge_heterophily: Some(0.0), adjusted_heterophily: None });
        let adjusted = || values.iter().map(|value| value.adjusted_heterophily);
        assert_eq!(aggregate(adjusted(), Aggregate::Mean), Some(1.0));
        let edge = || values.iter().map(|value| value.edge_heterophily);
        assert_eq!((aggregate(edge(), Aggregate::Mean), aggregate(edge(), Aggregate::Max)), (Some(0.25), Some(0.5)));

        // With closed walks each paper with an author has a loop: edges 8, equal 6, D = (8, 8): h = 3/4, (3/4 - 1/2) / (1/2).
        let closed = metapath_heterophily(&graph, &paths, &labels, true, &Unmonitored).unwrap();
        assert_eq!(
            closed[0],
            MetapathValue { edges: 8, edge_heterophily: Some(0.25), adjusted_heterophily: Some(0.5) }
        );
        // Papers 0, 1, 3 and 0-1: D = (2 * 2 + 2, 2) of 8, all equal.
        assert_eq!(closed[1], MetapathValue { edges: 4, edge_heterophily: Some(0.0), adjusted_heterophily: Some(0.0) });
    }

    #[test]
    fn nothing_to_aggregate_has_no_value() {
        assert_eq!(aggregate([None, None].into_iter(), Aggregate::Mean), None);
        assert_eq!(aggregate(std::iter::empty(), Aggregate::Max), None);
    }
}
