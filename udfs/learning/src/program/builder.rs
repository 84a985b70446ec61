//! The builder of programs: layers in the order of their equations.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use bonnet_graph::{Reservation, Stopped};

use super::layers::batch_norm::BatchNorm;
use super::layers::combine::{Combine, Weights};
use super::layers::concat::Concat;
use super::layers::elementwise::Elementwise;
use super::layers::expressions::composed::{Composed, Neighborwise};
use super::layers::expressions::expression::{Expression, Rowwise};
use super::layers::hadamard::Hadamard;
use super::layers::linear::{FeatureLinear, Linear};
use super::layers::mix::MixRows;
use super::layers::normalize::{LayerNorm, UnitRows};
use super::layers::pool::{Pool, PoolRows};
use super::layers::propagation::propagate::Propagation;
use super::layers::softmax::RowSoftmax;
use super::{
    InputFeatures, Inputs, LabelInput, Layer, Mask, Node, Parameter, Program, Scratch, Shapes, Slot, SlotShape, Source,
    Space, Tail,
};
use crate::data::Features;
use crate::ground::{Axis, Initial, Layout, PointSpace};
use crate::kernels::elementwise::Activation;
use crate::network::{Input, Operator, Site, Statistics, zeros};

/// A program that is being written. The order of the calls is that of the layers, and of the parameters.
#[derive(Debug)]
pub struct Builder<'r, 'm> {
    pub(super) inputs: Inputs,
    reservation: &'r mut Reservation<'m>,
    pub(super) layout: Layout,
    initial: fn(usize, usize) -> Initial,
    shapes: Vec<SlotShape>,
    nodes: Vec<Node>,
    pub(super) features: Vec<Input>,
    constants: Vec<(Slot, Vec<f32>)>,
    masks: usize,
    embedding: Option<Slot>,
    points: Option<crate::spaces::Space>,
    pub(super) label_mask: Option<Mask>,
    /// Whether the model reads the known classes by itself.
    pub(super) reads_labels: bool,
    /// The rows of the classes beside each block of weights on the features.
    pub(super) given: Vec<(Parameter, Parameter)>,
}

impl<'r, 'm> Builder<'r, 'm> {
    /// An empty program for a problem.
    pub fn new(inputs: impl Into<Inputs>, reservation: &'r mut Reservation<'m>) -> Self {
        Self {
            inputs: inputs.into(),
            reservation,
            layout: Layout::default(),
            initial: Initial::glorot,
            shapes: Vec::new(),
            nodes: Vec::new(),
            features: Vec::new(),
            constants: Vec::new(),
            masks: 0,
            embedding: None,
            points: None,
            label_mask: None,
            reads_labels: false,
            given: Vec::new(),
        }
    }

    /// Sets how the weights of the linear layers that follow start, by their inputs and outputs; Glorot's at first.
    pub fn initial(&mut self, initial: fn(usize, usize) -> Initial) {
        self.initial = initial;
    }

    /// How weights of so many inputs and outputs start.
    pub(super) fn initial_of(&self, inputs: usize, outputs: usize) -> Initial {
        (self.initial)(inputs, outputs)
    }

    /// The node features of the problem; in training an entry is dropped with probability `p`.
    ///
    /// With a [`Inputs::label_rate`] linear layers on them read the known classes beside them.
    pub fn input(&mut self, p: f64) -> InputFeatures {
        self.features(Arc::clone(&self.inputs.features), p)
    }

    /// Other features of the nodes, such as their adjacency; in training an entry is dropped with probability `p`.
    pub fn features(&mut self, features: Arc<Features>, p: f64) -> InputFeatures {
        self.features.push(Input::new(features));
        InputFeatures { number: self.features.len() - 1, dropout: self.mask(p) }
    }

    /// A dropout of probability `p` with masks of its own; none for 0.
    pub fn mask(&mut self, p: f64) -> Option<Mask> {
        self.masks += 1;
        (p > 0.0).then_some(Mask { p, number: self.masks - 1, site: Site::Input })
    }

    /// The mask of the attention coefficients of a layer, by its number, with probability `p`; none for 0.
    pub fn attention_mask(&mut self, layer: usize, p: f64) -> Option<Mask> {
        self.masks = self.masks.max(layer + 1);
        (p > 0.0).then_some(Mask { p, number: layer, site: Site::Attention })
    }

