//! From the rows of a graph to its edges, and back.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use bonnet_graph::Graph;
use bonnet_sql::{InputGraph, execution_error};
use datafusion::common::Result;
use rayon::prelude::*;

use crate::EdgeIds;

/// Rows that a thread looks up at a time.
const TOGETHER: usize = 4096;

/// The value of each arc's edge; NULL for a loop.
pub(super) fn edge_values(graph: &Graph, arcs: &[(u32, u32)], values: &[f64]) -> ArrayRef {
    let ids = EdgeIds::new(graph);
    let mut found: Vec<Option<f64>> = vec![None; arcs.len()];
    found.par_chunks_mut(TOGETHER).zip(arcs.par_chunks(TOGETHER)).for_each(|(found, arcs)| {
        for (found, id) in found.iter_mut().zip(ids.of_rows(arcs)) {
            *found = id.map(|id| values[id]);
        }
    });
    Arc::new(Float64Array::from(found))
}

/// The meaning of a weight, in the words of errors.
pub(super) const RESISTANCE: &str = "a resistance";
pub(super) const LENGTH: &str = "a length";
pub(super) const WEIGHT: &str = "that of a cell";

/// The resistance of every edge from the weights of the input's arcs, as [`edge_weights`].
///
/// # Errors
/// As [`edge_weights`].
pub(super) fn resistances(function: &str, input: &InputGraph) -> Result<Option<Vec<f64>>> {
    edge_weights(function, RESISTANCE, input)
}

/// The weight of every edge from the weights of the input's arcs; `None` where it has none. `function`, and `meaning`, what a weight
/// is, are named in errors.
///
/// # Errors
/// Where a weight is NULL or no positive finite number, and where rows of one edge have different ones.
pub(super) fn edge_weights(function: &str, meaning: &str, input: &InputGraph) -> Result<Option<Vec<f64>>> {
    let Some(weights) = input.weights() else { return Ok(None) };
    let graph = input.graph()?;
    let ids = EdgeIds::new(graph);
    let mut own: Vec<Option<f64>> = vec![None; graph.n_edges()];
    for ((&(u, v), id), weight) in input.arcs().iter().zip(ids.of_rows(input.arcs())).zip(weights) {
        let Some(id) = id else { continue };
        let error = |what: String| {
            let edge = format!("the edge ({}, {})", input.keys.describe(u), input.keys.describe(v));
            Err(execution_error(format!("{function}: {} {what}", input.describe(edge))))
        };
        let Some(weight) = weight else {
            return error(format!("has no weight: a weight is {meaning}, a positive finite number"));
        };
        if !(weight > 0.0 && weight.is_finite()) {
            return error(format!("has the weight {weight}: a weight is {meaning}, a positive finite number"));
        }
        if let Some(other) = own[id].replace(weight).filter(|other| *other != weight) {
            return error(format!(
                "is there more than once, with the weights {other} and {weight}: keep one row of it, or one weight"
            ));
        }
    }
    Ok(Some(own.into_iter().map(|weight| weight.unwrap_or(1.0)).collect()))
}
