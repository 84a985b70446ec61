//! Communities by the method of Louvain.

use bonnet_graph::{Monitor, Reservation, by_size};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::CommunityOptions;
use super::aggregate::{Grouped, renumber};
use super::local_moves::{MANY, move_nodes};
use crate::{AlgorithmError, Network};

/// How often a node is looked at while communities are first made, where nodes move one by one: what is left then is left to the
/// refinement, which finds better communities, in half the time.
const LOOKS: usize = 3;

/// The community of every node of an undirected graph, numbered by falling size: modularity rises neither where a node moves to
/// the community of a neighbour nor where a community joins another.
///
/// Blondel, Guillaume, Lambiotte and Lefebvre, Fast unfolding of communities in large networks (2008), with a queue of the nodes
/// to look at; communities are refined by further moves of nodes (Rotta and Noack, Multilevel local search algorithms for
/// modularity clustering, 2011) until nothing moves. From 2^14 nodes on, nodes choose in batches, side by side, and move in their
/// order. O(m) for each sweep over the nodes, usually some tens; `128 n + 96 m` bytes. The answer is that of the seed for any number
/// of threads.
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
    let _reservation = Reservation::new(monitor, 2 * Grouped::bytes(n, network.out.n_arcs()))?;
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let nodes = Grouped::new(network);
    let mut community: Vec<u32> = (0..n as u32).collect();
    let mut looks = (n < MANY).then_some(LOOKS);
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

    #[test]
    fn many_nodes_move_in_batches_to_the_same_communities_at_any_number_of_threads() {
        // Rings of 50 nodes, each joined to four more of its ring, and one stray edge in ten.
        let n = 20_000u32;
        let edge = |i: u64| {
            let (v, step) = ((i / 5) as u32, [1, 2, 5, 11, 23][i as usize % 5]);
            let stray = (i * 2_654_435_761 % 4_294_967_291 % u64::from(n)) as u32;
            (v, if i % 10 == 3 { stray } else { v / 50 * 50 + (v % 50 + step) % 50 })
        };
        let edges: Vec<(u32, u32)> = (0..5 * u64::from(n)).map(edge).collect();
        let graph = Graph::from_edges(n as usize, &edges);
        let network = Network::undirected(&graph);
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| louvain(network, &CommunityOptions::default(), &Unmonitored).unwrap())
        };
        let found = of(1);
        assert_eq!(found, of(3));
        // At least as good as the rings, which are about there.
        let rings: Vec<u32> = (0..n).map(|v| v / 50).collect();
        let value = modularity(network, &found, 1.0).unwrap();
        assert!(value >= modularity(network, &rings, 1.0).unwrap() - 0.01 && value > 0.85, "{value}");
        let strength: Vec<f64> = (0..n).map(|v| graph.degree(v) as f64).collect();
        let mut total = vec![0.0; n as usize];
        found.iter().zip(&strength).for_each(|(&c, k)| total[c as usize] += k);
        for v in 0..n {
            let gain = |c: u32| {
                let own = if found[v as usize] == c { strength[v as usize] } else { 0.0 };
                let weight = graph.neighbors(v).iter().filter(|&&u| found[u as usize] == c).count() as f64;
                weight - strength[v as usize] * (total[c as usize] - own) / (2 * graph.n_edges()) as f64
            };
            let stays = gain(found[v as usize]);
            assert!(graph.neighbors(v).iter().all(|&u| gain(found[u as usize]) <= stays + 1e-9), "node {v}");
        }
    }
}
