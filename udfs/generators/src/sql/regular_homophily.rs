//! `regular_homophily(h [, classes => 5] [, nodes_per_class => 400] [, intra_edges => 800] [, seed => 0]
//! [, features => relation])`.

use std::sync::Arc;

use bonnet_graph::Monitor;
use bonnet_sql::{
    Body, Function, GeneratedGraph, Generator, GeneratorInputs, OptionValue, Options, Parameter, usage_error,
};
use datafusion::common::Result;

use super::features;
use super::lift::{count, graph, named, number, seed, to_sql};
use crate::{RegularHomophily, sample_features};

const NAME: &str = "regular_homophily";

/// The registration.
pub fn regular_homophily() -> Function {
    Function::new(NAME, Body::Generator(Arc::new(Regular)))
        .returns("src, dst; graph_id in front for a relation of parameters")
        .parameters([
            Parameter::number("h", "The edge homophily, above 0 and at most 1."),
            Parameter::integer("classes", "The number of classes.").or(OptionValue::Integer(5)),
            Parameter::integer("nodes_per_class", "The number of nodes of each class.").or(OptionValue::Integer(400)),
            Parameter::integer("intra_edges", "The number of edges within each class.").or(OptionValue::Integer(800)),
            Parameter::seed(),
            Parameter::relation("features", "Rows with label and features, such as the nodes of a graph: a node has the \
                features of a row of its class, drawn at random. Classes are labels in ascending order.")
            .optional(),
        ])
        .description(
            "Equal classes with a chosen edge homophily: each has intra_edges edges within and draws round(intra_edges / h) \
             - intra_edges to other classes, all distinct. CREATE GRAPH gives each node its class as label, and features where \
             they are given.",
        )
        .example("SELECT count(*) AS edges FROM regular_homophily(0.5)")
        .source("Luan et al., Are Heterophilic GNNs and Homophily Metrics Really Effective?, Sec. 4.1")
}

#[derive(Debug)]
struct Regular;

impl Generator for Regular {
    fn reads(&self, _: &str) -> &'static [&'static str] {
        &["label", "features"]
    }

    fn generate(&self, options: &Options, inputs: &GeneratorInputs, monitor: &dyn Monitor) -> Result<GeneratedGraph> {
        let generate = || {
            let model = RegularHomophily {
                h: number(options, "h")?,
                classes: count(options, "classes")?,
                nodes_per_class: count(options, "nodes_per_class")?,
                intra_edges: count(options, "intra_edges")?,
            };
            let mut graph = to_sql(crate::regular_homophily(&model, seed(options)?, monitor))?;
            if inputs.get("features").is_some() {
                let (pool, _reservation) = features::pool(inputs, monitor)?;
                let Some(labels) = &graph.labels else { return usage_error("the graph has no classes") };
                let sampled = to_sql(sample_features(NAME, &pool, labels, seed(options)?, monitor))?;
                graph.features = Some((pool.width, sampled));
            }
            Ok(graph)
        };
        generate().map(graph).map_err(|error| named(NAME, error))
    }
}
