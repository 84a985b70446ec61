//! `eccentricity(edges [, nodes => relation] ...)`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

const NAME: &str = "eccentricity";

/// The registration.
pub fn eccentricity() -> Function {
    node_function(NAME, Reads::DIRECTED, [], |_| {
        Ok(Answer::count(NAME, |call| call.with_network(|network| crate::eccentricity(network, call.host))))
    })
    .returns("node, eccentricity; graph_id in front where edges have it")
    .description(
        "The largest distance in hops from every node to one that a path leads to; 0 where there is none. Arcs are followed \
         with directed => true. One search per 512 nodes, 200 n bytes a thread.",
    )
    .example("SELECT min(eccentricity) AS radius, max(eccentricity) AS diameter FROM eccentricity(karate.edges)")
    .source("Hage and Harary, Eccentricity and centrality in networks (1995)")
}
