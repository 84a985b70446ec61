//! The adapter for functions in FROM that answer rows about each graph of `edges`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, Options, Parameter, Run, named_error, stopped,
};
use datafusion::common::Result;
use rayon::prelude::*;

use super::network::{Failure, GraphCall, Reading, Reads, booleans, check, counts, doubles};
use super::node_relation::{NodeRelation, WEIGHT};

/// Graphs whose answers are emitted together.
const TOGETHER: usize = 1024;

/// Computes the columns of the answer for one graph. Called in the kernel threads, for many graphs at once.
type Kernel = Box<dyn Fn(&GraphCall) -> Result<Vec<ArrayRef>, Failure> + Send + Sync>;

/// The columns that a function answers, and what computes them with the options of a call.
pub(super) struct Answer {
    fields: Vec<Field>,
    kernel: Kernel,
}

impl Answer {
    /// Several columns.
    pub(super) fn new(
        fields: Vec<Field>,
        kernel: impl Fn(&GraphCall) -> Result<Vec<ArrayRef>, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { fields, kernel: Box::new(kernel) }
    }

    /// A DOUBLE.
    pub(super) fn number(
        name: &str,
        kernel: impl Fn(&GraphCall) -> Result<Vec<f64>, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self::new(vec![number(name)], move |call| Ok(vec![doubles(kernel(call)?)]))
    }

    /// A BOOLEAN.
    pub(super) fn boolean(
        name: &str,
        kernel: impl Fn(&GraphCall) -> Result<Vec<bool>, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self::new(vec![boolean(name)], move |call| Ok(vec![booleans(kernel(call)?)]))
    }

    /// A BIGINT.
    pub(super) fn count<T: TryInto<i64> + Copy + 'static>(
        name: &str,
        kernel: impl Fn(&GraphCall) -> Result<Vec<T>, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self::new(vec![count(name)], move |call| Ok(vec![counts(&kernel(call)?)?]))
    }
}

/// A column of truth values.
pub(super) fn boolean(name: &str) -> Field {
    Field::new(name, DataType::Boolean, true)
}

/// A column of numbers.
pub(super) fn number(name: &str) -> Field {
    Field::new(name, DataType::Float64, true)
}

/// A column of counts.
pub(super) fn count(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

/// Parses the options of a call.
pub(super) type BindOptions = fn(&Options) -> Result<Answer>;

/// The subject of an answer's rows: the columns of keys in front of the answer's own.
#[derive(Debug, Clone, Copy)]
enum RowKeys {
    /// `node`: every node once, in the order of the keys.
    Nodes,
    /// Columns of nodes by their numbers ([`super::network::nodes`]), which the kernel answers first.
    Keys(&'static [&'static str]),
}

/// A function `name(edges [, nodes => relation] ...)` that answers `node` and the columns of [`Answer`], whose kernel
/// gives a value for each node.
pub(super) fn node_function(
    name: &'static str,
    reads: Reads,
    options: impl IntoIterator<Item = Parameter>,
    bind: BindOptions,
) -> Function {
    relation(name, RowKeys::Nodes, reads, options, bind)
}

/// A function `name(edges [, nodes => relation] ...)` that answers rows about a graph: `keys` are the columns in front
/// that hold nodes, which the kernel answers first, by their numbers. Without `keys`, a row a graph or whatever the
/// kernel gives.
pub(super) fn graph_function(
    name: &'static str,
    keys: &'static [&'static str],
    reads: Reads,
    options: impl IntoIterator<Item = Parameter>,
    bind: BindOptions,
) -> Function {
    relation(name, RowKeys::Keys(keys), reads, options, bind)
}

fn relation(
    name: &'static str,
    rows: RowKeys,
    reads: Reads,
    options: impl IntoIterator<Item = Parameter>,
    bind: BindOptions,
) -> Function {
    let nodes = Parameter::relation("nodes", "The nodes: node; adds the isolated ones.").optional();
    let chosen = reads.chosen.map(NodeRelation::parameter);
    let (first, chosen) = match chosen {
        Some(chosen) if !chosen.optional => (Some(chosen), None),
        chosen => (None, chosen),
    };
    // What has to be given comes first.
    let (required, options): (Vec<_>, Vec<_>) = options.into_iter().partition(|option| !option.optional);
    let relations = [GraphInput::edges()].into_iter().chain(first).chain(required).chain([nodes]).chain(chosen);
    let parameters = relations.chain(reads.parameters(options));
    let operator = move |call: &Call| bind_call(name, rows, reads, bind, call);
    Function::new(name, Body::Relation(Arc::new(operator))).parameters(parameters)
}

