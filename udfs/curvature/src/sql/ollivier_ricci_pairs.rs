//! `ollivier_ricci_pairs(edges, pairs ...)` and `ollivier_wasserstein(edges, pairs ...)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Field, Float64Type, Schema};
use bonnet_graph::Monitor;
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, InputSchema, KeyColumn, KeyIndex, Parameter, Run,
    edge_schema, execution_error, kernel_error, require_columns, stopped, usage_error, whole_column,
};
use datafusion::common::Result;
use rayon::prelude::*;

use super::edge_values::{LENGTH, edge_weights};
use super::ollivier_ricci::{self, SOURCE, options, parameters};
use crate::{GivenError, MeasuredGraph, NodeMeasures, OllivierError, OllivierOptions};

const WEIGHT: &str = "weight";
const MEASURES: &str = "measures";

/// A kernel of pairs.
type Kernel = fn(MeasuredGraph<'_>, &[(u32, u32)], &OllivierOptions, &dyn Monitor) -> Result<Vec<f64>, OllivierError>;

fn function(name: &'static str, column: &'static str, kernel: Kernel) -> Function {
    let relations = [
        Parameter::relation("edges", "The edges: src, dst; with graph_id, each graph is computed apart."),
        Parameter::relation(
            "pairs",
            "The pairs of nodes: src, dst, graph_id where edges have it, and any other columns.",
        ),
    ];
    let own = [
        Parameter::name(WEIGHT, ollivier_ricci::LENGTHS).optional(),
        Parameter::relation(
            MEASURES,
            "Measures of one's own, in place of measure: node, other, mass, graph_id where edges have it. The masses of every \
             node of an edge sum to 1, to 1e-9, on nodes that paths lead to; rows of the same two add up.",
        )
        .optional(),
    ];
    let bind = move |call: &Call| bind(name, column, kernel, call);
    Function::new(name, Body::Relation(Arc::new(bind)))
        .parameters(relations.into_iter().chain(parameters()).chain(own))
        .source(SOURCE)
}

/// The registration of `ollivier_wasserstein`.
pub fn ollivier_wasserstein() -> Function {
    function("ollivier_wasserstein", "wasserstein", |space, pairs, options, monitor| {
        crate::ollivier_wasserstein(space, pairs, options, monitor)
    })
    .returns("the columns of pairs, wasserstein")
    .description(
        "The Wasserstein-1 distance between the measures of the two nodes of a pair, which Ollivier-Ricci curvature compares with \
         their distance: the least cost of turning one measure into the other, in hops or, with weights, in lengths. Exact as \
         ollivier_ricci. 0 for a node with itself; NULL where no path joins the two, and where a node is NULL or has no edge.",
    )
    .example(
        "SELECT * FROM ollivier_wasserstein(karate.edges, (SELECT 0 AS src, node AS dst FROM karate.nodes)) \
         ORDER BY wasserstein DESC, dst LIMIT 3",
    )
}

/// The registration of `ollivier_ricci_pairs`.
pub fn ollivier_ricci_pairs() -> Function {
    function("ollivier_ricci_pairs", ollivier_ricci::NAME, |space, pairs, options, monitor| {
        crate::ollivier_ricci_pairs(space, pairs, options, monitor)
    })
        .returns("the columns of pairs, ollivier_ricci")
        .description(
            "The Ollivier-Ricci curvature 1 - W(i, j) / d(i, j) of pairs of nodes, adjacent or not, with the distance d in \
             hops, or over lengths with weights; on an edge it is that of ollivier_ricci. Measures of one's own come as a relation: \
             ollivier_ricci_pairs(edges, edges, measures => ...) has the curvature of edges. NULL where no path joins the two, so also for a node without an \
             edge, for a node with itself, and where a node is NULL.",
        )
        .example(
            "SELECT * FROM ollivier_ricci_pairs(karate.edges, (SELECT 0 AS src, node AS dst FROM karate.nodes)) \
             ORDER BY ollivier_ricci, dst LIMIT 3",
        )
}

fn bind(name: &'static str, column: &'static str, kernel: Kernel, call: &Call) -> Result<Binding> {
    let options = options(name, &call.options)?;
    let [edges, pairs, ..] = call.inputs.as_slice() else {
        return usage_error(format!("{name} takes two relations, edges and pairs"));
    };
    let input = GraphInput::bind_weighted(name, call, WEIGHT)?;
    let pair_key = edge_schema(name, pairs)?;
    if input.key != pair_key && !(only_nulls(edges) || only_nulls(pairs)) {
        let word = |key: &DataType| if *key == DataType::Int64 { "integers" } else { "text" };
        return usage_error(format!(
            "{name}: edges.src holds {} and pairs.src holds {}: cast one of them, e.g. CAST(src AS TEXT)",
            word(&input.key),
            word(&pair_key)
        ));
    }
    let has_id = |input: &InputSchema| input.schema.field_with_name("graph_id").is_ok();
    match [edges, pairs].map(has_id) {
        [true, false] => return usage_error(format!("{name}: edges have a column graph_id and pairs have none")),
        [false, true] => return usage_error(format!("{name}: pairs have a column graph_id and edges have none")),
        _ => {}
    }
    let measures = call.input(MEASURES);
    let mut reads = vec![input.reads[0].clone(), present(pairs, &["src", "dst", "graph_id"])];
    if let Some(at) = measures {
        let given = &call.inputs[at];
        require_columns(name, given, &["node", "other", "mass"])?;
        if has_id(edges) != has_id(given) {
            return usage_error(format!(
                "{name}: edges and measures have a column graph_id both, or neither of them has one"
            ));
        }
        let mass = given.schema.field_with_name("mass")?.data_type();
        if !(mass.is_numeric() || *mass == DataType::Null) {
            return usage_error(format!("{name}: measures.mass is {mass}, not a number"));
        }
        reads.push(present(given, &["node", "other", "mass", "graph_id"]));
    }
    let value = Field::new(column, DataType::Float64, true);
    let fields: Vec<_> = pairs.schema.fields().iter().cloned().chain([Arc::new(value)]).collect();
    let run = move |run: &mut Run| of_pairs(&Bound { name, kernel, input: &input, options: &options, measures }, run);
    Ok(Binding::new(Arc::new(Schema::new(fields)), reads, run).carrying(1).by_graph())
}

/// Those of these columns that a relation has.
pub(super) fn present(input: &InputSchema, columns: &[&str]) -> Vec<String> {
    let has = |name: &&&str| input.schema.field_with_name(name).is_ok();
    columns.iter().filter(has).map(|name| (*name).to_owned()).collect()
}

/// A call that is bound.
struct Bound<'a> {
    name: &'static str,
    kernel: Kernel,
    input: &'a GraphInput,
    options: &'a OllivierOptions,
    /// The input of given measures.
    measures: Option<usize>,
}

