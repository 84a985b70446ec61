//! `diameter(edges [, nodes => relation] ...)`.

use bonnet_sql::Function;

use super::network::{Reads, counts};
use super::relation::{Answer, count, graph_function};

const NAME: &str = "diameter";

/// The registration.
pub fn diameter() -> Function {
    graph_function(NAME, &[], Reads::DIRECTED, [], |_| {
        Ok(Answer::new(vec![count(NAME)], |call| {
            let diameter = call.with_network(|network| crate::diameter(network, call.host))?;
            Ok(vec![counts(&[diameter])?])
        }))
    })
    .returns("diameter, one row; graph_id in front where edges have it, one row each")
    .description(
        "The largest distance in hops between two nodes that a path joins; 0 without edges. Exact, and usually by some tens of \
         searches: bounds from a node in the middle say when the rest cannot be further apart. Arcs are followed with directed \
         => true, by a search from every node.",
    )
    .example("SELECT * FROM diameter(karate.edges)")
    .source("Crescenzi et al., On computing the diameter of real-world undirected graphs (2013): iFUB")
}
