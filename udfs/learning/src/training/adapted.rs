//! The passes of an encoder that is adapted to a graph: prompts before it, or a linear layer behind it.

use bonnet_graph::Reservation;
use candle_core::{DType, Device, Result, Tensor};

use super::backend::{Backend, EpochFigures, FinalPass, Setup};
use super::saved::Saved;
use crate::data::{GraphData, Split};
use crate::ground::random::key;
use crate::ground::{Axis, Initial, Layout, OptionError, TrainError, padded};
use crate::models::foundation::{self, Adapt, Domain, Foundation, Propagation, Shape, Source, View, Weights, told};
use crate::optimizer::Optimizer;
use crate::optimizer::schedule::clip_global_norm;
use crate::options::TrainOptions;
use crate::tasks::{Objective, Outputs, Step};

/// The logit of a class that has no training node, and so no prototype: no cosine comes near it.
const NO_PROTOTYPE: f64 = -1e4;

/// Separates the masks of an adaptation from those of pre-training.
const ADAPTATION: u64 = 51;

/// An encoder and what is learnt of its target. A node's outputs are its cosines with the prototypes of the classes, the mean of the
/// rows of their training nodes; or those of a linear layer.
pub(crate) struct Adapted<'a> {
    setup: Setup<'a>,
    model: &'static dyn Foundation,
    shape: Shape<'a>,
    adapt: Adapt,
    layout: Layout,
    target: Domain,
    /// The neighbourhoods of the training nodes, and where those are in it.
    near: View,
    shots: Shots,
    best: Vec<f32>,
    optimizer: Optimizer,
    host: Host,
    n_classes: usize,
    is_watched: bool,
}

/// The training nodes.
struct Shots {
    /// In the graph, and in their neighbourhood.
    nodes: Vec<u32>,
    near: Tensor,
    all: Tensor,
    /// Classes x training nodes: the mean of each class.
    mean: Propagation,
    /// A row: 0 for a class with a training node, [`NO_PROTOTYPE`] for one without.
    lacking: Tensor,
}

/// The buffers of the host.
struct Host {
    outputs: Vec<f32>,
    gradient: Vec<f32>,
    embedding: Vec<f32>,
}

impl<'a> Adapted<'a> {
    /// The encoder of a file, ready for a graph with its shots. The memory is reserved.
    ///
    /// # Errors
    /// If the file is that of another model or width, features do not fit, or fewer than two classes have training nodes.
    pub fn new(
        model: &'static dyn Foundation,
        (data, split): (&GraphData, &Split),
        saved: &Saved,
        objective: &dyn Objective,
        mut setup: Setup<'a>,
        reservation: &mut Reservation<'_>,
    ) -> std::result::Result<Self, TrainError> {
        let options = setup.options;
        let n_sources = saved.sources().len();
        let shape = Shape::new(options, n_sources, setup.monitor)?;
        let adapt = Adapt::of(&shape.options)?;
        let n_classes = data.n_classes;
        let layout = layout(model, &shape, adapt, n_classes)?;
        setup.parameters = parameters(model, &shape, saved, &layout, options)?;

        let mut counts = vec![0usize; n_classes];
        let class = |v: &u32| data.labels[*v as usize].unwrap_or(0) as usize;
        split.train.iter().for_each(|v| counts[class(v)] += 1);
        if counts.iter().filter(|count| **count > 0).count() < 2 {
            let valid = "one that gives two classes or more a training node each";
            return Err(OptionError::invalid("split_scheme", "the split of the job", valid).into());
        }

        let n = data.graph.n_nodes();
        let source = Source {
            name: "the graph".to_owned(),
            graph: std::sync::Arc::clone(&data.graph),
            features: std::sync::Arc::clone(&data.features),
        };
        let monitor = setup.monitor;
        let mut not_test = vec![true; n];
        split.test.iter().for_each(|&v| not_test[v as usize] = false);
        let not_test: Vec<u32> = (0..n as u32).filter(|&v| not_test[v as usize]).collect();
        let alignment = shape.alignment(&not_test)?;
        let mut target = Domain::new(&source, options, alignment, reservation, monitor)?;
        if adapt == Adapt::Prompt {
            model.prepare(&shape, &mut target, reservation)?;
        }
        let (stored, stride) = (layout.stored(), padded(n_classes));
        let of_pass = model.bytes(&shape, std::slice::from_ref(&target));
        reservation.grow(4 * 4 * stored + Optimizer::bytes(stored) + of_pass)?;
        reservation.grow(4 * n * (2 * stride + model.width(&shape)))?;
        let (near, places) = match model.reach(&shape) {
            Some(hops) => target.around(&split.train, hops)?,
            None => (target.view.clone(), split.train.iter().map(|&v| (v, v)).collect()),
        };
        let index = |nodes: Vec<u32>| {
            let len = nodes.len();
            Tensor::from_vec(nodes, len, &Device::Cpu)
        };
        let mut of_class = vec![Vec::new(); n_classes];
        for (at, v) in split.train.iter().enumerate() {
            of_class[class(v)].push((at as u32, 1.0 / counts[class(v)] as f64));
        }
        let lacking: Vec<f64> = counts.iter().map(|&count| if count > 0 { 0.0 } else { NO_PROTOTYPE }).collect();
        let shots = Shots {
            near: index(split.train.iter().map(|v| places[v]).collect())?,
            all: index(split.train.clone())?,
            mean: Propagation::of_rows(of_class.into_iter(), split.train.len(), DType::F32)?,
            lacking: Tensor::from_vec(lacking, (1, n_classes), &Device::Cpu)?.to_dtype(DType::F32)?,
            nodes: split.train.clone(),
        };
        Ok(Self {
            best: setup.parameters.clone(),
            optimizer: Optimizer::new(options.optimizer, options.lr, options.weight_decay, stored),
            host: Host {
                outputs: vec![0.0; n * stride],
                gradient: vec![0.0; n * stride],
                embedding: vec![0.0; n * model.width(&shape)],
            },
            is_watched: !objective.nodes(setup.parts()).is_empty(),
            setup,
            model,
            shape,
            adapt,
            layout,
            target,
            near,
            shots,
            n_classes,
        })
    }

