//! The training loop: full batch, one step an epoch, the best epoch on the validation nodes selected.

use std::sync::Arc;
use std::time::Instant;

use bonnet_graph::{Monitor, Reservation, Stopped};
use serde::{Deserialize, Serialize};

use crate::data::{DataError, GraphData};
use crate::features;
use crate::kernels::RowSet;
use crate::kernels::loss::nll_gradient;
use crate::kernels::padded;
use crate::metrics::{Metrics, NodeScores};
use crate::models::{Axis, BuildError, Model, Pass, Problem, Scope};
use crate::optimizer::Optimizer;
use crate::options::{OptionError, SelectBy, TrainOptions};
use crate::registry;
use crate::split::Split;

/// How a run ended: the column `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// With figures.
    Ok,
    /// The host granted no memory.
    OutOfMemory,
    /// The loss was no longer finite.
    Diverged,
    /// The data or the options do not allow the run.
    Error,
}

impl Status {
    /// `ok`, `out_of_memory`, `diverged` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::OutOfMemory => "out_of_memory",
            Self::Diverged => "diverged",
            Self::Error => "error",
        }
    }
}

/// Why a run has no figures.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// The data cannot be trained on.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An option is not obeyed.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The split has no labelled training node.
    #[error("the split has no labelled training node")]
    NoTrainingNodes,
    /// A node of the split does not exist or has no label.
    #[error("node {0} of the split is not a labelled node of the graph")]
    NotLabelled(u32),
    /// Training or validation loss was infinite or not a number.
    #[error("the {part} loss of epoch {epoch} is {loss}; try a smaller lr (it is {lr}) or normalize => 'row'")]
    Diverged {
        /// `training` or `validation`.
        part: &'static str,
        /// The epoch, counted from 1.
        epoch: u32,
        /// The loss.
        loss: f64,
        /// The learning rate.
        lr: f64,
    },
    /// The host granted no memory.
    #[error("{0}")]
    OutOfMemory(String),
    /// The host wants no answer any more.
    #[error("the query was cancelled")]
    Cancelled,
}

impl TrainError {
    /// The status of the row that reports the error; none where the whole query ends.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Data(_) | Self::Option(_) | Self::NoTrainingNodes | Self::NotLabelled(_) => Some(Status::Error),
            Self::Diverged { .. } => Some(Status::Diverged),
            Self::OutOfMemory(_) => Some(Status::OutOfMemory),
            Self::Cancelled => None,
        }
    }
}

impl From<Stopped> for TrainError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Cancelled => Self::Cancelled,
            Stopped::OutOfMemory(text) => Self::OutOfMemory(text),
        }
    }
}

impl From<BuildError> for TrainError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Option(error) => Self::Option(error),
            BuildError::Stopped(stopped) => stopped.into(),
        }
    }
}

/// A dense row-major matrix without padding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// The number of columns.
    pub columns: usize,
    /// Row by row.
    pub values: Vec<f32>,
}

impl Matrix {
    /// A row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    fn unpadded(values: &[f32], n: usize, columns: Axis) -> Self {
        let stride = columns.stride();
        let values = (0..n).flat_map(|row| columns.positions().map(move |c| values[row * stride + c])).collect();
        Self { columns: columns.len(), values }
    }
}

/// What an epoch gave: a row of a training curve.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochRecord {
    /// Counted from 1.
    pub epoch: u32,
    /// The training loss before the step, with dropout.
    pub train_loss: f64,
    /// The validation loss after the step; none without validation nodes.
    pub val_loss: Option<f64>,
    /// The validation figures after the step: the accuracy, and the figure that selects.
    pub val: Metrics,
    /// The test accuracy after the step, if [`TrainOptions::test_each_epoch`].
    pub test: Metrics,
    /// Whether this is the best epoch so far.
    pub selected: bool,
}

/// What a run gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The selected epoch, counted from 1; the last one where there are no validation nodes.
    pub best_epoch: u32,
    /// The number of epochs that ran.
    pub epochs_run: u32,
    /// The figures of the validation nodes in the selected epoch.
    pub val: Metrics,
    /// The figures of the test nodes in the selected epoch.
    pub test: Metrics,
    /// The number of parameters.
    pub parameters: usize,
    /// Seconds of preparation and training, validation included.
    pub train_seconds: f64,
    /// Seconds of the final pass over all nodes and its figures.
    pub test_seconds: f64,
    /// The bytes that the run reserved.
    pub peak_memory: usize,
    /// Where it ran: `cpu`.
    pub device: &'static str,
    /// The outputs of the selected epoch for every node, nodes x classes: logits of the softmax.
    pub logits: Matrix,
    /// The last hidden representation of every node in the selected epoch, if [`TrainOptions::keep_embeddings`]; none for
    /// a model of one layer.
    pub embeddings: Option<Matrix>,
    /// The selected parameters: name, rows, columns, values row by row.
    pub weights: Vec<(String, Matrix)>,
}

