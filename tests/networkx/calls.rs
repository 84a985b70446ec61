//! The calls that are compared.

use super::graphs::{SOURCE, TARGET};

/// A call on all graphs of the tables of [`super::graphs::tables`].
#[derive(Debug)]
pub(super) struct Call {
    /// Its function, and how it reads edges: the words that `peer.py` knows.
    pub(super) name: &'static str,
    pub(super) sql: String,
    /// The most nodes of graphs that it is for.
    pub(super) most: usize,
}

/// What stands in FROM after the function's name and columns; `nodes` are always given but to edge functions.
const NODES: [(&str, &str, &str); 64] = [
    ("pagerank", "", ""),
    ("pagerank directed", "", "directed => true, tolerance => 1e-12"),
    ("pagerank weights", "", "weights => true"),
    ("pagerank directed weights personalised", "", "directed => true, weights => true, personalisation => jumps"),
    ("degree_centrality", "", ""),
    ("degree_centrality directed", "", "directed => true"),
    ("degree_centrality directed in", "", "directed => true, direction => 'in'"),
    ("degree_centrality directed out", "", "directed => true, direction => 'out'"),
    ("eigenvector_centrality", "", "max_iterations => 1000000"),
    ("eigenvector_centrality weights", "", "weights => true, max_iterations => 1000000"),
    ("katz_centrality", "", "alpha => 0.005, beta => 2"),
    ("katz_centrality directed weights", "", "alpha => 0.005, beta => 2, directed => true, weights => true"),
    ("betweenness_centrality", "", ""),
    ("betweenness_centrality raw", "", "normalized => false"),
    ("betweenness_centrality directed", "", "directed => true"),
    ("betweenness_centrality weights", "", "weights => true"),
    ("betweenness_centrality directed weights", "", "directed => true, weights => true"),
    ("closeness_centrality", "", ""),
    ("closeness_centrality directed", "", "directed => true"),
    ("closeness_centrality weights", "", "weights => true"),
    ("closeness_centrality directed weights", "", "directed => true, weights => true"),
    ("harmonic_centrality", "", ""),
    ("harmonic_centrality directed", "", "directed => true"),
    ("harmonic_centrality weights", "", "weights => true"),
    ("core_number", "", ""),
    ("triangle_count", "", ""),
    ("local_clustering", "", ""),
    ("local_clustering directed", "", "directed => true"),
    ("connected_components", "node, component", ""),
    ("strong_components", "", ""),
    ("condensation", "src, dst, condensation", ""),
    ("articulation_points", "", ""),
    ("topological_sort ascending", "", ""),
    ("dominators", "", "source => SOURCE"),
    ("eccentricity", "", ""),
    ("eccentricity directed", "", "directed => true"),
    ("diameter", "diameter", ""),
    ("diameter directed", "diameter", "directed => true"),
    ("effective_diameter", "effective_diameter", ""),
    ("effective_diameter directed", "effective_diameter", "directed => true"),
    ("minimum_cut", "", "source => SOURCE, target => TARGET"),
    ("minimum_cut directed weights", "", "source => SOURCE, target => TARGET, directed => true, weights => true"),
    ("maximum_flow", "src, dst, maximum_flow", "source => SOURCE, target => TARGET"),
    ("maximum_flow weights", "src, dst, maximum_flow", "source => SOURCE, target => TARGET, weights => true"),
    (
        "maximum_flow directed weights",
        "src, dst, maximum_flow",
        "source => SOURCE, target => TARGET, directed => true, weights => true",
    ),
    ("graph_coloring", "", ""),
    ("label_propagation_communities", "", ""),
    ("label_propagation_communities directed", "", "directed => true"),
    ("louvain", "", ""),
    ("louvain weights", "", "weights => true"),
    ("leiden", "", ""),
    ("leiden weights", "", "weights => true"),
    ("maximal_cliques", "", ""),
    ("is_planar", "is_planar", ""),
    ("treewidth_upper_bound", "treewidth_upper_bound", ""),
    ("treewidth_upper_bound fill", "treewidth_upper_bound", "method => 'min_fill'"),
    ("random_walks", "source, node, walk, step", "walks => 2, length => 5"),
    (
        "random_walks directed",
        "source, node, walk, step",
        "walks => 2, length => 5, p => 0.5, q => 2, directed => true",
    ),
    ("common_neighbors", "src, dst, common_neighbors", ""),
    ("jaccard_similarity", "src, dst, jaccard_similarity", ""),
    ("adamic_adar", "src, dst, adamic_adar", ""),
    ("resource_allocation", "src, dst, resource_allocation", ""),
    ("preferential_attachment_score", "src, dst, preferential_attachment_score", ""),
    ("jaccard_similarity pairs", "src, dst, jaccard_similarity", "pairs => pairs"),
];

