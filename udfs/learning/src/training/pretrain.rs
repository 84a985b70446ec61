//! Pre-training: the loop over sets of graphs.

use std::time::Instant;

use bonnet_graph::{Monitor, Reservation};
use candle_core::DType;

use super::saved::named;
use crate::data::Alignment;
use crate::ground::{Matrix, OptionError, TrainError};
use crate::models::foundation::{self, Domain, Place, Shape, Source, Weights, told};
use crate::optimizer::Optimizer;
use crate::optimizer::schedule::{Schedule, clip_global_norm};
use crate::options::TrainOptions;

/// The result of a pre-training.
#[derive(Debug, Clone, PartialEq)]
pub struct Pretrained {
    /// The epoch of the parameters, counted from 1: the last one, with [`TrainOptions::patience`] that of the lowest loss; 0 where no
    /// epoch ran.
    pub best_epoch: u32,
    /// The number of epochs that ran.
    pub epochs_run: u32,
    /// The training loss of that epoch, a mean over its steps, each before it is taken; none where no epoch ran.
    pub loss: Option<f64>,
    /// The number of parameters, those that the loss alone reads among them, without statistics.
    pub parameters: usize,
    /// Seconds of the alignment of the features and of all epochs.
    pub seconds: f64,
    /// The bytes that were reserved.
    pub peak_memory: usize,
    /// The parameters and statistics: name, rows, columns, values row by row.
    pub weights: Vec<(String, Matrix)>,
}

/// Pre-trains a model on some graphs, without any label. `observe` receives each epoch with its loss as it ends.
///
/// Graphs are taken in the order of their names, so that the order in which they are given changes nothing. The same arguments give
/// the same parameters for any number of threads. [`TrainOptions::epochs`] may be 0: the encoder is then as it was drawn from the
/// seed. Time and memory are those of the model's encoder on the largest of the graphs at a time (mdgpt: of all in a step; graphglue: on a
/// sample of all).
///
/// # Errors
/// For a model that is not pre-trained, no graph or two of one name, and see [`TrainError`]. The monitor is checked before each part
/// of a step.
pub fn pretrain(
    mut sources: Vec<Source>,
    options: &TrainOptions,
    monitor: &dyn Monitor,
    observe: &mut dyn FnMut(u32, f64),
) -> Result<Pretrained, TrainError> {
    let clock = Instant::now();
    let model = pretrainable(&options.model)?;
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    check(&sources)?;
    let shape = Shape::new(options, sources.len(), monitor)?;
    let alignment = Alignment::of_all(shape.dim, shape.reduction()?);
    let mut reservation = Reservation::new(monitor, 0)?;
    let domains = sources.iter().map(|source| {
        monitor.check()?;
        Domain::new(source, options, alignment, &mut reservation, monitor)
    });
    let domains = domains.collect::<Result<Vec<_>, TrainError>>()?;
    let layout = model.encoder(&shape)?;
    let stored = layout.stored();
    reservation.grow(4 * 4 * stored + Optimizer::bytes(stored) + model.bytes(&shape, &domains))?;
    let mut parameters = layout.initialise(options.seed);
    let optimizer = Optimizer::new(options.optimizer, options.lr, options.weight_decay, stored);
    let mut optimizer = optimizer.with_layout(&layout);
    let schedule = Schedule { warmup: options.warmup, epochs: options.epochs, decay: options.schedule };
    let (mut best, mut best_epoch, mut best_loss, mut epochs_run) = (parameters.clone(), 0, None::<f64>, 0);
    monitor.expect(u64::from(options.epochs));
    for epoch in 1..=options.epochs {
        let (steps, parts) = told(model.steps(&shape, &domains), monitor)?;
        optimizer.set_factor(schedule.factor(epoch));
        let mut total = 0.0;
        for step in 0..steps {
            let mut gradient = vec![0f32; stored];
            for part in 0..parts {
                monitor.check()?;
                let weights = Weights::new(&layout, &parameters, DType::F32, |_| true)?;
                let loss = model.loss(&shape, &weights, &domains, Place { epoch, step, part });
                let Some(loss) = told(loss, monitor)? else { continue };
                monitor.check()?;
                let value = f64::from(loss.to_scalar::<f32>()?);
                if !value.is_finite() {
                    return Err(TrainError::Diverged { part: "training", epoch, loss: value, lr: options.lr });
                }
                total += value / steps as f64;
                weights.add_gradient(&layout, &loss.backward()?, &mut gradient)?;
            }
            optimizer.move_statistics(&mut parameters, &mut gradient);
            if let Some(limit) = options.clip {
                clip_global_norm(&mut gradient, limit);
            }
            optimizer.step(&mut parameters, &gradient);
        }
        epochs_run = epoch;
        observe(epoch, total);
        monitor.advance(1);
        // Without patience the last epoch counts.
        if options.patience.is_none() || best_loss.is_none_or(|best| total < best) {
            (best_epoch, best_loss) = (epoch, Some(total));
            best.copy_from_slice(&parameters);
        }
        if options.patience.is_some_and(|patience| epoch - best_epoch >= patience) {
            monitor.advance(u64::from(options.epochs - epoch));
            break;
        }
    }
    Ok(Pretrained {
        best_epoch,
        epochs_run,
        loss: best_loss,
        parameters: layout.parameters(),
        seconds: clock.elapsed().as_secs_f64(),
        peak_memory: reservation.bytes(),
        weights: named(&layout, &best),
    })
}

/// The model of a name.
fn pretrainable(name: &str) -> Result<&'static dyn foundation::Foundation, OptionError> {
    foundation::of(name).ok_or_else(|| {
        let is_one = |spec: &&crate::ModelSpec| foundation::of(spec.name).is_some();
        let names: Vec<&str> = crate::models().iter().filter(is_one).map(|spec| spec.name).collect();
        OptionError::invalid("model", name, &format!("{} (those that are pre-trained)", names.join(", ")))
    })
}

/// Refuses sources that are none, or twice the same.
fn check(sources: &[Source]) -> Result<(), OptionError> {
    if sources.is_empty() {
        return Err(OptionError::invalid("graphs", "empty", "the names of one graph or more"));
    }
    match sources.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => Err(OptionError::invalid("graphs", &pair[0].name, "each graph once")),
        None => Ok(()),
    }
}
