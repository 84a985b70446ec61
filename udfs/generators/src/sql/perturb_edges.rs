//! `perturb_edges(edges [, nodes => relation] [, add => 0.0] [, remove => 0.0] [, seed => 0])`.

use std::sync::Arc;

use arrow::array::UInt32Array;
use arrow::compute::take;
use arrow::datatypes::Field;
use bonnet_graph::Monitor;
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, OptionValue, Options, Parameter, Run, execution_error, stopped,
    usage_error,
};
use datafusion::common::Result;

use crate::Error;

const NAME: &str = "perturb_edges";

/// The registration.
pub fn perturb_edges() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([
            GraphInput::edges(),
            Parameter::relation("nodes", "The nodes: node; adds the isolated ones, which can get edges.").optional(),
            Parameter::number("add", "How many edges come, as a share of the number of edges; at least 0.")
                .or(OptionValue::Number(0.0)),
            Parameter::number("remove", "How many edges go, as a share of the number of edges; in [0, 1].")
                .or(OptionValue::Number(0.0)),
            Parameter::seed(),
        ])
        .returns("src, dst; graph_id in front where edges have it")
        .description(
            "The edges of each graph, read as an undirected simple graph with m edges, after round(remove m) of them have \
             gone and round(add m) pairs that were no edges have come, all choices equally likely; each edge once, the \
             smaller key as src. The k-th graph in the order of graph_id draws with the seed and k, so that graphs change \
             apart. More new edges than there are pairs without one is an error.",
        )
        .example("SELECT count(*) AS edges FROM perturb_edges(karate.edges, add => 0.1, remove => 0.2, seed => 1)")
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 4.3")
}

/// The shares of edges that come and go, and the seed.
fn options(options: &Options) -> Result<(f64, f64, u64)> {
    let share = |name: &str| Ok::<_, datafusion::common::DataFusionError>(options.number(name)?.unwrap_or(0.0));
    let (add, remove) = (share("add")?, share("remove")?);
    if !(add >= 0.0 && add.is_finite()) {
        return usage_error(format!("{NAME}: add => {add}: expected a finite number of at least 0"));
    }
    if !(0.0..=1.0).contains(&remove) {
        return usage_error(format!("{NAME}: remove => {remove}: expected a number from 0 to 1"));
    }
    Ok((add, remove, options.integer("seed")?.unwrap_or(0) as u64))
}

fn bind(call: &Call) -> Result<Binding> {
    let options = options(&call.options)?;
    let input = GraphInput::bind(NAME, call)?;
    let schema = input.schema(["src", "dst"].map(|end| Field::new(end, input.key.clone(), true)));
    Ok(Binding::new(schema, input.reads.clone(), move |run| perturb(&input, options, run)))
}

fn perturb(input: &GraphInput, (add, remove, seed): (f64, f64, u64), run: &mut Run) -> Result<()> {
    for (number, graph) in (0..).zip(input.collect(run)?) {
        let host = run.host();
        host.check().map_err(stopped)?;
        let simple = graph.graph()?;
        let edges =
            run.install(|| crate::perturb_edges(simple, add, remove, seed, number, host)).map_err(
                |error| match error {
                    Error::Stopped(reason) => stopped(reason),
                    error => execution_error(error.to_string()),
                },
            )?;
        let keys = graph.keys.array();
        let end =
            |pick: fn(&(u32, u32)) -> u32| take(&keys, &UInt32Array::from_iter_values(edges.iter().map(pick)), None);
        graph.emit(run, vec![end(|edge| edge.0)?, end(|edge| edge.1)?])?;
    }
    Ok(())
}
