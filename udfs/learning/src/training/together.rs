//! Runs that are trained side by side as one: on one graph, with the same features, model and widths, and seeds, rates, decays,
//! dropouts and splits of their own.

use std::sync::Arc;
use std::time::Instant;

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::data::{GraphData, Split};
use crate::ground::{TrainError, padded};
use crate::kernels::RowSet;
use crate::models::{Problem, registry};
use crate::network::{Model, Pass, Scope};
use crate::optimizer::Optimizer;
use crate::optimizer::schedule::{Schedule, clip_global_norm};
use crate::options::{FeatureSource, Normalize, Task, TrainOptions, Value};
use crate::program::{Draws, Program};
use crate::tasks::{NodeObjective, Objective, Outputs, Step};
use crate::training::backend::{EpochFigures, FinalPass, Setup};
use crate::training::device::Place;
use crate::training::items::{Items, check};
use crate::training::outcome::{EpochRecord, Outcome};
use crate::training::progress::{Progress, Ran};
use crate::training::train::{messages, prepare, train};

/// One of the runs of [`train_together`]: the arguments of [`train()`] that are its own. Parameters are drawn from its seed.
pub struct Run<'a> {
    /// The items.
    pub items: Items<'a>,
    /// The options.
    pub options: &'a TrainOptions,
    /// The host, as this run sees it.
    pub monitor: &'a dyn Monitor,
    /// Receives the record of every epoch as it ends.
    pub observe: &'a mut dyn FnMut(&EpochRecord),
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The columns of a layer that all runs have together, at most: a pass over an edge then takes as long as for a run of so many
/// columns, while fewer leave registers empty and more leave the caches.
const COLUMNS: usize = 64;

/// The most runs side by side.
const MOST: usize = 16;

/// The models all of whose layers take several runs.
pub(crate) const SIDE_BY_SIDE: [&str; 7] = ["appnp", "gcn", "graphsage", "mlp", "mlp1", "sgc", "tag"];

/// How much more work the rows that runs of different splits need together may be than those of one of them.
const MORE: f64 = 1.5;

/// The number of runs with such options that are best trained together: 1 where the layers of one alone are wide.
pub fn most_together(options: &TrainOptions) -> usize {
    let width = if options.layers > 1 { padded(options.hidden) } else { 8 };
    (COLUMNS / width).clamp(1, MOST)
}

/// What runs that are trained together have in common: their options but seed, learning rate, decay and dropout. None of a run
/// that is always trained alone: other models and tasks, samples, classes as inputs, features or a scale of its own.
pub fn together_key(options: &TrainOptions) -> Option<TrainOptions> {
    let apart = !SIDE_BY_SIDE.contains(&options.model.as_str())
        || options.task != Task::NodeClassification
        || options.epochs == 0
        || options.batch_nodes.is_some()
        || options.label_rate > 0.0
        || options.normalize == Normalize::Standard
        || matches!(options.features, FeatureSource::Random(_));
    if apart {
        return None;
    }
    // A program knows a mask of the option dropout by its probability.
    let own = options.hyperparameters.values().any(|value| *value == Value::Real(options.dropout));
    let dropout = if own { options.dropout } else { 0.0 };
    Some(TrainOptions { seed: 0, lr: 0.0, weight_decay: 0.0, dropout, ..options.clone() })
}

/// Trains runs, those side by side that can be, and the others one after the other. Each has the outcome that [`train()`] gives it
/// alone, to the bit, seconds and memory apart: their seconds add up to those of all.
///
/// Side by side are those that have the same graph and features (in one place of the memory), classes and
/// [key](together_key), on the CPU; with other splits, where the rows that they need together are few more. A run that ends early
/// leaves the others. If the host has not the memory for all, there are fewer side by side.
///
/// An edge and an entry of the features are read once in a pass for all runs; what is drawn once is drawn for all of one seed
/// that stand next to each other. Memory: that of each run.
pub fn train_together(place: Place, mut runs: Vec<Run<'_>>) -> Vec<Result<Outcome, TrainError>> {
    let mut answers: Vec<Option<Result<Outcome, TrainError>>> = Vec::new();
    answers.resize_with(runs.len(), || None);
    let chosen = if matches!(place, Place::Cpu) { alike(&runs) } else { Vec::new() };
    // A group that does not come to be leaves its runs to be trained alone: there they meet what was wrong.
    if let Ok(Some(group)) = Group::new(&runs, chosen) {
        group.train(&mut runs, &mut answers);
    }
    let alone = |(run, answer): (Run<'_>, Option<Result<Outcome, TrainError>>)| {
        answer.unwrap_or_else(|| train(place, run.items, None, run.options, run.monitor, run.observe))
    };
    runs.into_iter().zip(answers).map(alone).collect()
}

