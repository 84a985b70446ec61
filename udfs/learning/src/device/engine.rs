//! The passes of a run on a device.

use bonnet_graph::Reservation;

use super::{Arg, Buffer, Device, DeviceError, Launch, THREADS, Tape, WARPS, args};
use crate::choices::SelectBy;
use crate::engine::{Engine, EpochFigures, FinalPass, Setup, order_of};
use crate::error::TrainError;
use crate::kernels::padded;
use crate::metrics::{FigureSet, Metrics};
use crate::network::{Axis, Model, Scope};
use crate::optimizer::{Optimizer, OptimizerKind};
use crate::program::{OnDevice, PassKind, Program};
use crate::split::Part;
use crate::task::{DeviceTask, Objective, Outputs};

/// The results that a device reads back: the training loss, then loss and hits of the watched parts.
const RESULTS: usize = 5;

/// The passes of a program on a device. Between its first and its last epoch a node classification exchanges the masks'
/// keys, the step of the optimiser and [`RESULTS`] numbers an epoch with the host.
pub(crate) struct DeviceEngine<'a> {
    setup: Setup<'a>,
    program: Program,
    n_nodes: usize,
    on: OnDevice<'a>,
    best: Buffer,
    optimizer: Optimizer,
    /// Where the numbers of the optimiser's step stand.
    step: Buffer,
    steps: Vec<Batch>,
    watch: Tape,
    keep: Tape,
    results: Buffer,
    /// Whether the losses and figures are the device's.
    loss: Option<DeviceLoss>,
    scopes: Vec<Scope>,
    watch_is_empty: bool,
    n_items: usize,
    host: Host,
}

/// The launches of a step; what lies between the two tapes is the host's, where the loss is.
struct Batch {
    forward: Tape,
    backward: Tape,
}

/// What the host computes on, where it does.
#[derive(Default)]
struct Host {
    parameters: Vec<f32>,
    outputs: Vec<f32>,
    d_outputs: Vec<f32>,
    d_head: Vec<f32>,
    embedding: Option<(Vec<f32>, Axis)>,
}

/// The sizes of the parts whose figures the device computes.
#[derive(Debug, Clone, Copy)]
struct DeviceLoss {
    val: usize,
    test: usize,
}

