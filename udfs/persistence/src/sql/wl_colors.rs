//! `wl_colors(edges [, nodes] [, labels] [, k => 1] [, rounds] [, substructures => 0])`.

use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::{DataType, Field};
use bonnet_graph::Reservation;
use bonnet_sql::{Binding, Body, Call, Function, OptionValue, Options, Parameter, kernel_error, stopped, usage_error};
use datafusion::common::Result;

use super::graph_set::GraphSetInput;
use crate::{Substructures, WlDimension, WlOptions};

const NAME: &str = "wl_colors";

/// The registration.
pub(super) fn wl_colors() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters(GraphSetInput::parameters().into_iter().chain(wl_parameters()))
        .returns("node, color; graph_id in front where edges have it")
        .description(
            "The colour of each node by a Weisfeiler-Leman test, over all graphs of the call at once: nodes of one graph or of two \
             have one colour if and only if the test does not tell them apart. k => 1 is colour refinement, all that models which \
             pass messages along edges can see; k => 3 is as strong as the folklore 2-WL, which BREC counts as 3-WL. Two graphs \
             that have each colour as often are alike for the test. Colours are numbered from 0 by their first nodes. k => 1: \
             O((n + m) log n) a round; k => 3: O(n^3) a round and 96 n^2 bytes for each graph.",
        )
        .example(
            "SELECT count(DISTINCT color) AS colors, count(*) AS nodes FROM wl_colors(karate.edges)",
        )
        .source(
            "Weisfeiler and Leman (1968); Cai, Fuerer and Immerman (1992); Wang and Zhang, An Empirical Study of Realized GNN \
             Expressiveness (ICML 2024), on BREC; Bouritsas et al., Improving Graph Neural Network Expressivity via Subgraph \
             Isomorphism Counting (2020), on substructures",
        )
}

/// The options of a test.
pub(super) fn wl_parameters() -> [Parameter; 3] {
    [
        Parameter::integer("k", "The test: 1 for colour refinement, 3 for the folklore 2-WL.").or(OptionValue::Integer(1)),
        Parameter::integer("rounds", "The number of rounds; NULL until no colour splits any more.").optional(),
        Parameter::integer(
            "substructures",
            "What nodes are told apart by at first: 0 nothing (or labels), 3 or 4 also how often they play each part in connected \
             induced subgraphs of up to so many nodes, as orbit_counts numbers them.",
        )
        .or(OptionValue::Integer(0)),
    ]
}

/// The options of a test in a call.
pub(super) fn wl_options(function: &str, options: &Options) -> Result<WlOptions> {
    let dimension = match options.integer("k")? {
        None | Some(1) => WlDimension::One,
        Some(3) => WlDimension::Three,
        Some(k) => return usage_error(format!("{function}: k => {k}: expected 1 or 3 (the folklore 2-WL)")),
    };
    let substructures = match options.integer("substructures")? {
        None | Some(0) => Substructures::None,
        Some(3) => Substructures::Three,
        Some(4) => Substructures::Four,
        Some(size) => return usage_error(format!("{function}: substructures => {size}: expected 0, 3 or 4")),
    };
    let rounds = options.integer_from("rounds", 0)?.map(|rounds| rounds as usize);
    Ok(WlOptions { dimension, rounds, substructures })
}

fn bind(call: &Call) -> Result<Binding> {
    let options = wl_options(NAME, &call.options)?;
    let input = GraphSetInput::bind(NAME, call)?;
    let schema = input.node_schema([Field::new("color", DataType::Int64, true)]);
    let reads = input.reads.clone();
    Ok(Binding::new(schema, reads, move |run| {
        let graphs = input.collect(run)?;
        let host = run.host();
        let _colors = Reservation::new(host, 24 * graphs.set.union().n_nodes()).map_err(stopped)?;
        let colors =
            run.install(|| crate::wl_colors(&graphs.set, options, host)).map_err(|error| kernel_error(NAME, error))?;
        let colors: Int64Array = colors.into_iter().map(i64::from).collect();
        graphs.emit_nodes(run, vec![Arc::new(colors)])
    }))
}
