//! `ollivier_ricci(src, dst ...) OVER (...)` and `FROM ollivier_ricci(edges ...)`.

use std::sync::Arc;

use arrow::datatypes::DataType;
use bonnet_sql::{
    Body, EdgeFunction, EdgeKernel, Function, OptionValue, Options, Parameter, kernel_error, usage_error,
};
use datafusion::common::Result;

use super::edge_values::{LENGTH, edge_values, edge_weights};
use crate::{Measure, MeasuredGraph, OllivierOptions};

pub(super) const NAME: &str = "ollivier_ricci";
pub(super) const SOURCE: &str = "Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Eq. 2 and 20; \
                      Ollivier, Ricci curvature of Markov chains on metric spaces (2009)";

/// What a weight means here.
pub(super) const LENGTHS: &str =
    "The length of the edge (a cost), positive: distances are those of shortest paths. 1 for all without it: hops.";

pub(super) fn parameters() -> [Parameter; 4] {
    [
        Parameter::number("alpha", "The share of the mass that stays at its node, from 0 to 1.").or(OptionValue::Number(0.0)),
        Parameter::text(
            "measure",
            "How the rest is spread: 'uniform' over the neighbours; 'two_hop', 0.5 on the node, 0.125 on each neighbour, \
             0.025 on each second neighbour, normalised; 'random_walk', the mean of the walks of 0 to steps steps; \
             'transition_power', the walk of steps steps; 'exponential', in proportion to e^(-length^power) over the neighbours \
             (the convention of GraphRicciCurvature), which without weights is 'uniform'.",
        )
        .or(OptionValue::Text(Measure::default().name().to_owned())),
        Parameter::integer("steps", "The steps of 'random_walk' and 'transition_power', at least 1.")
            .or(OptionValue::Integer(2)),
        Parameter::number("power", "The power of the length in 'exponential', 0 or more.").or(OptionValue::Number(2.0)),
    ]
}

/// The registration.
pub fn ollivier_ricci() -> Function {
    Function::new(NAME, Body::Edge(Arc::new(Ollivier)))
        .parameters(
            Parameter::ends()
                .into_iter()
                .chain(parameters())
                .chain([Parameter::number_column("weight", LENGTHS).optional()]),
        )
        .returns("DOUBLE")
        .description(
            "The Ollivier-Ricci curvature of an edge: 1 - W(i, j), the cost of turning the measure of i into that of j where \
             a unit of mass costs the hops that it moves, in the undirected simple graph of the rows. Exact: masses are \
             whole numbers, and the transport is solved by maximum flows. With weights, edges have lengths, and it is 1 - W(i, j) / d(i, j) \
             with the distance d of shortest paths, which is less than the edge's length where a way around it is shorter; within 1e-13. \
             GraphRicciCurvature's values are those with alpha => 0.5, measure => 'exponential'. NULL for a loop and where an endpoint is NULL.",
        )
        .example(
            "SELECT src, dst, ollivier_ricci FROM ollivier_ricci(karate.edges, alpha => 0.5) \
             ORDER BY ollivier_ricci, src, dst LIMIT 3",
        )
        .source(SOURCE)
}

pub(super) fn options(function: &str, options: &Options) -> Result<OllivierOptions> {
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
    if steps != default.steps && !matches!(measure, Measure::RandomWalk | Measure::TransitionPower) {
        return usage_error(format!(
            "{function}: steps => {steps} means nothing to the measure '{}'; 'random_walk' and 'transition_power' take steps",
            measure.name()
        ));
    }
    let power = options.number("power")?;
    if let Some(power) = power.filter(|power| *power != default.power && measure != Measure::Exponential) {
        return usage_error(format!(
            "{function}: power => {power} means nothing to the measure '{}'; 'exponential' takes a power",
            measure.name()
        ));
    }
    let alpha = options.number("alpha")?.unwrap_or(default.alpha);
    let checked = OllivierOptions { measure, steps, alpha, power: power.unwrap_or(default.power) };
    match checked.check() {
        Ok(()) => Ok(checked),
        Err(error) => usage_error(format!("{function}: {error}")),
    }
}

#[derive(Debug)]
struct Ollivier;

impl EdgeFunction for Ollivier {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn bind(&self, given: &Options) -> Result<EdgeKernel> {
        let options = options(NAME, given)?;
        Ok(Box::new(move |input, host| {
            let (graph, lengths) = (input.graph()?, edge_weights(NAME, LENGTH, input)?);
            let space = MeasuredGraph { graph, lengths: lengths.as_deref(), measures: None };
            let values = crate::ollivier_ricci(space, &options, host).map_err(|error| kernel_error(NAME, error))?;
            Ok(edge_values(graph, input.arcs(), &values))
        }))
    }
}