impl<'a> DeviceEngine<'a> {
    /// Writes down the passes of a program.
    pub fn new(
        device: &'a dyn Device,
        owned: Program,
        n_nodes: usize,
        objective: &dyn Objective,
        setup: Setup<'a>,
        reservation: &mut Reservation<'_>,
    ) -> Result<Self, DeviceError> {
        let program = &owned;
        if let Some(what) = program.lacks() {
            return Err(DeviceError::Unsupported(what));
        }
        let (options, stored) = (setup.options, setup.parameters.len());
        reservation.grow(4 * stored)?;
        let mut on = OnDevice::new(program, stored, device)?;
        on.memory.write(on.parameters, &setup.parameters)?;
        let best = on.memory.hold(&setup.parameters)?;
        let (step, results) = (on.memory.room::<f32>(4)?, on.memory.hold(&[0f64; RESULTS])?);
        let update = update(&mut on, options.optimizer, options.clip, stored, step)?;

        // Only the accuracy and the loss have kernels.
        let few = matches!(setup.figures(), FigureSet::Selecting(SelectBy::Accuracy | SelectBy::Loss));
        let task = objective.on_device().filter(|_| few && program.is_output_padded_alike());
        let labels = task.map(|task| on.memory.hold(task.labels)).transpose()?;
        let (mut scopes, mut steps) = (Vec::new(), Vec::new());
        for nodes in objective.batches() {
            setup.monitor.check()?;
            let scope = program.scope(&nodes, true, setup.pruned, reservation)?;
            let mut forward = on.forward(program, &scope, PassKind::Train)?;
            let backward = on.backward(program, &scope)?;
            let mut after = Vec::new();
            if let (Some(task), Some(labels)) = (task, labels) {
                let gradient = on.output_gradient(program);
                let loss = Loss { program, task, labels, weights: task.weights, gradient };
                loss.lower(&mut on, &task.split.train, (results, None), &mut forward)?;
                forward.extend(backward);
                forward.extend(update.iter().cloned());
            } else {
                after = backward;
                after.extend(update.iter().cloned());
            }
            steps.push(Batch { forward: Tape::new(forward), backward: Tape::new(after) });
            scopes.push(scope);
        }
        let watched = objective.nodes(setup.parts());
        let eval_scope = program.scope(&watched, false, setup.pruned, reservation)?;
        let mut watch = on.forward(program, &eval_scope, PassKind::Evaluate)?;
        let mut loss = None;
        if let (Some(task), Some(labels)) = (task, labels) {
            for (place, &part) in setup.parts().iter().enumerate() {
                let (sum, hits) = (results.after::<f64>(1 + 2 * place), results.after::<f64>(2 + 2 * place));
                let part = task.split.part(part);
                Loss { program, task, labels, weights: &[], gradient: None }.lower(
                    &mut on,
                    part,
                    (sum, Some(hits)),
                    &mut watch,
                )?;
            }
            loss = Some(DeviceLoss { val: task.split.val.len(), test: task.split.test.len() });
        }
        scopes.push(eval_scope);
        let n_outputs = program.output_len();
        let host = match loss {
            Some(_) => Host::default(),
            None => {
                reservation.grow(8 * n_outputs + 8 * stored)?;
                Host {
                    parameters: setup.parameters.clone(),
                    outputs: vec![0.0; n_outputs],
                    d_outputs: vec![0.0; n_outputs],
                    d_head: vec![0.0; stored - program.stored()],
                    embedding: None,
                }
            }
        };
        Ok(Self {
            optimizer: Optimizer::new(options.optimizer, options.lr, options.weight_decay, 0),
            n_items: (0..steps.len()).map(|batch| objective.batch_items(batch)).sum(),
            watch: Tape::new(watch),
            keep: Tape::new(copy(on.parameters, best, stored)),
            watch_is_empty: watched.is_empty(),
            n_nodes,
            on,
            best,
            step,
            steps,
            results,
            loss,
            scopes,
            host,
            program: owned,
            setup,
        })
    }

    /// A step whose loss is the host's: it reads the outputs and writes their gradient.
    fn train_on_host(&mut self, objective: &mut dyn Objective, batch: usize) -> Result<f64, TrainError> {
        let program = &self.program;
        let (stored, host) = (program.stored(), &mut self.host);
        let memory = &self.on.memory;
        memory.read(self.on.output(program), &mut host.outputs)?;
        // The parameters of the task follow those of the model.
        let head = &mut host.parameters[stored..];
        if !head.is_empty() {
            memory.read(self.on.parameters.after::<f32>(stored), head)?;
        }
        let outputs = Outputs { nodes: &host.outputs, head };
        let step =
            crate::task::Step { outputs, label_inputs: &[], d_nodes: &mut host.d_outputs, d_head: &mut host.d_head };
        let loss = objective.train(batch, step, self.setup.monitor)?;
        if let Some(gradient) = self.on.output_gradient(program) {
            memory.write(gradient, &host.d_outputs)?;
        }
        memory.write(self.on.gradient.after::<f32>(stored), &host.d_head)?;
        Ok(loss)
    }
}