/// Functions with a second relation.
const CHOOSING: [(&str, &str, &str, &str); 11] = [
    ("modularity", "modularity", "thirds", "resolution => 1.5"),
    ("modularity weights", "modularity", "thirds", "resolution => 1.5, weights => true"),
    ("k_hop", "source, node, distance", "sources", "hops => 2"),
    ("k_hop directed", "source, node, distance", "sources", "hops => 2, directed => true"),
    ("shortest_paths", "source, target, distance, path", "sources", ""),
    (
        "shortest_paths directed weights",
        "source, target, distance, path",
        "sources",
        "directed => true, weights => true",
    ),
    (
        "shortest_paths directed weights signed",
        "source, target, distance, path",
        "sources",
        "directed => true, weights => true, algorithm => 'bellman_ford'",
    ),
    ("shortest_paths pairs", "source, target, distance, path", "ends", ""),
    ("shortest_paths pairs weights", "source, target, distance, path", "ends", "weights => true"),
    ("shortest_paths pairs four", "source, target, rank, distance, path", "ends", "k => 4"),
    (
        "shortest_paths pairs four directed weights",
        "source, target, rank, distance, path",
        "ends",
        "k => 4, directed => true, weights => true",
    ),
];

/// Functions of edges, which see no isolated nodes.
const EDGES: [(&str, &str); 7] = [
    ("edge_betweenness edges", ""),
    ("edge_betweenness edges directed", "directed => true"),
    ("truss_number", ""),
    ("biconnected_components", ""),
    ("bridges", ""),
    ("maximum_matching", ""),
    ("feedback_arc_set directed", ""),
];

/// The most nodes where enumeration or networkx takes too long on larger graphs.
const MOST: [(&str, usize); 4] = [
    ("is_isomorphic", 200),
    ("subgraph_isomorphisms", 100),
    ("treewidth_upper_bound", 200),
    ("shortest_paths pairs four", 200),
];

