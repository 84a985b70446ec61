//! `node_resistance_curvature(edges [, nodes => relation] [, weight => column])`.

use std::sync::Arc;

use arrow::array::Float64Array;
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{Binding, Body, Call, Function, GraphInput, InputGraph, Parameter, Run, kernel_error, stopped};
use datafusion::common::Result;
use rayon::prelude::*;

use super::edge_values::resistances;
use super::resistance::SOURCE;

const NAME: &str = "node_resistance_curvature";
/// Bytes of the answer for a node: key and value, each with its validity.
const ROW_BYTES: usize = 24;

/// The registration.
pub fn node_resistance_curvature() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            GraphInput::edges(),
            Parameter::relation("nodes", "The nodes: node; adds the isolated ones.").optional(),
            Parameter::name("weight", "The column with an edge's own resistance (a cost), positive; 1 where left out.")
                .optional(),
        ])
        .returns("node, curvature; graph_id in front where edges have it")
        .description(
            "The resistance curvature of every node: 1 - half of the sum, over its edges, of the effective resistance over \
             the edge's own. The nodes of a component sum to 1; an isolated node has 1.",
        )
        .example(
            "SELECT node, curvature FROM node_resistance_curvature(karate.edges, nodes => karate.nodes) \
             ORDER BY curvature, node LIMIT 3",
        )
        .source(SOURCE)
}

fn bind(call: &Call) -> Result<Binding> {
    let input = GraphInput::bind_weighted(NAME, call, "weight")?;
    let schema =
        input.schema([Field::new("node", input.key.clone(), true), Field::new("curvature", DataType::Float64, true)]);
    Ok(Binding::new(schema, input.reads.clone(), move |run| of_nodes(&input, run)).by_graph())
}

fn of_nodes(input: &GraphInput, run: &mut Run) -> Result<()> {
    let graphs = input.collect(run)?;
    let host = run.host();
    let one = |graph: &InputGraph| -> Result<Vec<f64>> {
        host.check().map_err(stopped)?;
        let own = resistances(NAME, graph)?;
        crate::node_resistance_curvature(graph.graph()?, own.as_deref(), host)
            .map_err(|error| kernel_error(NAME, error))
    };
    let nodes: usize = graphs.iter().map(InputGraph::n_nodes).sum();
    let _reservation = Reservation::new(host, ROW_BYTES * nodes).map_err(stopped)?;
    let found: Vec<Result<Vec<f64>>> = run.install(|| graphs.par_iter().map(one).collect());
    for (graph, values) in graphs.iter().zip(found) {
        graph.emit_nodes(run, vec![Arc::new(Float64Array::from(values?))])?;
    }
    Ok(())
}
