//! `connected_components(edges [, nodes => relation])`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, Operator, Parameter, Run, bind_graph, collect_graphs, stopped, with_graph_id,
};
use datafusion::common::Result;

const NAME: &str = "connected_components";

/// The registration.
pub fn connected_components() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(Components)))
        .parameters([
            Parameter::relation("edges", "The edges: src, dst; with graph_id, each graph is computed apart."),
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

#[derive(Debug)]
struct Components;

impl Operator for Components {
    fn bind(&self, call: &Call) -> Result<Binding> {
        let (key, reads) = bind_graph(NAME, call)?;
        let count = |name| Field::new(name, DataType::Int64, true);
        let fields = vec![Field::new("node", key, true), count("component"), count("size")];
        Ok(Binding { schema: with_graph_id(&call.inputs[0], fields), reads, carries: None })
    }

    fn run(&self, call: &Call, run: &mut Run) -> Result<()> {
        for graph in collect_graphs(run, NAME, 0, call.input("nodes"))? {
            let (host, n) = (run.host(), graph.n_nodes());
            host.check().map_err(stopped)?;
            // The graph, the components, and the answer.
            let _room = Reservation::new(host, Graph::bytes(n, graph.arcs.len()) + 40 * n).map_err(stopped)?;
            let components = run.install(|| bonnet_graph::connected_components(&Graph::from_edges(n, &graph.arcs)));
            let column = |value: &dyn Fn(u32) -> i64| -> ArrayRef {
                Arc::new(Int64Array::from_iter_values(components.of_node.iter().map(|&component| value(component))))
            };
            let mut columns: Vec<ArrayRef> = graph.id_column(n)?.into_iter().collect();
            columns.push(graph.keys.array());
            columns.push(column(&|component| i64::from(component)));
            columns.push(column(&|component| components.sizes[component as usize] as i64));
            run.emit_all(columns)?;
        }
        Ok(())
    }
}