/// The runs that have what the first has.
fn alike(runs: &[Run<'_>]) -> Vec<usize> {
    let same = |a: &GraphData, b: &GraphData| {
        let of = |data: &GraphData| (data.arcs.as_ref().map(Arc::as_ptr), data.weights.as_ref().map(Arc::as_ptr));
        Arc::ptr_eq(&a.graph, &b.graph)
            && Arc::ptr_eq(&a.features, &b.features)
            && (of(a), a.n_classes, &a.labels) == (of(b), b.n_classes, &b.labels)
    };
    let Some(Run { items: Items::Nodes(first, _), options, .. }) = runs.first() else { return Vec::new() };
    // What auto stands for may be drawn from the seed.
    let drawn = matches!(first.input(options.features), FeatureSource::Random(_));
    let key = together_key(options).filter(|_| !drawn);
    let joins = |run: &Run<'_>| match run.items {
        Items::Nodes(data, _) if data.rows.is_none() && same(first, data) => {
            key.is_some() && together_key(run.options) == key && check(run.items, run.options).is_ok()
        }
        _ => false,
    };
    (0..runs.len()).filter(|&at| joins(&runs[at])).collect()
}

/// A run of a group.
struct Member<'a> {
    /// Its place among the runs.
    at: usize,
    options: &'a TrainOptions,
    monitor: &'a dyn Monitor,
    objective: NodeObjective<'a>,
    reservation: Reservation<'a>,
    optimizer: Optimizer,
    best: Vec<f32>,
    progress: Progress,
    seconds: f64,
}

impl Member<'_> {
    fn draws(&self) -> Draws {
        Draws { seed: self.options.seed, dropout: self.options.dropout }
    }
}

/// Runs side by side.
struct Group<'a> {
    program: Program,
    members: Vec<Member<'a>>,
    /// The option dropout with which the program was built.
    dropout: f64,
    /// Those of the members, one after the other.
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    training: Scope,
    scored: Scope,
    all: Scope,
    /// The outputs of one member and their gradient, rows x stored columns.
    outputs: Vec<f32>,
    d_outputs: Vec<f32>,
    /// What the members have in common.
    reservation: Reservation<'a>,
    together: usize,
    clock: Instant,
}

