//! `k_hop(edges, sources [, nodes => relation] [, hops => 1] ...)`.

use bonnet_sql::{Function, OptionValue, Options, Parameter};
use datafusion::common::Result;

use super::network::{Reads, counts, nodes};
use super::node_relation::NodeRelation;
use super::relation::{Answer, count, graph_function};

const NAME: &str = "k_hop";

/// The registration.
pub fn k_hop() -> Function {
    let sources = NodeRelation::nodes("sources", "The nodes to start from: node; with graph_id where edges have it.");
    let hops = Parameter::integer("hops", "The most hops to take.").or(OptionValue::Integer(1));
    graph_function(NAME, &["source", "node"], Reads::DIRECTED.choosing(sources.required()), [hops], bind)
        .returns("source, node, distance; graph_id in front where edges have it")
        .description(
            "The nodes within so many hops of each source, itself among them at distance 0, with their distance; arcs are \
             followed with directed => true. The cost is that of the arcs of the nodes found.",
        )
        .example(
            "SELECT * FROM k_hop(karate.edges, (SELECT 0 AS node), hops => 2) WHERE distance = 2 ORDER BY node LIMIT 3",
        )
        .source("Moore, The shortest path through a maze (1959): breadth-first search")
}

fn bind(options: &Options) -> Result<Answer> {
    let hops = options.integer_from("hops", 0)?.unwrap_or(1).min(i64::from(u32::MAX)) as u32;
    Ok(Answer::new(vec![count("distance")], move |call| {
        let sources: Vec<u32> = call.chosen.unwrap_or_default().iter().map(|source| source.0).collect();
        let found = call.with_network(|network| crate::k_hop(network, &sources, hops, call.host))?;
        Ok(vec![nodes(found.source), nodes(found.node), counts(&found.distance)?])
    }))
}
