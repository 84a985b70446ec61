//! The algorithms as SQL functions.
//!
//! [`relation::node_function`] lifts what answers a value for each node, [`relation::graph_function`] what answers other
//! rows about a graph, [`edge::edge_function`] what answers a value for each edge; `bonnet_sql::graph_aggregate` what is a
//! cheap number of a graph.

mod betweenness;
mod chosen;
mod closeness_centrality;
mod communities;
mod core_number;
mod degree_assortativity;
mod degree_centrality;
mod diameter;
mod eccentricity;
mod edge;
mod effective_diameter;
mod eigenvector;
mod harmonic_centrality;
mod k_hop;
mod link_scores;
mod local_clustering;
mod network;
mod pagerank;
mod random_walks;
mod relation;
mod transitivity;
mod triangle_count;
mod truss_number;

use bonnet_sql::Function;

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![
        betweenness::betweenness_centrality(),
        betweenness::edge_betweenness(),
        closeness_centrality::closeness_centrality(),
        communities::label_propagation_communities(),
        communities::leiden(),
        communities::louvain(),
        communities::modularity(),
        core_number::core_number(),
        degree_assortativity::degree_assortativity(),
        degree_centrality::degree_centrality(),
        diameter::diameter(),
        eccentricity::eccentricity(),
        effective_diameter::effective_diameter(),
        eigenvector::eigenvector_centrality(),
        eigenvector::katz_centrality(),
        harmonic_centrality::harmonic_centrality(),
        k_hop::k_hop(),
        link_scores::adamic_adar(),
        link_scores::common_neighbors(),
        link_scores::jaccard_similarity(),
        link_scores::preferential_attachment_score(),
        link_scores::resource_allocation(),
        local_clustering::local_clustering(),
        pagerank::pagerank(),
        random_walks::random_walks(),
        transitivity::transitivity(),
        triangle_count::triangle_count(),
        truss_number::truss_number(),
    ]
}
