//! `connected_components(edges [, nodes => relation])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Monitor, Reservation, watched_components};
use bonnet_sql::{Binding, Body, Call, Function, GraphInput, Parameter, Run, stopped};
use datafusion::common::Result;

const NAME: &str = "connected_components";

/// The registration.
pub fn connected_components() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            GraphInput::edges(),
            Parameter::relation("nodes", "The nodes: node; adds the isolated ones, each its own component.").optional(),
        ])
        .returns("node, component, size; graph_id in front where edges have it")
        .description(
            "The connected component of every node, direction ignored. Components count from 0 by falling size, ties by \
             smallest key: the largest is component = 0. O(n + m).",
        )
        .example("SELECT max(size) FROM connected_components(karate.edges)")
        .source("Moore, The shortest path through a maze (1959): breadth-first search")
}

fn bind(call: &Call) -> Result<Binding> {
    let input = GraphInput::bind(NAME, call)?.graph_alone(true);
    let count = |name| Field::new(name, DataType::Int64, true);
    let schema = input.schema([Field::new("node", input.key.clone(), true), count("component"), count("size")]);
    Ok(Binding::new(schema, input.reads.clone(), move |run| components(&input, run)).by_graph())
}

fn components(input: &GraphInput, run: &mut Run) -> Result<()> {
    for graph in input.collect(run)? {
        let host = run.host();
        host.check().map_err(stopped)?;
        // The components, and the answer.
        let _reservation = Reservation::new(host, 40 * graph.n_nodes()).map_err(stopped)?;
        let undirected = graph.graph()?;
        let components = run.install(|| watched_components(undirected, host)).map_err(stopped)?;
        let column = |value: &dyn Fn(u32) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(components.of_node.iter().map(|&component| value(component))))
        };
        let columns = vec![
            column(&|component| i64::from(component)),
            column(&|component| components.sizes[component as usize] as i64),
        ];
        graph.emit_nodes(run, columns)?;
    }
    Ok(())
}
