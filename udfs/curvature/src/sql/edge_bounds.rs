//! `edge_bounds(edges ...)` and `edge_change_bounds(edges, changes ...)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Binding, Body, Call, Function, GraphInput, InputGraph, KeyColumn, OptionValue, Options, Parameter, Run,
    edge_schema, execution_error, kernel_error, stopped, usage_error,
};
use datafusion::common::Result;
use rayon::prelude::*;

use super::ollivier_ricci_pairs::{column, present, rows_of_graphs};
use crate::{Bound, BoundsError};

const EDGES: &str = "edge_bounds";
const CHANGES: &str = "edge_change_bounds";
const SOURCE: &str = "Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 3.1 and App. B.1";
/// Bytes of a row of the answer.
const ROW_BYTES: usize = 64;

fn alpha() -> Parameter {
    Parameter::number("alpha", "The share of the mass that stays at its node in Ollivier-Ricci curvature, from 0 to 1.")
        .or(OptionValue::Number(0.0))
}

/// The registration of `edge_bounds`.
pub fn edge_bounds() -> Function {
    Function::new(EDGES, Body::Relation(Arc::new(bind_edges)))
        .parameters([GraphInput::edges(), alpha()])
        .returns("src, dst, statement, lower, value, upper, holds; graph_id in front where edges have it")
        .description(
            "Both sides of what is proved of each edge's curvatures: statement 'jump' (Lemma 1, after Bonnet and Myers), its \
             Ollivier-Ricci curvature is at most the sum of the jumps of its ends over their distance; 'commute' (Proposition 1), its effective \
             resistance, which is the commute time over 2 m, is between half of 1/d_i + 1/d_j and this sum over the spectral gap. A side that \
             says nothing is NULL; holds allows for rounding, 1e-9. Each component by itself: k^3 operations and 24 k^2 bytes for one of k nodes.",
        )
        .example("SELECT statement, count(*) AS edges, bool_and(holds) AS all_hold FROM edge_bounds(karate.edges) GROUP BY statement ORDER BY statement")
        .source(SOURCE)
}

/// The registration of `edge_change_bounds`.
pub fn edge_change_bounds() -> Function {
    Function::new(CHANGES, Body::Relation(Arc::new(bind_changes)))
        .parameters([
            GraphInput::edges(),
            Parameter::relation(
                "changes",
                "The edges to add, or to take away where they are there, each by itself: src, dst, graph_id where edges have it.",
            ),
            alpha(),
        ])
        .returns(
            "change_src, change_dst, src, dst, statement, lower, value, upper, holds; graph_id in front where edges have it",
        )
        .description(
            "Both sides of the stability theorems, for each change of one edge and every other edge of its component, with the value after the \
             change: statement 'forman' (Theorem 2), 'ollivier' (Theorem 3, with the uniform measure), 'resistance_monotone' and \
             'resistance_bound' (Theorem 4 for an added edge, Theorem 7 for one taken away). WHERE NOT holds finds counterexamples: those of \
             'resistance_monotone' and of Theorem 7 are false as printed (path 3 - 0 - 1 - 2, add (0, 2): edge (0, 3) falls from 1 to 2/3). A \
             side that says nothing is NULL, and holds where a denominator of a bound is not positive; holds allows for rounding, 1e-9. A loop and a change \
             that joins or parts components have no rows: the theorems leave them out. k^3 operations a change for a component of k nodes.",
        )
        .example(
            "SELECT src, dst, statement, lower, value FROM edge_change_bounds((SELECT * FROM (VALUES (3, 0), (0, 1), (1, 2)) e(src, dst)), \
             (SELECT 0 AS src, 2 AS dst)) WHERE NOT holds ORDER BY src, dst",
        )
        .source(SOURCE)
}

fn share(function: &str, options: &Options) -> Result<f64> {
    let alpha = options.number("alpha")?.unwrap_or(0.0);
    match (0.0..=1.0).contains(&alpha) {
        true => Ok(alpha),
        false => usage_error(format!("{function}: alpha => {alpha}: expected a number from 0 to 1")),
    }
}

fn sides() -> [Field; 5] {
    let number = |name| Field::new(name, DataType::Float64, true);
    [
        Field::new("statement", DataType::Utf8, true),
        number("lower"),
        number("value"),
        number("upper"),
        Field::new("holds", DataType::Boolean, true),
    ]
}

/// The columns of bounds: ends, statement, sides, and whether they hold.
fn columns(graph: &InputGraph, bounds: &[Bound]) -> Result<Vec<ArrayRef>> {
    let keys = graph.keys.array();
    let ends = |of: fn(&Bound) -> u32| -> Result<ArrayRef> {
        Ok(take(&keys, &bounds.iter().map(of).collect::<UInt32Array>(), None)?)
    };
    let numbers = |of: fn(&Bound) -> f64| -> ArrayRef {
        Arc::new(bounds.iter().map(|bound| Some(of(bound)).filter(|side| side.is_finite())).collect::<Float64Array>())
    };
    let statements: StringArray = bounds.iter().map(|bound| Some(bound.statement.name())).collect();
    Ok(vec![
        ends(|bound| bound.src)?,
        ends(|bound| bound.dst)?,
        Arc::new(statements),
        numbers(|bound| bound.lower),
        numbers(|bound| bound.value),
        numbers(|bound| bound.upper),
        Arc::new(bounds.iter().map(Bound::holds).collect::<BooleanArray>()),
    ])
}

