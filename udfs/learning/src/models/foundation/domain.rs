//! A graph as these models read it: features of one width, and the matrix that carries rows along its edges.

use std::collections::BTreeMap;
use std::sync::Arc;

use bonnet_graph::{Graph, Monitor, Reservation};
use candle_core::{DType, Device, Result, Tensor};

use super::Propagation;
use super::communities::Communities;
use crate::data::features::{prepare, prepared_bytes};
use crate::data::{Alignment, AlignmentError, Features, align, structural_features, structural_features_bytes};
use crate::ground::{DataError, Matrix, TrainError};
use crate::options::{FeatureSource, TrainOptions};

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
    /// A graph with its own features brought to one width, or with their stand-in: the structural ones for `identity`. The memory is
    /// reserved for good.
    ///
    /// # Errors
    /// If features are not there, span too few columns, or the monitor stops it.
    pub fn new(
        source: &Source,
        options: &TrainOptions,
        alignment: Alignment<'_>,
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
            align(&input, alignment, monitor).map_err(|error| match error {
                AlignmentError::Stopped(stopped) => TrainError::from(stopped),
                AlignmentError::Rank { .. } if alignment.fitted_on.is_some() => TrainError::Data(named(format!(
                    "{error}, or leave more nodes out of the test part: {} is not_test",
                    super::REDUCED_ON.name
                ))),
                error => TrainError::Data(named(error.to_string())),
            })?
        };
        // Twice the rows; the pattern by row and by column.
        reservation.grow(8 * n * alignment.dim + 24 * entries + 16 * n)?;
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
