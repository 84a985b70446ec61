//! `maximal_cliques(edges [, nodes => relation] [, max_results => 1000000])`.

use bonnet_sql::{Function, OptionValue, Options, Parameter};
use datafusion::common::Result;

use super::network::{Reads, counts, nodes};
use super::relation::{Answer, count, graph_function};

/// The registration.
pub fn maximal_cliques() -> Function {
    let limit = Parameter::integer("max_results", "The most cliques of a graph; more are an error.");
    let limit = limit.or(OptionValue::Integer(1_000_000));
    graph_function("maximal_cliques", &["node"], Reads::SIMPLE, [limit], bind)
        .returns("node, maximal_cliques; graph_id in front where edges have it")
        .description(
            "The maximal cliques, a row for each node of each: nodes that are all adjacent, and no further node to all \
             of them. Numbered from 0 in the order of their keys. Direction, loops and repeats do not count. An error \
             where there are more than max_results. O(d n 3^(d / 3)) for degeneracy d.",
        )
        .example(
            "SELECT max(nodes) FROM (SELECT count(*) AS nodes FROM maximal_cliques(karate.edges) GROUP BY \
             maximal_cliques) c",
        )
        .source(
            "Eppstein, Löffler and Strash, Listing all maximal cliques in sparse graphs in near-optimal time (2010)",
        )
}

fn bind(options: &Options) -> Result<Answer> {
    let limit = options.integer_from("max_results", 1)?.unwrap_or(1_000_000) as usize;
    Ok(Answer::new(vec![count("maximal_cliques")], move |call| {
        let cliques = crate::maximal_cliques(call.simple()?, limit, call.host)?;
        let numbers: Vec<usize> =
            cliques.iter().enumerate().flat_map(|(i, clique)| std::iter::repeat_n(i, clique.len())).collect();
        Ok(vec![nodes(cliques.concat()), counts(&numbers)?])
    }))
}
