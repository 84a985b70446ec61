//! `local_clustering(edges [, nodes => relation])`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

const NAME: &str = "local_clustering";

/// The registration.
pub fn local_clustering() -> Function {
    node_function(NAME, Reads::SIMPLE, [], |_| {
        Ok(Answer::number(NAME, |call| Ok(crate::local_clustering(call.simple()?, call.host)?)))
    })
    .returns("node, local_clustering; graph_id in front where edges have it")
    .description(
        "The local clustering coefficient of every node: the share of pairs of its neighbours that are adjacent; 0 for fewer \
         than two neighbours. O(m sqrt(m)).",
    )
    .example("SELECT avg(local_clustering) FROM local_clustering(karate.edges)")
    .source("Watts and Strogatz, Collective dynamics of small-world networks (1998)")
}