impl Engine for DeviceEngine<'_> {
    fn device(&self) -> &'static str {
        self.on.memory.device().name()
    }

    fn parameters(&self) -> usize {
        self.program.layout().parameters()
    }

    fn epoch(
        &mut self,
        objective: &mut dyn Objective,
        epoch: u32,
        _fresh: bool,
        factor: f64,
    ) -> Result<EpochFigures, TrainError> {
        let device = self.on.memory.device();
        let mut record = EpochFigures::default();
        self.optimizer.set_factor(factor);
        self.on.write_masks(&self.program, epoch)?;
        for batch in order_of(self.steps.len(), self.setup.options.seed, epoch) {
            self.setup.monitor.check()?;
            self.on.memory.write(self.step, &self.optimizer.next_step())?;
            device.run(&mut self.steps[batch].forward)?;
            if self.loss.is_none() {
                let loss = self.train_on_host(objective, batch)?;
                if !loss.is_finite() {
                    return Err(self.setup.diverged(epoch, loss));
                }
                record.train_loss += loss * (objective.batch_items(batch) as f64 / self.n_items as f64);
                device.run(&mut self.steps[batch].backward)?;
            }
        }
        if !self.watch_is_empty {
            device.run(&mut self.watch)?;
        }
        match self.loss {
            Some(DeviceLoss { val, test }) => {
                let mut results = [0f64; RESULTS];
                self.on.memory.read(self.results, &mut results)?;
                let [train_loss, val_loss, val_hits, _, test_hits] = results;
                if !train_loss.is_finite() {
                    return Err(self.setup.diverged(epoch, train_loss));
                }
                let figures = |hits: f64, len: usize| Metrics {
                    accuracy: (len > 0).then(|| hits / len as f64),
                    ..Metrics::default()
                };
                record.train_loss = train_loss;
                record.val_loss = (val > 0).then_some(val_loss);
                record.val = figures(val_hits, val);
                if self.setup.parts().contains(&Part::Test) {
                    record.test = figures(test_hits, test);
                }
            }
            None if !self.watch_is_empty => {
                let program = &self.program;
                let (stored, host) = (program.stored(), &mut self.host);
                self.on.memory.read(self.on.output(program), &mut host.outputs)?;
                self.on.memory.read(self.on.parameters, &mut host.parameters)?;
                let outputs = Outputs { nodes: &host.outputs, head: &host.parameters[stored..] };
                self.setup.score(objective, outputs, &mut record)?;
            }
            None => {}
        }
        Ok(record)
    }

    fn keep(&mut self) -> Result<(), TrainError> {
        Ok(self.on.memory.device().run(&mut self.keep)?)
    }

    fn finish(&mut self, reservation: &mut Reservation<'_>) -> Result<FinalPass<'_>, TrainError> {
        let all: Vec<u32> = (0..self.n_nodes as u32).collect();
        let scope = self.program.scope(&all, false, true, reservation)?;
        let program = &self.program;
        let stored = self.setup.parameters.len();
        let mut launches = copy(self.best, self.on.parameters, stored);
        launches.extend(self.on.forward(program, &scope, PassKind::Evaluate)?);
        let memory = &self.on.memory;
        memory.device().run(&mut Tape::new(launches))?;
        let embedding = self.on.embedding(program).filter(|_| self.setup.options.keep_embeddings);
        let embedding_len = embedding.map_or(0, |(_, axis, rows)| rows * axis.stride());
        reservation.grow(4 * (program.output_len() + stored + embedding_len))?;
        let host = &mut self.host;
        host.outputs.resize(program.output_len(), 0.0);
        host.parameters.resize(stored, 0.0);
        memory.read(self.on.output(program), &mut host.outputs)?;
        memory.read(self.best, &mut host.parameters)?;
        if let Some((buffer, axis, _)) = embedding {
            let mut values = vec![0f32; embedding_len];
            memory.read(buffer, &mut values)?;
            host.embedding = Some((values, axis));
        }
        // The scope's index structures lie on the device until the run ends.
        self.scopes.push(scope);
        Ok(FinalPass {
            layout: self.program.layout(),
            parameters: &self.host.parameters,
            outputs: &self.host.outputs,
            embedding: self.host.embedding.as_ref().map(|(values, axis)| (&values[..], *axis)),
            beside: self.on.memory.bytes(),
        })
    }
}

