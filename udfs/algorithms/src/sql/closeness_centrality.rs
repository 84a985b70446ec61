//! `closeness_centrality(edges [, nodes => relation] ...)`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

const NAME: &str = "closeness_centrality";

/// The description of weights as lengths.
pub(super) const LENGTHS: &str = "Whether the column weight holds the lengths of edges, positive numbers; 1 for all without it. A sum of weights beyond a DOUBLE is an error.";

/// The registration.
pub fn closeness_centrality() -> Function {
    node_function(NAME, Reads::DIRECTED.weights(LENGTHS), [], |_| {
        Ok(Answer::number(NAME, |call| call.with_network(|network| crate::closeness_centrality(network, call.host))))
    })
    .returns("node, closeness_centrality; graph_id in front where edges have it")
    .description(
        "The closeness of every node: of the r nodes from which a path leads to it, r over the sum of their distances, \
         times r / (n - 1); 0 where there is none. Arcs are followed with directed => true. Exact: one search per 512 nodes, \
         200 n bytes a thread; with weights a search per node, O((n + m) log n).",
    )
    .example("SELECT node, closeness_centrality FROM closeness_centrality(karate.edges) ORDER BY 2 DESC, node LIMIT 3")
    .source("Freeman (1978); Wasserman and Faust, Social network analysis (1994), Eq. 5.22, for graphs in several pieces")
}