/// The rows of given measures, all graphs together.
struct GivenRows {
    node: ArrayRef,
    other: ArrayRef,
    mass: Float64Array,
    /// The rows of each graph.
    rows_of: Vec<Vec<u32>>,
}

impl GivenRows {
    fn collect(run: &mut Run, input: usize, graphs: &[InputGraph]) -> Result<Self> {
        let batches = run.collect(input)?;
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        let mass = cast(&column(&batches, "mass")?, &DataType::Float64)?;
        Ok(Self {
            node: column(&batches, "node")?,
            other: column(&batches, "other")?,
            mass: mass.as_primitive::<Float64Type>().clone(),
            rows_of: rows_of_graphs(graphs, rows, &batches, "measures")?,
        })
    }

    /// The measures of one graph.
    fn of_graph(&self, name: &str, i: usize, graph: &InputGraph, host: &dyn Monitor) -> Result<NodeMeasures> {
        let rows = UInt32Array::from(self.rows_of[i].clone());
        let numbers = |keys: &ArrayRef, name: &str| -> Result<(KeyColumn, Vec<Option<u32>>)> {
            let keys = KeyColumn::new(&take(keys, &rows, None)?, name)?;
            let numbers = graph.keys.numbers(&keys);
            Ok((keys, numbers))
        };
        let (node_keys, nodes) = numbers(&self.node, "measures.node")?;
        let (other_keys, others) = numbers(&self.other, "measures.other")?;
        let mut given = Vec::with_capacity(rows.len());
        for (at, (&node, &other)) in nodes.iter().zip(&others).enumerate() {
            let row = rows.value(at) as usize;
            let wrong = |what: &str| {
                let measure = format!("the measure of node {}", node_keys.describe(at));
                execution_error(format!("{name}: {} {what}", graph.describe(measure)))
            };
            if self.mass.is_null(row) {
                return Err(wrong("has a mass that is NULL: leave the row out, or give 0"));
            }
            let mass = self.mass.value(row);
            match (node, other) {
                // A node without an edge is in no pair that has a value.
                (None, _) => {}
                (Some(node), Some(other)) => given.push((node, other, mass)),
                (Some(_), None) if mass == 0.0 => {}
                (Some(_), None) => {
                    let other = other_keys.describe(at);
                    return Err(wrong(&format!("puts mass on node {other}, to which no path leads: it is on no edge")));
                }
            }
        }
        let undirected = graph.graph()?;
        NodeMeasures::new(undirected, &given, host).map_err(|error| {
            let named = |node: u32| graph.keys.describe(node);
            match error {
                OllivierError::Given(node, GivenError::NoPath(other)) => execution_error(format!(
                    "{name}: {} puts mass on node {}, to which no path leads",
                    graph.describe(format!("the measure of node {}", named(node))),
                    named(other)
                )),
                OllivierError::Given(node, GivenError::Mass(other, mass)) => execution_error(format!(
                    "{name}: {} puts the mass {mass} on node {}: a mass is a finite number that is not negative",
                    graph.describe(format!("the measure of node {}", named(node))),
                    named(other)
                )),
                OllivierError::Given(node, what) => execution_error(format!(
                    "{name}: {} {what}",
                    graph.describe(format!("the measure of node {}", named(node)))
                )),
                error => kernel_error(name, error),
            }
        })
    }
}

