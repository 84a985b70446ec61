//! A sparse matrix that carries rows along edges, with values that may have gradients.

use std::sync::Arc;

use bonnet_graph::Graph;
use candle_core::{DType, Device, Result, Tensor};

use crate::ops::Pattern;

/// A sparse matrix with its values.
#[derive(Debug, Clone)]
pub(crate) struct Propagation {
    pub pattern: Arc<Pattern>,
    /// A row an entry.
    pub weights: Tensor,
}

impl Propagation {
    /// The matrix of some rows, each with its columns and values.
    pub fn of_rows(rows: impl Iterator<Item = Vec<(u32, f64)>>, n_columns: usize, dtype: DType) -> Result<Self> {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (column, value) in row {
                columns.push(column);
                values.push(value);
            }
            offsets.push(columns.len());
        }
        let pattern = Pattern::new(&offsets, &columns, n_columns, &Device::Cpu)?;
        let weights = Tensor::from_vec(values, (columns.len(), 1), &Device::Cpu)?.to_dtype(dtype)?;
        Ok(Self { pattern, weights })
    }

    /// `D^-1/2 (A + I) D^-1/2` with the degrees D of `A + I` (Kipf and Welling 2017), of the rows and columns of `nodes`, ascending,
    /// with the degrees of the whole graph.
    pub fn normalized(graph: &Graph, nodes: &[u32], dtype: DType) -> Result<Self> {
        let root = |v: u32| ((graph.degree(v) + 1) as f64).sqrt().recip();
        let is_whole = nodes.len() == graph.n_nodes();
        let place = |u: u32| match is_whole {
            true => Some(u),
            false => nodes.binary_search(&u).ok().map(|place| place as u32),
        };
        let row = |&v: &u32| {
            let mut row: Vec<(u32, f64)> = Vec::with_capacity(graph.degree(v) + 1);
            for &u in graph.neighbors(v).iter().chain([&v]) {
                if let Some(place) = place(u) {
                    row.push((place, root(u) * root(v)));
                }
            }
            row.sort_unstable_by_key(|entry| entry.0);
            row
        };
        Self::of_rows(nodes.iter().map(row), nodes.len(), dtype)
    }

    /// `D^-1/2 W D^-1/2` for a matrix W with loops and its row sums D, differentiable in its values.
    pub fn by_row_sums(pattern: Arc<Pattern>, weights: &Tensor) -> Result<Self> {
        let root = pattern.total(weights)?.sqrt()?.recip()?;
        let weights = ((weights * pattern.at_targets(&root)?)? * pattern.at_sources(&root)?)?;
        Ok(Self { pattern, weights })
    }

    /// The product with a matrix.
    pub fn product(&self, x: &Tensor) -> Result<Tensor> {
        self.pattern.sum(&self.weights, x)
    }
}
