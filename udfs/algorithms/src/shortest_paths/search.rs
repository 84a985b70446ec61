//! A search from one node, by the algorithm that weights and options ask for.

use bonnet_graph::Monitor;

use super::bellman_ford;
use super::path::PathAlgorithm;
use super::tree::Tree;
use crate::{AlgorithmError, Network};

/// Grows the tree from `source`, up to `target` where it is given.
pub(super) fn search(
    tree: &mut Tree,
    network: Network<'_>,
    source: u32,
    target: Option<u32>,
    algorithm: PathAlgorithm,
    monitor: &dyn Monitor,
) -> Result<(), AlgorithmError> {
    tree.start(source);
    match (algorithm, network.out.weights()) {
        (_, None) => tree.breadth_first(network, target, monitor)?,
        (PathAlgorithm::Dijkstra, Some(_)) => tree.dijkstra(network, target, |_, _| true, monitor)?,
        (PathAlgorithm::BellmanFord, Some(_)) => bellman_ford::search(tree, network, monitor)?,
    }
    Ok(())
}
