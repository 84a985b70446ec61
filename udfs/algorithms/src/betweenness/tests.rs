use super::*;
use crate::testing::{self, assert_close};
use bonnet_graph::{Graph, Unmonitored};

/// The numbers of shortest paths between all pairs, by their lengths.
fn path_counts(network: Network<'_>, distances: &[Vec<Option<u32>>]) -> Vec<Vec<f64>> {
    let n = network.n_nodes();
    let mut counts = vec![vec![0.0; n]; n];
    for s in 0..n {
        counts[s][s] = 1.0;
        for length in 1..n as u32 {
            for v in (0..n).filter(|&v| distances[s][v] == Some(length)) {
                let before = network.into.of(v as u32).iter().map(|&u| u as usize);
                counts[s][v] = before.filter(|&u| distances[s][u] == Some(length - 1)).map(|u| counts[s][u]).sum();
            }
        }
    }
    counts
}

#[test]
fn betweenness_is_the_share_of_shortest_paths() {
    testing::each_network(0..150, |seed, network| {
        let n = network.n_nodes();
        let distances = testing::distances(network);
        let counts = path_counts(network, &distances);
        let half = if network.directed { 1.0 } else { 0.5 };
        let mut nodes = vec![0.0; n];
        let mut arcs = vec![0.0; network.out.n_arcs()];
        for (s, t) in (0..n).flat_map(|s| (0..n).map(move |t| (s, t))).filter(|(s, t)| s != t) {
            let Some(length) = distances[s][t] else { continue };
            for v in (0..n).filter(|&v| v != s && v != t) {
                if distances[s][v].zip(distances[v][t]).is_some_and(|(a, b)| a + b == length) {
                    nodes[v] += half * counts[s][v] * counts[v][t] / counts[s][t];
                }
            }
            let mut at = 0;
            for u in 0..n {
                for &v in network.out.of(u as u32) {
                    let v = v as usize;
                    let ways = [(u, v), (v, u)].into_iter().take(if network.directed { 1 } else { 2 });
                    for (a, b) in ways {
                        if distances[s][a].zip(distances[b][t]).is_some_and(|(x, y)| x + y + 1 == length) {
                            arcs[at] += half * counts[s][a] * counts[b][t] / counts[s][t];
                        }
                    }
                    at += 1;
                }
            }
        }
        let plain = BetweennessOptions { normalized: false, ..BetweennessOptions::default() };
        let found = betweenness_centrality(network, &plain, &Unmonitored).unwrap();
        assert_close(&found.value, &nodes, &format!("nodes of graph {seed}"));
        assert_eq!(found.standard_error, None);
        let found = edge_betweenness(network, &plain, &Unmonitored).unwrap();
        assert_close(&found.value, &arcs, &format!("arcs of graph {seed}"));
    });
}

/// A chain of `k` diamonds: joint `3 i`, then two nodes beside each other, then the next joint.
fn diamonds(k: u32) -> Graph {
    let diamond = |i: u32| {
        let joint = 3 * i;
        [(joint, joint + 1), (joint, joint + 2), (joint + 1, joint + 3), (joint + 2, joint + 3)]
    };
    Graph::from_edges(3 * k as usize + 1, &(0..k).flat_map(diamond).collect::<Vec<_>>())
}

