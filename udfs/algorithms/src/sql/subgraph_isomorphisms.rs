//! `subgraph_isomorphisms(edges, pattern [, nodes => relation] ...)`.

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field};
use bonnet_sql::{Function, KeyIndex, OptionValue, Options, Parameter};
use datafusion::common::Result;

use super::network::{Failure, counts};
use super::pattern::{PatternKernel, pattern_function};
use super::relation::count;

const NAME: &str = "subgraph_isomorphisms";

/// The registration.
pub fn subgraph_isomorphisms() -> Function {
    let pattern = Parameter::relation("pattern", "The edges of the graph to look for: src, dst.");
    let options = [
        Parameter::integer("max_results", "The most places in a graph; more are an error.")
            .or(OptionValue::Integer(1_000_000)),
        Parameter::integer("steps", "The most steps for a graph; where they do not do, an error.")
            .or(OptionValue::Integer(100_000_000)),
    ];
    pattern_function(NAME, pattern, options, fields, bind)
        .returns("node, pattern_node, subgraph_isomorphisms; graph_id in front where edges have it")
        .description(
            "The occurrences of the pattern in each graph, a row for each node of each occurrence: which node stands for which \
             of the pattern, with an edge where the pattern has one and none where it has none. Places are numbered \
             from 0; those that differ by a symmetry of the pattern are all there. Arcs are compared with directed => \
             true; loops and repeats do not count (a loop adds its node). Exponential at worst: a step is a look at a \
             node's neighbours.",
        )
        .example(
            "SELECT count(DISTINCT subgraph_isomorphisms) / 6 AS triangles FROM subgraph_isomorphisms(karate.edges, \
             (SELECT * FROM (VALUES (1, 2), (2, 3), (3, 1)) e(src, dst)))",
        )
        .source(
            "Cordella, Foggia, Sansone and Vento, A (sub)graph isomorphism algorithm for matching large graphs (2004); \
             petgraph's subgraph_isomorphisms_iter",
        )
}

fn fields(edges: &DataType, pattern: &DataType) -> Vec<Field> {
    vec![Field::new("node", edges.clone(), true), Field::new("pattern_node", pattern.clone(), true), count(NAME)]
}

fn bind(options: &Options) -> Result<PatternKernel> {
    let limit = options.integer_from("max_results", 1)?.unwrap_or(1_000_000) as usize;
    let steps = options.integer_from("steps", 1)?.unwrap_or(100_000_000) as u64;
    Ok(Box::new(move |call, pattern, directed| {
        let places = if directed {
            let (graph, _reservation) = call.digraph()?;
            crate::subgraph_isomorphisms(pattern.digraph().view(), graph.view(), limit, steps, call.host)?
        } else {
            crate::subgraph_isomorphisms(pattern.graph().view(), call.simple()?.view(), limit, steps, call.host)?
        };
        let size = pattern.keys.len();
        let pattern_nodes = places.iter().flat_map(|_| 0..size as u32).collect();
        let numbers: Vec<usize> = (0..places.len()).flat_map(|place| std::iter::repeat_n(place, size)).collect();
        Ok(vec![keys(&call.graph.keys, places.concat())?, keys(&pattern.keys, pattern_nodes)?, counts(&numbers)?])
    }))
}

fn keys(index: &KeyIndex, numbers: Vec<u32>) -> Result<ArrayRef, Failure> {
    take(&index.array(), &UInt32Array::from(numbers), None).map_err(|error| Failure::Engine(error.into()))
}
