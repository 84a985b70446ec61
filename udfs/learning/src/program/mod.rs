//! A static program of layers: a reverse-mode machine whose graph is fixed once for a problem.
//!
//! A [`Builder`] writes down which layer reads which slot; [`Builder::finish`] fuses biases, activations and dropout into
//! the layer before them, reserves every buffer, and gives a [`Program`], which is a [`Model`](crate::network::Model). A slot is a
//! matrix with a row a node (or a graph, or an edge) and a gradient beside it where one is needed. The first pass allocates them, or
//! takes them from a program that has ended; later ones allocate nothing.
//!
//! A scope of a program holds, for each slot, the rows that the targets depend on, found backwards from the targets; a
//! gradient exists on the same rows. Pruned or not, for any number of threads, the bits are the same.
//!
//! To add a model, write its equations with the builder:
//!
//! ```
//! use std::sync::Arc;
//!
//! use bonnet_graph::Reservation;
//! use bonnet_learning::BuildError;
//! use bonnet_learning::models::Problem;
//! use bonnet_learning::network::Operator;
//! use bonnet_learning::program::{Builder, Program};
//!
//! fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> Result<Program, BuildError> {
//!     let options = problem.options;
//!     let operator = Arc::new(Operator::symmetric(&problem.graph, reservation)?);
//!     let mut b = Builder::new(problem, reservation);
//!     let x = b.input(options.dropout);
//!     let h = b.linear(x, "0.weight", options.hidden);
//!     let h = b.bias(h, "0.bias");
//!     let h = b.relu(h);
//!     b.embedding(h);
//!     let h = b.dropout(h, options.dropout);
//!     let z = b.linear(h, "1.weight", problem.n_outputs);
//!     let z = b.propagate(&operator, z);
//!     Ok(b.finish(z)?)
//! }
//! ```
//!
//! Sparse features stay sparse only in [`Builder::linear`]: propagate its output, not its input, where the equations allow
//! it (`P X W = P (X W)`).
//!
//! To add a layer that models lack: a type with [`Layer`] in a file of [`layers`], and a method that calls
//! [`Builder::push`]. [`Layer::candle`] is its definition, which [`Evaluation`] runs; the passes of the CPU are held to it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use crate::ground::{Axis, Layout};
use crate::network::Input;
pub use crate::network::{Hops, Prepared};

mod builder;
mod evaluate;
mod inputs;
mod layer;
pub mod layers;
mod passes;
mod plan;
mod prepare;
mod reach;
mod shelf;
mod side_by_side;
mod slot;
mod tensors;
#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use evaluate::{Evaluation, EvaluationError, Values};
pub use inputs::Inputs;
pub use layer::{Backward, Forward, Gradient, Grow, Layer, Scratch, Shapes, Tail};
pub use prepare::Prepare;
pub(crate) use shelf::Shelf;
use shelf::make_room;
pub(crate) use side_by_side::Draws;
use side_by_side::SideBySide;
pub use slot::{InputFeatures, Mask, Parameter, Slot, SlotShape, Source, Space};
pub use tensors::{Sparse, Tensors};

/// A layer with what it reads and writes.
#[derive(Debug)]
struct Node {
    layer: Box<dyn Layer>,
    inputs: Vec<Slot>,
    parameters: Vec<Parameter>,
    output: Slot,
    tail: Tail,
}

/// Known classes that are an input beside the features.
#[derive(Debug, Clone)]
struct LabelInput {
    /// Nodes with their classes.
    known: Arc<[(u32, u32)]>,
    /// Training sees that of a node where the mask keeps element (node, 0).
    mask: Mask,
}

/// A model made of layers.
pub struct Program {
    layout: Layout,
    shapes: Vec<SlotShape>,
    nodes: Vec<Node>,
    features: Vec<Input>,
    values: Vec<Vec<f32>>,
    gradients: Vec<RefCell<Vec<f32>>>,
    /// The lengths of these buffers, which a pass on the host allocates; 0 where there is none.
    lengths: Vec<(usize, usize)>,
    /// The slots whose gradient takes the place of their values.
    in_place: Vec<Slot>,
    /// In a backward pass: whether a slot's gradient holds something, and whether a block of parameters has been met.
    written: Vec<Cell<bool>>,
    /// The activation and dropout behind a slot that one layer alone reads.
    sole_tails: Vec<Option<Tail>>,
    /// In a backward pass: whether that layer has applied them to the slot's gradient.
    gated: Vec<Cell<bool>>,
    touched: Vec<bool>,
    output: Slot,
    embedding: Option<Slot>,
    points: Option<crate::spaces::Space>,
    label_input: Option<LabelInput>,
    seed: u64,
    /// The number of masks that may be drawn.
    masks: usize,
    /// The runs of a pass, if they are more than that of the seed.
    side_by_side: Option<SideBySide>,
    /// Room for the gradient of a block of parameters of all these runs.
    of_all: Vec<f32>,
    partials: Vec<f32>,
    transposed: Vec<f32>,
    /// Room for the gradient of a block of parameters that several layers read.
    shared: Vec<f32>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("nodes", &self.nodes).field("shapes", &self.shapes).finish_non_exhaustive()
    }
}

impl Program {
    /// The columns of the outputs.
    pub(crate) fn output_axis(&self) -> Axis {
        self.shapes[self.output.0].axis
    }

    /// The rows of the outputs.
    pub(crate) fn output_rows(&self) -> usize {
        self.shapes[self.output.0].space.len()
    }

    /// The columns of the input of the last layer, if that is a slot.
    pub(crate) fn embedding_axis(&self) -> Option<Axis> {
        self.embedding.map(|slot| self.shapes[slot.0].axis)
    }

    /// Whether the classes of known nodes are an input.
    pub(crate) fn reads_labels(&self) -> bool {
        self.label_input.is_some()
    }
}
