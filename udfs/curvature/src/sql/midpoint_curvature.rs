//! `midpoint_curvature(edges [, nodes => relation] ...)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, Host, InputGraph, OptionValue, Options, Parameter, Run, kernel_error,
    stopped, usage_error,
};
use datafusion::common::Result;

use super::edge_values::{LENGTH, edge_weights};
use crate::midpoint::{MidpointCurvature, MidpointError, MidpointOptions, MidpointPlan};

const NAME: &str = "midpoint_curvature";
const WEIGHT: &str = "weight";
/// Bytes of the answer for a node: key, value and standard error, each with its validity.
const ROW_BYTES: usize = 32;

/// The registration.
pub fn midpoint_curvature() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            GraphInput::edges(),
            Parameter::relation("nodes", "The nodes: node; adds the isolated ones.").optional(),
            Parameter::boolean("relative", true, "Whether to divide by the largest finite distance (Eq. 3)."),
            Parameter::integer("anchors", "How many anchors to sample; NULL for all of them, which is exact.").optional(),
            Parameter::seed(),
            Parameter::boolean("directed", false, "Whether rows are arcs: distances and neighbours follow them."),
            Parameter::boolean("self_loops", false, "Whether a loop puts a node among its own neighbours."),
            Parameter::number(
                "unreachable",
                "Unreachable pairs are this many largest distances apart; NULL leaves unreachable anchors out.",
            )
            .or(OptionValue::Null),
            Parameter::name(
                WEIGHT,
                "The column with an edge's length (a cost), positive: distances are those of shortest paths. Left out: hops. Goes with \
                 relative alone.",
            )
            .optional(),
        ])
        .returns("node, curvature; with anchors => k also standard_error; graph_id in front where edges have it")
        .description(
            "The discrete midpoint curvature of every node: the mean, over anchors and pairs of neighbours, of how a \
             neighbour pair's midpoint deviates from flat space. Exact over all anchors; 0 for fewer than two neighbours. \
             With sampled anchors the diameter that relative divides by is a lower bound of the true one, and a node that \
             no anchor reaches is NULL; standard_error is NULL for fewer than 32 anchors. Exact: one search per 512 anchors, memory O(n + m); with weights one for each \
             anchor, O(n m log n), memory O(64 n).",
        )
        .example("SELECT node, curvature FROM midpoint_curvature(karate.edges, nodes => karate.nodes) ORDER BY node LIMIT 3")
        .source("CurvBench (arXiv 2606.06397), Eq. 1-3")
}

fn options(options: &Options) -> Result<MidpointOptions> {
    let unreachable = options.number("unreachable")?;
    if let Some(factor) = unreachable.filter(|factor| !factor.is_finite() || *factor <= 0.0) {
        return usage_error(format!("{NAME}: {}", MidpointError::Unreachable(factor)));
    }
    let default = MidpointOptions::default();
    Ok(MidpointOptions {
        relative: options.boolean("relative")?.unwrap_or(default.relative),
        anchors: options.integer_from("anchors", 1)?.map(|anchors| anchors as usize),
        seed: options.integer("seed")?.unwrap_or(0) as u64,
        directed: options.boolean("directed")?.unwrap_or(default.directed),
        self_loops: options.boolean("self_loops")?.unwrap_or(default.self_loops),
        unreachable,
    })
}

fn bind(call: &Call) -> Result<Binding> {
    let options = options(&call.options)?;
    let input = GraphInput::bind_weighted(NAME, call, WEIGHT)?;
    let input = input.graph_alone(!options.directed && !options.self_loops);
    if call.options.text(WEIGHT)?.is_some()
        && (MidpointOptions { relative: true, ..options.clone() }) != MidpointOptions::default()
    {
        return usage_error(format!(
            "{NAME}: weight goes with relative alone: anchors, seed, directed, self_loops and unreachable are for hops"
        ));
    }
    let number = |name| Field::new(name, DataType::Float64, true);
    let mut fields = vec![Field::new("node", input.key.clone(), true), number("curvature")];
    fields.extend(options.anchors.is_some().then(|| number("standard_error")));
    Ok(Binding::new(input.schema(fields), input.reads.clone(), move |run| curvatures(&input, &options, run)).by_graph())
}

/// Up to this many nodes the plan of a cached graph is kept beside it: on larger ones the searches take far longer.
const PLANNED_NODES: usize = 1 << 16;

fn curvatures(input: &GraphInput, options: &MidpointOptions, run: &mut Run) -> Result<()> {
    for graph in input.collect(run)? {
        let host = run.host();
        host.check().map_err(stopped)?;
        let _reservation = Reservation::new(host, ROW_BYTES * graph.n_nodes()).map_err(stopped)?;
        let (n, arcs) = (graph.n_nodes(), if options.directed || options.self_loops { graph.arcs() } else { &[] });
        if let Some(lengths) = edge_weights(NAME, LENGTH, &graph)? {
            let undirected = graph.graph()?;
            let values =
                run.install(|| crate::weighted_midpoint_curvature(undirected, &lengths, options.relative, host));
            let values = values.map_err(|error| kernel_error(NAME, error))?;
            graph.emit_nodes(run, vec![Arc::new(Float64Array::from(values))])?;
            continue;
        }
        let answer = if options.directed {
            run.install(|| crate::midpoint_curvature(n, arcs, options, host))
        } else {
            let undirected = graph.graph()?;
            match options.self_loops || options.anchors.is_some() {
                true => run.install(|| crate::midpoint_curvature_of_graph(undirected, arcs, options, host)),
                false => run.install(|| of_graph(&graph, undirected, options, host)),
            }
        };
        let answer = answer.map_err(|error| kernel_error(NAME, error))?;
        let columns = std::iter::once(answer.curvature).chain(answer.standard_error);
        let columns = columns.map(|values| -> ArrayRef { Arc::new(Float64Array::from(values)) });
        graph.emit_nodes(run, columns.collect())?;
    }
    Ok(())
}

/// Over all anchors and without loops: what the undirected graph alone decides.
fn of_graph(
    input: &InputGraph,
    graph: &Graph,
    options: &MidpointOptions,
    host: &Host,
) -> std::result::Result<MidpointCurvature, MidpointError> {
    let _reservation = Reservation::new(host, MidpointPlan::bytes(graph))?;
    let make = || MidpointPlan::new(graph, host);
    let plan = match graph.n_nodes() <= PLANNED_NODES {
        true => input.part(|_: &MidpointPlan| MidpointPlan::bytes(graph), make)?,
        false => Arc::new(make()?),
    };
    plan.curvature(graph, options, host)
}
