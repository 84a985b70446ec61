//! A graph as these models read it: features of one width, and the matrix that carries rows along its edges.

use std::collections::BTreeMap;
use std::sync::Arc;

use bonnet_graph::{Graph, Monitor, Reservation};
use candle_core::{DType, Device, Result, Tensor};

use super::communities::Communities;
use crate::data::features::{prepare, prepared_bytes};
use crate::data::{AlignmentError, Features, Reduction, align, structural_features, structural_features_bytes};
use crate::ground::{DataError, Matrix, TrainError};
use crate::ops::Pattern;
use crate::options::{FeatureSource, TrainOptions};

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

/// What a model reads of a graph, or of a part of it.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// Nodes x dim.
    pub features: Tensor,
    pub propagation: Propagation,
    /// For models that read them, of a whole graph.
    pub communities: Option<Arc<Communities>>,
}

/// A graph with aligned features.
#[derive(Debug, Clone)]
pub(crate) struct Domain {
    pub graph: Arc<Graph>,
    pub view: View,
    /// The features row by row, as `view` has them.
    pub rows: Matrix,
}

/// A graph with its features as they are, for pre-training or as its target.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name by which runs and messages know it: sources are taken in the order of their names.
    pub name: String,
    /// The graph.
    pub graph: Arc<Graph>,
    /// Its own features.
    pub features: Arc<Features>,
}

impl Domain {
    /// A graph with features of `dim` columns, from its own or their stand-in: the structural ones for `identity`. The memory is
    /// reserved for good.
    ///
    /// # Errors
    /// If features are not there, span less than `dim` columns, or the monitor stops it.
    pub fn new(
        source: &Source,
        options: &TrainOptions,
        (dim, reduction): (usize, Reduction),
        reservation: &mut Reservation<'_>,
        monitor: &dyn Monitor,
    ) -> std::result::Result<Self, TrainError> {
        let graph = &source.graph;
        let (n, entries) = (graph.n_nodes(), 2 * graph.n_edges() + graph.n_nodes());
        let named = |why: String| DataError::Features(format!("{}: {why}", source.name));
        let given = match options.features {
            FeatureSource::Auto if *source.features == Features::None => FeatureSource::Identity,
            FeatureSource::Auto => FeatureSource::Given,
            other => other,
        };
        let rows = {
            let mut room = Reservation::new(monitor, 0)?;
            let input = match given {
                FeatureSource::Identity => {
                    room.grow(structural_features_bytes(graph))?;
                    Arc::new(structural_features(graph))
                }
                given => {
                    room.grow(prepared_bytes(&source.features, n, given, options.normalize))?;
                    let input = prepare(&source.features, graph, given, options.normalize, options.seed);
                    input.map_err(|error| named(error.to_string()))?
                }
            };
            align(&input, dim, reduction, monitor).map_err(|error| match error {
                AlignmentError::Stopped(stopped) => TrainError::from(stopped),
                error => TrainError::Data(named(error.to_string())),
            })?
        };
        // Twice the rows; the pattern by row and by column.
        reservation.grow(8 * n * dim + 24 * entries + 16 * n)?;
        let view = Self::view(graph, &rows, &(0..n as u32).collect::<Vec<_>>(), DType::F32)?;
        Ok(Self { graph: Arc::clone(graph), view, rows })
    }

    fn view(graph: &Graph, rows: &Matrix, nodes: &[u32], dtype: DType) -> Result<View> {
        let values: Vec<f32> = nodes.iter().flat_map(|&v| rows.row(v as usize).iter().copied()).collect();
        let features = Tensor::from_vec(values, (nodes.len(), rows.columns), &Device::Cpu)?.to_dtype(dtype)?;
        Ok(View { features, propagation: Propagation::normalized(graph, nodes, dtype)?, communities: None })
    }

    /// A graph with such features, as numbers of a type.
    #[cfg(test)]
    pub fn of(graph: Graph, rows: Matrix, dtype: DType) -> Result<Self> {
        let view = Self::view(&graph, &rows, &(0..graph.n_nodes() as u32).collect::<Vec<_>>(), dtype)?;
        Ok(Self { graph: Arc::new(graph), view, rows })
    }

    /// The part of the graph within so many edges of some nodes, and their places in it. The rows of those nodes after as many
    /// propagations are those of the whole graph.
    pub fn around(&self, nodes: &[u32], hops: usize) -> Result<(View, BTreeMap<u32, u32>)> {
        let mut seen = vec![false; self.graph.n_nodes()];
        let mut last: Vec<u32> = nodes.to_vec();
        last.iter().for_each(|&v| seen[v as usize] = true);
        for _ in 0..hops {
            let mut next = Vec::new();
            for &v in &last {
                for &u in self.graph.neighbors(v) {
                    if !std::mem::replace(&mut seen[u as usize], true) {
                        next.push(u);
                    }
                }
            }
            last = next;
        }
        let all: Vec<u32> = (0..self.graph.n_nodes() as u32).filter(|&v| seen[v as usize]).collect();
        let places = nodes.iter().filter_map(|&v| all.binary_search(&v).ok().map(|place| (v, place as u32))).collect();
        Ok((Self::view(&self.graph, &self.rows, &all, self.view.features.dtype())?, places))
    }
}
