//! `ricci_flow(edges ...)` and `ricci_flow_communities(edges ...)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field};
use bonnet_graph::Monitor;
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, OptionValue, Options, Parameter, Run, kernel_error, stopped,
    usage_error,
};
use datafusion::common::Result;

use super::edge_values::{LENGTH, edge_weights};
use super::ollivier_ricci::{self, parameters};
use crate::{FlowOptions, FlowStep, Surgery};

const FLOW: &str = "ricci_flow";
const COMMUNITIES: &str = "ricci_flow_communities";
const WEIGHT: &str = "weight";
const SOURCE: &str = "Ni, Lin, Luo and Gao, Community detection on networks with Ricci flow (2019); Ollivier, Ricci curvature of \
                      Markov chains on metric spaces (2009)";

fn flow_parameters() -> Vec<Parameter> {
    let mut all = vec![
        GraphInput::edges(),
        Parameter::integer("steps", "The number of steps.").or(OptionValue::Integer(20)),
        Parameter::integer("surgery", "After every so many steps, long edges are cut; NULL for never.").optional(),
        Parameter::number("cutoff", "Surgery cuts edges that are longer than so many mean lengths.")
            .or(OptionValue::Number(4.0)),
        Parameter::number("rate", "The length w becomes w (1 - rate x curvature): above 0, at most 1.")
            .or(OptionValue::Number(1.0)),
        Parameter::boolean("normalized", true, "Whether lengths are scaled to the mean 1 after each step."),
    ];
    // The steps of a walk are other steps.
    all.extend(parameters().into_iter().filter_map(|parameter| match parameter.name {
        "alpha" => Some(parameter.or(OptionValue::Number(0.5))),
        "measure" => Some(
            Parameter::text(
                "measure",
                "How the mass that moves is spread: 'exponential', in proportion to e^(-length^power) over the neighbours; \
                 'uniform' over them; 'two_hop'.",
            )
            .or(OptionValue::Text("exponential".to_owned())),
        ),
        "power" => Some(parameter),
        _ => None,
    }));
    all.push(
        Parameter::name(WEIGHT, "The column with an edge's length at the start (a cost), positive; 1 where left out.")
            .optional(),
    );
    all
}

/// The registration of `ricci_flow`.
pub fn ricci_flow() -> Function {
    Function::new(FLOW, Body::Relation(Arc::new(bind_flow)))
        .parameters(flow_parameters())
        .returns("step, src, dst, weight, curvature, cut; graph_id in front where edges have it")
        .description(
            "The discrete Ricci flow of the undirected simple graph of the rows: a row for every edge, src before dst, and step from 0, \
             with its length and its Ollivier-Ricci curvature. A step makes w (1 - rate x curvature) of a length w and scales all to the mean 1, \
             so that edges between communities grow. An edge shorter than 1e-9 of the mean collapses: its length is 0 from then on and its \
             curvature NULL. cut says that the surgery after this step cuts the edge: it has no later rows, and the next step starts from \
             curvatures without it. As GraphRicciCurvature's compute_ricci_flow, which keeps an edge below 1e-7 as it is, stops where \
             curvatures agree to 1e-4, takes the largest component alone and, after surgery, goes on with the curvatures from before it. \
             Each step costs ollivier_ricci with weights.",
        )
        .example("SELECT * FROM ricci_flow(karate.edges, steps => 5) WHERE step = 5 ORDER BY weight DESC, src, dst LIMIT 3")
        .source(SOURCE)
}

/// The registration of `ricci_flow_communities`.
pub fn ricci_flow_communities() -> Function {
    let cut = Parameter::number(
        "cut",
        "After the last step, edges longer than this are cut; NULL for the length after which modularity is largest.",
    )
    .optional();
    Function::new(COMMUNITIES, Body::Relation(Arc::new(bind_communities)))
        .parameters(flow_parameters().into_iter().chain([cut]))
        .returns("node, community, cutoff, modularity; graph_id in front where edges have it")
        .description(
            "The communities that Ricci flow finds: the components of the graph without the edges that are long after the last step of \
             ricci_flow, numbered from 0 in the order of their first nodes; the length beyond which edges were cut, and the modularity of the \
             communities in the graph of the rows, whose edges count alike (GraphRicciCurvature counts lengths as strengths there). \
             modularity is NULL without an edge.",
        )
        .example("SELECT community, count(*) AS nodes FROM ricci_flow_communities(karate.edges) GROUP BY community ORDER BY community")
        .source(SOURCE)
}

