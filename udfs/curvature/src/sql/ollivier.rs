//! `ollivier_ricci(src, dst ...) OVER (...)`, `FROM ollivier_ricci(edges ...)` and `FROM ollivier_ricci_pairs(edges, pairs ...)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, EdgeFunction, EdgeRows, Function, InputGraph, InputSchema, KeyColumn, KeyIndex, Operator,
    OptionValue, Options, Parameter, Run, collect_graphs, edge_schema, execution_error, stopped, usage_error,
};
use datafusion::common::Result;
use rayon::prelude::*;

use super::rows::edge_values;
use crate::{Measure, OllivierError, OllivierOptions};

const NAME: &str = "ollivier_ricci";
const PAIRS: &str = "ollivier_ricci_pairs";
const SOURCE: &str = "Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Eq. 2 and 20; \
                      Ollivier, Ricci curvature of Markov chains on metric spaces (2009)";

fn parameters() -> [Parameter; 3] {
    [
        Parameter::number("alpha", "The share of the mass that stays at its node, from 0 to 1.").or(OptionValue::Number(0.0)),
        Parameter::text(
            "measure",
            "How the rest is spread: 'uniform' over the neighbours; 'two_hop', 0.5 on the node, 0.125 on each neighbour, \
             0.025 on each second neighbour, normalised; 'random_walk', the mean of the walks of 0 to steps steps; \
             'transition_power', the walk of steps steps.",
        )
        .or(OptionValue::Text(Measure::default().name().to_owned())),
        Parameter::integer("steps", "The steps of 'random_walk' and 'transition_power', at least 1.")
            .or(OptionValue::Integer(2)),
    ]
}

/// The registration of `ollivier_ricci`.
pub fn ollivier_ricci() -> Function {
    let columns = [
        Parameter::column("src", "One end of the edge: integers or text."),
        Parameter::column("dst", "The other end."),
    ];
    Function::new(NAME, Body::Edge(Arc::new(Ollivier)))
        .parameters(columns.into_iter().chain(parameters()))
        .returns("DOUBLE")
        .description(
            "The Ollivier-Ricci curvature of an edge: 1 - W(i, j), the cost of turning the measure of i into that of j where \
             a unit of mass costs the hops that it moves, in the undirected simple graph of the rows. Exact: masses are \
             whole numbers, and the transport is solved by maximum flows. NULL for a loop and where an end is NULL.",
        )
        .example(
            "SELECT src, dst, ollivier_ricci FROM ollivier_ricci(karate.edges, alpha => 0.5) \
             ORDER BY ollivier_ricci, src, dst LIMIT 3",
        )
        .source(SOURCE)
}

