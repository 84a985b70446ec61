//! `is_isomorphic(edges, other [, nodes => relation] ...)`.

use bonnet_sql::{Function, OptionValue, Options, Parameter};
use datafusion::common::Result;

use super::network::booleans;
use super::pattern::{PatternKernel, pattern_function};
use super::relation::boolean;

/// The registration.
pub fn is_isomorphic() -> Function {
    let other = Parameter::relation("other", "The edges of the graph to compare with: src, dst.");
    let steps = Parameter::integer("steps", "The most steps for a graph; where they do not do, an error.");
    let steps = steps.or(OptionValue::Integer(100_000_000));
    pattern_function("is_isomorphic", other, [steps], |_, _| vec![boolean("is_isomorphic")], bind)
        .returns("is_isomorphic; graph_id in front where edges have it")
        .description(
            "Whether each graph of edges is the other one but for the names of its nodes: a row for each graph. Arcs \
             are compared with directed => true; loops and repeats do not count (a loop adds its node). Exponential at \
             worst, as on large regular graphs: a step is a look at a node's neighbours.",
        )
        .example(
            "SELECT is_isomorphic FROM is_isomorphic((SELECT * FROM (VALUES (1, 2), (2, 3), (3, 1)) e(src, dst)), \
             (SELECT * FROM (VALUES ('a', 'b'), ('c', 'b'), ('c', 'a')) e(src, dst)))",
        )
        .source(
            "Cordella, Foggia, Sansone and Vento, A (sub)graph isomorphism algorithm for matching large graphs (2004); \
             petgraph's is_isomorphic",
        )
}

fn bind(options: &Options) -> Result<PatternKernel> {
    let steps = options.integer_from("steps", 1)?.unwrap_or(100_000_000) as u64;
    Ok(Box::new(move |call, other, directed| {
        let same = if directed {
            let (graph, _reservation) = call.digraph()?;
            crate::is_isomorphic(other.digraph().view(), graph.view(), steps, call.host)?
        } else {
            crate::is_isomorphic(other.graph().view(), call.simple()?.view(), steps, call.host)?
        };
        Ok(vec![booleans(vec![same])])
    }))
}
