//! The loop's epochs on a device: the program on candle's tensors, with candle's gradients.

use bonnet_graph::Reservation;
use candle_core::{DType, Device, Result, Tensor, Var};

use super::Lease;
use crate::ground::{Axis, Initial, Layout, TrainError};
use crate::network::{Model, Pass};
use crate::ops::{self, Labelled, Update};
use crate::optimizer::Optimizer;
use crate::program::{Evaluation, EvaluationError, Program, Values};
use crate::tasks::{Objective, Outputs, Step};
use crate::training::backend::{Backend, EpochFigures, FinalPass, Setup};

/// The passes of a program on a device. The loss of a classification of nodes is computed there, other losses and all figures
/// on the host, which reads the outputs and writes their gradient.
pub(crate) struct TensorBackend<'a> {
    setup: Setup<'a>,
    evaluation: Evaluation,
    word: &'static str,
    /// The blocks of the program, then the parameters of the task as one.
    blocks: Vec<Block>,
    best: Vec<Tensor>,
    optimizer: Optimizer,
    n_nodes: usize,
    /// The nodes of the training step, and those whose figures an epoch has.
    trained: Vec<u32>,
    watched: Vec<u32>,
    /// The items with labels of the loss, where the device computes it.
    loss: Option<std::sync::Arc<Labelled>>,
    host: Host,
    // Last: the device goes back once its tensors are gone.
    _lease: Lease,
}

/// The buffers of the host.
struct Host {
    axis: Axis,
    /// Of the program and the task, as the layouts store them.
    parameters: Vec<f32>,
    outputs: Vec<f32>,
    d_outputs: Vec<f32>,
    d_head: Vec<f32>,
    embedding: Option<(Vec<f32>, Axis)>,
}

/// A block of parameters on the device.
struct Block {
    /// The values, then the moments of the optimiser: a row each.
    state: Tensor,
    shape: (usize, usize),
    leaf: Var,
    /// Of rows that are points: their steps are few and short, and the host's.
    points: Option<Optimizer>,
}

impl Block {
    fn new(mut values: Vec<f32>, shape: (usize, usize), device: &Device) -> Result<Self> {
        let len = values.len();
        values.resize(3 * len, 0.0);
        let state = ops::constant(&values, (3, len), DType::F32, device)?;
        let leaf = Self::values(&state, shape)?;
        Ok(Self { state, shape, leaf, points: None })
    }

    /// The values as a variable; without any, one that nobody reads.
    fn values(state: &Tensor, shape: (usize, usize)) -> Result<Var> {
        if shape.0 * shape.1 == 0 {
            return Var::zeros((1, 1), DType::F32, state.device());
        }
        Var::from_tensor(&state.narrow(0, 0, 1)?.reshape(shape)?)
    }

    fn step(&mut self, gradient: &Tensor, update: &Update, factor: f64) -> Result<()> {
        if let Some(points) = &mut self.points {
            let mut values = self.leaf.flatten_all()?.to_vec1::<f32>()?;
            let gradient = gradient.affine(f64::from(update.clip), 0.0)?.flatten_all()?.to_vec1::<f32>()?;
            points.set_factor(factor);
            points.step(&mut values, &gradient);
            self.leaf = Var::from_slice(&values, self.shape, self.state.device())?;
            return Ok(());
        }
        if self.shape.0 * self.shape.1 > 0 {
            self.state.inplace_op2(&gradient.contiguous()?, update)?;
            self.leaf = Self::values(&self.state, self.shape)?;
        }
        Ok(())
    }
}

/// An error of a pass as that of a run.
fn failed(error: impl Into<EvaluationError>) -> TrainError {
    match error.into() {
        EvaluationError::Stopped(stopped) => stopped.into(),
        #[cfg(feature = "cuda")]
        EvaluationError::Tensor(error) if super::gpu::is_out_of_memory(&error) => {
            TrainError::OutOfMemory("the GPU has no memory left".into())
        }
        EvaluationError::Tensor(error) => {
            TrainError::Device(error.to_string().lines().next().unwrap_or_default().to_owned())
        }
    }
}

impl From<candle_core::Error> for TrainError {
    fn from(error: candle_core::Error) -> Self {
        failed(error)
    }
}

