//! Where the passes of a run are computed and its parameters are kept: the CPU here, a device in [`crate::training::device`].

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::data::Part;
use crate::ground::random::{Stream, key};
use crate::ground::{Axis, Layout, TrainError};
use crate::network::{Model, Moments, Pass, Scope};
use crate::optimizer::Optimizer;
use crate::optimizer::schedule::clip_global_norm;
use crate::options::TrainOptions;
use crate::spaces::Space;
use crate::tasks::metrics::{FigureSet, Metrics};
use crate::tasks::{Objective, Outputs, Step};

/// The passes of a run, as its loop calls them.
pub(crate) trait Backend {
    /// The word of the column `device`.
    fn device(&self) -> &'static str;

    /// The number of the model's parameters.
    fn parameters(&self) -> usize;

    /// The steps of an epoch, at the learning rate times a factor, and the figures after them. `fresh` says that the task has
    /// batches which were not there in the epoch before, as in the first.
    fn epoch(
        &mut self,
        objective: &mut dyn Objective,
        epoch: u32,
        fresh: bool,
        factor: f64,
    ) -> Result<EpochFigures, TrainError>;

    /// Keeps the parameters as the best so far.
    fn keep(&mut self) -> Result<(), TrainError>;

    /// The outputs of all nodes for the best parameters: those kept last, or the first ones.
    fn finish(&mut self, reservation: &mut Reservation<'_>) -> Result<FinalPass<'_>, TrainError>;
}

/// The losses and figures of an epoch.
#[derive(Debug, Clone, Default)]
pub(crate) struct EpochFigures {
    pub train_loss: f64,
    pub val_loss: Option<f64>,
    pub val: Metrics,
    pub test: Metrics,
}

/// The end of a run: its parameters and the last outputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FinalPass<'a> {
    pub layout: &'a Layout,
    /// The parameters of the model, then those of the task.
    pub parameters: &'a [f32],
    pub outputs: &'a [f32],
    pub embedding: Option<(&'a [f32], Axis)>,
    /// The space whose points the embedding's rows are.
    pub space: Option<&'a Space>,
    /// The most bytes that were held beside the reservation: of steps, or on a device.
    pub beside: usize,
}

/// The settings of a run that a backend is made with, beside the model and the task.
pub(crate) struct Setup<'a> {
    pub options: &'a TrainOptions,
    pub pruned: bool,
    pub monitor: &'a dyn Monitor,
    /// The first parameters of the model, then those of the task.
    pub parameters: Vec<f32>,
}

impl Setup<'_> {
    /// The parts whose figures an epoch has.
    pub fn parts(&self) -> &'static [Part] {
        if self.options.test_each_epoch { &[Part::Val, Part::Test] } else { &[Part::Val] }
    }

    /// The figures that an epoch has.
    pub fn figures(&self) -> FigureSet {
        if self.options.every_figure { FigureSet::All } else { FigureSet::Selecting(self.options.select_by) }
    }

    /// The figures of an epoch from the outputs of a model.
    pub fn score(
        &self,
        objective: &mut dyn Objective,
        outputs: Outputs<'_>,
        record: &mut EpochFigures,
    ) -> Result<(), Stopped> {
        (record.val_loss, record.val) = objective.score(Part::Val, outputs, self.figures(), self.monitor)?;
        if self.options.test_each_epoch {
            record.test = objective.score(Part::Test, outputs, self.figures(), self.monitor)?.1;
        }
        Ok(())
    }

    /// The error of a training loss that is not finite.
    pub fn diverged(&self, epoch: u32, loss: f64) -> TrainError {
        TrainError::Diverged { part: "training", epoch, loss, lr: self.options.lr }
    }
}

/// Separates the order of the steps from other uses of the seed.
const ORDER: u64 = 10;

/// The order of the steps of an epoch.
pub(crate) fn order_of(batches: usize, seed: u64, epoch: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..batches).collect();
    if batches > 1 {
        Stream::new(key(&[seed, ORDER, u64::from(epoch)])).shuffle(&mut order);
    }
    order
}

