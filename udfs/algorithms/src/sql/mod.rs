//! The algorithms as SQL functions.
//!
//! [`relation::node_function`] lifts what answers a value for each node, [`relation::graph_function`] what answers
//! other rows about a graph, [`edge::edge_function`] what answers a value for each edge, [`pattern::pattern_function`]
//! what compares with another graph; `bonnet_sql::graph_aggregate` what is a cheap number of a graph.

mod articulation_points;
mod betweenness;
mod biconnected_components;
mod bridges;
mod closeness_centrality;
mod communities;
mod condensation;
mod core_number;
mod degree_assortativity;
mod degree_centrality;
mod diameter;
mod dominators;
mod eccentricity;
mod edge;
mod effective_diameter;
mod eigenvector;
mod encoding_tree;
mod feedback_arc_set;
mod graph_coloring;
mod harmonic_centrality;
mod is_bipartite;
mod is_isomorphic;
mod is_planar;
mod k_hop;
mod link_scores;
mod local_clustering;
mod maximal_cliques;
mod maximum_flow;
mod maximum_matching;
mod minimum_cut;
mod minimum_spanning_tree;
mod network;
mod node_embedding;
mod node_option;
mod node_relation;
mod pagerank;
mod pattern;
mod positional_encoding;
mod random_walks;
mod relation;
mod shortest_paths;
mod strong_components;
mod subgraph_isomorphisms;
mod topological_sort;
mod transitivity;
mod treewidth_upper_bound;
mod triangle_count;
mod truss_number;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        articulation_points::articulation_points(),
        betweenness::betweenness_centrality(),
        betweenness::edge_betweenness(),
        biconnected_components::biconnected_components(),
        bridges::bridges(),
        closeness_centrality::closeness_centrality(),
        communities::label_propagation_communities(),
        communities::leiden(),
        communities::louvain(),
        communities::modularity(),
        condensation::condensation(),
        core_number::core_number(),
        degree_assortativity::degree_assortativity(),
        degree_centrality::degree_centrality(),
        diameter::diameter(),
        dominators::dominators(),
        eccentricity::eccentricity(),
        effective_diameter::effective_diameter(),
        eigenvector::eigenvector_centrality(),
        eigenvector::katz_centrality(),
        encoding_tree::encoding_tree(),
        encoding_tree::structural_entropy(),
        feedback_arc_set::feedback_arc_set(),
        graph_coloring::graph_coloring(),
        harmonic_centrality::harmonic_centrality(),
        is_bipartite::is_bipartite(),
        is_isomorphic::is_isomorphic(),
        is_planar::is_planar(),
        k_hop::k_hop(),
        link_scores::adamic_adar(),
        link_scores::common_neighbors(),
        link_scores::jaccard_similarity(),
        link_scores::preferential_attachment_score(),
        link_scores::resource_allocation(),
        local_clustering::local_clustering(),
        maximal_cliques::maximal_cliques(),
        maximum_flow::maximum_flow(),
        maximum_matching::maximum_matching(),
        minimum_cut::minimum_cut(),
        minimum_spanning_tree::minimum_spanning_tree(),
        node_embedding::node_embedding(),
        pagerank::pagerank(),
        positional_encoding::positional_encoding(),
        random_walks::random_walks(),
        shortest_paths::shortest_paths(),
        strong_components::strong_components(),
        subgraph_isomorphisms::subgraph_isomorphisms(),
        topological_sort::topological_sort(),
        transitivity::transitivity(),
        treewidth_upper_bound::treewidth_upper_bound(),
        triangle_count::triangle_count(),
        truss_number::truss_number(),
    ]
}
