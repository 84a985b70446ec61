//! `harmonic_centrality(edges [, nodes => relation] ...)`.

use bonnet_sql::Function;

use super::closeness_centrality::LENGTHS;
use super::network::Reads;
use super::relation::{Answer, node_function};

const NAME: &str = "harmonic_centrality";

/// The registration.
pub fn harmonic_centrality() -> Function {
    node_function(NAME, Reads::DIRECTED.weights(LENGTHS), [], |_| {
        Ok(Answer::number(NAME, |call| call.with_network(|network| crate::harmonic_centrality(network, call.host))))
    })
    .returns("node, harmonic_centrality; graph_id in front where edges have it")
    .description(
        "The harmonic centrality of every node: the sum of 1 / distance over the nodes from which a path leads to it. \
         Arcs are followed with directed => true. Exact: one search per 512 nodes, 200 n bytes a thread; with weights \
         a search per node, O((n + m) log n).",
    )
    .example("SELECT node, harmonic_centrality FROM harmonic_centrality(karate.edges) ORDER BY 2 DESC, node LIMIT 3")
    .source("Boldi and Vigna, Axioms for centrality (2014)")
}
