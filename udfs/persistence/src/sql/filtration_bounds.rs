//! `filtration_bounds(edges)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Float64Array, StringArray, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Field, Schema};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, OptionValue, Run, execution_error, kernel_error, stopped,
    usage_error,
};
use datafusion::common::Result;
use rayon::prelude::*;

use super::filtration::{RowsError, described};
use crate::{Essential, FiltrationBound, FiltrationOptions, Point, persistence_diagram};

const NAME: &str = "filtration_bounds";
const VALUE: &str = "value";
/// Pairs of graphs whose rows are emitted together.
const TOGETHER: usize = 1 << 14;

/// The registration.
pub(super) fn filtration_bounds() -> Function {
    Function::new(NAME, Body::Relation(Arc::new(bind)))
        .parameters([GraphInput::edges()])
        .returns("a, b, statement, lower, distance, upper, holds")
        .description(
            "Both sides of what is said of the bottleneck distance of the persistence diagrams of each two graphs, filtered by the column \
             value of their edges: statement 'spread' (Theorem 1), it is at most the larger of |max f - min g| and |max g - min f|; \
             'nearest' (Theorem 5), for a and b either way, it is at least the largest distance of a value of a to the nearest one of b. WHERE \
             NOT holds finds counterexamples: Theorem 5 is false. The distance is the largest of dimensions 0 and 1, where classes that never \
             die end with the last value of their graph. edges has columns graph_id and value, finite and one for each edge; loops do not count. \
             A side that says nothing is NULL, and all are of a graph without edges; holds allows for rounding, 1e-9. A diagram a graph, and a \
             bottleneck distance a pair.",
        )
        .example(
            "SELECT a, b, statement, lower, distance, upper FROM filtration_bounds((SELECT * FROM (VALUES (1, 1, 2, 0.0), (1, 2, 3, 5.0), \
             (2, 1, 2, 0.0)) e(graph_id, src, dst, value))) WHERE NOT holds",
        )
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Theorems 1 and 5")
}

fn bind(call: &Call) -> Result<Binding> {
    let mut options = call.options.clone();
    options.insert(VALUE, OptionValue::Text(VALUE.to_owned()));
    let input = GraphInput::bind_weighted(NAME, &Call { options, inputs: call.inputs.clone() }, VALUE)?;
    let Ok(id) = call.inputs[0].schema.field_with_name("graph_id") else {
        return usage_error(format!(
            "{NAME}: edges has no column graph_id: it compares graphs, and each edge says which one it is of"
        ));
    };
    let key = |name: &str| Field::new(name, id.data_type().clone(), true);
    let number = |name: &str| Field::new(name, DataType::Float64, true);
    let schema = Arc::new(Schema::new(vec![
        key("a"),
        key("b"),
        Field::new("statement", DataType::Utf8, true),
        number("lower"),
        number("distance"),
        number("upper"),
        Field::new("holds", DataType::Boolean, true),
    ]));
    Ok(Binding::new(schema, input.reads.clone(), move |run| {
        let graphs = input.collect(run)?;
        let bytes: usize = graphs.iter().map(|graph| 64 * graph.arcs().len() + 64).sum();
        let _reservation = Reservation::new(run.host(), bytes).map_err(stopped)?;
        let host = run.host();
        let sides =
            run.install(|| graphs.par_iter().map(|graph| Side::new(graph, host)).collect::<Result<Vec<_>>>())?;
        emit(run, &graphs, &sides)
    }))
}

/// A graph's values, ascending, and its diagram.
struct Side {
    values: Vec<f64>,
    diagram: Vec<Point>,
}

impl Side {
    fn new(graph: &InputGraph, monitor: &dyn Monitor) -> Result<Self> {
        let (mut edges, mut values) = (Vec::new(), Vec::new());
        for (&(u, v), value) in graph.arcs().iter().zip(graph.weights().into_iter().flatten()) {
            let Some(value) = value else {
                let edge = format!("edge ({}, {})", graph.keys.describe(u), graph.keys.describe(v));
                return Err(execution_error(format!("{NAME}: {} has no value", graph.describe(edge))));
            };
            if u != v {
                edges.push((u, v));
                values.push(value);
            }
        }
        let options = FiltrationOptions { essential: Essential::Max, ..FiltrationOptions::default() };
        let diagram = persistence_diagram(graph.n_nodes(), &edges, &values, &options, monitor)
            .map_err(|error| graph.context(described(NAME, RowsError::Filtration(error), &graph.keys)))?;
        values.sort_unstable_by(f64::total_cmp);
        Ok(Self { values, diagram })
    }
}

fn emit(run: &Run, graphs: &[InputGraph], sides: &[Side]) -> Result<()> {
    let ids: Vec<&dyn Array> = graphs.iter().filter_map(|graph| graph.id.as_ref()).map(AsRef::as_ref).collect();
    if ids.len() < 2 {
        return Ok(());
    }
    let ids = concat(&ids)?;
    let host = run.host();
    let n = sides.len();
    host.expect((n * (n - 1) / 2) as u64);
    let mut pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    loop {
        let some: Vec<(usize, usize)> = pairs.by_ref().take(TOGETHER).collect();
        if some.is_empty() {
            return Ok(());
        }
        let one = |&(i, j): &(usize, usize)| -> Result<[FiltrationBound; 3]> {
            let (a, b) = (&sides[i], &sides[j]);
            let found = crate::filtration_bounds([&a.values, &b.values], [&a.diagram, &b.diagram], host);
            host.advance(1);
            found.map_err(|reason| kernel_error(NAME, reason))
        };
        let found = run.install(|| some.par_iter().map(one).collect::<Result<Vec<_>>>())?;
        let rows = || some.iter().zip(&found).flat_map(|(pair, bounds)| bounds.iter().map(move |bound| (*pair, bound)));
        let key = |of: fn((usize, usize), bool) -> usize| {
            let numbers: UInt32Array = rows().map(|(pair, bound)| Some(of(pair, bound.turned) as u32)).collect();
            take(&ids, &numbers, None)
        };
        let number = |of: fn(&FiltrationBound) -> f64| -> ArrayRef {
            Arc::new(rows().map(|(_, bound)| Some(of(bound)).filter(|side| side.is_finite())).collect::<Float64Array>())
        };
        let statements: StringArray = rows().map(|(_, bound)| Some(bound.statement.name())).collect();
        let holds: BooleanArray = rows().map(|(_, bound)| bound.holds()).collect();
        run.emit_all(vec![
            key(|(i, j), turned| if turned { j } else { i })?,
            key(|(i, j), turned| if turned { i } else { j })?,
            Arc::new(statements),
            number(|bound| bound.lower),
            number(|bound| bound.distance),
            number(|bound| bound.upper),
            Arc::new(holds),
        ])?;
    }
}
