//! What kernels say of their progress.

use std::sync::atomic::{AtomicU64, Ordering};

use bonnet_graph::{Digraph, Graph, Monitor, Stopped};

use crate::*;

/// A monitor that counts.
#[derive(Default)]
struct Counting {
    expected: AtomicU64,
    done: AtomicU64,
    /// How often work was said to be done.
    advances: AtomicU64,
    /// The most by which more was done than expected.
    beyond: AtomicU64,
}

impl Monitor for Counting {
    fn check(&self) -> Result<(), Stopped> {
        Ok(())
    }

    fn reserve(&self, _bytes: usize) -> Result<(), Stopped> {
        Ok(())
    }

    fn release(&self, _bytes: usize) {}

    fn expect(&self, units: u64) {
        self.expected.fetch_add(units, Ordering::SeqCst);
    }

    fn advance(&self, units: u64) {
        self.advances.fetch_add(1, Ordering::SeqCst);
        let done = self.done.fetch_add(units, Ordering::SeqCst) + units;
        self.beyond.fetch_max(done.saturating_sub(self.expected.load(Ordering::SeqCst)), Ordering::SeqCst);
    }
}

/// Nodes in a ring, each joined to the next and to one some way on, and every tenth to the first.
const NODES: u32 = 40_000;

fn edges() -> Vec<(u32, u32)> {
    let ring = (0..NODES).flat_map(|v| [(v, (v + 1) % NODES), (v, (v + 2) % NODES), (v, (v * 7 + 3) % NODES)]);
    ring.chain((1..NODES / 10).map(|v| (0, 10 * v))).collect()
}

/// The first nodes of the same graph, for what takes long.
fn few(nodes: u32) -> Vec<(u32, u32)> {
    edges().into_iter().filter(|&(u, v)| u.max(v) < nodes).collect()
}

type Kernel<'a> = (&'static str, Box<dyn Fn(&dyn Monitor) + 'a>);

fn kernel<'a>(name: &'static str, run: impl Fn(&dyn Monitor) + 'a) -> Kernel<'a> {
    (name, Box::new(run))
}

#[test]
fn every_heavy_kernel_says_how_far_it_is_and_never_more_than_it_expects() {
    let graph = Graph::from_edges(NODES as usize, &edges());
    let arcs = Digraph::from_arcs(NODES as usize, &edges());
    let small = Graph::from_edges(3000, &few(3000));
    let small_arcs = Digraph::from_arcs(3000, &few(3000));
    let small_into = small_arcs.reversed();
    let lengths = small.edges().flat_map(|(u, v)| [(u, v, 2.0), (v, u, 2.0)]).collect::<Vec<_>>();
    let lengths = WeightedArcs::new(3000, lengths.into_iter()).unwrap();
    let lengths_into = lengths.reversed();
    // All of its nodes are equally far from another, so that each has to be looked at.
    let ring = Graph::from_edges(3000, &(0..3000u32).map(|v| (v, (v + 1) % 3000)).collect::<Vec<_>>());
    let star = Graph::from_edges(100, &(1..100u32).map(|v| (0u32, v)).collect::<Vec<_>>());
    let whole = Network::undirected(&graph);
    let network = Network::undirected(&small);
    let directed = Network::directed(&small_arcs, &small_into);
    let weighted = Network::weighted(&lengths, Some(&lengths_into));
    let sources: Vec<u32> = (0..40).collect();
    let pairs: Vec<(u32, u32)> = (0..NODES - 1).map(|v| (v, v + 1)).collect();
    let ends: Vec<Ends> = sources.iter().map(|&v| Ends::From(v)).collect();
    let betweenness = BetweennessOptions::default();
    let iteration = IterationOptions { tolerance: 1e-4, ..IterationOptions::default() };
    let asynchronous = LabelPropagation::Asynchronous { seed: 1 };
    let synchronous = LabelPropagation::Synchronous { iterations: 10 };
    let kernels: Vec<Kernel<'_>> = vec![
        kernel("betweenness_centrality", |m| _ = betweenness_centrality(network, &betweenness, m).unwrap()),
        kernel("edge_betweenness", |m| _ = edge_betweenness(network, &betweenness, m).unwrap()),
        kernel("betweenness_centrality, lengths", |m| _ = betweenness_centrality(weighted, &betweenness, m).unwrap()),
        kernel("closeness_centrality", |m| _ = closeness_centrality(network, m).unwrap()),
        kernel("closeness_centrality, lengths", |m| _ = closeness_centrality(weighted, m).unwrap()),
        kernel("harmonic_centrality", |m| _ = harmonic_centrality(network, m).unwrap()),
        kernel("eccentricity", |m| _ = eccentricity(network, m).unwrap()),
        kernel("effective_diameter", |m| _ = effective_diameter(network, 0.9, None, 0, m).unwrap()),
        kernel("diameter", |m| _ = diameter(Network::undirected(&ring), m).unwrap()),
        kernel("diameter, directed", |m| _ = diameter(directed, m).unwrap()),
        kernel("eigenvector_centrality", |m| _ = eigenvector_centrality(network, &iteration, m).unwrap()),
        kernel("katz_centrality", |m| _ = katz_centrality(network, 0.02, 1.0, &iteration, m).unwrap()),
        kernel("pagerank", |m| _ = pagerank(network, &PageRankOptions::default(), m).unwrap()),
        kernel("triangle_count", |m| _ = triangle_count(&graph, m).unwrap()),
        kernel("local_clustering", |m| _ = local_clustering(&graph, m).unwrap()),
        kernel("directed_local_clustering", |m| _ = directed_local_clustering(&graph, &arcs, m).unwrap()),
        kernel("transitivity", |m| _ = transitivity(&graph, m).unwrap()),
        kernel("truss_number", |m| _ = truss_number(&graph, m).unwrap()),
        kernel("core_number", |m| _ = core_number(&graph, m).unwrap()),
        kernel("louvain", |m| _ = louvain(whole, &CommunityOptions::default(), m).unwrap()),
        kernel("louvain, few nodes", |m| _ = louvain(network, &CommunityOptions::default(), m).unwrap()),
        kernel("leiden", |m| _ = leiden(whole, &CommunityOptions::default(), m).unwrap()),
        kernel("label_propagation", |m| _ = label_propagation_communities(whole, asynchronous, m).unwrap()),
        kernel("label_propagation, synchronous", |m| _ = label_propagation_communities(whole, synchronous, m).unwrap()),
        kernel("link_scores", |m| _ = link_scores(&graph, LinkScore::Jaccard, &pairs, m).unwrap()),
        kernel("two_hop_scores", |m| _ = two_hop_scores(&small, LinkScore::AdamicAdar, m).unwrap()),
        kernel("k_hop", |m| _ = k_hop(network, &sources, 3, m).unwrap()),
        kernel("random_walks", |m| _ = random_walks(network, &sources, &WalkOptions::default(), m).unwrap()),
        kernel("shortest_paths", |m| _ = shortest_paths(network, &ends, PathOptions::default(), m).unwrap()),
        kernel("maximal_cliques", |m| _ = maximal_cliques(&small, 1 << 20, m).unwrap()),
        kernel("maximum_matching", |m| _ = maximum_matching(&star, m).unwrap()),
        kernel("treewidth, degree", |m| _ = treewidth_upper_bound(&small, Elimination::MinDegree, m).unwrap()),
    ];
    for (name, run) in kernels {
        let monitor = Counting::default();
        run(&monitor);
        let [expected, done, advances, beyond] = [&monitor.expected, &monitor.done, &monitor.advances, &monitor.beyond]
            .map(|count| count.load(Ordering::SeqCst));
        assert!(expected > 0, "{name} expects nothing");
        assert_eq!(beyond, 0, "{name} does more than it expects");
        assert_eq!(done, expected, "{name} ends before all is done");
        assert!(advances > 1, "{name} says once that {done} of {expected} are done");
    }
}

