//! Communities by the method of Louvain.

use bonnet_graph::{Monitor, Reservation};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::aggregate::{Grouped, renumber};
use super::local_moves::move_nodes;
use super::{CommunityOptions, by_size};
use crate::{AlgorithmError, Network};

/// How often a node is looked at while communities are first made: what is left then is left to the refinement, which finds
/// better communities, in half the time.
const LOOKS: usize = 3;

/// The community of every node of an undirected graph, numbered by falling size: modularity rises neither where a node moves to
/// the community of a neighbour nor where a community joins another.
///
/// Blondel, Guillaume, Lambiotte and Lefebvre, Fast unfolding of communities in large networks (2008), with a queue of the nodes
/// to look at; communities are refined by further moves of nodes (Rotta and Noack, Multilevel local search algorithms for
/// modularity clustering, 2011) until nothing moves. O(m) for each sweep over the nodes, usually some tens; one thread, so that
/// the answer is that of the seed. `128 n + 96 m` bytes.
///
/// # Errors
/// For a resolution out of its range, and if the monitor stops it.
pub fn louvain(
    network: Network<'_>,
    options: &CommunityOptions,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, AlgorithmError> {
    options.validate()?;
    let n = network.n_nodes();
    let _room = Reservation::new(monitor, 2 * Grouped::bytes(n, network.out.n_arcs()))?;
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let nodes = Grouped::new(network);
    let mut community: Vec<u32> = (0..n as u32).collect();
    let mut looks = Some(LOOKS);
    // From nodes by themselves on; then, again and again, from what the coarser graphs have come to.
    while move_nodes(&nodes, &mut community, options.resolution, looks, &mut random, monitor)? {
        let count = renumber(&mut community);
        let mut graph = nodes.aggregate(&community, count);
        loop {
            let mut group: Vec<u32> = (0..graph.n_nodes() as u32).collect();
            if !move_nodes(&graph, &mut group, options.resolution, looks, &mut random, monitor)? {
                break;
            }
            let count = renumber(&mut group);
            community.iter_mut().for_each(|c| *c = group[*c as usize]);
            graph = graph.aggregate(&group, count);
        }
        looks = None;
    }
    Ok(by_size(&community))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communities::modularity;
    use crate::testing;
    use bonnet_graph::{Graph, Unmonitored};

    #[test]
    fn no_merge_of_communities_and_no_move_of_a_node_raises_modularity() {
        for seed in 0..200 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let network = Network::undirected(&graph);
            let found = louvain(network, &CommunityOptions { seed, resolution: 1.0 }, &Unmonitored).unwrap();
            let value = modularity(network, &found, 1.0).unwrap_or(0.0);
            let singletons: Vec<u32> = (0..n as u32).collect();
            assert!(value >= modularity(network, &singletons, 1.0).unwrap_or(0.0) - 1e-12);
            let count = found.iter().max().unwrap() + 1;
            for (a, b) in (0..count).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let merged: Vec<u32> = found.iter().map(|&c| if c == a { b } else { c }).collect();
                assert!(modularity(network, &merged, 1.0).unwrap_or(0.0) <= value + 1e-9, "graph {seed}");
            }
            for (v, &u) in (0..n).flat_map(|v| graph.neighbors(v as u32).iter().map(move |u| (v, u))) {
                let mut moved = found.clone();
                moved[v] = found[u as usize];
                assert!(modularity(network, &moved, 1.0).unwrap_or(0.0) <= value + 1e-9, "node {v} of graph {seed}");
            }
        }
    }

    #[test]
    fn two_cliques_joined_by_an_edge_are_two_communities() {
        let clique = |from: u32| (from..from + 5).flat_map(move |u| (from..u).map(move |v| (u, v)));
        let edges: Vec<(u32, u32)> = clique(0).chain(clique(5)).chain([(0, 5)]).collect();
        let graph = Graph::from_edges(11, &edges);
        let found = louvain(Network::undirected(&graph), &CommunityOptions::default(), &Unmonitored).unwrap();
        assert_eq!(found, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2]);
    }
}