/// Trains a model and gives the figures of its best epoch. The same arguments give the same outcome, seconds apart, for
/// any number of threads.
///
/// An epoch is one step on all training nodes, then the validation figures. The selected epoch has the best figure of
/// `options.select_by`, among equals the lowest validation loss, then the earliest. `observe` sees every epoch as it ends.
///
/// Time a step: O(layers * (edges * hidden + nodes * hidden^2) + entries of the features * hidden). Memory:
/// O(layers * nodes * hidden + edges + parameters), reserved from the monitor before it is allocated.
///
/// # Errors
/// See [`TrainError`]; the monitor is asked before every block of rows.
pub fn train(
    data: &GraphData,
    split: &Split,
    options: &TrainOptions,
    monitor: &dyn Monitor,
    observe: &mut dyn FnMut(&EpochRecord),
) -> Result<Outcome, TrainError> {
    run(data, split, options, true, monitor, observe)
}

/// [`train`], with or without pruning: tests compare the two.
pub(crate) fn run(
    data: &GraphData,
    split: &Split,
    options: &TrainOptions,
    pruned: bool,
    monitor: &dyn Monitor,
    observe: &mut dyn FnMut(&EpochRecord),
) -> Result<Outcome, TrainError> {
    let start = Instant::now();
    check(data, split, options)?;
    let n = data.graph.n_nodes();
    let mut reservation = Reservation::new(monitor, 4 * n)?;
    let labels: Vec<u32> = data.labels.iter().map(|label| label.unwrap_or(u32::MAX)).collect();
    reservation.grow(features::prepared_bytes(&data.features, n, options.features, options.normalize))?;
    let input = features::prepare(&data.features, &data.graph, options.features, options.normalize, options.seed)?;

    let problem = Problem { graph: Arc::clone(&data.graph), features: input, n_outputs: data.n_classes, options };
    let mut model = (registry::model(&options.model)?.build)(&problem, &mut reservation)?;
    let stored = model.layout().stored();
    reservation.grow(3 * 4 * stored + Optimizer::bytes(stored))?;
    let mut parameters = model.layout().initialise(options.seed);
    let mut best_parameters = parameters.clone();
    let mut gradient = vec![0f32; stored];
    let mut optimizer = Optimizer::new(options.optimizer, options.lr, options.weight_decay, stored);

    let train_scope = model.scope(&split.train, true, pruned, &mut reservation)?;
    let mut watched = split.val.clone();
    if options.test_each_epoch {
        watched.extend_from_slice(&split.test);
        watched.sort_unstable();
    }
    let watch_scope = model.scope(&watched, false, pruned, &mut reservation)?;
    let mut watch = Watch::new(data, &labels, split, options, &mut reservation)?;
    let train_set = RowSet::new(n, split.train.clone());

    let (mut best_epoch, mut improved, mut best) = (0, 0, None::<(f64, f64)>);
    let mut epochs_run = 0;
    monitor.expect(u64::from(options.epochs));
    for epoch in 1..=options.epochs {
        monitor.check()?;
        let pass = Pass::Train { epoch };
        let diverged = |part, loss| TrainError::Diverged { part, epoch, loss, lr: options.lr };
        model.forward(&train_scope, &parameters, pass, monitor)?;
        let (outputs, d_outputs) = model.outputs_and_gradient();
        if !pruned {
            d_outputs.fill(0.0);
        }
        let stride = padded(data.n_classes);
        let train_loss = nll_gradient(&train_set, outputs, stride, data.n_classes, &labels, d_outputs, monitor)?;
        if !train_loss.is_finite() {
            return Err(diverged("training", train_loss));
        }
        model.backward(&train_scope, &parameters, pass, &mut gradient, monitor)?;
        optimizer.step(&mut parameters, &gradient);

        let mut record = watch.epoch(model.as_mut(), &watch_scope, &parameters, epoch, monitor)?;
        record.train_loss = train_loss;
        epochs_run = epoch;
        match record.val_loss {
            None => (best_epoch, record.selected) = (epoch, true),
            Some(loss) if !loss.is_finite() => return Err(diverged("validation", loss)),
            Some(loss) => {
                let figure = watch.figure(&record);
                let better = best.is_none_or(|(best, _)| figure > best);
                if better {
                    improved = epoch;
                }
                if better || best.is_some_and(|(best, best_loss)| figure == best && loss < best_loss) {
                    best = Some((figure, loss));
                    (best_epoch, record.selected) = (epoch, true);
                }
            }
        }
        if record.selected {
            best_parameters.copy_from_slice(&parameters);
        }
        observe(&record);
        monitor.advance(1);
        if options.patience.is_some_and(|patience| record.val_loss.is_some() && epoch - improved >= patience) {
            monitor.advance(u64::from(options.epochs - epoch));
            break;
        }
    }
    let train_seconds = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let all: Vec<u32> = (0..n as u32).collect();
    let scope = model.scope(&all, false, true, &mut reservation)?;
    model.forward(&scope, &best_parameters, Pass::Evaluate, monitor)?;
    reservation.grow(4 * n * data.n_classes)?;
    let logits = Matrix::unpadded(model.outputs(), n, Axis::padded(1, data.n_classes));
    let embeddings = match model.embedding().filter(|_| options.keep_embeddings) {
        Some((values, columns)) => {
            reservation.grow(4 * n * columns.len())?;
            Some(Matrix::unpadded(values, n, columns))
        }
        None => None,
    };
    let figures = |nodes: &[u32]| NodeScores::new(&logits, &data.labels, data.n_classes, nodes).all();
    let (val, test) = (figures(&split.val), figures(&split.test));
    let weights = model
        .layout()
        .blocks()
        .iter()
        .map(|block| {
            let values = block.positions().map(|at| best_parameters[at]).collect();
            (block.name.clone(), Matrix { columns: block.columns.len(), values })
        })
        .collect();
    Ok(Outcome {
        best_epoch,
        epochs_run,
        val,
        test,
        parameters: model.layout().parameters(),
        train_seconds,
        test_seconds: start.elapsed().as_secs_f64(),
        peak_memory: reservation.bytes(),
        device: "cpu",
        logits,
        embeddings,
        weights,
    })
}