fn of_pairs(call: &Bound<'_>, run: &mut Run) -> Result<()> {
    let name = call.name;
    let batches = run.collect(1)?;
    let graphs = call.input.collect(run)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let (src, dst) = (column(&batches, "src")?, column(&batches, "dst")?);
    let rows_of = rows_of_graphs(&graphs, rows, &batches, "pairs")?;
    let given = call.measures.map(|input| GivenRows::collect(run, input, &graphs)).transpose()?;

    let host = run.host();
    let one = |(i, (graph, rows)): (usize, (&InputGraph, &Vec<u32>))| -> Result<Vec<f64>> {
        host.check().map_err(stopped)?;
        let rows = UInt32Array::from(rows.clone());
        let numbers = |keys: &ArrayRef, name: &str| -> Result<Vec<Option<u32>>> {
            Ok(graph.keys.numbers(&KeyColumn::new(&take(keys, &rows, None)?, name)?))
        };
        // A node that is on no edge has no path to any other.
        let ends = numbers(&src, "pairs.src")?.into_iter().zip(numbers(&dst, "pairs.dst")?);
        let known: Vec<Option<(u32, u32)>> = ends.map(|(u, v)| u.zip(v)).collect();
        let pairs: Vec<(u32, u32)> = known.iter().flatten().copied().collect();
        let lengths = edge_weights(name, LENGTH, graph)?;
        let measures = given.as_ref().map(|given| given.of_graph(name, i, graph, host)).transpose()?;
        let space = MeasuredGraph { graph: graph.graph()?, lengths: lengths.as_deref(), measures: measures.as_ref() };
        let mut values =
            (call.kernel)(space, &pairs, call.options, host).map_err(|error| kernel_error(name, error))?.into_iter();
        Ok(known.iter().map(|pair| pair.and_then(|_| values.next()).unwrap_or(f64::NAN)).collect())
    };
    let found: Vec<Result<Vec<f64>>> = run.install(|| graphs.par_iter().zip(&rows_of).enumerate().map(one).collect());
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
pub(super) fn column(batches: &[RecordBatch], name: &str) -> Result<ArrayRef> {
    Ok(whole_column(batches, name)?.unwrap_or_else(|| new_null_array(&DataType::Null, 0)))
}

/// The rows of the relation of this name that belong to each graph.
pub(super) fn rows_of_graphs(
    graphs: &[InputGraph],
    rows: usize,
    batches: &[RecordBatch],
    name: &str,
) -> Result<Vec<Vec<u32>>> {
    let ids: Vec<&dyn Array> = graphs.iter().filter_map(|graph| graph.id.as_ref()).map(AsRef::as_ref).collect();
    if ids.is_empty() {
        return Ok(graphs.iter().map(|_| (0..rows as u32).collect()).collect());
    }
    let edge_ids = KeyColumn::new(&concat(&ids)?, "edges.graph_id")?;
    let name = format!("{name}.graph_id");
    let pair_ids = KeyColumn::new(&column(batches, "graph_id")?, &name)?;
    let index = KeyIndex::new(&[("edges.graph_id", &edge_ids), (name.as_str(), &pair_ids)])?;
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
