//! The models: one file each, an explicit forward and backward pass on preallocated buffers.
//!
//! To add a model: a file with a `SPEC` and its equations as a [`crate::program`], and its line in [`crate::models()`].
//! The first four are written out by hand instead, as types that implement [`Model`] with passes fused further; for a
//! device they are programs too.

use std::sync::Arc;

use bonnet_graph::{Digraph, Monitor, Reservation, Stopped};

use crate::features::Features;
use crate::options::{OptionError, TrainOptions};
use crate::program::Program;
use crate::random::{Dropout, key};

pub mod acm_gcn;
pub mod appnp;
pub mod bernnet;
pub mod fagcn;
pub mod fsgnn;
pub mod gat;
pub mod gbk_gnn;
pub mod gcn;
pub mod gin;
pub mod glognn;
pub mod gprgnn;
pub mod graphsage;
pub mod h2gcn;
pub mod input;
pub mod label_propagation;
pub mod layout;
pub mod linkx;
pub mod lsgnn;
pub mod messages;
pub mod mixhop;
pub mod mlp;
pub mod mlp1;
pub mod pcnet;
pub mod rings;
pub(crate) mod sampled;
pub mod scope;
pub mod sgc;
pub mod tag;
pub mod unimp;

pub use layout::{Axis, Block, Initial, Layout};
pub use messages::Messages;
pub use scope::{Operator, Scope};

/// What a model is built for.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    /// The edges that carry messages.
    pub graph: Messages,
    /// The arcs that the edges of the whole graph stand for, where they are known.
    pub arcs: Option<Arc<Digraph>>,
    /// The input of the first layer; never [`Features::None`].
    pub features: Arc<Features>,
    /// The number of outputs of a node.
    pub n_outputs: usize,
    /// The nodes whose classes a model may read beside the features, with their classes: those of the training part, where
    /// the task has classes.
    pub known: Arc<[(u32, u32)]>,
    /// The options of the run.
    pub options: &'a TrainOptions,
    /// Whether the passes are a device's: then a model is a [`crate::program::Program`], without buffers on the host.
    pub device: bool,
}

/// Why a model was not built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// An option of the run.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The host.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Makes a model; the reservation grows by every buffer before it is allocated.
pub type Build = fn(&Problem<'_>, &mut Reservation<'_>) -> Result<Box<dyn Model>, BuildError>;

/// Which pass over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Without dropout.
    Evaluate,
    /// With the dropout masks, and the sampled neighbours, of an epoch.
    Train {
        /// The epoch, counted from 1; the step where neighbours are sampled for each.
        epoch: u32,
    },
}

/// A network with its buffers. Parameters and gradients are flat vectors in the order of [`Model::layout`].
pub trait Model: Send {
    /// Names, shapes and initial values of the parameters.
    fn layout(&self) -> &Layout;

    /// The index structures for the outputs of `targets` (ascending node numbers), with those of the backward pass if
    /// `train`. With `pruned`, only the rows that these outputs depend on; otherwise all, with the same bits as result.
    fn scope(
        &self,
        targets: &[u32],
        train: bool,
        pruned: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Scope, Stopped>;

    /// Computes the outputs of a scope's targets.
    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped>;

    /// What the last forward pass gave, nodes x [`crate::kernels::padded`] outputs; only rows of its targets mean anything.
    fn outputs(&self) -> &[f32];

    /// The outputs, and where their gradient goes before [`Model::backward`]: zeros except in the rows of the targets.
    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]);

    /// From the gradient of the outputs to that of every parameter, after [`Model::forward`] with the same arguments.
    fn backward(
        &mut self,
        scope: &Scope,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped>;

    /// The nodes whose classes a pass of training reads, ascending. Their own outputs may hold them: a loss leaves them out.
    fn given(&self, _pass: Pass) -> Vec<u32> {
        Vec::new()
    }

    /// What the model adds to the loss of the task in the last forward pass of training. Its gradient
    /// [`Model::backward`] adds by itself.
    fn penalty(&self) -> f64 {
        0.0
    }

    /// The input of the last layer in the last forward pass, with its columns; none where that is the features.
    fn embedding(&self) -> Option<(&[f32], Axis)>;

    /// The most bytes that a pass held beside the reservation with which the model was built.
    fn peak(&self) -> usize {
        0
    }

    /// The model as a program of layers, which a device can run; none where it has passes of its own.
    fn program(&self) -> Option<&Program> {
        None
    }
}

/// Where dropout is applied, for the keys of its masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    /// The input of a layer.
    Input,
    /// The attention coefficients of a layer.
    Attention,
}

/// The mask of a layer in a pass.
pub(crate) fn dropout(p: f64, seed: u64, pass: Pass, layer: usize, site: Site) -> Option<Dropout> {
    const DROPOUT: u64 = 3;
    match pass {
        Pass::Evaluate => None,
        Pass::Train { epoch } => Dropout::new(p, key(&[seed, DROPOUT, u64::from(epoch), layer as u64, site as u64])),
    }
}

/// A buffer of zeros that the reservation covers.
pub(crate) fn zeros(reservation: &mut Reservation<'_>, len: usize) -> Result<Vec<f32>, Stopped> {
    reservation.grow(len.saturating_mul(size_of::<f32>()))?;
    Ok(vec![0.0; len])
}

/// The stored widths of a stack of layers with one hidden width: input, hidden ones, output.
pub(crate) fn widths(problem: &Problem<'_>) -> Vec<Axis> {
    let options = problem.options;
    let mut widths = vec![Axis::exact(problem.features.n_columns())];
    widths.extend(std::iter::repeat_n(Axis::padded(1, options.hidden), options.layers - 1));
    widths.push(Axis::padded(1, problem.n_outputs));
    widths
}

/// Refuses another number of layers than the one that a model has.
pub(crate) fn exactly(layers: usize, problem: &Problem<'_>) -> Result<(), OptionError> {
    let (options, given) = (problem.options, problem.options.layers);
    let valid = || format!("{layers}: {} has as many linear layers, no more and no less", options.model);
    if given == layers { Ok(()) } else { Err(OptionError::invalid("layers", given, &valid())) }
}