fn check(data: &GraphData, split: &Split, options: &TrainOptions) -> Result<(), TrainError> {
    for part in [&split.train, &split.val, &split.test] {
        if let Some(&v) = part.iter().find(|&&v| data.labels.get(v as usize).copied().flatten().is_none()) {
            return Err(TrainError::NotLabelled(v));
        }
    }
    if split.train.is_empty() {
        return Err(TrainError::NoTrainingNodes);
    }
    if matches!(options.select_by, SelectBy::F1 | SelectBy::Ap) && data.n_classes != 2 {
        let valid = "val_accuracy, val_macro_f1, val_auc, val_loss for other than two classes";
        return Err(OptionError::invalid("select_by", options.select_by, valid).into());
    }
    Ok(())
}

/// The figures after each epoch.
struct Watch<'a> {
    data: &'a GraphData,
    labels: &'a [u32],
    split: &'a Split,
    val_set: RowSet,
    options: &'a TrainOptions,
    /// Where the loss leaves a gradient that nobody reads.
    scratch: Vec<f32>,
}

impl<'a> Watch<'a> {
    fn new(
        data: &'a GraphData,
        labels: &'a [u32],
        split: &'a Split,
        options: &'a TrainOptions,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, Stopped> {
        let n = data.graph.n_nodes();
        let scratch = crate::models::zeros(reservation, n * padded(data.n_classes))?;
        Ok(Self { data, labels, split, val_set: RowSet::new(n, split.val.clone()), options, scratch })
    }

    fn epoch(
        &mut self,
        model: &mut dyn Model,
        scope: &Scope,
        parameters: &[f32],
        epoch: u32,
        monitor: &dyn Monitor,
    ) -> Result<EpochRecord, Stopped> {
        let mut record = EpochRecord {
            epoch,
            train_loss: 0.0,
            val_loss: None,
            val: Metrics::default(),
            test: Metrics::default(),
            selected: false,
        };
        if scope.targets().is_empty() {
            return Ok(record);
        }
        model.forward(scope, parameters, Pass::Evaluate, monitor)?;
        let (outputs, classes) = (model.outputs(), self.data.n_classes);
        let stride = padded(classes);
        let scores = |nodes| NodeScores::padded(outputs, stride, &self.data.labels, classes, nodes);
        if !self.split.val.is_empty() {
            let (labels, scratch) = (self.labels, &mut self.scratch);
            record.val_loss = Some(nll_gradient(&self.val_set, outputs, stride, classes, labels, scratch, monitor)?);
            let scores = scores(&self.split.val);
            record.val.accuracy = scores.accuracy();
            match self.options.select_by {
                SelectBy::Accuracy | SelectBy::Loss => {}
                SelectBy::MacroF1 => record.val.macro_f1 = scores.macro_f1(),
                SelectBy::F1 => record.val.f1 = scores.f1(),
                SelectBy::Auc => record.val.auc = scores.auc(),
                SelectBy::Ap => record.val.ap = scores.ap(),
            }
        }
        if self.options.test_each_epoch {
            record.test.accuracy = scores(&self.split.test).accuracy();
        }
        Ok(record)
    }

    /// What selects: larger is better. A figure that is not defined is the worst.
    fn figure(&self, record: &EpochRecord) -> f64 {
        let figure = match self.options.select_by {
            SelectBy::Accuracy => record.val.accuracy,
            SelectBy::MacroF1 => record.val.macro_f1,
            SelectBy::F1 => record.val.f1,
            SelectBy::Auc => record.val.auc,
            SelectBy::Ap => record.val.ap,
            SelectBy::Loss => record.val_loss.map(|loss| -loss),
        };
        figure.unwrap_or(f64::NEG_INFINITY)
    }
}
