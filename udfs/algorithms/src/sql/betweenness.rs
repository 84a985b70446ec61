//! `betweenness_centrality(edges ...)` and `edge_betweenness(src, dst ...)`.

use arrow::datatypes::DataType;
use bonnet_sql::{Function, Options, Parameter};
use datafusion::common::Result;

use super::closeness_centrality::LENGTHS;
use super::edge::edge_function;
use super::network::{Reads, doubles};
use super::relation::{Answer, node_function, number};
use crate::BetweennessOptions;

const NAME: &str = "betweenness_centrality";
const SOURCE: &str = "Brandes, A faster algorithm for betweenness centrality (2001)";

fn parameters() -> [Parameter; 3] {
    [
        Parameter::boolean(
            "normalized",
            true,
            "Whether to divide by the number of pairs that could have it between them.",
        ),
        Parameter::integer("samples", "How many nodes to search from; NULL for all of them, which is exact.")
            .optional(),
        Parameter::seed(),
    ]
}

fn options(options: &Options) -> Result<BetweennessOptions> {
    Ok(BetweennessOptions {
        normalized: options.boolean("normalized")?.unwrap_or(true),
        samples: options.integer_from("samples", 1)?.map(|samples| samples as usize),
        seed: options.integer("seed")?.unwrap_or(0) as u64,
    })
}

/// The registration of `betweenness_centrality`.
pub fn betweenness_centrality() -> Function {
    node_function(NAME, Reads::DIRECTED.weights_last(LENGTHS), parameters(), bind)
        .returns("node, betweenness_centrality; with samples => k also standard_error; graph_id in front where edges have it")
        .description(
            "The share of shortest paths that lead through every node: over the pairs of other nodes, divided by the \
             number of these pairs unless normalized => false. Arcs are followed with directed => true. samples => k estimates it \
             from k random nodes, with its standard_error (0 where k is all of them, NULL for k = 1). O(n m), or O(k m); 170 n \
             bytes a thread; with weights O(log n) times that.",
        )
        .example("SELECT node, betweenness_centrality FROM betweenness_centrality(karate.edges) ORDER BY 2 DESC, node LIMIT 3")
        .source("Brandes, A faster algorithm for betweenness centrality (2001); Brandes and Pich (2007) for samples")
}

fn bind(given: &Options) -> Result<Answer> {
    let options = options(given)?;
    let mut fields = vec![number(NAME)];
    fields.extend(options.samples.map(|_| number("standard_error")));
    Ok(Answer::new(fields, move |call| {
        let found = call.with_network(|network| crate::betweenness_centrality(network, &options, call.host))?;
        let n = found.value.len();
        let mut columns = vec![doubles(found.value)];
        if let Some(samples) = options.samples {
            let unknown = if samples < n { f64::NAN } else { 0.0 };
            columns.push(super::network::defined(found.standard_error.unwrap_or_else(|| vec![unknown; n])));
        }
        Ok(columns)
    }))
}

/// The registration of `edge_betweenness`.
pub fn edge_betweenness() -> Function {
    let reads = Reads::DIRECTED.weights_last("The length of the edge, a positive number; 1 for all without it. A sum of weights beyond a DOUBLE is an error.");
    edge_function("edge_betweenness", DataType::Float64, reads, parameters(), |given| {
        let options = options(given)?;
        Ok(Box::new(move |network, call| Ok(crate::edge_betweenness(network, &options, call.host)?.value)))
    })
    .description(
        "The share of shortest paths that lead over an edge: over all pairs of nodes, divided by their number unless \
         normalized => false. Direction, loops and repeats do not count, but rows are arcs with directed => true; NULL for a loop \
         and where an endpoint is NULL. samples => k estimates it from k random nodes. O(n m), or O(k m); 170 n + 16 m bytes a thread; \
         with weights O(log n) times that.",
    )
    .example("SELECT src, dst, edge_betweenness FROM edge_betweenness(karate.edges) ORDER BY 3 DESC, src, dst LIMIT 3")
    .source(SOURCE)
}
