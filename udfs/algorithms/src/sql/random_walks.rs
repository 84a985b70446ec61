//! `random_walks(edges [, nodes => relation] ...)`.

use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::{Reads, counts, nodes};
use super::node_relation::NodeRelation;
use super::relation::{Answer, count, graph_function};
use crate::WalkOptions;

const NAME: &str = "random_walks";

/// The registration.
pub fn random_walks() -> Function {
    let default = WalkOptions::default();
    let sources = NodeRelation::nodes(
        "sources",
        "The nodes to start from: node; with graph_id where edges have it. All by default.",
    );
    let reads = Reads::DIRECTED.weights(
        "Whether steps are by chance in proportion to the column weight. A sum of weights beyond a DOUBLE is an error.",
    );
    let options = [
        Parameter::integer("walks", "Walks from each source.").or(OptionValue::Integer(default.walks as i64)),
        Parameter::integer("length", "Steps of a walk; fewer where it comes to a node without arcs.")
            .or(OptionValue::Integer(default.length as i64)),
        Parameter::number("p", "Going straight back counts 1 / p times (node2vec).").or(OptionValue::Number(default.p)),
        Parameter::number("q", "Going where the last node has no arc to counts 1 / q times (node2vec).")
            .or(OptionValue::Number(default.q)),
        Parameter::seed(),
    ];
    graph_function(NAME, &["source", "node"], reads.choosing(sources), options, bind)
        .returns("source, node, walk, step; graph_id in front where edges have it")
        .description(
            "Random walks from every source: walk counts from 0 for each, and step from 0, which is the source itself. With p and q \
             of 1 each arc is as likely as another; else steps are those of node2vec. O(log(degree)) a step, O(degree) with \
             weights; 32 bytes a row.",
        )
        .example(
            "SELECT walk, array_agg(node ORDER BY step) AS nodes FROM random_walks(karate.edges, sources => (SELECT 0 AS node), walks => \
             2, length => 4) GROUP BY walk",
        )
        .source("Perozzi et al., DeepWalk (2014); Grover and Leskovec, node2vec (2016), Sec. 3.2.2")
}

fn bind(options: &Options) -> Result<Answer> {
    let default = WalkOptions::default();
    let options = WalkOptions {
        walks: options.integer_from("walks", 1)?.map_or(default.walks, |walks| walks as usize),
        length: options.integer_from("length", 0)?.map_or(default.length, |length| length as usize),
        p: options.number("p")?.unwrap_or(default.p),
        q: options.number("q")?.unwrap_or(default.q),
        seed: options.integer("seed")?.unwrap_or(0) as u64,
    };
    if let Err(error) = options.validate() {
        return usage_error(error.to_string());
    }
    Ok(Answer::new(vec![count("walk"), count("step")], move |call| {
        let sources: Vec<u32> = match call.chosen {
            Some(chosen) => chosen.iter().map(|source| source.0).collect(),
            None => (0..call.graph.n_nodes() as u32).collect(),
        };
        let walks = call.with_network(|network| crate::random_walks(network, &sources, &options, call.host))?;
        let rows: usize = walks.iter().map(Vec::len).sum();
        let _reservation = bonnet_graph::Reservation::new(call.host, 48 * rows)?;
        let (mut source, mut node) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut number, mut step) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for (i, walk) in walks.into_iter().enumerate() {
            for (at, v) in walk.iter().enumerate() {
                source.push(walk[0]);
                node.push(*v);
                number.push((i % options.walks) as i64);
                step.push(at as i64);
            }
        }
        Ok(vec![nodes(source), nodes(node), counts(&number)?, counts(&step)?])
    }))
}
