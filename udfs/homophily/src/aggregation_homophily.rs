//! Aggregation homophily: after one step of aggregation, is a node more like its own class?

use bonnet_graph::{Digraph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use crate::propagation::{Normalization, Propagation};

/// Nodes of a block of work.
const BLOCK: usize = 1 << 12;

/// Two means that differ by less than this part of their size are equal: they are sums of the same terms in another
/// order.
const ROUNDING: f64 = 1e-12;

/// The share of nodes v whose mean of S(v, u) over the nodes u of their own class, v included, is at least that over the
/// nodes of all other classes, in [0, 1]; S = (A-hat Y)(A-hat Y)^T for one-hot labels Y. (H_agg, Eq. 8 of Luan et al.,
/// Are heterophilic GNNs and homophily metrics really effective?; Luan et al., Revisiting heterophily for graph neural
/// networks, NeurIPS 2022.)
///
/// Nodes without a label take no part: the graph is the one between labelled nodes. `None` with fewer than two classes.
/// S is never built: with the sums of A-hat Y over each class (C^2 numbers), a node costs its degree. O(n + m + C^2) time,
/// 8 (n + m + 2 C^2) bytes.
///
/// # Panics
/// If `labels` has not one entry a node.
pub fn aggregation_homophily(
    graph: &Digraph,
    labels: &[Option<u32>],
    normalization: Normalization,
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Stopped> {
    assert_eq!(labels.len(), graph.n_nodes(), "one label a node");
    let numbered: Vec<(u32, u32)> = (0..).zip(labels).filter_map(|(node, label)| Some((node, (*label)?))).collect();
    let n_labels = numbered.iter().map(|&(_, label)| label as usize + 1).max().unwrap_or(0);
    let mut sizes = vec![0u64; n_labels];
    numbered.iter().for_each(|&(_, label)| sizes[label as usize] += 1);
    if sizes.iter().filter(|&&size| size > 0).count() < 2 {
        return Ok(None);
    }
    let cells = n_labels.saturating_mul(n_labels);
    let bytes = cells.saturating_mul(16).saturating_add(8 * (graph.n_nodes() + graph.n_arcs()));
    let _reservation = Reservation::new(monitor, bytes)?;

    // The graph between labelled nodes, which is the graph itself where all have a label.
    let restricted = (numbered.len() < labels.len()).then(|| {
        let arcs = graph.arcs().filter(|&(u, v)| labels[u as usize].is_some() && labels[v as usize].is_some());
        Digraph::from_arcs(graph.n_nodes(), &arcs.collect::<Vec<_>>())
    });
    let propagation = Propagation::new(restricted.as_ref().unwrap_or(graph), normalization);

    // Row k: the sum of the rows of A-hat Y over class k.
    let mut sums = vec![0.0f64; cells];
    for block in numbered.chunks(BLOCK) {
        monitor.check()?;
        for &(node, label) in block {
            let row = &mut sums[label as usize * n_labels..][..n_labels];
            propagation
                .row(node)
                .for_each(|(other, weight)| row[labels[other as usize].unwrap_or(label) as usize] += weight);
        }
    }
    let mut total = vec![0.0f64; n_labels];
    for row in sums.chunks(n_labels) {
        total.iter_mut().zip(row).for_each(|(total, value)| *total += value);
    }

    let n = numbered.len() as u64;
    let at_home = numbered.par_chunks(BLOCK).map(|block| {
        monitor.check()?;
        let mut at_home = 0u64;
        for &(node, label) in block {
            let own = &sums[label as usize * n_labels..][..n_labels];
            let (mut within, mut all) = (0.0, 0.0);
            for (other, weight) in propagation.row(node) {
                let class = labels[other as usize].unwrap_or(label) as usize;
                within += weight * own[class];
                all += weight * total[class];
            }
            let size = sizes[label as usize];
            let (same, other) = (within / size as f64, (all - within) / (n - size) as f64);
            at_home += u64::from(same >= other - ROUNDING * all.abs() / size as f64);
        }
        Ok(at_home)
    });
    let at_home: u64 = at_home.collect::<Result<Vec<_>, Stopped>>()?.into_iter().sum();
    Ok(Some(at_home as f64 / n as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;

    /// The definition with all matrices, between labelled nodes.
    fn literally(n: usize, arcs: &[(u32, u32)], labels: &[Option<u32>], normalization: Normalization) -> Option<f64> {
        let nodes: Vec<usize> = (0..n).filter(|&v| labels[v].is_some()).collect();
        let mut adjacency = vec![vec![0.0f64; n]; n];
        for &(u, v) in arcs.iter().filter(|(u, v)| u != v) {
            if labels[u as usize].is_some() && labels[v as usize].is_some() {
                adjacency[u as usize][v as usize] = 1.0;
            }
        }
        (0..n).for_each(|v| adjacency[v][v] = 1.0);
        let degree: Vec<f64> = adjacency.iter().map(|row| row.iter().sum()).collect();
        let hat = |u: usize, v: usize| match normalization {
            Normalization::Symmetric => adjacency[u][v] / degree[u].sqrt() / degree[v].sqrt(),
            Normalization::RandomWalk => adjacency[u][v] / degree[u],
        };
        let classes = 8;
        let mut aggregated = vec![vec![0.0; classes]; n];
        for &u in &nodes {
            for &v in &nodes {
                aggregated[u][labels[v].unwrap() as usize] += hat(u, v);
            }
        }
        let similarity =
            |u: usize, v: usize| -> f64 { aggregated[u].iter().zip(&aggregated[v]).map(|(a, b)| a * b).sum() };
        let mut at_home = 0;
        for &u in &nodes {
            let mean = |same: bool| {
                let others: Vec<f64> =
                    nodes.iter().filter(|&&v| (labels[v] == labels[u]) == same).map(|&v| similarity(u, v)).collect();
                (!others.is_empty()).then(|| others.iter().sum::<f64>() / others.len() as f64)
            };
            let (same, other) = (mean(true)?, mean(false)?);
            at_home += usize::from(same >= other - 1e-12);
        }
        (!nodes.is_empty()).then(|| at_home as f64 / nodes.len() as f64)
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_definition(
            n in 1..14usize,
            raw in proptest::collection::vec((0..14u32, 0..14u32), 0..40),
            raw_labels in proptest::collection::vec(proptest::option::weighted(0.8, 0..4u32), 14),
        ) {
            let arcs: Vec<(u32, u32)> = raw.iter().map(|&(u, v)| (u % n as u32, v % n as u32)).collect();
            let both: Vec<(u32, u32)> = arcs.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
            let labels = &raw_labels[..n];
            for arcs in [&arcs, &both] {
                for normalization in [Normalization::Symmetric, Normalization::RandomWalk] {
                    let graph = Digraph::from_arcs(n, arcs);
                    let found = aggregation_homophily(&graph, labels, normalization, &Unmonitored).unwrap();
                    prop_assert_eq!(found, literally(n, arcs, labels, normalization));
                }
            }
        }
    }

    #[test]
    fn one_class_has_no_value() {
        let graph = Digraph::from_arcs(2, &[(0, 1), (1, 0)]);
        for labels in [[Some(3), Some(3)], [None, Some(0)], [None, None]] {
            assert_eq!(aggregation_homophily(&graph, &labels, Normalization::Symmetric, &Unmonitored).unwrap(), None);
        }
    }
}
