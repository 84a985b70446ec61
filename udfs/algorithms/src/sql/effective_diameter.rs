//! `effective_diameter(edges [, nodes => relation] ...)`.

use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::{Reads, defined};
use super::relation::{Answer, graph_function, number};

const NAME: &str = "effective_diameter";

/// The registration.
pub fn effective_diameter() -> Function {
    let options = [
        Parameter::number("quantile", "The share of pairs that are to be within it, in (0, 1].")
            .or(OptionValue::Number(0.9)),
        Parameter::integer("samples", "How many nodes to search from; NULL for all of them, which is exact.")
            .optional(),
        Parameter::seed(),
    ];
    graph_function(NAME, &[], Reads::DIRECTED, options, bind)
        .returns("effective_diameter, one row; graph_id in front where edges have it, one row each")
        .description(
            "The distance within which 90 % of the pairs of nodes lie that a path joins (or another quantile), interpolated \
             between whole hops; NULL without edges. Arcs are followed with directed => true. One search per 512 nodes, 200 n bytes \
             a thread; samples => k counts the pairs from k random nodes.",
        )
        .example("SELECT * FROM effective_diameter(karate.edges)")
        .source("Leskovec, Kleinberg and Faloutsos, Graphs over time (2005), Sec. 3.2")
}

fn bind(options: &Options) -> Result<Answer> {
    let quantile = options.number("quantile")?.unwrap_or(0.9);
    if !(quantile > 0.0 && quantile <= 1.0) {
        return usage_error(format!("quantile => {quantile:?}: expected a number in (0, 1]"));
    }
    let samples = options.integer_from("samples", 1)?.map(|samples| samples as usize);
    let seed = options.integer("seed")?.unwrap_or(0) as u64;
    Ok(Answer::new(vec![number(NAME)], move |call| {
        let found =
            call.with_network(|network| crate::effective_diameter(network, quantile, samples, seed, call.host))?;
        Ok(vec![defined(vec![found.unwrap_or(f64::NAN)])])
    }))
}
