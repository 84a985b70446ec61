//! The k shortest paths between two nodes.

use std::collections::BTreeMap;

use bonnet_graph::{Monitor, Stopped};

use super::path::ShortestPath;
use super::tree::Tree;
use crate::Network;

/// The order of candidates: the shorter first, of two of one length the one whose nodes come first.
#[derive(Debug, Clone, PartialEq)]
struct Key(f64, Vec<u32>);

impl Eq for Key {}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then_with(|| self.1.cmp(&other.1))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Up to `k` paths without a node twice, the shortest first. Yen (1971): each next path leaves an earlier one at some
/// node, by a shortest way around what was found before.
pub(super) fn paths(
    network: Network<'_>,
    source: u32,
    target: u32,
    k: usize,
    tree: &mut Tree,
    monitor: &dyn Monitor,
) -> Result<Vec<ShortestPath>, Stopped> {
    tree.start(source);
    tree.dijkstra(network, Some(target), |_, _| true, monitor)?;
    let mut found: Vec<ShortestPath> = tree.path(target, true).into_iter().collect();
    let mut candidates: BTreeMap<Key, ()> = BTreeMap::new();
    // A path of one node has no other.
    while found.len() < k && source != target {
        let Some(last) = found.last().map(|path| path.nodes.clone()) else { break };
        let mut length = 0.0;
        for spur in 0..last.len() - 1 {
            let (root, from) = (&last[..=spur], last[spur]);
            let next: Vec<u32> = found
                .iter()
                .filter(|path| path.nodes.len() > spur + 1 && path.nodes[..=spur] == *root)
                .map(|path| path.nodes[spur + 1])
                .collect();
            let open = |u: u32, v: u32| !(root.contains(&v) || u == from && next.contains(&v));
            tree.start(from);
            tree.dijkstra(network, Some(target), open, monitor)?;
            if let Some(rest) = tree.path(target, true) {
                let nodes = root[..spur].iter().copied().chain(rest.nodes).collect();
                candidates.insert(Key(length + rest.distance, nodes), ());
            }
            length += weight(network, from, last[spur + 1]);
        }
        // Ways around are found anew from several paths; each counts once.
        let next = loop {
            let Some((Key(_, nodes), ())) = candidates.pop_first() else { break None };
            if found.iter().all(|path| path.nodes != nodes) {
                break Some(nodes);
            }
        };
        let Some(nodes) = next else { break };
        // Summed along the path, as Dijkstra's search does: the same path has the same length however it was found.
        let distance = nodes.windows(2).fold(0.0, |sum, arc| sum + weight(network, arc[0], arc[1]));
        found.push(ShortestPath { source, target, rank: found.len() + 1, distance, nodes });
    }
    Ok(found)
}

fn weight(network: Network<'_>, u: u32, v: u32) -> f64 {
    let place = network.out.of(u).binary_search(&v).map(|at| network.out.offsets()[u as usize] + at);
    match (place, network.out.weights()) {
        (Ok(place), Some(weights)) => weights[place],
        _ => 1.0,
    }
}
