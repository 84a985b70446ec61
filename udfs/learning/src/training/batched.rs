//! A model on complexes: every pass runs on some complexes of the collection.

use std::sync::Arc;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use crate::complexes::{ComplexBatch, Operators, widths};
use crate::data::{ComplexSet, Features};
use crate::ground::{BuildError, TrainError};
use crate::kernels::RowSet;
use crate::models::{ModelSpec, Problem, registry};
use crate::network::{Messages, Model, Pass, Scope};
use crate::options::{FeatureSource, TrainOptions};
use crate::training::parts::{ModelPart, PartModel, PartSource, stopped};

/// The complexes of a pass without training.
const EVALUATED: usize = 256;

/// A step builds the model anew on the complexes of its batch: as their operators are block-diagonal, the outputs are those
/// on the whole collection. Without training, some hundred complexes at a time are computed. Beside the complexes, the
/// outputs and the operators, memory holds one such model at a time.
pub(crate) struct Batched<'a> {
    spec: &'static ModelSpec,
    set: &'a ComplexSet,
    widths: Vec<usize>,
    n_outputs: usize,
    options: &'a TrainOptions,
    /// The source of the features, never `auto`.
    features: FeatureSource,
    monitor: &'a dyn Monitor,
    nothing: (Arc<Graph>, Arc<Features>),
    operators: Arc<Operators>,
    /// The room of the operators, none unless they are held.
    held: Vec<Reservation<'a>>,
}

impl<'a> Batched<'a> {
    /// The model of the options on a collection that is not empty.
    pub fn model(
        set: &'a ComplexSet,
        options: &'a TrainOptions,
        monitor: &'a dyn Monitor,
        reservation: &mut Reservation<'_>,
    ) -> Result<PartModel<'a, Self>, TrainError> {
        let n_outputs = set.targets.n_outputs();
        let dimension = options.of_model().integer("dimension").map_or(set.dimension(), |given| given as usize);
        let features = set.input(options.features);
        let batched = Self {
            spec: registry::model(&options.model)?,
            set,
            widths: widths(set, features, dimension)?,
            n_outputs,
            options,
            features,
            monitor,
            nothing: (
                Arc::new(Graph::from_edges(0, &[])),
                Arc::new(Features::Dense { columns: 1, values: Vec::new() }),
            ),
            operators: Arc::default(),
            held: Vec::new(),
        };
        Ok(PartModel::new(batched, set.len(), n_outputs, options.keep_embeddings, reservation)?)
    }

    /// Makes the operators that the model asks for of all complexes, for every step to take those of its own. Where the host
    /// has no memory for them steps make theirs, as without this.
    pub fn hold_operators(&mut self) -> Result<(), Stopped> {
        let chain = &self.set.complexes.chain;
        match self.operators.hold(chain, self.widths.len() - 1, self.monitor) {
            Ok((operators, held)) => (self.operators, self.held) = (Arc::new(operators), held),
            Err(Stopped::OutOfMemory(_)) => {}
            Err(stopped) => return Err(stopped),
        }
        Ok(())
    }

    fn build(&self, items: &[u32], train: bool) -> Result<ModelPart<'a>, BuildError> {
        let mut reservation = Reservation::new(self.monitor, 0)?;
        let batch =
            ComplexBatch::new(self.set, items, &self.widths, (self.features, self.options.seed), &mut reservation)?;
        let batch = batch.with_operators(&self.operators);
        let problem = Problem {
            graph: Messages::Whole(Arc::clone(&self.nothing.0)),
            arcs: None,
            features: Arc::clone(&self.nothing.1),
            n_outputs: self.n_outputs,
            known_labels: Arc::new([]),
            options: self.options.of_model(),
            types: None,
            complexes: Some(&batch),
            device: false,
        };
        let model = (self.spec.build)(&problem, &mut reservation)?;
        let rows: Vec<u32> = (0..items.len() as u32).collect();
        let scope = model.scope(&rows, train, true, &mut reservation)?;
        Ok(ModelPart { model, scope, targets: items.iter().copied().zip(rows).collect(), reservation })
    }
}

impl<'a> PartSource<'a> for Batched<'a> {
    fn smallest(&mut self) -> Result<ModelPart<'a>, BuildError> {
        self.build(&[0], false)
    }

    /// Rows: the targets.
    fn scope(&self, targets: &[u32], _train: bool, reservation: &mut Reservation<'_>) -> Result<Scope, Stopped> {
        reservation.grow(RowSet::bytes(targets.len()))?;
        Ok(Scope { rows: vec![Arc::new(RowSet::new(self.set.len(), targets.to_vec()))], prepared: Vec::new() })
    }

    fn pieces<'s>(&self, scope: &'s Scope, pass: Pass) -> Vec<&'s [u32]> {
        let targets = scope.targets().rows();
        let size = if pass == Pass::Evaluate { EVALUATED } else { targets.len().max(1) };
        targets.chunks(size).collect()
    }

    /// The model on some complexes; if there is no memory for it, without the operators of the others.
    fn part(&mut self, items: &[u32], pass: Pass) -> Result<ModelPart<'a>, Stopped> {
        let train = matches!(pass, Pass::Train { .. });
        match self.build(items, train).map_err(stopped) {
            Err(Stopped::OutOfMemory(_)) if !self.held.is_empty() => {
                self.operators = Arc::default();
                self.held.clear();
                self.build(items, train).map_err(stopped)
            }
            part => part,
        }
    }

    fn held(&self) -> usize {
        self.held.iter().map(Reservation::bytes).sum()
    }
}