/// The number of training items on which moments are measured: some thousand suffice (Wu and Johnson 2021, Rethinking "Batch"
/// in BatchNorm, Sec. 3).
const MEASURED: usize = 2048;

/// Replaces the measured statistics among the parameters by the moments of training rows under the same parameters: those of the
/// first batches, in the order in which they were drawn, that hold [`MEASURED`] items together. Without dropout, as the passes
/// that use them.
fn measure(
    model: &mut (dyn Model + '_),
    batches: &[Scope],
    parameters: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    let (of_model, mut moments, mut items) = (model.layout().stored(), Moments::default(), 0);
    for scope in batches {
        if items >= MEASURED {
            break;
        }
        monitor.check()?;
        model.forward(scope, &parameters[..of_model], Pass::Measure, monitor)?;
        model.add_moments(&mut moments);
        items += scope.targets().len();
    }
    moments.write(model.layout(), parameters);
    Ok(())
}

/// The passes on the CPU.
pub(crate) struct CpuBackend<'a> {
    setup: Setup<'a>,
    model: Box<dyn Model + 'a>,
    best_parameters: Vec<f32>,
    gradient: Vec<f32>,
    /// The gradients since the parameters moved, where those of several steps are added up.
    added: Vec<f32>,
    optimizer: Optimizer,
    /// Batches that are drawn anew take the place, and the room, of those before.
    scopes: Vec<Scope>,
    of_scopes: Option<Reservation<'a>>,
    largest_scopes: usize,
    steps: u32,
    /// Whether statistics are measured before a score.
    measures: bool,
    eval_scope: Scope,
    n_nodes: usize,
    n_items: usize,
}

impl<'a> CpuBackend<'a> {
    pub fn new(
        model: Box<dyn Model + 'a>,
        n_nodes: usize,
        objective: &dyn Objective,
        setup: Setup<'a>,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, TrainError> {
        let (options, stored) = (setup.options, setup.parameters.len());
        let measures = model.layout().blocks().iter().any(|block| block.measured);
        let added = if options.accumulate > 1 { stored } else { 0 };
        reservation.grow(4 * (3 * stored + added) + Optimizer::bytes(stored) + Moments::bytes(model.layout()))?;
        let eval_scope = model.scope(&objective.nodes(setup.parts()), false, setup.pruned, reservation)?;
        Ok(Self {
            best_parameters: setup.parameters.clone(),
            gradient: vec![0f32; stored],
            added: vec![0f32; added],
            optimizer: Optimizer::new(options.optimizer, options.lr, options.weight_decay, stored)
                .with_layout(model.layout()),
            n_items: 0,
            n_nodes,
            scopes: Vec::new(),
            of_scopes: None,
            largest_scopes: 0,
            steps: 0,
            measures,
            eval_scope,
            model,
            setup,
        })
    }
}

