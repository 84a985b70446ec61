//! `degree_centrality(edges [, nodes => relation] ...)`.

use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::{Failure, Reads};
use super::relation::{Answer, node_function};
use crate::Direction;

const NAME: &str = "degree_centrality";

/// The registration.
pub fn degree_centrality() -> Function {
    let direction = Parameter::text("direction", "With directed => true: which arcs count, 'both', 'out' or 'in'.")
        .or(OptionValue::Text("both".to_owned()));
    node_function(NAME, Reads::DIRECTED, [direction], bind)
        .returns("node, degree_centrality; graph_id in front where edges have it")
        .description(
            "The neighbours of every node over the number of other nodes; with directed => true its arcs, which both leave and \
             arrive unless direction says otherwise. 1 in a graph of one node. O(n + m).",
        )
        .example("SELECT node, degree_centrality FROM degree_centrality(karate.edges) ORDER BY 2 DESC, node LIMIT 3")
        .source("Freeman, Centrality in social networks: conceptual clarification (1978)")
}

fn bind(options: &Options) -> Result<Answer> {
    let direction = match options.text("direction")? {
        None | Some("both") => Direction::Both,
        Some("out") => Direction::Out,
        Some("in") => Direction::Into,
        Some(other) => return usage_error(format!("direction => '{other}': expected 'both', 'out' or 'in'")),
    };
    Ok(Answer::number(NAME, move |call| {
        call.with_network(|network| Ok::<_, Failure>(crate::degree_centrality(network, direction)))
    }))
}