impl<'a> TensorBackend<'a> {
    /// A backend for a program built without buffers, and a task whose epoch is one step.
    pub fn new(
        lease: Lease,
        program: Program,
        n_nodes: usize,
        objective: &dyn Objective,
        setup: Setup<'a>,
        reservation: &mut Reservation<'_>,
    ) -> std::result::Result<Self, TrainError> {
        let (device, layout) = (lease.device.clone(), program.layout());
        let (options, stored, axis) = (setup.options, layout.stored(), program.output_axis());
        reservation.grow(4 * (setup.parameters.len() + 2 * n_nodes * axis.stride()))?;
        let (of_model, head) = setup.parameters.split_at(stored);
        let mut blocks = Vec::new();
        for block in layout.blocks() {
            let values = block.positions().map(|at| of_model[at]).collect();
            let (rows, columns) = (block.rows.len(), block.columns.len());
            let mut held = Block::new(values, (rows, columns), &device)?;
            held.points = block.points.map(|space| {
                let mut exact = Layout::default();
                exact.push(block.name.clone(), Axis::exact(rows), Axis::exact(columns), Initial::Zeros);
                exact.set_points(0, space);
                Optimizer::new(options.optimizer, options.lr, options.weight_decay, rows * columns).with_layout(&exact)
            });
            blocks.push(held);
        }
        blocks.push(Block::new(head.to_vec(), (1, head.len()), &device)?);
        let trained: Vec<u32> = objective.batches().concat();
        let loss = match objective.on_device() {
            // Where classes are an input, the nodes of the loss change from step to step.
            Some(task) if !program.reads_labels() => {
                let items = task.split.train.iter().map(|&v| (v, task.labels[v as usize])).collect::<Vec<_>>();
                Some(Labelled::new((n_nodes, task.classes), &items, task.weights, &device)?)
            }
            _ => None,
        };
        let rows = program.output_rows();
        let host = Host {
            axis,
            parameters: setup.parameters.clone(),
            outputs: vec![0.0; rows * axis.stride()],
            d_outputs: vec![0.0; rows * axis.stride()],
            d_head: vec![0.0; head.len()],
            embedding: None,
        };
        Ok(Self {
            optimizer: Optimizer::new(options.optimizer, options.lr, options.weight_decay, 0),
            watched: objective.nodes(setup.parts()),
            word: lease.word,
            best: blocks.iter().map(|block| block.leaf.as_detached_tensor()).collect(),
            evaluation: Evaluation::new(program, device, DType::F32),
            blocks,
            n_nodes,
            trained,
            loss,
            host,
            setup,
            _lease: lease,
        })
    }

    /// The gradient of a loss that the host computes from the outputs: the loss, and a function of the outputs with it.
    fn loss_on_host(
        &mut self,
        objective: &mut dyn Objective,
        output: &Tensor,
        pass: Pass,
    ) -> std::result::Result<(f64, Tensor), TrainError> {
        let (host, program) = (&mut self.host, self.evaluation.program());
        host.read(output, &self.trained)?;
        let head = &self.blocks[self.blocks.len() - 1];
        let stored = host.parameters.len() - host.d_head.len();
        if !host.d_head.is_empty() {
            let values = head.leaf.flatten_all()?.to_vec1::<f32>()?;
            host.parameters[stored..].copy_from_slice(&values);
        }
        let label_inputs = program.label_inputs(pass);
        host.d_outputs.fill(0.0);
        host.d_head.fill(0.0);
        let outputs = Outputs { nodes: &host.outputs, head: &host.parameters[stored..] };
        let (d_nodes, d_head) = (&mut host.d_outputs, &mut host.d_head);
        let step = Step { outputs, label_inputs: &label_inputs, d_nodes, d_head };
        let loss = objective.train(0, step, self.setup.monitor)?;
        let positions: Vec<usize> = host.axis.positions().collect();
        let rows = host.d_outputs.chunks_exact(host.axis.stride().max(1));
        let exact: Vec<f32> = rows.flat_map(|row| positions.iter().map(|&at| row[at])).collect();
        let gradient = Tensor::from_vec(exact, output.dims2()?, output.device())?;
        Ok((loss, (output * gradient)?.sum_keepdim((0, 1))?))
    }

    /// A step on all parameters by their gradients.
    fn update(&mut self, root: &Tensor, factor: f64) -> std::result::Result<(), TrainError> {
        let gradients = root.backward()?;
        let last = self.blocks.len() - 1;
        let mut all = Vec::with_capacity(self.blocks.len());
        for (number, block) in self.blocks.iter().enumerate() {
            all.push(match gradients.get(&block.leaf) {
                Some(gradient) => gradient.clone(),
                None if number == last && block.shape.1 > 0 => {
                    Tensor::from_slice(&self.host.d_head, block.shape, self.evaluation.device())?
                }
                None => block.leaf.zeros_like()?,
            });
        }
        let clip = match self.setup.options.clip {
            None => 1.0,
            Some(limit) => {
                let mut sum = 0.0;
                for gradient in &all {
                    sum += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
                }
                let norm = sum.sqrt();
                if norm.is_finite() && norm > limit { (limit / norm) as f32 } else { 1.0 }
            }
        };
        let update = Update { kind: self.setup.options.optimizer, clip, step: self.optimizer.next_step() };
        for (block, gradient) in self.blocks.iter_mut().zip(&all) {
            block.step(gradient, &update, factor)?;
        }
        Ok(())
    }
}

impl Host {
    /// Reads some rows of the outputs.
    fn read(&mut self, output: &Tensor, rows: &[u32]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let all = rows.len() == output.dims()[0];
        let picked = if all {
            output.clone()
        } else {
            output.index_select(&Tensor::from_slice(rows, rows.len(), output.device())?, 0)?
        };
        spread(&picked, rows, self.axis, &mut self.outputs)
    }
}

