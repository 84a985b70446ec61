use bonnet_graph::{Digraph, Graph, Unmonitored};

use super::*;
use crate::{WeightedArcs, testing};

/// A length for each arc, the same for both of an edge.
fn length(u: u32, v: u32, lowest: i64) -> f64 {
    let (u, v) = (i64::from(u.min(v)), i64::from(u.max(v)));
    ((7 * u + 3 * v * v) % 11 + lowest) as f64
}

/// The distances by Floyd and Warshall; `None` where a negative cycle lies on the way.
fn all_pairs(network: Network<'_>) -> Vec<Vec<f64>> {
    let n = network.n_nodes();
    let mut d = vec![vec![f64::INFINITY; n]; n];
    for (u, row) in d.iter_mut().enumerate() {
        row[u] = 0.0;
        for (v, weight) in network.out.weighted(u as u32) {
            row[v as usize] = row[v as usize].min(weight);
        }
    }
    for middle in 0..n {
        for u in 0..n {
            for v in 0..n {
                let through = d[u][middle] + d[middle][v];
                if through < d[u][v] {
                    d[u][v] = through;
                }
            }
        }
    }
    d
}

fn check_distances(network: Network<'_>, algorithm: PathAlgorithm, what: &str) {
    let n = network.n_nodes() as u32;
    let expected = all_pairs(network);
    let options = PathOptions { algorithm, ..Default::default() };
    let all: Vec<Ends> = (0..n).map(Ends::From).collect();
    let found = shortest_paths(network, &all, options, &Unmonitored).unwrap();
    let mut at = 0;
    for u in 0..n {
        for v in 0..n {
            let distance = expected[u as usize][v as usize];
            let pair = shortest_paths(network, &[Ends::Pair(u, v)], options, &Unmonitored).unwrap();
            if distance == f64::INFINITY {
                assert!(pair.is_empty());
                continue;
            }
            assert_eq!((pair[0].source, pair[0].target, pair[0].distance), (u, v, distance), "{what}");
            let path = &found[at];
            at += 1;
            assert_eq!((path.source, path.target, path.rank, path.distance), (u, v, 1, distance), "{what}");
            assert_eq!((path.nodes[0], path.nodes.last()), (u, Some(&v)), "{what}");
            let along = path
                .nodes
                .windows(2)
                .map(|arc| network.out.weighted(arc[0]).find(|other| other.0 == arc[1]).unwrap().1);
            assert_eq!(along.sum::<f64>(), distance, "{what}");
        }
    }
    assert_eq!(at, found.len(), "{what}");
}

#[test]
fn distances_are_those_of_all_pairs_and_paths_have_their_lengths() {
    for seed in 0..80 {
        let (n, rows) = testing::rows(seed);
        check_distances(Network::undirected(&Graph::from_edges(n, &rows)), PathAlgorithm::Dijkstra, "edges");
        let out = Digraph::from_arcs(n, &rows);
        let into = out.reversed();
        check_distances(Network::directed(&out, &into), PathAlgorithm::Dijkstra, "arcs");
        let both = rows.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).map(|(u, v)| (u, v, length(u, v, 0)));
        let edges = WeightedArcs::new(n, both).unwrap();
        check_distances(Network::weighted(&edges, None), PathAlgorithm::Dijkstra, "lengths, some of them 0");
        check_distances(Network::weighted(&edges, None), PathAlgorithm::BellmanFord, "lengths by Bellman and Ford");
        // Arcs upwards alone: negative lengths, and no cycle.
        let upwards = rows.iter().map(|&(u, v)| (u.min(v), u.max(v))).map(|(u, v)| (u, v, length(u, v, -4)));
        let arcs = WeightedArcs::new(n, upwards).unwrap();
        let back = arcs.reversed();
        check_distances(Network::weighted(&arcs, Some(&back)), PathAlgorithm::BellmanFord, "negative lengths");
    }
}

#[test]
fn a_negative_cycle_is_named_where_there_is_one() {
    let mut cycles = 0;
    for seed in 0..200 {
        let (n, rows) = testing::rows(seed);
        let arcs = rows.iter().map(|&(u, v)| (u, v, length(u, v, -2)));
        let arcs = WeightedArcs::new(n, arcs).unwrap();
        let back = arcs.reversed();
        let network = Network::weighted(&arcs, Some(&back));
        let options = PathOptions { algorithm: PathAlgorithm::BellmanFord, ..Default::default() };
        let expected = all_pairs(network);
        let reached = |v: &usize| expected[0][*v] != f64::INFINITY;
        let cycle = (0..n).filter(reached).any(|v| expected[v][v] < 0.0);
        match shortest_paths(network, &[Ends::From(0)], options, &Unmonitored) {
            Ok(_) => assert!(!cycle, "graph {seed}"),
            Err(AlgorithmError::Nodes { nodes, .. }) => {
                assert!(cycle, "graph {seed}");
                let round = nodes.iter().zip(nodes.iter().cycle().skip(1));
                let lengths = round.map(|(&u, &v)| network.out.weighted(u).find(|arc| arc.0 == v).unwrap().1);
                assert!(lengths.sum::<f64>() < 0.0, "graph {seed}: {nodes:?}");
                cycles += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(cycles > 20);
}

#[test]
fn dijkstra_refuses_a_negative_weight_and_says_what_to_use() {
    let arcs = WeightedArcs::new(3, [(0, 1, 1.0), (1, 2, -0.5)].into_iter()).unwrap();
    let back = arcs.reversed();
    let network = Network::weighted(&arcs, Some(&back));
    let error = shortest_paths(network, &[Ends::From(0)], PathOptions::default(), &Unmonitored).unwrap_err();
    assert!(
        matches!(&error, AlgorithmError::Nodes { text, nodes } if text.contains("bellman_ford") && *nodes == [1, 2])
    );
}

/// All paths without a node twice, by search.
fn simple_paths(network: Network<'_>, path: &mut Vec<u32>, target: u32, length: f64, found: &mut Vec<f64>) {
    let v = path[path.len() - 1];
    if v == target {
        return found.push(length);
    }
    for (w, weight) in network.out.weighted(v) {
        if !path.contains(&w) {
            path.push(w);
            simple_paths(network, path, target, length + weight, found);
            path.pop();
        }
    }
}

#[test]
fn the_k_shortest_paths_are_the_first_of_all_paths() {
    for seed in 0..200 {
        let (n, mut rows) = testing::rows(seed);
        let n = n.min(7);
        rows.retain(|&(u, v)| (u as usize) < n && (v as usize) < n);
        let arcs = WeightedArcs::new(n, rows.iter().map(|&(u, v)| (u, v, length(u, v, 0)))).unwrap();
        let back = arcs.reversed();
        let network = Network::weighted(&arcs, Some(&back));
        let target = n as u32 - 1;
        let mut all = Vec::new();
        simple_paths(network, &mut vec![0], target, 0.0, &mut all);
        all.sort_by(f64::total_cmp);
        for k in [2, 5, 1000] {
            let options = PathOptions { k, ..Default::default() };
            let found = shortest_paths(network, &[Ends::Pair(0, target)], options, &Unmonitored).unwrap();
            let lengths: Vec<f64> = found.iter().map(|path| path.distance).collect();
            assert_eq!(lengths, all[..all.len().min(k)], "graph {seed}");
            let mut paths: Vec<_> = found.iter().map(|path| path.nodes.clone()).collect();
            assert!(found.iter().zip(1..).all(|(path, rank)| path.rank == rank));
            paths.sort();
            paths.dedup();
            assert_eq!(paths.len(), found.len());
        }
    }
}