    /// Whether the block of a name is learnt.
    fn is_learnt(adapt: Adapt, name: &str) -> bool {
        match adapt {
            Adapt::Prompt => name.starts_with("prompt."),
            Adapt::Head => name.starts_with("head."),
            Adapt::FineTune => name.starts_with("head.") || name.starts_with("encoder."),
        }
    }

    fn weights(&self, parameters: &[f32], learns: bool) -> Result<Weights> {
        Weights::new(&self.layout, parameters, DType::F32, |name| learns && Self::is_learnt(self.adapt, name))
    }

    /// The rows of nodes, and their outputs, which `shots` picks the training nodes of.
    fn pass(&self, weights: &Weights, view: &View, shots: &Tensor, pass: Option<u64>) -> Result<(Tensor, Tensor)> {
        let pass = pass.filter(|_| self.adapt == Adapt::FineTune);
        let z = self.model.embed(&self.shape, weights, view, self.adapt == Adapt::Prompt, pass)?;
        let outputs = match self.adapt {
            Adapt::Prompt => {
                let prototypes = self.shots.mean.product(&z.index_select(shots, 0)?)?;
                let cosines = foundation::unit_rows(&z)?.matmul(&foundation::unit_rows(&prototypes)?.t()?)?;
                cosines.broadcast_add(&self.shots.lacking)?
            }
            Adapt::Head | Adapt::FineTune => {
                z.matmul(weights.get("head.weight")?)?.broadcast_add(weights.get("head.bias")?)?
            }
        };
        Ok((z, outputs))
    }

    /// A pass over the whole graph, into the buffers of the host.
    fn whole(&mut self, parameters: &[f32]) -> std::result::Result<(), TrainError> {
        self.setup.monitor.check()?;
        let found = self.pass(&self.weights(parameters, false)?, &self.target.view, &self.shots.all, None);
        let (z, outputs) = told(found, self.setup.monitor)?;
        self.setup.monitor.check()?;
        self.host.embedding = z.flatten_all()?.to_vec1()?;
        let (outputs, stride) = (outputs.flatten_all()?.to_vec1::<f32>()?, padded(self.n_classes));
        for (row, values) in self.host.outputs.chunks_exact_mut(stride).zip(outputs.chunks_exact(self.n_classes)) {
            row[..self.n_classes].copy_from_slice(values);
        }
        Ok(())
    }
}

/// The parameters of the encoder, then those that the target has.
fn layout(
    model: &dyn Foundation,
    shape: &Shape<'_>,
    adapt: Adapt,
    n_classes: usize,
) -> std::result::Result<Layout, OptionError> {
    let mut layout = model.encoder(shape)?;
    match (adapt, model.prompt(shape)) {
        (Adapt::Prompt, Some(prompt)) => {
            for block in prompt.blocks() {
                layout.push(block.name.clone(), block.rows, block.columns, block.initial.clone());
            }
        }
        (Adapt::Prompt, None) => {
            let valid = format!("fine_tune, head: {} has no prompts", shape.options.model);
            return Err(OptionError::invalid("adapt", adapt.name(), &valid));
        }
        (Adapt::Head | Adapt::FineTune, _) => {
            let (width, columns) = (model.width(shape), Axis::exact(n_classes));
            layout.push("head.weight".into(), Axis::exact(width), columns, Initial::glorot(width, n_classes));
            layout.push("head.bias".into(), Axis::exact(1), columns, Initial::Zeros);
        }
    }
    Ok(layout)
}

