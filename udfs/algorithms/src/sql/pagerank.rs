//! `pagerank(edges [, nodes => relation] ...)`.

use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::Reads;
use super::node_relation::NodeRelation;
use super::relation::{Answer, node_function};
use crate::PageRankOptions;

const NAME: &str = "pagerank";

/// The registration.
pub fn pagerank() -> Function {
    let reads =
        Reads::DIRECTED.weights("Whether the walk follows arcs in proportion to the column weight, a strength. A sum of weights beyond a DOUBLE is an error.");
    let chosen = NodeRelation::nodes(
        "personalisation",
        "Where jumps end: node, and weight for its share (1 where there is no such column); all nodes alike by default.",
    );
    let options = [
        Parameter::number("damping", "The chance of following an arc, in [0, 1).").or(OptionValue::Number(0.85)),
        Parameter::number("tolerance", "Ends when the ranks change by no more than this in sum.")
            .or(OptionValue::Number(1e-10)),
        Parameter::integer(
            "iterations",
            "Exactly so many steps from equal ranks instead, as LDBC Graphalytics has it.",
        )
        .optional(),
    ];
    node_function(NAME, reads.choosing(chosen.with_weights()), options, bind)
        .returns("node, pagerank; graph_id in front where edges have it")
        .description(
            "The share of its time that an endless walk spends at each node: it follows an arc with the chance damping, else \
             it jumps; from a node without arcs it always jumps. Shares add up to 1 in each graph. O(n + m) an iteration, at most \
             log(tolerance / 2) / log(damping) of them.",
        )
        .example("SELECT node, pagerank FROM pagerank(karate.edges) ORDER BY pagerank DESC LIMIT 3")
        .source("Page, Brin, Motwani and Winograd, The PageRank citation ranking (1999)")
}

fn bind(options: &Options) -> Result<Answer> {
    let default = PageRankOptions::default();
    let damping = options.number("damping")?.unwrap_or(default.damping);
    let tolerance = options.number("tolerance")?.unwrap_or(default.tolerance);
    let iterations = options.integer_from("iterations", 0)?.map(|iterations| iterations as usize);
    if let Err(error) = (PageRankOptions { damping, tolerance, iterations, personalisation: None }).validate() {
        return usage_error(error.to_string());
    }
    Ok(Answer::number(NAME, move |call| {
        let options = PageRankOptions { damping, tolerance, iterations, personalisation: call.chosen };
        call.with_network(|network| crate::pagerank(network, &options, call.host))
    }))
}