fn bind_call(name: &'static str, rows: RowKeys, reads: Reads, bind: BindOptions, call: &Call) -> Result<Binding> {
    let (reading, chosen) = (Reading::new(reads, &call.options)?, reads.chosen);
    let answer = bind(&call.options).map_err(|error| named_error(name, error))?;
    let weighted = Call { options: reading.weight_option(&call.options), inputs: call.inputs.clone() };
    let input = GraphInput::bind_weighted(name, &weighted, WEIGHT)?;
    let input = input.graph_alone(!reading.directed);
    let names: &[&str] = match rows {
        RowKeys::Nodes => &["node"],
        RowKeys::Keys(names) => names,
    };
    let keys = names.iter().map(|name| Field::new(*name, input.key.clone(), true));
    let schema = input.schema(keys.chain(answer.fields).collect::<Vec<_>>());
    let (mut reads, kernel) = (input.reads.clone(), answer.kernel);
    let chosen = match chosen.map(|chosen| chosen.bind(name, call)).transpose()?.flatten() {
        Some((chosen, columns)) => {
            reads.insert(chosen.input, columns);
            Some(chosen)
        }
        None => None,
    };
    Ok(Binding::new(schema, reads, move |run| {
        let graphs = input.collect(run)?;
        let chosen = chosen.map(|chosen| chosen.collect(run, &graphs)).transpose()?;
        let host = run.host();
        let columns = |(i, graph): (usize, &InputGraph)| -> Result<Vec<ArrayRef>> {
            check(host)?;
            let call = GraphCall::new(graph, reading, host).choosing(chosen.as_ref().map(|chosen| &chosen[i]));
            with_keys(rows, graph, kernel(&call).map_err(|failure| failure.error(name, graph))?)
        };
        let mut graphs = graphs.into_iter().enumerate();
        loop {
            let block: Vec<(usize, InputGraph)> = graphs.by_ref().take(TOGETHER).collect();
            if block.is_empty() {
                return Ok(());
            }
            // Collected before the first error is looked for: of several, that of the first graph is reported.
            let found: Vec<Result<_>> = run.install(|| match block.as_slice() {
                [(i, graph)] => vec![columns((*i, graph))],
                graphs => graphs.par_iter().map(|(i, graph)| columns((*i, graph))).collect(),
            });
            emit(run, found.into_iter().collect::<Result<_>>()?)?;
        }
    })
    .by_graph())
}

/// The columns with `graph_id` and the keys in front.
fn with_keys(rows: RowKeys, graph: &InputGraph, columns: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
    let columns = match rows {
        RowKeys::Nodes => std::iter::once(graph.keys.array()).chain(columns).collect(),
        RowKeys::Keys([]) => columns,
        RowKeys::Keys(names) => {
            let keys = graph.keys.array();
            let keyed = |(i, column): (usize, ArrayRef)| match i < names.len() {
                true => Ok(take(&keys, column.as_primitive::<arrow::datatypes::UInt32Type>(), None)?),
                false => Ok(column),
            };
            columns.into_iter().enumerate().map(keyed).collect::<Result<Vec<_>>>()?
        }
    };
    let length = columns.first().map_or(0, |column| column.len());
    let id = graph.id.as_ref().map(|id| take(id, &UInt32Array::from(vec![0; length]), None)).transpose()?;
    Ok(id.into_iter().chain(columns).collect())
}

/// Emits the columns of several graphs, one after the other.
fn emit(run: &Run, mut found: Vec<Vec<ArrayRef>>) -> Result<()> {
    if let [_] = found.as_slice() {
        return run.emit_all(found.swap_remove(0));
    }
    let width = found.first().map_or(0, Vec::len);
    let bytes: usize = found.iter().flatten().map(|column| column.get_array_memory_size()).sum();
    let _reservation = Reservation::new(run.host() as &dyn Monitor, bytes).map_err(stopped)?;
    let column = |i: usize| {
        let parts: Vec<&dyn Array> = found.iter().map(|columns| columns[i].as_ref()).collect();
        Ok(concat(&parts)?)
    };
    run.emit_all((0..width).map(column).collect::<Result<_>>()?)
}