fn options(function: &'static str, given: &Options) -> Result<FlowOptions> {
    let default = FlowOptions::default();
    let steps = given.integer_from("steps", 0).map_err(|error| error.context(function))?;
    let surgery = given.integer_from("surgery", 1).map_err(|error| error.context(function))?;
    let cutoff = given.number("cutoff")?.unwrap_or(4.0);
    if !(cutoff > 0.0 && cutoff.is_finite()) {
        return usage_error(format!(
            "{function}: cutoff => {cutoff}: expected a positive finite number of mean lengths"
        ));
    }
    let rate = given.number("rate")?.unwrap_or(default.rate);
    if !(rate > 0.0 && rate <= 1.0) {
        return usage_error(format!("{function}: rate => {rate}: expected a number above 0 and at most 1"));
    }
    let measure = given.text("measure")?.unwrap_or("exponential");
    if !matches!(measure, "exponential" | "uniform" | "two_hop") {
        return usage_error(format!(
            "{function}: measure => '{measure}': expected one of 'exponential', 'uniform', 'two_hop'"
        ));
    }
    // steps are those of the flow, not of a walk.
    let mut own = Options::default();
    for name in ["alpha", "measure", "power"] {
        if let Some(value) = given.get(name) {
            own.insert(name, value.clone());
        }
    }
    Ok(FlowOptions {
        steps: steps.map_or(default.steps, |steps| usize::try_from(steps).unwrap_or(usize::MAX)),
        rate,
        normalized: given.boolean("normalized")?.unwrap_or(true),
        surgery: surgery.map(|every| Surgery { every: usize::try_from(every).unwrap_or(usize::MAX), cutoff }),
        curvature: ollivier_ricci::options(function, &own)?,
    })
}

fn bind_flow(call: &Call) -> Result<Binding> {
    let options = options(FLOW, &call.options)?;
    let input = GraphInput::bind_weighted(FLOW, call, WEIGHT)?;
    let key = |name| Field::new(name, input.key.clone(), true);
    let schema = input.schema([
        Field::new("step", DataType::Int64, true),
        key("src"),
        key("dst"),
        Field::new(WEIGHT, DataType::Float64, true),
        Field::new("curvature", DataType::Float64, true),
        Field::new("cut", DataType::Boolean, true),
    ]);
    Ok(Binding::new(schema, input.reads.clone(), move |run| {
        for graph in input.collect(run)? {
            let mut states: Vec<FlowStep> = Vec::new();
            flow(FLOW, &graph, &options, run, &mut |state| states.push(state.clone()))?;
            let ends: Vec<(u32, u32)> = graph.graph()?.edges().collect();
            let keys = graph.keys.array();
            for state in states {
                run.host().check().map_err(stopped)?;
                let end = |of: fn((u32, u32)) -> u32| -> Result<ArrayRef> {
                    let nodes: UInt32Array = state.edges.iter().map(|&id| of(ends[id as usize])).collect();
                    Ok(take(&keys, &nodes, None)?)
                };
                let curvatures = state.curvatures.iter().map(|value| (!value.is_nan()).then_some(*value));
                graph.emit(
                    run,
                    vec![
                        Arc::new(Int64Array::from(vec![state.step as i64; state.edges.len()])),
                        end(|edge| edge.0)?,
                        end(|edge| edge.1)?,
                        Arc::new(Float64Array::from(state.lengths.clone())),
                        Arc::new(curvatures.collect::<Float64Array>()),
                        Arc::new(BooleanArray::from(state.cut.clone())),
                    ],
                )?;
            }
        }
        Ok(())
    })
    .by_graph())
}

fn bind_communities(call: &Call) -> Result<Binding> {
    let options = options(COMMUNITIES, &call.options)?;
    let cut = call.options.number("cut")?;
    if let Some(cut) = cut.filter(|cut| !(*cut >= 0.0 && cut.is_finite())) {
        return usage_error(format!("{COMMUNITIES}: cut => {cut}: expected a finite length that is not negative"));
    }
    let input = GraphInput::bind_weighted(COMMUNITIES, call, WEIGHT)?;
    let schema = input.schema([
        Field::new("node", input.key.clone(), true),
        Field::new("community", DataType::Int64, true),
        Field::new("cutoff", DataType::Float64, true),
        Field::new("modularity", DataType::Float64, true),
    ]);
    Ok(Binding::new(schema, input.reads.clone(), move |run| {
        for graph in input.collect(run)? {
            let last = flow(COMMUNITIES, &graph, &options, run, &mut |_| ())?;
            let undirected = graph.graph()?;
            let mut lengths = vec![f64::INFINITY; undirected.n_edges()];
            last.edges.iter().zip(&last.lengths).for_each(|(&id, &length)| lengths[id as usize] = length);
            let found = crate::flow_communities(undirected, &lengths, cut, run.host()).map_err(stopped)?;
            let n = graph.n_nodes();
            let modularity = Some(found.modularity).filter(|modularity| modularity.is_finite());
            graph.emit_nodes(
                run,
                vec![
                    Arc::new(found.of_node.iter().map(|&part| Some(i64::from(part))).collect::<Int64Array>()),
                    Arc::new(Float64Array::from(vec![found.cutoff; n])),
                    Arc::new(Float64Array::from(vec![modularity; n])),
                ],
            )?;
        }
        Ok(())
    })
    .by_graph())
}

/// Runs the flow of one graph and hands on its states.
fn flow(
    function: &'static str,
    graph: &InputGraph,
    options: &FlowOptions,
    run: &Run,
    each: &mut (dyn FnMut(&FlowStep) + Send),
) -> Result<FlowStep> {
    let host = run.host();
    host.check().map_err(stopped)?;
    let (undirected, lengths) = (graph.graph()?, edge_weights(function, LENGTH, graph)?);
    host.expect(options.steps as u64 + 1);
    run.install(|| {
        crate::ricci_flow(undirected, lengths.as_deref(), options, host, &mut |state| {
            // What the caller keeps of a state.
            host.reserve(21 * state.edges.len())?;
            each(state);
            host.advance(1);
            Ok(())
        })
    })
    .map_err(|error| kernel_error(function, error))
}