impl<'a> Group<'a> {
    /// Makes ready the runs of some places; none where they are not trained side by side.
    fn new(runs: &[Run<'a>], mut chosen: Vec<usize>) -> Result<Option<Self>, TrainError> {
        let clock = Instant::now();
        let Some(&first) = chosen.first().filter(|_| chosen.len() > 1) else { return Ok(None) };
        let Items::Nodes(data, split) = runs[first].items else { return Ok(None) };
        let monitor = runs[first].monitor;
        let dropout = chosen.iter().map(|&at| runs[at].options.dropout).fold(0.0, f64::max);
        let options = &TrainOptions { dropout, ..runs[first].options.clone() };
        let mut reservation = Reservation::new(monitor, 0)?;
        let given = (&data.features, data.input(options.features));
        let features = prepare(&data.graph, None, given, options, &mut reservation)?;
        let along = (data.arcs.as_ref(), data.weights.as_deref());
        let problem = Problem {
            graph: messages(&data.graph, along.0, along.1, options, &mut reservation)?,
            arcs: data.arcs.clone(),
            features,
            n_outputs: data.n_classes,
            known_labels: Arc::new([]),
            options: options.of_model(),
            types: None,
            complexes: None,
            device: false,
        };
        let mut program = (registry::model(&options.model)?.build)(&problem, &mut reservation)?;
        if !program.takes_runs() {
            return Ok(None);
        }
        let same = |at: &usize| matches!(runs[*at].items, Items::Nodes(_, other) if other == split);
        if !chosen.iter().all(same) && !worth(&program, runs, &chosen, &mut reservation)? {
            chosen.retain(same);
        }
        let stored = program.layout().stored();
        let of_member = program.bytes_of_a_run() + 3 * 4 * stored + Optimizer::bytes(stored);
        while chosen.len() > 1 {
            match Reservation::new(monitor, chosen.len() * of_member) {
                Ok(_) => break,
                Err(Stopped::OutOfMemory(_)) => chosen.truncate(chosen.len() / 2),
                Err(stopped) => return Err(stopped.into()),
            }
        }
        if chosen.len() < 2 {
            return Ok(None);
        }
        let mut members = Vec::with_capacity(chosen.len());
        let mut parameters = Vec::with_capacity(chosen.len() * stored);
        for &at in &chosen {
            let Items::Nodes(data, split) = runs[at].items else { return Ok(None) };
            let (options, monitor) = (runs[at].options, runs[at].monitor);
            let mut own = Reservation::new(monitor, 3 * 4 * stored + Optimizer::bytes(stored))?;
            let mut objective = NodeObjective::new(data, split, options, &mut own)?;
            objective.begin(1);
            let best = program.layout().initialise(options.seed);
            parameters.extend_from_slice(&best);
            let optimizer = Optimizer::new(options.optimizer, options.lr, options.weight_decay, stored);
            let (progress, seconds) = (Progress::default(), 0.0);
            members.push(Member {
                at,
                options,
                monitor,
                objective,
                reservation: own,
                optimizer,
                best,
                progress,
                seconds,
            });
        }
        let (train, eval) = targets(&members);
        let training = program.scope(&train, true, true, &mut reservation)?;
        let scored = program.scope(&eval, false, true, &mut reservation)?;
        let all: Vec<u32> = (0..data.graph.n_nodes() as u32).collect();
        let all = program.scope(&all, false, true, &mut reservation)?;
        let outputs = all.targets().n_rows() * padded(data.n_classes);
        reservation.grow(2 * 4 * outputs)?;
        program.set_runs(members.iter().map(Member::draws).collect(), dropout, &mut reservation)?;
        Ok(Some(Self {
            together: members.len(),
            gradient: vec![0.0; parameters.len()],
            outputs: vec![0.0; outputs],
            d_outputs: vec![0.0; outputs],
            program,
            members,
            dropout,
            parameters,
            training,
            scored,
            all,
            reservation,
            clock,
        }))
    }

    /// The epochs, until all runs have ended.
    fn train(mut self, runs: &mut [Run<'_>], answers: &mut [Option<Result<Outcome, TrainError>>]) {
        self.members.iter().for_each(|member| member.monitor.expect(u64::from(member.options.epochs)));
        for epoch in 1.. {
            if self.members.is_empty() {
                return;
            }
            let ended = match self.epoch(epoch, runs) {
                Ok(ended) => ended,
                Err(error) => {
                    self.members.iter().for_each(|member| answers[member.at] = Some(Err(error.clone())));
                    return;
                }
            };
            let seconds = self.clock.elapsed().as_secs_f64() / self.members.len() as f64;
            self.clock = Instant::now();
            self.members.iter_mut().for_each(|member| member.seconds += seconds);
            if let Err(error) = self.leave(ended, answers) {
                self.members.iter().for_each(|member| answers[member.at] = Some(Err(error.clone())));
                return;
            }
        }
    }

    /// A step of every run and the figures after it. Says of each whether it has ended, and how.
    fn epoch(&mut self, epoch: u32, runs: &mut [Run<'_>]) -> Result<Vec<Option<Result<(), TrainError>>>, TrainError> {
        let Self { program, members, parameters, gradient, outputs, d_outputs, .. } = self;
        let (of, stored, stride) = (members.len(), program.layout().stored(), program.output_axis().stride());
        let mut ended: Vec<Option<Result<(), TrainError>>> = Vec::new();
        ended.resize_with(of, || None);
        let mut figures = vec![EpochFigures::default(); of];
        let Some(monitor) = members.first().map(|member| member.monitor) else { return Ok(ended) };
        monitor.check()?;
        let pass = Pass::Train { epoch };
        program.forward(&self.training, parameters, pass, monitor)?;
        let (of_all, d_of_all) = program.outputs_and_gradient();
        let rows = self.training.targets();
        for (run, member) in members.iter_mut().enumerate() {
            copy_rows(rows, stride, (of_all, of, run), outputs);
            // Of the rows that another run trains on this one has no gradient.
            rows.rows().iter().for_each(|&row| d_outputs[row as usize * stride..][..stride].fill(0.0));
            member.objective.begin(epoch);
            let read = Outputs { nodes: outputs, head: &[] };
            let step = Step { outputs: read, label_inputs: &[], d_nodes: d_outputs, d_head: &mut [] };
            let loss = member.objective.train(0, step, member.monitor)?;
            if !loss.is_finite() {
                let lr = member.options.lr;
                ended[run] = Some(Err(TrainError::Diverged { part: "training", epoch, loss, lr }));
            }
            figures[run].train_loss = loss;
            for &row in rows.rows() {
                let from = &d_outputs[row as usize * stride..][..stride];
                d_of_all[(row as usize * of + run) * stride..][..stride].copy_from_slice(from);
            }
        }
        program.backward(&self.training, parameters, pass, gradient, monitor)?;
        let each = parameters.chunks_exact_mut(stored.max(1)).zip(gradient.chunks_exact_mut(stored.max(1)));
        for ((member, (parameters, gradient)), ended) in members.iter_mut().zip(each).zip(&ended) {
            if ended.is_some() {
                continue;
            }
            let options = member.options;
            let schedule = Schedule { warmup: options.warmup, epochs: options.epochs, decay: options.schedule };
            member.optimizer.set_factor(schedule.factor(epoch));
            if let Some(limit) = options.clip {
                clip_global_norm(gradient, limit);
            }
            member.optimizer.step(parameters, gradient);
        }
        let rows = self.scored.targets();
        if !rows.is_empty() {
            program.forward(&self.scored, parameters, Pass::Evaluate, monitor)?;
        }
        let each = parameters.chunks_exact(stored.max(1)).zip(ended.iter_mut().zip(figures)).enumerate();
        for (member, (run, (parameters, (ended, mut figures)))) in members.iter_mut().zip(each) {
            if ended.is_some() {
                continue;
            }
            let (options, monitor) = (member.options, member.monitor);
            copy_rows(rows, stride, (program.outputs(), of, run), outputs);
            let read = Outputs { nodes: outputs, head: &[] };
            let setup = Setup { options, pruned: true, monitor, parameters: Vec::new() };
            setup.score(&mut member.objective, read, &mut figures)?;
            match member.progress.record(options, epoch, figures) {
                Err(error) => *ended = Some(Err(error)),
                Ok((record, ends)) => {
                    if record.selected {
                        member.best.copy_from_slice(parameters);
                    }
                    (runs[member.at].observe)(&record);
                    monitor.advance(1);
                    if ends || epoch == options.epochs {
                        monitor.advance(u64::from(options.epochs - epoch));
                        *ended = Some(Ok(()));
                    }
                }
            }
        }
        Ok(ended)
    }

    /// Answers the runs that have ended; the others go on without them.
    fn leave(
        &mut self,
        ended: Vec<Option<Result<(), TrainError>>>,
        answers: &mut [Option<Result<Outcome, TrainError>>],
    ) -> Result<(), TrainError> {
        if ended.iter().all(Option::is_none) {
            return Ok(());
        }
        let stored = self.program.layout().stored();
        let (mut stay, mut kept) = (Vec::new(), 0);
        for (run, (mut member, ended)) in std::mem::take(&mut self.members).into_iter().zip(ended).enumerate() {
            match ended {
                None => {
                    self.parameters.copy_within(run * stored..(run + 1) * stored, kept * stored);
                    kept += 1;
                    stay.push(member);
                }
                Some(Err(error)) => answers[member.at] = Some(Err(error)),
                Some(Ok(())) => {
                    let at = member.at;
                    member.seconds += self.clock.elapsed().as_secs_f64();
                    answers[at] = Some(self.finish(member));
                    self.clock = Instant::now();
                }
            }
        }
        self.members = stay;
        self.parameters.truncate(kept * stored);
        self.gradient.truncate(kept * stored);
        if kept > 0 {
            let (train, eval) = targets(&self.members);
            if train != self.training.targets().rows() {
                self.training = self.program.scope(&train, true, true, &mut self.reservation)?;
            }
            if eval != self.scored.targets().rows() {
                self.scored = self.program.scope(&eval, false, true, &mut self.reservation)?;
            }
            let draws = self.members.iter().map(Member::draws).collect();
            self.program.set_runs(draws, self.dropout, &mut self.reservation)?;
        }
        Ok(())
    }

    /// The last pass of a run, over all rows with its best parameters.
    fn finish(&mut self, mut member: Member<'a>) -> Result<Outcome, TrainError> {
        let last = Instant::now();
        let (options, monitor, program) = (member.options, member.monitor, &mut self.program);
        program.set_runs(vec![member.draws()], self.dropout, &mut self.reservation)?;
        program.forward(&self.all, &member.best, Pass::Evaluate, monitor)?;
        let pass = FinalPass {
            layout: program.layout(),
            parameters: &member.best,
            outputs: program.outputs(),
            embedding: program.embedding(),
            space: None,
            beside: self.reservation.bytes() / self.together,
        };
        let (parameters, train_seconds) = (program.layout().parameters(), member.seconds);
        let ran = Ran { device: "cpu", parameters, train_seconds, last, together: self.together };
        let n = self.all.targets().n_rows();
        member.progress.outcome((options, monitor), &mut member.objective, (pass, n), ran, member.reservation)
    }
}

/// The rows that the steps, and the figures, of some runs read.
fn targets(members: &[Member<'_>]) -> (Vec<u32>, Vec<u32>) {
    let train = members.iter().flat_map(|member| member.objective.batches().into_iter().flatten());
    let eval = members.iter().flat_map(|member| {
        let setup = Setup { options: member.options, pruned: true, monitor: member.monitor, parameters: Vec::new() };
        member.objective.nodes(setup.parts())
    });
    (united(train), united(eval))
}

/// Numbers in ascending order, each once.
fn united(rows: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut rows: Vec<u32> = rows.collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Whether the rows that runs of different splits need together are few more than those of the first.
fn worth(
    program: &Program,
    runs: &[Run<'_>],
    chosen: &[usize],
    reservation: &mut Reservation<'_>,
) -> Result<bool, TrainError> {
    let mut room = Reservation::new(reservation.monitor(), 0)?;
    let splits = chosen.iter().filter_map(|&at| match runs[at].items {
        Items::Nodes(_, split) => Some(split),
        _ => None,
    });
    let splits: Vec<&Split> = splits.collect();
    let mut work = |splits: &[&Split]| -> Result<usize, Stopped> {
        let train = united(splits.iter().flat_map(|split| split.train.iter().copied()));
        let val = united(splits.iter().flat_map(|split| split.val.iter().copied()));
        let rows = |scope: Scope| scope.rows.iter().map(|rows| rows.len()).sum::<usize>();
        Ok(rows(program.scope(&train, true, true, &mut room)?) + rows(program.scope(&val, false, true, &mut room)?))
    };
    let (all, one) = (work(&splits)?, work(&splits[..1])?);
    Ok(all as f64 <= MORE * one as f64)
}

/// The rows of a set of one of several runs side by side, where a run alone has them.
fn copy_rows(set: &RowSet, stride: usize, (of_all, of, run): (&[f32], usize, usize), to: &mut [f32]) {
    for &row in set.rows() {
        let from = &of_all[(row as usize * of + run) * stride..][..stride];
        to[row as usize * stride..][..stride].copy_from_slice(from);
    }
}
