//! `local_clustering(edges [, nodes => relation] ...)`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

const NAME: &str = "local_clustering";

/// The registration.
pub fn local_clustering() -> Function {
    node_function(NAME, Reads::DIRECTED, [], |_| {
        Ok(Answer::number(NAME, |call| {
            let graph = call.simple()?;
            if !call.directed() {
                return Ok(crate::local_clustering(graph, call.host)?);
            }
            let (arcs, _reservation) = call.digraph()?;
            Ok(crate::directed_local_clustering(graph, &arcs, call.host)?)
        }))
    })
    .returns("node, local_clustering; graph_id in front where edges have it")
    .description(
        "The local clustering coefficient of every node: the share of pairs of its neighbours that are adjacent; 0 for fewer \
         than two neighbours. With directed => true its neighbours are the nodes that an arc joins it with, either way, and the share \
         is that of the arcs that could be between them. O(m sqrt(m)).",
    )
    .example("SELECT avg(local_clustering) FROM local_clustering(karate.edges)")
    .source("Watts and Strogatz, Collective dynamics of small-world networks (1998); with directed => true LCC of LDBC Graphalytics")
}