/// Writes the rows of a tensor to their positions in a matrix with the stored columns of an axis.
fn spread(values: &Tensor, rows: &[u32], axis: Axis, out: &mut [f32]) -> Result<()> {
    let (values, stride) = (values.flatten_all()?.to_vec1::<f32>()?, axis.stride());
    for (&row, values) in rows.iter().zip(values.chunks_exact(axis.len().max(1))) {
        let out = &mut out[row as usize * stride..][..stride];
        axis.positions().zip(values).for_each(|(at, value)| out[at] = *value);
    }
    Ok(())
}

impl Backend for TensorBackend<'_> {
    fn device(&self) -> &'static str {
        self.word
    }

    fn parameters(&self) -> usize {
        self.evaluation.program().layout().parameters()
    }

    fn epoch(
        &mut self,
        objective: &mut dyn Objective,
        epoch: u32,
        _fresh: bool,
        factor: f64,
    ) -> std::result::Result<EpochFigures, TrainError> {
        let monitor = self.setup.monitor;
        let (pass, last) = (Pass::Train { epoch }, self.blocks.len() - 1);
        self.optimizer.set_factor(factor);
        let leaves: Vec<Tensor> = self.blocks[..last].iter().map(|block| block.leaf.as_tensor().clone()).collect();
        let Values { output, penalty, .. } = self.evaluation.run(&leaves, pass, monitor).map_err(failed)?;
        drop(leaves);
        let (mut loss, mut root) = match &self.loss {
            Some(labelled) => {
                let loss = labelled.nll(&output)?;
                (None, loss)
            }
            None => {
                let (loss, root) = self.loss_on_host(objective, &output, pass)?;
                (Some(loss), root)
            }
        };
        if let Some(penalty) = penalty {
            loss = match loss {
                None => None,
                Some(loss) => Some(loss + f64::from(scalar(&penalty)?)),
            };
            root = (root + penalty)?;
        }
        let loss = match loss {
            Some(loss) => loss,
            None => f64::from(scalar(&root)?),
        };
        if !loss.is_finite() {
            return Err(self.setup.diverged(epoch, loss));
        }
        drop(output);
        self.update(&root, factor)?;
        let mut record = EpochFigures { train_loss: loss, ..EpochFigures::default() };
        if !self.watched.is_empty() {
            let values: Vec<Tensor> = self.blocks[..last].iter().map(|block| block.leaf.as_detached_tensor()).collect();
            let output = self.evaluation.run(&values, Pass::Evaluate, monitor).map_err(failed)?.output;
            self.host.read(&output, &self.watched)?;
            let head = self.blocks[last].leaf.flatten_all()?.to_vec1::<f32>()?;
            let head = &head[..self.host.d_head.len().min(head.len())];
            self.setup.score(objective, Outputs { nodes: &self.host.outputs, head }, &mut record)?;
        }
        Ok(record)
    }

    fn keep(&mut self) -> std::result::Result<(), TrainError> {
        // A step makes variables of its own: these stay as they are.
        self.best = self.blocks.iter().map(|block| block.leaf.as_detached_tensor()).collect();
        Ok(())
    }

    fn finish(&mut self, reservation: &mut Reservation<'_>) -> std::result::Result<FinalPass<'_>, TrainError> {
        let last = self.blocks.len() - 1;
        let monitor = self.setup.monitor;
        let Values { output, embedding, .. } =
            self.evaluation.run(&self.best[..last], Pass::Evaluate, monitor).map_err(failed)?;
        let rows: Vec<u32> = (0..output.dims()[0] as u32).collect();
        self.host.read(&output, &rows)?;
        let program = self.evaluation.program();
        let layout = program.layout();
        for (block, best) in layout.blocks().iter().zip(&self.best) {
            let values = best.flatten_all()?.to_vec1::<f32>()?;
            block.positions().zip(values).for_each(|(at, value)| self.host.parameters[at] = value);
        }
        let head = self.best[last].flatten_all()?.to_vec1::<f32>()?;
        let stored = layout.stored();
        self.host.parameters[stored..].iter_mut().zip(head).for_each(|(to, value)| *to = value);
        let wanted = self.setup.options.keep_embeddings;
        if let (Some(embedding), Some(axis)) = (embedding.filter(|_| wanted), program.embedding_axis()) {
            let n = embedding.dims()[0];
            reservation.grow(4 * n * axis.stride())?;
            let mut values = vec![0f32; n * axis.stride()];
            spread(&embedding, &(0..n as u32).collect::<Vec<_>>(), axis, &mut values)?;
            self.host.embedding = Some((values, axis));
        }
        debug_assert_eq!(program.output_rows(), self.n_nodes);
        Ok(FinalPass {
            layout,
            parameters: &self.host.parameters,
            outputs: &self.host.outputs,
            embedding: self.host.embedding.as_ref().map(|(values, axis)| (&values[..], *axis)),
            space: program.space(),
            beside: peak(),
        })
    }
}

/// The number of a matrix of one element.
fn scalar(x: &Tensor) -> Result<f32> {
    x.flatten_all()?.get(0)?.to_scalar::<f32>()
}

#[cfg(feature = "cuda")]
fn peak() -> usize {
    super::gpu::peak()
}

#[cfg(not(feature = "cuda"))]
fn peak() -> usize {
    0
}