#[test]
fn counts_of_paths_beyond_a_double_lose_no_node() {
    // 2^1100 paths from one end to the other.
    let k = 1100;
    let graph = diamonds(k);
    let expected: Vec<f64> = (0..3 * k + 1)
        .map(|v| {
            let (i, left) = (v / 3, f64::from(v / 3 * 3));
            let right = f64::from(3 * k) - left;
            match v % 3 {
                // The pairs of both sides, and the two nodes of each diamond beside it.
                0 if i == 0 || i == k => 0.5,
                0 => left * right + 1.0,
                // Half of the pairs that the diamond lies between.
                _ => (left + 1.0) * (right - 2.0) / 2.0,
            }
        })
        .collect();
    let plain = BetweennessOptions { normalized: false, ..BetweennessOptions::default() };
    let network = Network::undirected(&graph);
    assert_close(&betweenness_centrality(network, &plain, &Unmonitored).unwrap().value, &expected, "nodes");
    // Over each edge of a diamond half of these pairs, and those of the node at its end.
    let over = edge_betweenness(network, &plain, &Unmonitored).unwrap().value;
    let nodes = f64::from(3 * k + 1);
    for i in 0..k {
        let (left, right) = (f64::from(3 * i + 1), nodes - f64::from(3 * i + 3));
        let at = network.out.offsets()[3 * i as usize] + network.out.of(3 * i).binary_search(&(3 * i + 1)).unwrap();
        assert_close(&[over[at]], &[left * right / 2.0 + left + 0.5], "an edge");
    }
    let rows = graph.edges().flat_map(|(u, v)| [(u, v, 0.5), (v, u, 0.5)]).collect::<Vec<_>>();
    let arcs = crate::WeightedArcs::new(graph.n_nodes(), rows.into_iter()).unwrap();
    let weighted = Network::weighted(&arcs, None);
    let few = BetweennessOptions { samples: Some(20), seed: 3, ..plain };
    let found = betweenness_centrality(weighted, &few, &Unmonitored).unwrap();
    assert_close(&found.value, &betweenness_centrality(network, &few, &Unmonitored).unwrap().value, "lengths");
}

#[test]
fn searches_one_by_one_give_what_searches_side_by_side_do() {
    testing::each_network(0..60, |seed, network| {
        let n = network.n_nodes();
        let sources: Vec<u32> = (0..n as u32).take(LANES).collect();
        let mut lanes = Lanes::new(network);
        let (mut together, mut alone) = (Sums::new(n, false), Sums::new(n, false));
        lanes.run::<OfNodes>(&sources, &mut together, &Unmonitored).unwrap();
        lanes.run_wide::<OfNodes>(&sources, &mut alone, &Unmonitored).unwrap();
        assert_close(&alone.values, &together.values, &format!("graph {seed}"));
    });
}

#[test]
fn a_star_has_its_centre_between_all_pairs() {
    let graph = Graph::from_edges(6, &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
    let network = Network::undirected(&graph);
    let found = betweenness_centrality(network, &BetweennessOptions::default(), &Unmonitored).unwrap();
    assert_close(&found.value, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], "a star");
    // Each leaf is on the paths to five others, of fifteen pairs.
    let found = edge_betweenness(network, &BetweennessOptions::default(), &Unmonitored).unwrap();
    assert_close(&found.value, &[1.0 / 3.0; 10], "its edges");
}

#[test]
fn samples_estimate_with_their_standard_error() {
    let edges: Vec<(u32, u32)> = (0..2000u32).map(|i| (i % 200, (i * i + 7 * i + 3) % 200)).collect();
    let graph = Graph::from_edges(200, &edges);
    let network = Network::undirected(&graph);
    let exact = betweenness_centrality(network, &BetweennessOptions::default(), &Unmonitored).unwrap().value;
    let options = BetweennessOptions { samples: Some(60), seed: 1, ..BetweennessOptions::default() };
    let sampled = betweenness_centrality(network, &options, &Unmonitored).unwrap();
    let errors = sampled.standard_error.unwrap();
    let within = (0..200).filter(|&v| (sampled.value[v] - exact[v]).abs() <= 2.5 * errors[v]).count();
    assert!(within >= 180, "{within} of 200 estimates are within 2.5 standard errors");
    let all = BetweennessOptions { samples: Some(200), ..options };
    assert_eq!(betweenness_centrality(network, &all, &Unmonitored).unwrap().value, exact);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let edges: Vec<(u32, u32)> = (0..900u32).map(|i| (i % 90, (i * i + 5 * i + 1) % 90)).collect();
    let graph = Graph::from_edges(90, &edges);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = BetweennessOptions { samples: Some(50), ..BetweennessOptions::default() };
        pool.install(|| edge_betweenness(Network::undirected(&graph), &options, &Unmonitored).unwrap())
    };
    assert_eq!(of(1), of(3));
    assert_eq!(of(1), of(7));
}