impl Backend for CpuBackend<'_> {
    fn device(&self) -> &'static str {
        "cpu"
    }

    fn parameters(&self) -> usize {
        self.model.layout().parameters()
    }

    fn epoch(
        &mut self,
        objective: &mut dyn Objective,
        epoch: u32,
        fresh: bool,
        factor: f64,
    ) -> Result<EpochFigures, TrainError> {
        let (monitor, options, of_model) = (self.setup.monitor, self.setup.options, self.model.layout().stored());
        let mut record = EpochFigures::default();
        if fresh {
            self.scopes.clear();
            drop(self.of_scopes.take());
            let mut room = Reservation::new(monitor, 0)?;
            for nodes in objective.batches() {
                self.scopes.push(self.model.scope(&nodes, true, self.setup.pruned, &mut room)?);
            }
            self.largest_scopes = self.largest_scopes.max(room.bytes());
            self.of_scopes = Some(room);
            self.n_items = (0..self.scopes.len()).map(|batch| objective.batch_items(batch)).sum();
        }
        self.optimizer.set_factor(factor);
        let order = order_of(self.scopes.len(), options.seed, epoch);
        for (at, &batch) in order.iter().enumerate() {
            monitor.check()?;
            self.steps = self.steps.wrapping_add(1);
            // Steps on samples number their rows from 0: each has masks of its own.
            let pass_of = |step| Pass::Train { epoch: if options.batch_nodes.is_some() { step } else { epoch } };
            let (scope, pass) = (&self.scopes[batch], pass_of(self.steps));
            match order.get(at + 1) {
                Some(&next) => self.model.expect(&self.scopes[next], pass_of(self.steps.wrapping_add(1))),
                None if !self.measures => self.model.expect(&self.eval_scope, Pass::Evaluate),
                None => {}
            }
            let (of_nodes, head) = self.setup.parameters.split_at(of_model);
            let (d_model, d_head) = self.gradient.split_at_mut(of_model);
            self.model.forward(scope, of_nodes, pass, monitor)?;
            let label_inputs = self.model.label_inputs(pass);
            let (outputs, d_nodes) = self.model.outputs_and_gradient();
            if !self.setup.pruned {
                d_nodes.fill(0.0);
            }
            let step = Step { outputs: Outputs { nodes: outputs, head }, label_inputs: &label_inputs, d_nodes, d_head };
            let loss = objective.train(batch, step, monitor)? + self.model.penalty();
            if !loss.is_finite() {
                return Err(self.setup.diverged(epoch, loss));
            }
            record.train_loss += loss * (objective.batch_items(batch) as f64 / self.n_items as f64);
            self.model.backward(scope, of_nodes, pass, d_model, monitor)?;
            self.optimizer.move_statistics(&mut self.setup.parameters, &mut self.gradient);
            if options.accumulate > 1 {
                self.added.iter_mut().zip(&self.gradient).for_each(|(sum, part)| *sum += part);
                let done = at + 1;
                if done % options.accumulate as usize != 0 && done != order.len() {
                    continue;
                }
                std::mem::swap(&mut self.added, &mut self.gradient);
                self.added.fill(0.0);
            }
            if let Some(limit) = options.clip {
                clip_global_norm(&mut self.gradient, limit);
            }
            self.optimizer.step(&mut self.setup.parameters, &self.gradient);
        }
        if !self.eval_scope.targets().is_empty() {
            if self.measures {
                measure(&mut *self.model, &self.scopes, &mut self.setup.parameters, monitor)?;
            }
            let (of_nodes, head) = self.setup.parameters.split_at(of_model);
            self.model.forward(&self.eval_scope, of_nodes, Pass::Evaluate, monitor)?;
            let outputs = Outputs { nodes: self.model.outputs(), head };
            self.setup.score(objective, outputs, &mut record)?;
        }
        Ok(record)
    }

    fn keep(&mut self) -> Result<(), TrainError> {
        self.best_parameters.copy_from_slice(&self.setup.parameters);
        Ok(())
    }

    fn finish(&mut self, reservation: &mut Reservation<'_>) -> Result<FinalPass<'_>, TrainError> {
        let all: Vec<u32> = (0..self.n_nodes as u32).collect();
        let scope = self.model.scope(&all, false, true, reservation)?;
        // Where an epoch had nothing to score they have not been measured.
        if self.measures && self.eval_scope.targets().is_empty() {
            measure(&mut *self.model, &self.scopes, &mut self.best_parameters, self.setup.monitor)?;
        }
        let of_model = self.model.layout().stored();
        self.model.forward(&scope, &self.best_parameters[..of_model], Pass::Evaluate, self.setup.monitor)?;
        Ok(FinalPass {
            layout: self.model.layout(),
            parameters: &self.best_parameters,
            outputs: self.model.outputs(),
            embedding: self.model.embedding(),
            space: self.model.space(),
            beside: self.largest_scopes + self.model.peak(),
        })
    }
}
