//! The adapter for functions of two graphs: each graph of `edges`, and one other.

use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Digraph, Graph, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, KeyColumn, KeyIndex, Options, Parameter, Run, edge_schema,
    named_error, usage_error, whole_column,
};
use datafusion::common::Result;
use rayon::prelude::*;

use super::network::{Failure, GraphCall, Reading, Reads, check};

/// Graphs whose answers are emitted together.
const TOGETHER: usize = 1024;

/// The other graph.
pub(super) struct Pattern {
    /// The keys of the pattern's nodes.
    pub(super) keys: KeyIndex,
    graph: Graph,
    digraph: Digraph,
}

/// The function that computes the answer's columns from both graphs.
pub(super) type PatternKernel = Box<dyn Fn(&GraphCall, &Pattern, bool) -> Result<Vec<ArrayRef>, Failure> + Send + Sync>;

/// The fields of an answer, by the types of the keys of `edges` and of the other graph.
pub(super) type PatternFields = fn(edges: &DataType, other: &DataType) -> Vec<Field>;

/// A function `name(edges, other [, nodes => relation] [, directed => false] ...)`.
pub(super) fn pattern_function(
    name: &'static str,
    other: Parameter,
    options: impl IntoIterator<Item = Parameter>,
    fields: PatternFields,
    bind: fn(&Options) -> Result<PatternKernel>,
) -> Function {
    let other_name = other.name;
    let nodes = Parameter::relation("nodes", "The nodes of edges: node; adds the isolated ones.").optional();
    let relations = [GraphInput::edges(), other, nodes];
    let operator = move |call: &Call| bind_call(name, other_name, fields, bind, call);
    let parameters = relations.into_iter().chain(Reads::DIRECTED.parameters(options));
    Function::new(name, Body::Relation(Arc::new(operator))).parameters(parameters)
}

fn bind_call(
    name: &'static str,
    other: &'static str,
    fields: PatternFields,
    bind: fn(&Options) -> Result<PatternKernel>,
    call: &Call,
) -> Result<Binding> {
    let reading = Reading::new(Reads::DIRECTED, &call.options)?;
    let kernel = bind(&call.options).map_err(|error| named_error(name, error))?;
    let input = GraphInput::bind(name, call)?;
    let Some(at) = call.input(other) else { return usage_error(format!("{name}: give {other}")) };
    let relation = &call.inputs[at];
    let key = edge_schema(name, relation)?;
    if relation.schema.field_with_name("graph_id").is_ok() {
        return usage_error(format!(
            "{name}: {other} is one graph, and has a column graph_id: choose one, e.g. (SELECT src, dst FROM ... WHERE \
             graph_id = ...)"
        ));
    }
    let schema = input.schema(fields(&input.key, &key));
    let mut reads = input.reads.clone();
    reads.insert(at, vec!["src".to_owned(), "dst".to_owned()]);
    Ok(Binding::new(schema, reads, move |run| {
        let pattern = read_pattern(name, other, at, run)?;
        let graphs = input.collect(run)?;
        let host = run.host();
        let columns = |graph: &InputGraph| -> Result<Vec<ArrayRef>> {
            check(host)?;
            let call = GraphCall::new(graph, reading, host);
            kernel(&call, &pattern, reading.directed).map_err(|failure| failure.error(name, graph))
        };
        for block in graphs.chunks(TOGETHER) {
            // Collected before the first error is looked for: of several, that of the first graph is reported.
            let found: Vec<Result<_>> = run.install(|| block.par_iter().map(columns).collect());
            for (graph, columns) in block.iter().zip(found) {
                graph.emit(run, columns?)?;
            }
        }
        Ok(())
    })
    .by_graph_beside(at))
}

fn read_pattern(name: &str, other: &str, input: usize, run: &mut Run) -> Result<Pattern> {
    let batches = run.collect(input)?;
    let column = |end: &str| {
        let column = whole_column(&batches, end)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0));
        KeyColumn::new(&column, &format!("{name}: {other}.{end}"))
    };
    let (src, dst) = (column("src")?, column("dst")?);
    let keys = KeyIndex::new(&[("src", &src), ("dst", &dst)]).map_err(|error| named_error(name, error))?;
    let arcs = keys.arcs(&src, &dst).0;
    let _reservation =
        Reservation::new(run.host(), Digraph::bytes(keys.len(), arcs.len())).map_err(bonnet_sql::stopped)?;
    let (graph, digraph) = (Graph::from_edges(keys.len(), &arcs), Digraph::from_arcs(keys.len(), &arcs));
    Ok(Pattern { keys, graph, digraph })
}

impl Pattern {
    /// The graph without directions.
    pub(super) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The pattern's arcs.
    pub(super) fn digraph(&self) -> &Digraph {
        &self.digraph
    }
}
