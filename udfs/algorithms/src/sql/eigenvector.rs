//! `eigenvector_centrality(edges ...)` and `katz_centrality(edges ...)`.

use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::Reads;
use super::relation::{Answer, node_function};
use crate::IterationOptions;

const EIGENVECTOR: &str = "eigenvector_centrality";
const KATZ: &str = "katz_centrality";
const WEIGHTS: &str = "Whether to read the column weight, a strength. A sum of weights beyond a DOUBLE is an error.";

fn parameters() -> [Parameter; 2] {
    let default = IterationOptions::default();
    [
        Parameter::number("tolerance", "Ends when the values change by no more than this in sum.")
            .or(OptionValue::Number(default.tolerance)),
        Parameter::integer("max_iterations", "The most steps: an error says that values have not settled by then.")
            .or(OptionValue::Integer(default.max_iterations as i64)),
    ]
}

fn options(options: &Options) -> Result<IterationOptions> {
    let default = IterationOptions::default();
    let iteration = IterationOptions {
        tolerance: options.number("tolerance")?.unwrap_or(default.tolerance),
        max_iterations: options.integer_from("max_iterations", 1)?.map_or(default.max_iterations, |most| most as usize),
    };
    match iteration.validate() {
        Ok(()) => Ok(iteration),
        Err(error) => usage_error(error.to_string()),
    }
}

/// The registration of `eigenvector_centrality`.
pub fn eigenvector_centrality() -> Function {
    node_function(EIGENVECTOR, Reads::DIRECTED.weights(WEIGHTS), parameters(), |given| {
        let options = options(given)?;
        Ok(Answer::number(EIGENVECTOR, move |call| {
            call.with_network(|network| crate::eigenvector_centrality(network, &options, call.host))
        }))
    })
    .returns("node, eigenvector_centrality; graph_id in front where edges have it")
    .description(
        "The entry of every node in the eigenvector of the largest eigenvalue of the adjacency matrix, of length 1: a node is \
         central by the sum of its neighbours' centrality, with directed => true of those whose arcs arrive. Where several \
         components share the eigenvalue, what power iteration from equal values comes to. O(n + m) an iteration.",
    )
    .example("SELECT node, eigenvector_centrality FROM eigenvector_centrality(karate.edges) ORDER BY 2 DESC LIMIT 3")
    .source("Bonacich, Power and centrality: a family of measures (1987)")
}

/// The registration of `katz_centrality`.
pub fn katz_centrality() -> Function {
    let own = [
        Parameter::number("alpha", "What a further step counts for: less than 1 / the largest eigenvalue.")
            .or(OptionValue::Number(0.1)),
        Parameter::number("beta", "What every node has by itself.").or(OptionValue::Number(1.0)),
    ];
    node_function(KATZ, Reads::DIRECTED.weights(WEIGHTS), own.into_iter().chain(parameters()), bind_katz)
        .returns("node, katz_centrality; graph_id in front where edges have it")
        .description(
            "The number of walks to every node, one of length k counted alpha^k times, times beta; scaled to length 1. Walks follow \
             arcs with directed => true. An error where alpha is so large that the sum has no end. O(n + m) an iteration.",
        )
        .example("SELECT node, katz_centrality FROM katz_centrality(karate.edges) ORDER BY 2 DESC LIMIT 3")
        .source("Katz, A new status index derived from sociometric analysis (1953)")
}

fn bind_katz(given: &Options) -> Result<Answer> {
    let iteration = options(given)?;
    let alpha = given.number("alpha")?.unwrap_or(0.1);
    let beta = given.number("beta")?.unwrap_or(1.0);
    for (name, value) in [("alpha", alpha), ("beta", beta)] {
        if !(value > 0.0 && value.is_finite()) {
            return usage_error(format!("{name} => {value:?}: expected a positive number"));
        }
    }
    Ok(Answer::number(KATZ, move |call| {
        call.with_network(|network| crate::katz_centrality(network, alpha, beta, &iteration, call.host))
    }))
}
