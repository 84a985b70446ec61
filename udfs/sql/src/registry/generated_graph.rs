//! The graph that a generator makes, and its tables.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Int64Array, ListArray, RecordBatch};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field};
use datafusion::common::Result;

/// A graph that a generator made. Nodes are `0..n_nodes`.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedGraph {
    /// The number of nodes.
    pub n_nodes: usize,
    /// The edges, each once.
    pub edges: Vec<(u32, u32)>,
    /// The class of each node.
    pub labels: Option<Vec<i64>>,
    /// The number of features of a node, and all features row by row.
    pub features: Option<(usize, Vec<f32>)>,
}

impl GeneratedGraph {
    /// The bytes that it holds.
    pub fn bytes(&self) -> usize {
        let labels = self.labels.as_ref().map_or(0, |labels| size_of_val(labels.as_slice()));
        let features = self.features.as_ref().map_or(0, |(_, values)| size_of_val(values.as_slice()));
        size_of_val(self.edges.as_slice()) + labels + features
    }

    /// The bytes of its tables: keys are twice as wide there, nodes have one too, and lists of features say where they end.
    pub fn table_bytes(&self) -> usize {
        let ends = if self.features.is_some() { 4 * self.n_nodes } else { 0 };
        self.bytes() + size_of_val(self.edges.as_slice()) + 8 * self.n_nodes + ends
    }

    /// The table `edges`: `src, dst`.
    pub fn edges(&self) -> Result<RecordBatch> {
        let (src, dst) = edge_columns(&self.edges);
        Ok(RecordBatch::try_from_iter_with_nullable([("src", src, true), ("dst", dst, true)])?)
    }

    /// The table `nodes`: `node`, and `label` and `features` where the generator makes them.
    pub fn nodes(&self) -> Result<RecordBatch> {
        let node: ArrayRef = Arc::new(Int64Array::from_iter_values(0..self.n_nodes as i64));
        let mut columns = vec![("node", node, true)];
        if let Some(labels) = &self.labels {
            columns.push(("label", Arc::new(Int64Array::from(labels.clone())), true));
        }
        if let Some((width, values)) = &self.features {
            let offsets: Vec<i32> = (0..=self.n_nodes as i32).map(|node| node * *width as i32).collect();
            let item = Arc::new(Field::new("item", DataType::Float32, true));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let list = ListArray::try_new(item, offsets, Arc::new(Float32Array::from(values.clone())), None)?;
            columns.push(("features", Arc::new(list), true));
        }
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }
}

/// Edges as columns `src`, `dst`.
pub(crate) fn edge_columns(edges: &[(u32, u32)]) -> (ArrayRef, ArrayRef) {
    let end = |pick: fn(&(u32, u32)) -> u32| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(edges.iter().map(|edge| i64::from(pick(edge)))))
    };
    (end(|edge| edge.0), end(|edge| edge.1))
}