/// The registration of `ollivier_ricci_pairs`.
pub fn ollivier_ricci_pairs() -> Function {
    let relations = [
        Parameter::relation("edges", "The edges: src, dst; with graph_id, each graph is computed apart."),
        Parameter::relation(
            "pairs",
            "The pairs of nodes: src, dst, graph_id where edges have it, and any other columns.",
        ),
    ];
    Function::new(PAIRS, Body::Relation(Arc::new(Pairs)))
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

fn options(function: &str, options: &Options) -> Result<OllivierOptions> {
    let default = OllivierOptions::default();
    let measure = match options.text("measure")? {
        None => default.measure,
        Some(name) => match Measure::of_name(name) {
            Some(measure) => measure,
            None => {
                let names = Measure::ALL.map(|measure| format!("'{}'", measure.name())).join(", ");
                return usage_error(format!("{function}: measure => '{name}': expected one of {names}"));
            }
        },
    };
    let steps = options.integer_from("steps", 1).map_err(|error| error.context(function))?;
    let steps = steps.map_or(default.steps, |steps| usize::try_from(steps).unwrap_or(usize::MAX));
    if steps != default.steps && matches!(measure, Measure::Uniform | Measure::TwoHop) {
        return usage_error(format!(
            "{function}: steps => {steps} means nothing to the measure '{}'; 'random_walk' and 'transition_power' take steps",
            measure.name()
        ));
    }
    let checked = OllivierOptions { measure, steps, alpha: options.number("alpha")?.unwrap_or(default.alpha) };
    match checked.check() {
        Ok(()) => Ok(checked),
        Err(error) => usage_error(format!("{function}: {error}")),
    }
}

fn failed(function: &str, error: OllivierError) -> datafusion::common::DataFusionError {
    match error {
        OllivierError::Stopped(reason) => stopped(reason),
        error => execution_error(format!("{function}: {error}")),
    }
}

#[derive(Debug)]
struct Ollivier;

impl EdgeFunction for Ollivier {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn check(&self, given: &Options) -> Result<()> {
        options(NAME, given).map(|_| ())
    }

    fn compute(&self, edges: &EdgeRows<'_>, given: &Options, monitor: &dyn Monitor) -> Result<ArrayRef> {
        let options = options(NAME, given)?;
        let values = crate::ollivier_ricci(edges.graph, &options, monitor).map_err(|error| failed(NAME, error))?;
        Ok(edge_values(edges, &values))
    }
}

#[derive(Debug)]
struct Pairs;

impl Operator for Pairs {
    fn bind(&self, call: &Call) -> Result<Binding> {
        options(PAIRS, &call.options)?;
        let [edges, pairs] = call.inputs.as_slice() else {
            return usage_error(format!("{PAIRS} takes two relations, edges and pairs"));
        };
        let keys = (edge_schema(PAIRS, edges)?, edge_schema(PAIRS, pairs)?);
        if keys.0 != keys.1 && !(only_nulls(edges) || only_nulls(pairs)) {
            let word = |key: &DataType| if *key == DataType::Int64 { "integers" } else { "text" };
            return usage_error(format!(
                "{PAIRS}: edges.src holds {} and pairs.src holds {}: cast one of them, e.g. CAST(src AS TEXT)",
                word(&keys.0),
                word(&keys.1)
            ));
        }
        match [edges, pairs].map(|input| input.schema.field_with_name("graph_id").is_ok()) {
            [true, false] => return usage_error(format!("{PAIRS}: edges have a column graph_id and pairs have none")),
            [false, true] => return usage_error(format!("{PAIRS}: pairs have a column graph_id and edges have none")),
            _ => {}
        }
        let value = Field::new(NAME, DataType::Float64, true);
        let fields: Vec<_> = pairs.schema.fields().iter().cloned().chain([Arc::new(value)]).collect();
        let read = |input: &InputSchema| -> Vec<String> {
            let names = ["src", "dst", "graph_id"].into_iter();
            names.filter(|name| input.schema.field_with_name(name).is_ok()).map(str::to_owned).collect()
        };
        Ok(Binding { schema: Arc::new(Schema::new(fields)), reads: vec![read(edges), read(pairs)], carries: Some(1) })
    }

    fn run(&self, call: &Call, run: &mut Run) -> Result<()> {
        let options = options(PAIRS, &call.options)?;
        let batches = run.collect(1)?;
        let graphs = collect_graphs(run, PAIRS, 0, None)?;
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let (src, dst) = (column(&batches, "src")?, column(&batches, "dst")?);
        let rows_of = rows_of_graphs(&graphs, rows, &batches)?;

        let host = run.host();
        let one = |(graph, rows): (&InputGraph, &Vec<u32>)| -> Result<Vec<f64>> {
            host.check().map_err(stopped)?;
            let _room = Reservation::new(host, Graph::bytes(graph.n_nodes(), graph.arcs.len())).map_err(stopped)?;
            let simple = Graph::from_edges(graph.n_nodes(), &graph.arcs);
            let rows = UInt32Array::from(rows.clone());
            let numbers = |keys: &ArrayRef, name: &str| -> Result<Vec<Option<u32>>> {
                Ok(graph.keys.numbers(&KeyColumn::new(&take(keys, &rows, None)?, name)?))
            };
            // A node that is on no edge has no path to any other: it stands in as a node with itself.
            let ends = numbers(&src, "pairs.src")?.into_iter().zip(numbers(&dst, "pairs.dst")?);
            let known: Vec<Option<(u32, u32)>> = ends.map(|(u, v)| u.zip(v)).collect();
            let pairs: Vec<(u32, u32)> = known.iter().flatten().copied().collect();
            let mut values = crate::ollivier_ricci_pairs(&simple, &pairs, &options, host)
                .map_err(|error| failed(PAIRS, error))?
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
        let width = call.inputs[1].schema.fields().len();
        let mut offset = 0;
        for batch in batches {
            let own: ArrayRef = Arc::new(values.slice(offset, batch.num_rows()));
            offset += batch.num_rows();
            let columns = batch.columns()[..width].iter().cloned().chain([own]).collect();
            run.emit(RecordBatch::try_new(Arc::clone(run.schema()), columns)?)?;
        }
        Ok(())
    }
}

fn only_nulls(input: &InputSchema) -> bool {
    ["src", "dst"]
        .iter()
        .all(|name| input.schema.field_with_name(name).is_ok_and(|field| *field.data_type() == DataType::Null))
}

/// A column of all batches in one piece.
fn column(batches: &[RecordBatch], name: &str) -> Result<ArrayRef> {
    let parts: Vec<&dyn Array> =
        batches.iter().filter_map(|batch| batch.column_by_name(name)).map(AsRef::as_ref).collect();
    Ok(match parts.as_slice() {
        [] => new_null_array(&DataType::Null, 0),
        parts => concat(parts)?,
    })
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