fn bind_edges(call: &Call) -> Result<Binding> {
    let alpha = share(EDGES, &call.options)?;
    let input = GraphInput::bind(EDGES, call)?;
    let key = |name| Field::new(name, input.key.clone(), true);
    let schema = input.schema([key("src"), key("dst")].into_iter().chain(sides()));
    Ok(Binding::new(schema, input.reads.clone(), move |run| {
        let graphs = input.collect(run)?;
        let host = run.host();
        let one = |graph: &InputGraph| -> Result<Vec<Bound>> {
            host.check().map_err(stopped)?;
            crate::edge_bounds(graph.graph()?, alpha, host).map_err(|error| kernel_error(EDGES, error))
        };
        let found: Vec<Result<Vec<Bound>>> = run.install(|| graphs.par_iter().map(one).collect());
        for (graph, bounds) in graphs.iter().zip(found) {
            let bounds = bounds?;
            let _reservation = Reservation::new(run.host(), ROW_BYTES * bounds.len()).map_err(stopped)?;
            graph.emit(run, columns(graph, &bounds)?)?;
        }
        Ok(())
    })
    .by_graph())
}

fn bind_changes(call: &Call) -> Result<Binding> {
    let alpha = share(CHANGES, &call.options)?;
    let [edges, changes] = call.inputs.as_slice() else {
        return usage_error(format!("{CHANGES} takes two relations, edges and changes"));
    };
    let input = GraphInput::bind(CHANGES, call)?;
    edge_schema(CHANGES, changes)?;
    let has_id = |at: usize| call.inputs[at].schema.field_with_name("graph_id").is_ok();
    if has_id(0) != has_id(1) {
        return usage_error(format!(
            "{CHANGES}: edges and changes have a column graph_id both, or neither of them has one"
        ));
    }
    let reads = vec![present(edges, &["src", "dst", "graph_id"]), present(changes, &["src", "dst", "graph_id"])];
    let key = |name| Field::new(name, input.key.clone(), true);
    let keys = [key("change_src"), key("change_dst"), key("src"), key("dst")];
    let schema = input.schema(keys.into_iter().chain(sides()));
    Ok(Binding::new(schema, reads, move |run| of_changes(&input, alpha, run)).by_graph())
}

fn of_changes(input: &GraphInput, alpha: f64, run: &mut Run) -> Result<()> {
    let batches = run.collect(1)?;
    let graphs = input.collect(run)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let (src, dst) = (column(&batches, "src")?, column(&batches, "dst")?);
    let rows_of = rows_of_graphs(&graphs, rows, &batches, "changes")?;
    for (graph, rows) in graphs.iter().zip(&rows_of) {
        let rows = UInt32Array::from(rows.clone());
        let ends = |keys: &ArrayRef, name: &str| -> Result<Vec<u32>> {
            let keys = KeyColumn::new(&take(keys, &rows, None)?, name)?;
            let known = |(at, number): (usize, Option<u32>)| {
                let change = || format!("the change with {name} {}", keys.describe(at));
                number.ok_or_else(|| {
                    execution_error(format!("{CHANGES}: {} names a node that is on no edge", graph.describe(change())))
                })
            };
            graph.keys.numbers(&keys).into_iter().enumerate().map(known).collect()
        };
        let changes: Vec<(u32, u32)> = ends(&src, "src")?.into_iter().zip(ends(&dst, "dst")?).collect();
        let undirected = graph.graph()?;
        let host = run.host();
        host.expect(changes.len() as u64);
        let one = |&change: &(u32, u32)| -> Result<Vec<Bound>, BoundsError> {
            host.check()?;
            let found = crate::edge_change_bounds(undirected, change, alpha, host);
            host.advance(1);
            found
        };
        // A block at a time, so that few answers are held.
        for block in changes.chunks(1024) {
            let found: Vec<Result<Vec<Bound>, BoundsError>> = run.install(|| block.par_iter().map(one).collect());
            let mut bounds = Vec::new();
            let mut of_change: Vec<(u32, u32)> = Vec::new();
            for (change, found) in block.iter().zip(found) {
                let found = found.map_err(|error| kernel_error(CHANGES, error))?;
                of_change.extend(std::iter::repeat_n(*change, found.len()));
                bounds.extend(found);
            }
            let _reservation = Reservation::new(host, 2 * ROW_BYTES * bounds.len()).map_err(stopped)?;
            let keys = graph.keys.array();
            let end = |of: fn(&(u32, u32)) -> u32| -> Result<ArrayRef> {
                Ok(take(&keys, &of_change.iter().map(of).collect::<UInt32Array>(), None)?)
            };
            let all = [end(|change| change.0)?, end(|change| change.1)?].into_iter().chain(columns(graph, &bounds)?);
            graph.emit(run, all.collect())?;
        }
    }
    Ok(())
}
