//! A model on complexes: every pass runs on some complexes of the collection.

use std::sync::Arc;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};

use crate::complexes::{ComplexBatch, ComplexSet, Operators, widths};
use crate::error::{BuildError, TrainError};
use crate::features::Features;
use crate::kernels::RowSet;
use crate::network::{Axis, Layout, Messages, Model, Pass, Problem, Scope};
use crate::options::TrainOptions;
use crate::parts::{ModelPart, PartRows};
use crate::registry;
use crate::spec::ModelSpec;

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
    monitor: &'a dyn Monitor,
    nothing: (Arc<Graph>, Arc<Features>),
    rows: PartRows<'a>,
    operators: Arc<Operators>,
    /// The room of the operators, none unless they are held.
    held: Vec<Reservation<'a>>,
}

impl<'a> Batched<'a> {
    /// The model of the options on a collection that is not empty.
    pub fn new(
        set: &'a ComplexSet,
        options: &'a TrainOptions,
        monitor: &'a dyn Monitor,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, TrainError> {
        let n_outputs = set.targets.n_outputs();
        let dimension = options.integer("dimension").map_or(set.dimension(), |given| given as usize);
        let mut batched = Self {
            spec: registry::model(&options.model)?,
            set,
            widths: widths(set, options.features, dimension)?,
            n_outputs,
            options,
            monitor,
            nothing: (
                Arc::new(Graph::from_edges(0, &[])),
                Arc::new(Features::Dense { columns: 1, values: Vec::new() }),
            ),
            rows: PartRows::new(set.len(), n_outputs, reservation)?,
            operators: Arc::default(),
            held: Vec::new(),
        };
        // One complex is enough to learn the shapes.
        let part = batched.part(&[0], false)?;
        batched.rows.adopt(&part, options.keep_embeddings, reservation)?;
        Ok(batched)
    }

    /// Makes the operators that the model asks for of all complexes, for every step to take those of its own. Where the host
    /// has no room for them steps make theirs, as without this.
    pub fn hold_operators(&mut self) -> Result<(), Stopped> {
        let chain = &self.set.complexes.chain;
        match self.operators.hold(chain, self.widths.len() - 1, self.monitor) {
            Ok((operators, held)) => (self.operators, self.held) = (Arc::new(operators), held),
            Err(Stopped::OutOfMemory(_)) => {}
            Err(stopped) => return Err(stopped),
        }
        Ok(())
    }

    /// The model on some complexes; if there is no room for it, without the operators of the others.
    fn fit(&mut self, items: &[u32], train: bool) -> Result<ModelPart<'a>, Stopped> {
        match self.part(items, train).map_err(stopped) {
            Err(Stopped::OutOfMemory(_)) if !self.held.is_empty() => {
                self.operators = Arc::default();
                self.held.clear();
                self.part(items, train).map_err(stopped)
            }
            part => part,
        }
    }

    fn part(&self, items: &[u32], train: bool) -> Result<ModelPart<'a>, BuildError> {
        let mut reservation = Reservation::new(self.monitor, 0)?;
        let batch = ComplexBatch::new(self.set, items, &self.widths, self.options, &mut reservation)?;
        let batch = batch.with_operators(&self.operators);
        let problem = Problem {
            graph: Messages::Whole(Arc::clone(&self.nothing.0)),
            arcs: None,
            features: Arc::clone(&self.nothing.1),
            n_outputs: self.n_outputs,
            known_labels: Arc::new([]),
            options: self.options,
            complexes: Some(&batch),
            device: false,
        };
        let model = (self.spec.build)(&problem, &mut reservation)?;
        let rows: Vec<u32> = (0..items.len() as u32).collect();
        let scope = model.scope(&rows, train, true, &mut reservation)?;
        Ok(ModelPart { model, scope, targets: items.iter().copied().zip(rows).collect(), reservation })
    }
}

impl Model for Batched<'_> {
    fn space(&self) -> Option<&crate::spaces::Space> {
        None
    }

    fn layout(&self) -> &Layout {
        &self.rows.layout
    }

    /// Rows: the targets.
    fn scope(
        &self,
        targets: &[u32],
        _train: bool,
        _pruned: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Scope, Stopped> {
        reservation.grow(RowSet::bytes(targets.len()))?;
        Ok(Scope { rows: vec![Arc::new(RowSet::new(self.set.len(), targets.to_vec()))], prepared: Vec::new() })
    }

    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped> {
        // The last step's memory is released before more is reserved.
        self.rows.step = None;
        let train = matches!(pass, Pass::Train { .. });
        let targets = scope.targets().rows();
        let size = if train { targets.len() } else { EVALUATED };
        for items in targets.chunks(size.max(1)) {
            monitor.check()?;
            let mut part = self.fit(items, train)?;
            self.rows.forward(&mut part, parameters, pass, monitor)?;
            if train {
                self.rows.step = Some(part);
            }
        }
        Ok(())
    }

    fn outputs(&self) -> &[f32] {
        &self.rows.outputs
    }

    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]) {
        (&self.rows.outputs, &mut self.rows.gradient)
    }

    fn backward(
        &mut self,
        _scope: &Scope,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        self.rows.backward(parameters, pass, gradient, monitor)
    }

    fn penalty(&self) -> f64 {
        self.rows.penalty()
    }

    fn embedding(&self) -> Option<(&[f32], Axis)> {
        self.rows.embedding()
    }

    fn peak(&self) -> usize {
        self.rows.peak + self.held.iter().map(Reservation::bytes).sum::<usize>()
    }
}

fn stopped(error: BuildError) -> Stopped {
    use bonnet_topology::{FacesError, SpectrumError};
    match error {
        BuildError::Stopped(stopped) | BuildError::Spectrum(SpectrumError::Faces(FacesError::Stopped(stopped))) => {
            stopped
        }
        error => unreachable!("the same was accepted when the layout was learnt: {error}"),
    }
}
