//! How far a run has come: its best epoch, when it ends, and what it comes to.

use std::time::Instant;

use bonnet_graph::{Monitor, Reservation};

use crate::data::Part;
use crate::ground::TrainError;
use crate::options::{SelectBy, TrainOptions};
use crate::tasks::metrics::FigureSet;
use crate::tasks::{Objective, Outputs};
use crate::training::backend::{EpochFigures, FinalPass};
use crate::training::outcome::{EpochRecord, Outcome};
use crate::training::saved::named;

/// The best epoch of a run so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    best_epoch: u32,
    epochs_run: u32,
    /// The epoch that last had a better figure, and the best figure with its loss.
    improved: u32,
    best: Option<(f64, f64)>,
}

/// What a run was beside its last pass.
pub(crate) struct Ran {
    /// `cpu` or `cuda`.
    pub device: &'static str,
    /// The number of the model's parameters.
    pub parameters: usize,
    pub train_seconds: f64,
    /// When the last pass began.
    pub last: Instant,
    /// The number of runs that were trained side by side.
    pub together: usize,
}

impl Progress {
    /// The record of an epoch, the last one so far, and whether patience ends the run with it.
    ///
    /// # Errors
    /// [`TrainError::Diverged`] for a validation loss that is not finite.
    pub fn record(
        &mut self,
        options: &TrainOptions,
        epoch: u32,
        figures: EpochFigures,
    ) -> Result<(EpochRecord, bool), TrainError> {
        let EpochFigures { train_loss, val_loss, val, test } = figures;
        let mut record = EpochRecord { epoch, train_loss, val_loss, val, test, selected: false };
        self.epochs_run = epoch;
        match record.val_loss {
            None => (self.best_epoch, record.selected) = (epoch, true),
            Some(loss) if !loss.is_finite() => {
                return Err(TrainError::Diverged { part: "validation", epoch, loss, lr: options.lr });
            }
            Some(loss) => {
                let figure = figure(options.select_by, &record);
                let better = self.best.is_none_or(|(best, _)| figure > best);
                if better {
                    self.improved = epoch;
                }
                if better || self.best.is_some_and(|(best, best_loss)| figure == best && loss < best_loss) {
                    self.best = Some((figure, loss));
                    (self.best_epoch, record.selected) = (epoch, true);
                }
            }
        }
        let waited = epoch - self.improved;
        let ends = options.patience.is_some_and(|patience| record.val_loss.is_some() && waited >= patience);
        Ok((record, ends))
    }

    /// The outcome of a run that ends here, from its pass over all of `n` rows of outputs.
    pub fn outcome(
        &self,
        (options, monitor): (&TrainOptions, &dyn Monitor),
        objective: &mut dyn Objective,
        (last, n): (FinalPass<'_>, usize),
        ran: Ran,
        mut reservation: Reservation<'_>,
    ) -> Result<Outcome, TrainError> {
        let n_outputs = objective.n_outputs();
        // The outcome holds at most one row of outputs a node, and its embedding.
        reservation.grow(4 * n * n_outputs)?;
        let (of_model, head) = last.parameters.split_at(last.layout.stored());
        let outputs = Outputs { nodes: last.outputs, head };
        let (_, val) = objective.score(Part::Val, outputs, FigureSet::All, monitor)?;
        let (_, test) = objective.score(Part::Test, outputs, FigureSet::All, monitor)?;
        let predictions = objective.predictions(outputs, monitor)?;
        let embeddings = match options.keep_embeddings {
            true => {
                reservation.grow(4 * n * last.embedding.map_or(n_outputs, |(_, columns)| columns.len()))?;
                objective.embeddings(last.outputs, last.embedding, monitor)?
            }
            false => None,
        };
        let (embeddings, geometry) = match (embeddings, last.space) {
            (Some(rows), Some(space)) if !options.task.is_of_graphs() => {
                reservation.grow(4 * n * (space.columns() + space.factors.len()))?;
                let (points, text) = space.points(&rows);
                (Some(points), text)
            }
            (embeddings, _) => (embeddings, None),
        };
        let mut weights = named(last.layout, of_model);
        weights.extend(named(objective.head(), head));
        Ok(Outcome {
            best_epoch: self.best_epoch,
            epochs_run: self.epochs_run,
            val,
            test,
            parameters: ran.parameters + objective.head().parameters(),
            train_seconds: ran.train_seconds,
            test_seconds: ran.last.elapsed().as_secs_f64(),
            peak_memory: reservation.bytes() + last.beside,
            device: ran.device,
            trained_together: ran.together,
            logits: predictions,
            embeddings,
            geometry,
            weights,
        })
    }
}

/// The figure that selects, larger being better. A figure that is not defined is the worst.
fn figure(select_by: SelectBy, record: &EpochRecord) -> f64 {
    let figure = match select_by {
        SelectBy::Accuracy => record.val.accuracy,
        SelectBy::MacroF1 => record.val.macro_f1,
        SelectBy::F1 => record.val.f1,
        SelectBy::Auc => record.val.auc,
        SelectBy::Ap => record.val.ap,
        SelectBy::Mae => record.val.mae.map(|error| -error),
        SelectBy::Mse => record.val.mse.map(|error| -error),
        SelectBy::Loss => record.val_loss.map(|loss| -loss),
        SelectBy::Last => Some(f64::from(record.epoch)),
    };
    figure.unwrap_or(f64::NEG_INFINITY)
}
