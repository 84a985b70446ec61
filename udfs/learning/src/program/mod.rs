//! A static program of layers: a reverse-mode machine whose graph is fixed once for a problem.
//!
//! A [`Builder`] writes down which layer reads which slot; [`Builder::finish`] fuses biases, activations and dropout into
//! the layer before them, reserves and allocates every buffer, and gives a [`Program`], which is a [`Model`]. A slot is a
//! matrix with a row a node (or a graph, or an edge) and a gradient beside it where one is needed. Nothing is allocated
//! in a pass.
//!
//! A scope of a program holds, for each slot, the rows that the targets depend on, found backwards from the targets; a
//! gradient exists on the same rows. Pruned or not, for any number of threads, the bits are the same.
//!
//! To add a model, write its equations with the builder:
//!
//! ```ignore
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
//! To add a layer that models lack: a type with [`Layer`] in a file of [`layers`], and a method that calls
//! [`Builder::push`]. [`Layer::candle`] is its definition, which [`Evaluation`] runs; the passes of the CPU are held to it. Sparse features stay sparse only in [`Builder::linear`]: propagate what comes out of it, not what
//! goes in, where the equations allow it (`P X W = P (X W)`).

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use bonnet_graph::{Monitor, Reservation, Stopped};

use crate::kernels::elementwise::{Activation, Gate, column_sums, gate_rows};
use crate::network::{Axis, Input, Layout, Model, Pass, Scope, Site, dropout};
pub use crate::network::{Hops, Prepared};

mod builder;
mod evaluate;
mod layer;
pub mod layers;
mod plan;
#[cfg(test)]
mod tests;

pub use builder::{Builder, Source};
pub use evaluate::{Evaluation, EvaluationError, Sparse, Tensors, Values};
pub use layer::{Backward, Forward, Gradient, Layer, Scratch, Shapes, Tail};
pub use plan::Prepare;

/// A matrix of a program: its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

/// A block of parameters: its number in the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter(usize);

/// A sparse or dense matrix of features that is no slot, since it is never stored dense: its number, and the dropout of
/// its entries in training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features {
    number: usize,
    dropout: Option<Mask>,
}

/// A dropout of the program: its probability, and the number that tells its masks from those of others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mask {
    p: f64,
    number: usize,
    site: Site,
}

/// What has as many rows as a slot.
#[derive(Debug, Clone)]
pub enum Space {
    /// So many nodes, graphs or other things.
    Rows(usize),
    /// The entries of an operator. The rows of such a slot are those of the operator: a row set of nodes stands for their
    /// entries.
    Edges(std::sync::Arc<crate::network::Operator>),
}

impl Space {
    /// The rows of its row sets.
    pub fn rows(&self) -> usize {
        match self {
            Self::Rows(n) => *n,
            Self::Edges(operator) => operator.n_rows(),
        }
    }

    /// The rows of its matrices.
    pub fn len(&self) -> usize {
        match self {
            Self::Rows(n) => *n,
            Self::Edges(operator) => operator.n_entries(),
        }
    }

    /// Whether its matrices have no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The shape of a slot.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Its rows.
    pub space: Space,
    /// Its columns.
    pub axis: Axis,
    /// Whether it depends on parameters.
    pub gradient: bool,
}

/// A layer with what it reads and writes.
#[derive(Debug)]
struct Node {
    layer: Box<dyn Layer>,
    inputs: Vec<Slot>,
    parameters: Vec<Parameter>,
    output: Slot,
    tail: Tail,
}

/// The classes that are an input.
#[derive(Debug, Clone)]
struct Given {
    /// Nodes with their classes.
    known: Arc<[(u32, u32)]>,
    /// Training sees that of a node where the mask keeps element (node, 0).
    mask: Mask,
}

/// A model made of layers.
pub struct Program {
    layout: Layout,
    shapes: Vec<Shape>,
    nodes: Vec<Node>,
    features: Vec<Input>,
    values: Vec<Vec<f32>>,
    gradients: Vec<RefCell<Vec<f32>>>,
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
    given: Option<Given>,
    seed: u64,
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
        self.given.is_some()
    }
}