#[test]
fn kernels_that_do_not_know_how_much_is_to_come_say_nothing() {
    let graph = Graph::from_edges(3000, &few(3000));
    let arcs = Digraph::from_arcs(3000, &few(3000));
    let ordered: Vec<(u32, u32)> = few(3000).into_iter().filter(|(u, v)| u < v).collect();
    let ordered = Digraph::from_arcs(3000, &ordered);
    let network = Network::undirected(&graph);
    let triangle = Graph::from_edges(3, &[(0, 1), (0, 2), (1, 2)]);
    // As the documentation of the crate lists them.
    let kernels: Vec<Kernel<'_>> = vec![
        kernel("graph_coloring", |m| _ = graph_coloring(&graph, m).unwrap()),
        kernel("maximum_flow, minimum_cut", |m| {
            let flow = maximum_flow(network, 0, 5, m).unwrap();
            _ = minimum_cut(network, 0, &flow, m).unwrap();
        }),
        kernel("feedback_arc_set", |m| _ = feedback_arc_set(Network::of_arcs(&arcs), m).unwrap()),
        kernel("minimum_spanning_tree", |m| _ = minimum_spanning_tree(network, m).unwrap()),
        kernel("strong_components", |m| _ = strong_components(&arcs, m).unwrap()),
        kernel("biconnected_components", |m| _ = biconnected_components(&graph, m).unwrap()),
        kernel("articulation_points", |m| _ = articulation_points(&graph, m).unwrap()),
        kernel("bridges", |m| _ = bridges(&graph, m).unwrap()),
        kernel("dominators", |m| _ = dominators(&arcs, 0, m).unwrap()),
        kernel("is_bipartite", |m| _ = is_bipartite(&graph, m).unwrap()),
        kernel("is_planar", |m| _ = is_planar(&graph, m).unwrap()),
        kernel("topological_sort", |m| _ = topological_sort(&ordered, m).unwrap()),
        kernel("subgraph_isomorphisms", |m| {
            _ = subgraph_isomorphisms(triangle.view(), triangle.view(), 100, 1 << 20, m).unwrap();
        }),
        kernel("is_isomorphic", |m| _ = is_isomorphic(triangle.view(), triangle.view(), 1 << 20, m).unwrap()),
    ];
    for (name, run) in kernels {
        let monitor = Counting::default();
        run(&monitor);
        let said = [&monitor.expected, &monitor.advances].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(said, [0, 0], "{name} knows how far it is: take it off the list");
    }
}