    /// A matrix that stays as it is: `fill` writes its rows into zeros, with the stored columns of `axis`.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn constant(&mut self, space: Space, axis: Axis, fill: impl FnOnce(&mut [f32])) -> Result<Slot, Stopped> {
        let mut values = zeros(self.reservation, space.len() * axis.stride())?;
        fill(&mut values);
        let slot = self.slot(SlotShape { space, axis, gradient: false });
        self.constants.push((slot, values));
        Ok(slot)
    }

    /// A block of parameters. Its padding must start as zeros and receive no gradient.
    pub fn parameter(&mut self, name: impl Into<String>, rows: Axis, columns: Axis, initial: Initial) -> Parameter {
        Parameter(self.layout.push(name.into(), rows, columns, initial))
    }

    /// A block whose rows are points of a space.
    pub fn point_parameter(
        &mut self,
        name: impl Into<String>,
        rows: Axis,
        columns: Axis,
        initial: Initial,
        space: PointSpace,
    ) -> Parameter {
        let parameter = self.parameter(name, rows, columns, initial);
        self.layout.set_points(parameter.0, space);
        parameter
    }

    /// Appends a function of rows with `width` columns.
    pub fn rows(
        &mut self,
        function: impl Rowwise + 'static,
        inputs: &[Slot],
        parameters: &[Parameter],
        width: usize,
    ) -> Slot {
        let space = self.space(inputs[0]);
        self.push(Expression::new(function), inputs, parameters, space, Axis::padded(1, width))
    }

    /// Appends a function of rows and of those that an operator's entries lead to.
    pub fn neighbors(
        &mut self,
        function: impl Neighborwise + 'static,
        operator: &Arc<Operator>,
        inputs: &[Slot],
        parameters: &[Parameter],
        axis: Axis,
    ) -> Slot {
        let space = self.space(inputs[0]);
        self.push(Composed::new(function, operator), inputs, parameters, space, axis)
    }

    /// Room that a layer's passes on the host need, zeros; none for a device.
    ///
    /// # Errors
    /// If the host refuses it.
    pub fn zeros(&mut self, len: usize) -> Result<Vec<f32>, Stopped> {
        zeros(self.reservation, if self.inputs.device { 0 } else { len })
    }

    /// The reservation that every buffer grows.
    pub fn reservation(&mut self) -> &mut Reservation<'m> {
        self.reservation
    }

    /// What the program is written for.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The space of the nodes.
    pub fn nodes(&self) -> Space {
        Space::Rows(self.inputs.n_nodes)
    }

    /// The columns of a slot.
    pub fn axis(&self, slot: Slot) -> Axis {
        self.shapes[slot.0].axis
    }

    /// Whether a slot depends on parameters.
    pub fn has_gradient(&self, slot: Slot) -> bool {
        self.shapes[slot.0].gradient
    }

    /// The rows of a slot.
    pub fn space(&self, slot: Slot) -> Space {
        self.shapes[slot.0].space.clone()
    }

    /// Appends a layer that reads some slots and parameters; returns its output.
    pub fn push(
        &mut self,
        layer: impl Layer + 'static,
        inputs: &[Slot],
        parameters: &[Parameter],
        space: Space,
        axis: Axis,
    ) -> Slot {
        self.append(Box::new(layer), inputs, parameters, space, axis, Tail::NOTHING)
    }

    fn append(
        &mut self,
        layer: Box<dyn Layer>,
        inputs: &[Slot],
        parameters: &[Parameter],
        space: Space,
        axis: Axis,
        tail: Tail,
    ) -> Slot {
        let gradient =
            !parameters.is_empty() || tail.bias.is_some() || inputs.iter().any(|slot| self.shapes[slot.0].gradient);
        let output = self.slot(SlotShape { space, axis, gradient });
        self.nodes.push(Node { layer, inputs: inputs.into(), parameters: parameters.into(), output, tail });
        output
    }

    fn slot(&mut self, shape: SlotShape) -> Slot {
        self.shapes.push(shape);
        Slot(self.shapes.len() - 1)
    }

    /// Appends a layer whose output has the shape of its first input.
    pub fn like(&mut self, layer: impl Layer + 'static, inputs: &[Slot], parameters: &[Parameter]) -> Slot {
        let SlotShape { space, axis, .. } = self.shapes[inputs[0].0].clone();
        self.push(layer, inputs, parameters, space, axis)
    }

    fn tail(&mut self, x: Slot, tail: Tail) -> Slot {
        let SlotShape { space, axis, .. } = self.shapes[x.0].clone();
        self.append(Box::new(Elementwise), &[x], &[], space, axis, tail)
    }

    /// `X W` with new weights of `width` columns.
    pub fn linear(&mut self, x: impl Into<Source>, name: impl Into<String>, width: usize) -> Slot {
        let x = x.into();
        let (rows, columns) = (self.source_axis(x), Axis::padded(1, width));
        let weights = self.parameter(name, rows, columns, (self.initial)(rows.len(), width));
        self.linear_with(x, weights)
    }

    /// `X W` with weights that other layers may read too: as many rows as `X` has columns.
    pub fn linear_with(&mut self, x: impl Into<Source>, weights: Parameter) -> Slot {
        let x = x.into();
        let block = &self.layout.blocks()[weights.0];
        let columns = block.columns;
        debug_assert_eq!(block.rows, self.source_axis(x), "{}", block.name);
        match x {
            Source::Features(features) => {
                let space = self.nodes();
                let z = self.push(FeatureLinear { features }, &[], &[weights], space, columns);
                self.with_given(z, features, weights)
            }
            Source::Slot(slot) => {
                let space = self.space(slot);
                self.push(Linear, &[slot], &[weights], space, columns)
            }
        }
    }

    /// The columns of what a linear layer reads.
    pub fn source_axis(&self, source: Source) -> Axis {
        match source {
            Source::Features(features) => Axis::exact(self.features[features.number].features().n_columns()),
            Source::Slot(slot) => self.axis(slot),
        }
    }

    /// Adds a new row of parameters, zeros at first.
    pub fn bias(&mut self, x: Slot, name: impl Into<String>) -> Slot {
        self.bias_from(x, name, Initial::Zeros)
    }

    /// Adds a new row of parameters with other values at first.
    pub fn bias_from(&mut self, x: Slot, name: impl Into<String>, initial: Initial) -> Slot {
        let columns = self.axis(x);
        let bias = self.parameter(name, Axis::exact(1), columns, initial);
        self.tail(x, Tail { bias: Some(bias), ..Tail::NOTHING })
    }

    /// Adds a row of parameters that is there.
    pub fn shift(&mut self, x: Slot, bias: Parameter) -> Slot {
        self.tail(x, Tail { bias: Some(bias), ..Tail::NOTHING })
    }

    /// A linear layer with a bias: `{name}.weight` and `{name}.bias`.
    pub fn affine(&mut self, x: impl Into<Source>, name: &str, width: usize) -> Slot {
        let z = self.linear(x, format!("{name}.weight"), width);
        self.bias(z, format!("{name}.bias"))
    }

    /// A multi-layer perceptron: `layers` affine layers named by their number, relu between them and dropout with
    /// probability `p` before each but the first. The last but one is the embedding.
    pub fn perceptron(&mut self, x: impl Into<Source>, layers: usize, hidden: usize, outputs: usize, p: f64) -> Slot {
        let mut x = x.into();
        for layer in 0..layers.saturating_sub(1) {
            let h = self.affine(x, &layer.to_string(), hidden);
            let h = self.relu(h);
            let h = self.dropout(h, p);
            self.embedding(h);
            x = h.into();
        }
        self.affine(x, &layers.saturating_sub(1).to_string(), outputs)
    }

    /// Applies an activation.
    pub fn activation(&mut self, x: Slot, activation: Activation) -> Slot {
        self.tail(x, Tail { activation, ..Tail::NOTHING })
    }

    /// `max(x, 0)`.
    pub fn relu(&mut self, x: Slot) -> Slot {
        self.activation(x, Activation::Relu)
    }

    /// Drops entries with probability `p` in training, and scales the others by `1 / (1 - p)`.
    pub fn dropout(&mut self, x: Slot, p: f64) -> Slot {
        match self.mask(p) {
            None => x,
            dropout => self.tail(x, Tail { dropout, ..Tail::NOTHING }),
        }
    }

    /// `P x`.
    pub fn propagate(&mut self, operator: &Arc<Operator>, x: Slot) -> Slot {
        self.like(Propagation { operator: Arc::clone(operator), scale: 1.0, factor: 0.0 }, &[x], &[])
    }

    /// `scale * P x + factor * y`.
    pub fn propagate_plus(&mut self, operator: &Arc<Operator>, scale: f64, x: Slot, factor: f64, y: Slot) -> Slot {
        let (scale, factor) = (scale as f32, factor as f32);
        self.like(Propagation { operator: Arc::clone(operator), scale, factor }, &[x, y], &[])
    }

    /// `P x` where the rows of P are not its columns.
    pub fn carry(&mut self, operator: &Arc<Operator>, x: Slot) -> Slot {
        let layer = Propagation { operator: Arc::clone(operator), scale: 1.0, factor: 0.0 };
        self.push(layer, &[x], &[], Space::Rows(operator.n_rows()), self.axis(x))
    }

    /// `P x + y` where the rows of P are not its columns.
    pub fn carry_plus(&mut self, operator: &Arc<Operator>, x: Slot, y: Slot) -> Slot {
        let layer = Propagation { operator: Arc::clone(operator), scale: 1.0, factor: 1.0 };
        self.push(layer, &[x, y], &[], self.space(y), self.axis(y))
    }

    /// The sum of slots of one shape, each times a constant.
    pub fn sum(&mut self, terms: &[(Slot, f64)]) -> Slot {
        let (slots, coefficients): (Vec<Slot>, Vec<f64>) = terms.iter().copied().unzip();
        self.like(Combine::constant(coefficients), &slots, &[])
    }

    /// The sum of slots of one shape, each times a learnt coefficient: see [`Weights`]. `theta` is a row of as many
    /// parameters as the weights read.
    pub fn learned_sum(&mut self, slots: &[Slot], theta: Parameter, weights: Weights) -> Slot {
        self.like(Combine::learned(weights), slots, &[theta])
    }

    /// The product element by element.
    pub fn product(&mut self, x: Slot, y: Slot) -> Slot {
        self.like(Hadamard, &[x, y], &[])
    }

    /// The columns of several slots of equal real width side by side.
    pub fn concat(&mut self, slots: &[Slot]) -> Slot {
        let axes: Vec<Axis> = slots.iter().map(|slot| self.axis(*slot)).collect();
        let space = self.space(slots[0]);
        self.push(Concat, slots, &[], space, Axis::concat(&axes))
    }

    /// The softmax of each row.
    pub fn row_softmax(&mut self, x: Slot) -> Slot {
        self.like(RowSoftmax, &[x], &[])
    }

    /// For each row the sum of the slots' rows, slot `i` times column `i` of that row of `gates`.
    pub fn mix_rows(&mut self, slots: &[Slot], gates: Slot) -> Slot {
        let mut inputs = slots.to_vec();
        inputs.push(gates);
        self.like(MixRows, &inputs, &[])
    }

    /// Each row divided by its Euclidean norm; zeros stay zeros.
    pub fn unit_rows(&mut self, x: Slot) -> Slot {
        self.like(UnitRows, &[x], &[])
    }

    /// Layer normalisation (Ba, Kiros and Hinton 2016, Eq. 4): each row less its mean, divided by its deviation, times a
    /// learnt gain `{name}.gain`, plus `{name}.bias`.
    pub fn layer_norm(&mut self, x: Slot, name: &str) -> Slot {
        let axis = self.axis(x);
        let gain = self.parameter(format!("{name}.gain"), Axis::exact(1), axis, Initial::Constant(1.0));
        let z = self.like(LayerNorm, &[x], &[gain]);
        self.bias(z, format!("{name}.bias"))
    }

    /// Batch normalisation (Ioffe and Szegedy 2015, Algorithms 1 and 2): each column less its mean over all rows, divided by its
    /// deviation, times a learnt gain `{name}.gain`, plus `{name}.bias`. Without training `{name}.mean` and `{name}.variance`
    /// replace the moments, so that a row does not depend on others: the moments of the population, measured before a score, or
    /// the running ones of the steps so far (`{name}.steps`), of which the last one counts a tenth once there are more than ten.
    /// On the CPU alone.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn batch_norm(&mut self, x: Slot, name: &str, without_training: Statistics) -> Result<Slot, Stopped> {
        let (axis, one) = (self.axis(x), Axis::exact(1));
        let gain = self.parameter(format!("{name}.gain"), one, axis, Initial::Constant(1.0));
        let statistics = [("mean", axis, 0.0), ("variance", axis, 1.0), ("steps", one, 0.0)];
        let [mean, variance, steps] = statistics.map(|(part, columns, value)| {
            let block = self.parameter(format!("{name}.{part}"), one, columns, Initial::Constant(value));
            self.layout.set_statistic(block.0);
            block
        });
        if without_training == Statistics::Population {
            for block in [mean, variance] {
                self.layout.set_measured(block.0);
            }
        }
        let room = self.zeros(BatchNorm::room(self.space(x).rows(), axis.stride()))?;
        let z = self.like(BatchNorm::new(room, axis.stride()), &[x], &[gain, mean, variance, steps]);
        Ok(self.bias(z, format!("{name}.bias")))
    }

    /// The sum, mean or largest of the rows of each graph of a union: graph `g` has the nodes
    /// `offsets[g]..offsets[g + 1]`. Zeros for a graph without nodes.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn pool(&mut self, x: Slot, offsets: Arc<[u32]>, pool: Pool) -> Result<Slot, Stopped> {
        let axis = self.axis(x);
        let n_graphs = offsets.len().saturating_sub(1);
        self.reservation.grow(4 * n_graphs * axis.stride())?;
        let layer = PoolRows::new(offsets, pool, axis.stride());
        Ok(self.push(layer, &[x], &[], Space::Rows(n_graphs), axis))
    }

    /// Names the representation that [`crate::network::Model::embedding`] gives: the input of the last layer.
    pub fn embedding(&mut self, x: Slot) {
        self.embedding = Some(x);
    }

    /// Names the slot whose rows are points of a space, as [`crate::spaces::Space`] lays them out: the embedding, and in link
    /// prediction the outputs.
    pub fn points(&mut self, x: Slot, space: crate::spaces::Space) {
        debug_assert_eq!(self.axis(x).len(), space.columns());
        self.embedding = Some(x);
        self.points = Some(space);
    }

    /// Says that training reads the classes of known nodes, each where a mask keeps element (node, 0).
    pub(super) fn gives(&mut self, mask: Option<Mask>) {
        (self.label_mask, self.reads_labels) = (mask, true);
    }

    /// Fuses what can be fused, and reserves the buffers. The program's outputs are those of `output`.
    ///
    /// # Errors
    /// If the host refuses the memory.
    pub fn finish(mut self, output: Slot) -> Result<Program, Stopped> {
        self.fuse(output);
        let mut uses = vec![0usize; self.layout.blocks().len()];
        let (mut scratch, mut bias) = (Scratch::default(), 0);
        for node in &self.nodes {
            node.parameters.iter().chain(&node.tail.bias).for_each(|parameter| uses[parameter.0] += 1);
            let shapes = Shapes {
                inputs: &node.inputs,
                parameters: &node.parameters,
                output: node.output,
                layout: &self.layout,
                shapes: &self.shapes,
                features: &self.features,
            };
            let wanted = node.layer.scratch(&shapes);
            scratch.partials = scratch.partials.max(wanted.partials);
            scratch.transposed = scratch.transposed.max(wanted.transposed);
            if node.tail.bias.is_some() {
                bias = bias.max(shapes.blocks() * shapes.output().axis.stride());
            }
        }
        let shared = self.layout.blocks().iter().zip(&uses).filter(|(_, uses)| **uses > 1);
        let shared = shared.map(|(block, _)| block.range().len()).max().unwrap_or(0);
        let partials = self.zeros(scratch.partials.max(bias))?;
        let (transposed, shared) = (self.zeros(scratch.transposed)?, self.zeros(shared)?);
        let (mut values, mut gradients) = (vec![Vec::new(); self.shapes.len()], Vec::new());
        gradients.resize_with(self.shapes.len(), RefCell::default);
        let (on_host, in_place) = (!self.inputs.device, self.in_place(output));
        let mut lengths = vec![(0, 0); self.shapes.len()];
        for node in self.nodes.iter().filter(|_| on_host) {
            let shape = &self.shapes[node.output.0];
            let len = shape.space.len() * shape.axis.stride();
            let has_gradient = (shape.gradient || node.output == output) && !in_place[node.output.0];
            lengths[node.output.0] = (len, if has_gradient { len } else { 0 });
        }
        let readers = self.readers(output);
        let mut sole_tails = vec![None; self.shapes.len()];
        for node in self.nodes.iter().filter(|node| !node.tail.is_linear() && readers[node.output.0] == 1) {
            sole_tails[node.output.0] = Some(node.tail);
        }
        for (slot, constant) in self.constants {
            values[slot.0] = constant;
        }
        if on_host && lengths[output.0].1 == 0 {
            lengths[output.0].1 = values[output.0].len();
        }
        let lens = lengths.iter().flat_map(|&(values, gradient)| [values, gradient]);
        self.reservation.grow(lens.fold(0, usize::saturating_add).saturating_mul(size_of::<f32>()))?;
        Ok(Program {
            written: vec![Cell::new(false); self.shapes.len()],
            sole_tails,
            gated: vec![Cell::new(false); self.shapes.len()],
            touched: vec![false; self.layout.blocks().len()],
            partials,
            transposed,
            shared,
            layout: self.layout,
            shapes: self.shapes,
            nodes: self.nodes,
            features: self.features,
            values,
            gradients,
            lengths,
            in_place: (0..in_place.len()).map(Slot).filter(|slot| in_place[slot.0]).collect(),
            output,
            embedding: self.embedding,
            points: self.points,
            label_input: self.label_mask.map(|mask| LabelInput { known: Arc::clone(&self.inputs.known_labels), mask }),
            seed: self.inputs.seed,
            masks: self.masks,
            side_by_side: None,
            of_all: Vec::new(),
        })
    }

    /// Whether the values of each slot are read no more in the backward pass: then the gradient takes their place, and a pass
    /// goes over half as much memory.
    fn in_place(&self, output: Slot) -> Vec<bool> {
        let mut in_place = vec![false; self.shapes.len()];
        for node in &self.nodes {
            in_place[node.output.0] = node.tail.is_linear() && !node.layer.rereads_output();
        }
        let reread = self.nodes.iter().filter(|node| node.layer.rereads_inputs()).flat_map(|node| &node.inputs);
        reread.chain(&self.embedding).for_each(|slot| in_place[slot.0] = false);
        in_place[output.0] = false;
        self.shapes.iter().zip(&mut in_place).for_each(|(shape, in_place)| *in_place &= shape.gradient);
        in_place
    }

    /// The number of layers that read each slot; the outputs are read once more.
    fn readers(&self, output: Slot) -> Vec<usize> {
        let mut readers = vec![0usize; self.shapes.len()];
        self.nodes.iter().flat_map(|node| &node.inputs).for_each(|slot| readers[slot.0] += 1);
        readers[output.0] += 1;
        readers
    }

    /// Moves a bias, an activation or a dropout into the layer whose output it alone reads.
    fn fuse(&mut self, output: Slot) {
        let mut readers = self.readers(output);
        if let Some(embedding) = self.embedding {
            readers[embedding.0] += 1;
        }
        let mut kept: Vec<Node> = Vec::with_capacity(self.nodes.len());
        for node in self.nodes.drain(..) {
            let before = match &node.inputs[..] {
                [x] if node.layer.is_elementwise() && readers[x.0] == 1 => {
                    kept.iter_mut().find(|before| before.output == *x && before.layer.finishes())
                }
                _ => None,
            };
            match before.and_then(|before| before.tail.then(node.tail).map(|tail| (before, tail))) {
                Some((before, tail)) => (before.tail, before.output) = (tail, node.output),
                None => kept.push(node),
            }
        }
        self.nodes = kept;
    }
}