/// Copies `len` numbers.
fn copy(from: Buffer, to: Buffer, len: usize) -> Vec<Launch> {
    let launch = Launch {
        kernel: "copy",
        blocks: len.div_ceil(THREADS) as u32,
        args: vec![from.into(), Arg::Long(len as u64), to.into()],
    };
    if len > 0 { vec![launch] } else { Vec::new() }
}

/// The step of the optimiser over all parameters.
fn update(
    on: &mut OnDevice<'_>,
    kind: OptimizerKind,
    clip: Option<f64>,
    stored: usize,
    step: Buffer,
) -> Result<Vec<Launch>, DeviceError> {
    /// The numbers that a block of `square_sums` adds.
    const BLOCK: usize = 4096;
    if stored == 0 {
        return Ok(Vec::new());
    }
    let (first, len) = (on.memory.zeros(stored)?, Arg::Long(stored as u64));
    let mut launches = Vec::new();
    let squares = match clip {
        None => None,
        Some(_) => {
            let blocks = stored.div_ceil(BLOCK);
            let (partials, squares) = (on.memory.room::<f64>(blocks)?, on.memory.room::<f64>(1)?);
            let args = vec![on.gradient.into(), len, partials.into()];
            launches.push(Launch { kernel: "square_sums", blocks: blocks as u32, args });
            launches.push(Launch { kernel: "sum_doubles", blocks: 1, args: args![partials, blocks, 1f64, squares] });
            Some(squares)
        }
    };
    let limit = clip.unwrap_or(0.0);
    let mut args = vec![on.parameters.into(), on.gradient.into(), len, first.into()];
    let kernel = match kind {
        OptimizerKind::Sgd => "sgd",
        _ => {
            args.push(on.memory.zeros(stored)?.into());
            "adam"
        }
    };
    args.extend(args![step, squares, limit]);
    launches.push(Launch { kernel, blocks: stored.div_ceil(THREADS) as u32, args });
    Ok(launches)
}

/// The mean loss of some nodes.
struct Loss<'a> {
    program: &'a Program,
    task: DeviceTask<'a>,
    labels: Buffer,
    weights: &'a [f32],
    gradient: Option<Buffer>,
}

impl Loss<'_> {
    /// The mean loss of `nodes` to the first result, the number of hits to the second; nothing for no nodes.
    fn lower(
        &self,
        on: &mut OnDevice<'_>,
        nodes: &[u32],
        (mean, hits): (Buffer, Option<Buffer>),
        launches: &mut Vec<Launch>,
    ) -> Result<(), DeviceError> {
        if nodes.is_empty() {
            return Ok(());
        }
        let n = nodes.len();
        let total = match self.weights {
            [] => n as f64,
            weights => nodes.iter().map(|&v| f64::from(weights[self.task.labels[v as usize] as usize])).sum(),
        };
        let total = if total > 0.0 { total } else { 1.0 };
        let list = on.memory.hold(nodes)?;
        let weights = if self.weights.is_empty() { None } else { Some(on.memory.hold(self.weights)?) };
        let losses = on.memory.room::<f64>(n)?;
        let hit = if hits.is_some() { Some(on.memory.room::<f64>(n)?) } else { None };
        let (logits, stride) = (on.output(self.program), padded(self.task.classes));
        let args =
            args![list, n, logits, stride, self.task.classes, self.labels, weights, total, self.gradient, losses, hit,];
        launches.push(Launch { kernel: "nll", blocks: n.div_ceil(WARPS) as u32, args });
        let mut sum = |from: Buffer, scale: f64, to: Buffer| {
            launches.push(Launch { kernel: "sum_doubles", blocks: 1, args: args![from, n, scale, to] });
        };
        sum(losses, 1.0 / total, mean);
        if let (Some(hit), Some(hits)) = (hit, hits) {
            sum(hit, 1.0, hits);
        }
        Ok(())
    }
}
