//! From the rows of an edge function to the edges of its graph, and back.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use bonnet_graph::Graph;
use bonnet_sql::{EdgeRows, KeyIndex, execution_error};
use datafusion::common::{Result, ScalarValue};
use rayon::prelude::*;

use crate::EdgeIds;

/// Rows that a thread looks up at a time.
const TOGETHER: usize = 4096;

/// The value of each row's edge; NULL for a loop and for a row without an edge.
pub(super) fn edge_values(edges: &EdgeRows<'_>, values: &[f64]) -> ArrayRef {
    let ids = EdgeIds::new(edges.graph);
    let value = |row: &Option<(u32, u32)>| row.and_then(|(u, v)| ids.of(u, v)).map(|id| values[id]);
    if edges.rows.len() <= TOGETHER {
        return Arc::new(edges.rows.iter().map(value).collect::<Float64Array>());
    }
    let found: Vec<Option<f64>> = edges.rows.par_iter().with_min_len(TOGETHER).map(value).collect();
    Arc::new(Float64Array::from(found))
}

/// What errors are told about.
pub(super) struct Named<'a> {
    pub(super) function: &'static str,
    pub(super) id: Option<&'a ArrayRef>,
    pub(super) keys: &'a KeyIndex,
}

impl Named<'_> {
    /// An edge as a user would name it.
    fn edge(&self, (u, v): (u32, u32)) -> String {
        let edge = format!("the edge ({}, {})", self.keys.describe(u), self.keys.describe(v));
        match self.id.and_then(|id| ScalarValue::try_from_array(id, 0).ok()) {
            Some(id) => format!("{edge} of the graph {id}"),
            None => edge,
        }
    }

    /// The resistance of every edge from the weights of its rows.
    ///
    /// # Errors
    /// Where a weight is NULL or no positive finite number, and where rows of one edge have different ones.
    pub(super) fn resistances(
        &self,
        graph: &Graph,
        rows: &[Option<(u32, u32)>],
        weights: impl Iterator<Item = Option<f64>>,
    ) -> Result<Vec<f64>> {
        let ids = EdgeIds::new(graph);
        let mut own: Vec<Option<f64>> = vec![None; graph.n_edges()];
        for (row, weight) in rows.iter().zip(weights) {
            let Some((ends, id)) = row.and_then(|(u, v)| Some(((u, v), ids.of(u, v)?))) else { continue };
            let error = |what: String| Err(execution_error(format!("{}: {} {what}", self.function, self.edge(ends))));
            let Some(weight) = weight else {
                return error("has no weight: a weight is a resistance, a positive finite number".to_owned());
            };
            if !(weight > 0.0 && weight.is_finite()) {
                return error(format!("has the weight {weight}: a weight is a resistance, a positive finite number"));
            }
            if let Some(other) = own[id].replace(weight).filter(|other| *other != weight) {
                return error(format!(
                    "is there more than once, with the weights {other} and {weight}: keep one row of it, or one weight"
                ));
            }
        }
        Ok(own.into_iter().map(|weight| weight.unwrap_or(1.0)).collect())
    }
}