impl Model for Program {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn scope(
        &self,
        targets: &[u32],
        train: bool,
        pruned: bool,
        reservation: &mut Reservation<'_>,
    ) -> Result<Scope, Stopped> {
        plan::scope(self, targets, train, pruned, reservation)
    }

    fn forward(&mut self, scope: &Scope, parameters: &[f32], pass: Pass, monitor: &dyn Monitor) -> Result<(), Stopped> {
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let mut out = std::mem::take(&mut self.values[node.output.0]);
            let forward = Forward {
                inputs: &node.inputs,
                parameters: &node.parameters,
                output: node.output,
                tail: node.tail,
                prepared: &scope.prepared[number],
                all_parameters: parameters,
                layout: &self.layout,
                shapes: &self.shapes,
                values: &self.values,
                rows: &scope.rows,
                features: &self.features,
                pass,
                seed: self.seed,
                monitor,
            };
            let result = node.layer.forward(&forward, &mut out);
            if node.tail.activation == Activation::Sigmoid {
                // It is not 0 at 0: padding would no longer be.
                layers::clear_padding(forward.rows(), forward.axis(), &mut out);
            }
            self.values[node.output.0] = out;
            result?;
        }
        Ok(())
    }

    fn outputs(&self) -> &[f32] {
        &self.values[self.output.0]
    }

    fn outputs_and_gradient(&mut self) -> (&[f32], &mut [f32]) {
        (&self.values[self.output.0], self.gradients[self.output.0].get_mut())
    }

    fn backward(
        &mut self,
        scope: &Scope,
        parameters: &[f32],
        pass: Pass,
        gradient: &mut [f32],
        monitor: &dyn Monitor,
    ) -> Result<(), Stopped> {
        gradient.fill(0.0);
        self.touched.fill(false);
        self.written.iter().chain(&self.gated).for_each(|flag| flag.set(false));
        self.written[self.output.0].set(true);
        for (number, node) in self.nodes.iter_mut().enumerate().rev() {
            // An unread slot has no gradient.
            if !self.shapes[node.output.0].gradient || !self.written[node.output.0].get() {
                continue;
            }
            let mut d_out = self.gradients[node.output.0].borrow_mut();
            let forward = Forward {
                inputs: &node.inputs,
                parameters: &node.parameters,
                output: node.output,
                tail: node.tail,
                prepared: &scope.prepared[number],
                all_parameters: parameters,
                layout: &self.layout,
                shapes: &self.shapes,
                values: &self.values,
                rows: &scope.rows,
                features: &self.features,
                pass,
                seed: self.seed,
                monitor,
            };
            let mut backward = Backward {
                forward,
                gradients: &self.gradients,
                written: &self.written,
                sole_tails: &self.sole_tails,
                gated: &self.gated,
                all: gradient,
                touched: &mut self.touched,
                partials: &mut self.partials,
                transposed: &mut self.transposed,
                shared: &mut self.shared,
            };
            let (tail, set, width) = (node.tail, forward.rows(), forward.width());
            if !tail.is_linear() && !self.gated[node.output.0].get() {
                let gate = Gate {
                    output: &self.values[node.output.0],
                    activation: tail.activation,
                    dropout: forward.mask(tail.dropout),
                };
                gate_rows(set, gate, width, &mut d_out, monitor)?;
            }
            if let Some(bias) = tail.bias {
                let sums = &d_out[..];
                backward.parameter(bias, |out, partials, _| column_sums(set, sums, width, partials, out, monitor))?;
            }
            node.layer.backward(&mut backward, &d_out)?;
        }
        Ok(())
    }

    fn label_inputs(&self, pass: Pass) -> Vec<u32> {
        let Some(Given { known, mask }) = &self.given else { return Vec::new() };
        let Some(given) = dropout(mask.p, self.seed, pass, mask.number, mask.site) else { return Vec::new() };
        known.iter().map(|known| known.0).filter(|&node| given.keeps(given.row(node), 0)).collect()
    }

    fn space(&self) -> Option<&crate::spaces::Space> {
        self.points.as_ref()
    }

    fn penalty(&self) -> f64 {
        self.nodes.iter().map(|node| node.layer.penalty()).sum()
    }

    fn embedding(&self) -> Option<(&[f32], Axis)> {
        let slot = self.embedding?;
        Some((&self.values[slot.0], self.shapes[slot.0].axis))
    }
}