/// The parameters that a run begins with: all of them from a run that was adapted before, those of the encoder from a pre-training,
/// the rest as it is drawn.
fn parameters(
    model: &dyn Foundation,
    shape: &Shape<'_>,
    saved: &Saved,
    layout: &Layout,
    options: &TrainOptions,
) -> std::result::Result<Vec<f32>, TrainError> {
    if !saved.is_pretrained() {
        return Ok(saved.parameters(&options.model, &[layout])?);
    }
    let encoder = model.encoder(shape)?;
    let mut parameters = layout.initialise(options.seed);
    let of_encoder: Vec<f32> = saved.parameters(&options.model, &[&encoder])?;
    parameters[..of_encoder.len()].copy_from_slice(&of_encoder);
    Ok(parameters)
}

impl Backend for Adapted<'_> {
    fn device(&self) -> &'static str {
        "cpu"
    }

    fn parameters(&self) -> usize {
        self.layout.parameters()
    }

    fn epoch(
        &mut self,
        objective: &mut dyn Objective,
        epoch: u32,
        _fresh: bool,
        factor: f64,
    ) -> std::result::Result<EpochFigures, TrainError> {
        let options = self.setup.options;
        self.setup.monitor.check()?;
        let weights = self.weights(&self.setup.parameters, true)?;
        let pass = key(&[ADAPTATION, u64::from(epoch)]);
        let found = self.pass(&weights, &self.near, &self.shots.near, Some(pass));
        let (z, outputs) = told(found, self.setup.monitor)?;
        let penalty = match self.adapt {
            Adapt::Prompt => {
                let rows = z.index_select(&self.shots.near, 0)?;
                told(self.model.penalty(&self.shape, &weights, &self.near, &rows), self.setup.monitor)?
            }
            Adapt::Head | Adapt::FineTune => None,
        };
        let outputs = outputs.index_select(&self.shots.near, 0)?;
        let (values, stride) = (outputs.flatten_all()?.to_vec1::<f32>()?, padded(self.n_classes));
        for (&v, values) in self.shots.nodes.iter().zip(values.chunks_exact(self.n_classes)) {
            self.host.outputs[v as usize * stride..][..self.n_classes].copy_from_slice(values);
        }
        let step = Step {
            outputs: Outputs { nodes: &self.host.outputs, head: &[] },
            label_inputs: &[],
            d_nodes: &mut self.host.gradient,
            d_head: &mut [],
        };
        let mut train_loss = objective.train(0, step, self.setup.monitor)?;
        if let Some(penalty) = &penalty {
            train_loss += f64::from(penalty.to_scalar::<f32>()?);
        }
        if !train_loss.is_finite() {
            return Err(self.setup.diverged(epoch, train_loss));
        }
        let gradient: Vec<f32> = (self.shots.nodes.iter())
            .flat_map(|&v| self.host.gradient[v as usize * stride..][..self.n_classes].iter().copied())
            .collect();
        let gradient = Tensor::from_vec(gradient, (self.shots.nodes.len(), self.n_classes), &Device::Cpu)?;
        let mut loss = (outputs * gradient)?.sum_all()?;
        if let Some(penalty) = penalty {
            loss = (loss + penalty)?;
        }
        let mut d_parameters = vec![0f32; self.layout.stored()];
        weights.add_gradient(&self.layout, &loss.backward()?, &mut d_parameters)?;
        if let Some(limit) = options.clip {
            clip_global_norm(&mut d_parameters, limit);
        }
        self.optimizer.set_factor(factor);
        let before = self.setup.parameters.clone();
        self.optimizer.step(&mut self.setup.parameters, &d_parameters);
        // What is frozen has no decay either.
        for block in self.layout.blocks() {
            if !Self::is_learnt(self.adapt, &block.name) {
                self.setup.parameters[block.range()].copy_from_slice(&before[block.range()]);
            }
        }
        let mut record = EpochFigures { train_loss, ..EpochFigures::default() };
        if self.is_watched {
            let parameters = std::mem::take(&mut self.setup.parameters);
            let whole = self.whole(&parameters);
            self.setup.parameters = parameters;
            whole?;
            let outputs = Outputs { nodes: &self.host.outputs, head: &[] };
            self.setup.score(objective, outputs, &mut record)?;
        }
        Ok(record)
    }

    fn keep(&mut self) -> std::result::Result<(), TrainError> {
        self.best.copy_from_slice(&self.setup.parameters);
        Ok(())
    }

    fn finish(&mut self, _reservation: &mut Reservation<'_>) -> std::result::Result<FinalPass<'_>, TrainError> {
        let best = std::mem::take(&mut self.best);
        let whole = self.whole(&best);
        self.best = best;
        whole?;
        Ok(FinalPass {
            layout: &self.layout,
            parameters: &self.best,
            outputs: &self.host.outputs,
            embedding: Some((&self.host.embedding, Axis::exact(self.model.width(&self.shape)))),
            space: None,
            beside: 0,
        })
    }
}
