//! `ollivier_ricci_pairs(edges, pairs ...)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::Monitor;
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, InputSchema, KeyColumn, KeyIndex, Parameter, Run,
    edge_schema, kernel_error, stopped, usage_error, whole_column,
};
use datafusion::common::Result;
use rayon::prelude::*;

use super::ollivier_ricci::{self, SOURCE, options, parameters};
use crate::OllivierOptions;

const NAME: &str = "ollivier_ricci_pairs";

/// The registration.
pub fn ollivier_ricci_pairs() -> Function {
    let relations = [
        Parameter::relation("edges", "The edges: src, dst; with graph_id, each graph is computed apart."),
        Parameter::relation(
            "pairs",
            "The pairs of nodes: src, dst, graph_id where edges have it, and any other columns.",
        ),
    ];
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters(relations.into_iter().chain(parameters()))
        .returns("the columns of pairs, ollivier_ricci")
        .description(
            "The Ollivier-Ricci curvature 1 - W(i, j) / d(i, j) of pairs of nodes, adjacent or not, with the distance d in \
             hops; on an edge it is that of ollivier_ricci. NULL where no path joins the two, so also for a node without an \
             edge, for a node with itself, and where a node is NULL.",
        )
        .example(
            "SELECT * FROM ollivier_ricci_pairs(karate.edges, (SELECT 0 AS src, node AS dst FROM karate.nodes)) \
             ORDER BY ollivier_ricci, dst LIMIT 3",
        )
        .source(SOURCE)
}

fn bind(call: &Call) -> Result<Binding> {
    let options = options(NAME, &call.options)?;
    let [edges, pairs] = call.inputs.as_slice() else {
        return usage_error(format!("{NAME} takes two relations, edges and pairs"));
    };
    let input = GraphInput::bind(NAME, call)?;
    let pair_key = edge_schema(NAME, pairs)?;
    if input.key != pair_key && !(only_nulls(edges) || only_nulls(pairs)) {
        let word = |key: &DataType| if *key == DataType::Int64 { "integers" } else { "text" };
        return usage_error(format!(
            "{NAME}: edges.src holds {} and pairs.src holds {}: cast one of them, e.g. CAST(src AS TEXT)",
            word(&input.key),
            word(&pair_key)
        ));
    }
    let has_id = |input: &InputSchema| input.schema.field_with_name("graph_id").is_ok();
    match [edges, pairs].map(has_id) {
        [true, false] => return usage_error(format!("{NAME}: edges have a column graph_id and pairs have none")),
        [false, true] => return usage_error(format!("{NAME}: pairs have a column graph_id and edges have none")),
        _ => {}
    }
    let value = Field::new(ollivier_ricci::NAME, DataType::Float64, true);
    let fields: Vec<_> = pairs.schema.fields().iter().cloned().chain([Arc::new(value)]).collect();
    // Both relations have the same columns of use.
    let reads = vec![input.reads[0].clone(); 2];
    let run = move |run: &mut Run| of_pairs(&input, &options, run);
    Ok(Binding::new(Arc::new(Schema::new(fields)), reads, run).carrying(1).by_graph())
}

fn of_pairs(input: &GraphInput, options: &OllivierOptions, run: &mut Run) -> Result<()> {
    let batches = run.collect(1)?;
    let graphs = input.collect(run)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let (src, dst) = (column(&batches, "src")?, column(&batches, "dst")?);
    let rows_of = rows_of_graphs(&graphs, rows, &batches)?;

    let host = run.host();
    let one = |(graph, rows): (&InputGraph, &Vec<u32>)| -> Result<Vec<f64>> {
        host.check().map_err(stopped)?;
        let rows = UInt32Array::from(rows.clone());
        let numbers = |keys: &ArrayRef, name: &str| -> Result<Vec<Option<u32>>> {
            Ok(graph.keys.numbers(&KeyColumn::new(&take(keys, &rows, None)?, name)?))
        };
        // A node that is on no edge has no path to any other: it stands in as a node with itself.
        let ends = numbers(&src, "pairs.src")?.into_iter().zip(numbers(&dst, "pairs.dst")?);
        let known: Vec<Option<(u32, u32)>> = ends.map(|(u, v)| u.zip(v)).collect();
        let pairs: Vec<(u32, u32)> = known.iter().flatten().copied().collect();
        let mut values = crate::ollivier_ricci_pairs(graph.graph()?, &pairs, options, host)
            .map_err(|error| kernel_error(NAME, error))?
            .into_iter();
        Ok(known.iter().map(|pair| pair.and_then(|_| values.next()).unwrap_or(f64::NAN)).collect())
    };
    let found: Vec<Result<Vec<f64>>> = run.install(|| graphs.par_iter().zip(&rows_of).map(one).collect());
    let mut values = vec![f64::NAN; rows];
    for (rows, found) in rows_of.iter().zip(found) {
        for (&row, value) in rows.iter().zip(found?) {
            values[row as usize] = value;
        }
    }
    let values: Float64Array = values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect();
    let width = run.schema().fields().len() - 1;
    let mut offset = 0;
    for batch in batches {
        let own: ArrayRef = Arc::new(values.slice(offset, batch.num_rows()));
        offset += batch.num_rows();
        let columns = batch.columns()[..width].iter().cloned().chain([own]).collect();
        run.emit(RecordBatch::try_new(Arc::clone(run.schema()), columns)?)?;
    }
    Ok(())
}

fn only_nulls(input: &InputSchema) -> bool {
    ["src", "dst"]
        .iter()
        .all(|name| input.schema.field_with_name(name).is_ok_and(|field| *field.data_type() == DataType::Null))
}

/// A column of all batches in one piece.
fn column(batches: &[RecordBatch], name: &str) -> Result<ArrayRef> {
    Ok(whole_column(batches, name)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0)))
}

/// The rows of the pairs that belong to each graph.
fn rows_of_graphs(graphs: &[InputGraph], rows: usize, batches: &[RecordBatch]) -> Result<Vec<Vec<u32>>> {
    let ids: Vec<&dyn Array> = graphs.iter().filter_map(|graph| graph.id.as_ref()).map(AsRef::as_ref).collect();
    if ids.is_empty() {
        return Ok(graphs.iter().map(|_| (0..rows as u32).collect()).collect());
    }
    let edge_ids = KeyColumn::new(&concat(&ids)?, "edges.graph_id")?;
    let pair_ids = KeyColumn::new(&column(batches, "graph_id")?, "pairs.graph_id")?;
    let index = KeyIndex::new(&[("edges.graph_id", &edge_ids), ("pairs.graph_id", &pair_ids)])?;
    let mut graph_of = vec![None; index.len()];
    for (graph, number) in index.numbers(&edge_ids).into_iter().enumerate() {
        if let Some(number) = number {
            graph_of[number as usize] = Some(graph);
        }
    }
    let mut rows_of = vec![Vec::new(); graphs.len()];
    for (row, number) in index.numbers(&pair_ids).into_iter().enumerate() {
        if let Some(graph) = number.and_then(|number| graph_of[number as usize]) {
            rows_of[graph].push(row as u32);
        }
    }
    Ok(rows_of)
}
