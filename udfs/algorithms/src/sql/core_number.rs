//! `core_number(edges [, nodes => relation])`.

use bonnet_sql::Function;

use super::network::Reads;
use super::relation::{Answer, node_function};

const NAME: &str = "core_number";

/// The registration.
pub fn core_number() -> Function {
    node_function(NAME, Reads::SIMPLE, [], |_| {
        Ok(Answer::count(NAME, |call| Ok(crate::core_number(call.simple()?, call.host)?)))
    })
        .returns("node, core_number; graph_id in front where edges have it")
        .description(
            "The core number of every node: the largest k for which it is in a subgraph whose nodes all have k neighbours or \
             more within it; 0 without neighbours. O(n + m).",
        )
        .example("SELECT core_number, count(*) AS nodes FROM core_number(karate.edges) GROUP BY 1 ORDER BY 1")
        .source("Seidman, Network structure and minimum degree (1983); Batagelj and Zaversnik (2003)")
}