/// All calls.
pub(super) fn calls() -> Vec<Call> {
    let function = |name: &'static str| name.split(' ').next().unwrap();
    let separated = |options: &str| if options.is_empty() { String::new() } else { format!(", {options}") };
    let edges = |name: &str| match name {
        _ if name.contains("ascending") => "(SELECT graph_id, src, dst FROM e WHERE src < dst)",
        _ if name.contains("signed") => "(SELECT graph_id, src, dst, signed AS weight FROM e)",
        _ => "e",
    };
    let mut calls = Vec::new();
    let mut add = |name: &'static str, sql: String| {
        let sql = sql.replace("SOURCE", &SOURCE.to_string()).replace("TARGET", &TARGET.to_string());
        let most = MOST.iter().find(|(start, _)| name.starts_with(start)).map_or(usize::MAX, |(_, most)| *most);
        calls.push(Call { name, sql, most });
    };
    for (name, columns, options) in NODES {
        let columns = if columns.is_empty() { format!("node, {}", function(name)) } else { columns.to_owned() };
        let (function, edges, options) = (function(name), edges(name), separated(options));
        add(name, format!("SELECT graph_id, {columns} FROM {function}({edges}, nodes => n{options})"));
    }
    for (name, columns, second, options) in CHOOSING {
        let (function, edges, options) = (function(name), edges(name), separated(options));
        add(name, format!("SELECT graph_id, {columns} FROM {function}({edges}, {second}, nodes => n{options})"));
    }
    for (name, options) in EDGES {
        let (function, options) = (function(name), separated(options));
        add(
            name,
            format!(
                "SELECT graph_id, src, dst, {function}(src, dst{options}) OVER (PARTITION BY graph_id) FROM e
                 ORDER BY 1, 2, 3"
            ),
        );
    }
    add(
        "edge_betweenness edges directed weights",
        "SELECT graph_id, src, dst, edge_betweenness FROM edge_betweenness(e, directed => true, weight => weight)
         ORDER BY 1, 2, 3"
            .to_owned(),
    );
    let tree = "minimum_spanning_tree(src, dst, weight => weight) OVER (PARTITION BY graph_id)";
    add("minimum_spanning_tree weights", format!("SELECT graph_id, src, dst, {tree} FROM e ORDER BY 1, 2, 3"));
    for name in ["transitivity", "degree_assortativity", "is_bipartite"] {
        add(name, format!("SELECT graph_id, {name}(src, dst) FROM e GROUP BY graph_id ORDER BY 1"));
    }
    let pattern = "(SELECT * FROM (VALUES (1, 2), (1, 3), (2, 3), (3, 4)) AS t(src, dst))";
    for (name, directed) in [("subgraph_isomorphisms", "false"), ("subgraph_isomorphisms directed", "true")] {
        add(
            name,
            format!(
                "SELECT graph_id, node, pattern_node, subgraph_isomorphisms
                 FROM subgraph_isomorphisms(e, {pattern}, nodes => n, directed => {directed})"
            ),
        );
    }
    for (name, directed) in [("is_isomorphic edges", "false"), ("is_isomorphic edges directed", "true")] {
        add(name, format!("SELECT graph_id, is_isomorphic FROM is_isomorphic(e, other, directed => {directed})"));
    }
    calls
}

/// The six algorithms of LDBC Graphalytics: BFS, PageRank, WCC, CDLP, LCC and SSSP.
pub(super) fn graphalytics() -> Vec<Call> {
    let call =
        |name: &'static str, from: &str| Call { name, sql: format!("SELECT graph_id, {from}"), most: usize::MAX };
    vec![
        call("k_hop all", "source, node, distance FROM k_hop(e, sources, nodes => n, hops => 1000)"),
        call(
            "k_hop directed all",
            "source, node, distance FROM k_hop(e, sources, nodes => n, hops => 1000, directed => true)",
        ),
        call("pagerank ten", "node, pagerank FROM pagerank(e, nodes => n, iterations => 10)"),
        call(
            "pagerank directed ten",
            "node, pagerank FROM pagerank(e, nodes => n, iterations => 10, directed => true)",
        ),
        call("connected_components", "node, component FROM connected_components(e, nodes => n)"),
        call(
            "label_propagation_communities ten",
            "node, label_propagation_communities FROM label_propagation_communities(e, nodes => n, iterations => 10)",
        ),
        call(
            "label_propagation_communities directed ten",
            "node, label_propagation_communities
             FROM label_propagation_communities(e, nodes => n, iterations => 10, directed => true)",
        ),
        call("local_clustering", "node, local_clustering FROM local_clustering(e, nodes => n)"),
        call(
            "local_clustering directed",
            "node, local_clustering FROM local_clustering(e, nodes => n, directed => true)",
        ),
        call(
            "shortest_paths weights",
            "source, target, distance, path FROM shortest_paths(e, sources, nodes => n, weights => true)",
        ),
        call(
            "shortest_paths directed weights",
            "source, target, distance, path
             FROM shortest_paths(e, sources, nodes => n, directed => true, weights => true)",
        ),
    ]
}
