//! The trait of layers, and a layer's view of its program in a pass.

use std::cell::{Cell, RefCell, RefMut};
use std::fmt::Debug;
use std::sync::Arc;

use bonnet_graph::{Monitor, Stopped};
use candle_core::Tensor;

use super::side_by_side::{DrawnMasks, SideBySide, eights_of};
use super::{InputFeatures, Mask, Node, Parameter, Prepare, Prepared, Slot, SlotShape, Space, Tensors};
use crate::ground::random::Dropout;
use crate::ground::{Axis, Layout};
use crate::kernels::elementwise::{Activation, Finish, Gate, Masks};
use crate::kernels::{RowSet, Strip};
use crate::network::{BatchMoments, Input, Pass, dropout};

/// A step of a program: a function of slots and parameters with its gradient.
///
/// Inputs and parameters are known by their position in the lists given to [`super::Builder::push`].
pub trait Layer: Send + Debug {
    /// The definition of the layer: its output, all rows, as tensors of the inputs and parameters, differentiable in both.
    /// Bias, activation and dropout follow it and are no part of it. A GPU runs it; on the CPU [`Layer::forward`] and
    /// [`Layer::backward`] equal it, as the tests show.
    ///
    /// # Errors
    /// If the device of the tensors fails or has no memory.
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor>;

    /// The term that the layer adds to the loss in a pass of training, a matrix of one element.
    ///
    /// # Errors
    /// The errors of [`Layer::candle`].
    fn candle_penalty(&self, _tensors: &Tensors<'_>) -> candle_core::Result<Option<Tensor>> {
        Ok(None)
    }

    /// Marks in `needed` the rows of an input that some rows of the output depend on: by default the same rows.
    fn reach(&self, _input: usize, rows: &RowSet, needed: &mut [bool]) {
        rows.rows().iter().for_each(|&row| needed[row as usize] = true);
    }

    /// The index structures that the backward pass of a scope takes.
    fn prepare(&self, _prepare: &mut Prepare<'_, '_>) -> Result<Prepared, Stopped> {
        Ok(Prepared::None)
    }

    /// The memory of a backward pass.
    fn scratch(&self, _shapes: &Shapes<'_>) -> Scratch {
        Scratch::default()
    }

    /// Room that a pass makes as large as it needs, and that may hold anything before: the layer of another program takes it over.
    fn room(&mut self) -> Option<&mut Vec<f32>> {
        None
    }

    /// Whether [`Layer::forward`] applies [`Forward::finish`] to each row: then bias, activation and dropout that follow
    /// are fused into it.
    fn finishes(&self) -> bool {
        false
    }

    /// Whether the layer is nothing but its tail.
    fn is_elementwise(&self) -> bool {
        false
    }

    /// Whether [`Layer::backward`] reads the values of the inputs.
    fn rereads_inputs(&self) -> bool {
        true
    }

    /// Whether [`Layer::backward`] reads the values of the output.
    fn rereads_output(&self) -> bool {
        true
    }

    /// Whether the passes take several runs side by side ([`Forward::runs`]): then a slot has as many times its columns.
    fn takes_runs(&self) -> bool {
        false
    }

    /// Whether the passes of several runs read the parameters next to each other.
    fn reads_side_by_side(&self, _features: &[Input]) -> bool {
        false
    }

    /// Makes room for so many runs: `grow(room, length)`.
    ///
    /// # Errors
    /// If the host refuses the memory.
    fn set_runs(&mut self, _runs: usize, _grow: &mut Grow<'_>) -> Result<(), Stopped> {
        Ok(())
    }

    /// Computes the rows [`Forward::rows`] of the output.
    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped>;

    /// The term that the layer adds to the loss in the last forward pass of training; its gradient it adds by itself.
    fn penalty(&self) -> f64 {
        0.0
    }

    /// The moments of the rows of the last forward pass, if the layer normalises by them.
    fn moments(&self) -> Option<BatchMoments<'_>> {
        None
    }

    /// From the gradient of the output, on its rows, to that of the inputs and the parameters. The gradient is that of the
    /// sums before the tail.
    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped>;
}

/// Gives a buffer a length, and reserves what it grows.
pub type Grow<'a> = dyn FnMut(&mut Vec<f32>, usize) -> Result<(), Stopped> + 'a;

/// Room that layers share, in numbers of `f32`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scratch {
    /// For partial sums by block of rows.
    pub partials: usize,
    /// For transposed weights.
    pub transposed: usize,
}

/// The shapes of a layer, for [`Layer::scratch`].
#[derive(Debug)]
pub struct Shapes<'a> {
    pub(super) inputs: &'a [Slot],
    pub(super) parameters: &'a [Parameter],
    pub(super) output: Slot,
    pub(super) layout: &'a Layout,
    pub(super) shapes: &'a [SlotShape],
    pub(super) features: &'a [Input],
}

impl Shapes<'_> {
    /// The shape of an input.
    pub fn input(&self, input: usize) -> &SlotShape {
        &self.shapes[self.inputs[input].0]
    }

    /// The shape of the output.
    pub fn output(&self) -> &SlotShape {
        &self.shapes[self.output.0]
    }

    /// The number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The blocks of the output's rows.
    pub fn blocks(&self) -> usize {
        let n = self.output().space.rows();
        n.div_ceil(crate::kernels::rows::block_rows(n))
    }

    /// The stored length of a parameter.
    pub fn parameter(&self, parameter: usize) -> usize {
        self.layout.blocks()[self.parameters[parameter].0].range().len()
    }

    /// A matrix of features.
    pub(crate) fn features(&self, features: InputFeatures) -> &Input {
        &self.features[features.number]
    }
}

/// The steps after a layer's sums: a bias, an activation, dropout, in this order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// Added first.
    pub bias: Option<Parameter>,
    /// Applied next.
    pub activation: Activation,
    /// Applied last.
    pub dropout: Option<Mask>,
}

impl Tail {
    /// Nothing.
    pub const NOTHING: Self = Self { bias: None, activation: Activation::Identity, dropout: None };

    /// Whether the gradient of the sums is that of the output.
    pub(super) fn is_linear(&self) -> bool {
        self.activation == Activation::Identity && self.dropout.is_none()
    }

    /// Two tails one after the other, if that is a tail.
    pub(super) fn then(self, next: Self) -> Option<Self> {
        let bias_last = next.bias.is_none() || (self.bias.is_none() && self.is_linear());
        let activation_last = next.activation == Activation::Identity || self.is_linear();
        let dropout_last = next.dropout.is_none() || self.dropout.is_none();
        (bias_last && activation_last && dropout_last).then(|| Self {
            bias: self.bias.or(next.bias),
            activation: if next.activation == Activation::Identity { self.activation } else { next.activation },
            dropout: self.dropout.or(next.dropout),
        })
    }
}

/// What the views of all layers in a pass have in common.
#[derive(Clone, Copy)]
pub(super) struct Common<'a> {
    pub parameters: &'a [f32],
    pub layout: &'a Layout,
    pub shapes: &'a [SlotShape],
    pub rows: &'a [Arc<RowSet>],
    /// The rows of the outputs that the pass is for.
    pub targets: &'a RowSet,
    pub features: &'a [Input],
    pub pass: Pass,
    pub seed: u64,
    /// The runs side by side with their masks, if there are several.
    pub side_by_side: Option<(&'a SideBySide, &'a DrawnMasks<'a>)>,
    pub monitor: &'a dyn Monitor,
}

/// A layer's view of a forward pass.
#[derive(Clone, Copy)]
pub struct Forward<'a> {
    inputs: &'a [Slot],
    parameters: &'a [Parameter],
    output: Slot,
    tail: Tail,
    prepared: &'a Prepared,
    values: &'a [Vec<f32>],
    common: Common<'a>,
    /// The host.
    pub monitor: &'a dyn Monitor,
}

impl Node {
    /// The layer, and its view of a pass.
    pub(super) fn view<'a>(
        &'a mut self,
        prepared: &'a Prepared,
        values: &'a [Vec<f32>],
        common: Common<'a>,
    ) -> (&'a mut dyn Layer, Forward<'a>) {
        let Self { layer, inputs, parameters, output, tail } = self;
        let (output, tail, monitor) = (*output, *tail, common.monitor);
        (&mut **layer, Forward { inputs, parameters, output, tail, prepared, values, common, monitor })
    }
}

impl Debug for Forward<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Forward").field("inputs", &self.inputs).field("pass", &self.common.pass).finish_non_exhaustive()
    }
}

impl<'a> Forward<'a> {
    /// Which pass it is.
    pub fn pass(&self) -> Pass {
        self.common.pass
    }

    /// The rows of the output that are computed.
    pub fn rows(&self) -> &'a RowSet {
        &self.common.rows[self.output.0]
    }

    /// The rows of the program's outputs that the pass is for; where nothing is pruned others are computed beside them.
    pub fn targets(&self) -> &'a RowSet {
        self.common.targets
    }

    /// The number of runs whose columns stand side by side in every slot; 1 but for layers that take several.
    pub fn runs(&self) -> usize {
        self.common.side_by_side.map_or(1, |(runs, _)| runs.len())
    }

    /// The columns of each run.
    pub(crate) fn strips(&self) -> impl Iterator<Item = Strip> + use<> {
        let of = self.runs();
        (0..of).map(move |run| Strip { run, of })
    }

    /// The stored columns of the output, of all runs.
    pub fn width(&self) -> usize {
        self.runs() * self.axis().stride()
    }

    /// The columns of the output, of one run.
    pub fn axis(&self) -> Axis {
        self.common.shapes[self.output.0].axis
    }

    /// The values of an input: meaningful on [`Forward::input_rows`].
    pub fn input(&self, input: usize) -> &'a [f32] {
        &self.values[self.inputs[input].0]
    }

    /// The columns of an input, of one run.
    pub fn input_axis(&self, input: usize) -> Axis {
        self.common.shapes[self.inputs[input].0].axis
    }

    /// The rows of an input that are computed.
    pub fn input_rows(&self, input: usize) -> &'a RowSet {
        &self.common.rows[self.inputs[input].0]
    }

    /// The number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The output of this pass: in the backward pass.
    pub fn output(&self) -> &'a [f32] {
        &self.values[self.output.0]
    }

    /// The values of a parameter.
    pub fn parameter(&self, parameter: usize) -> &'a [f32] {
        self.block(self.parameters[parameter])
    }

    /// The values of a parameter of one of the runs.
    pub(crate) fn parameter_of(&self, run: usize, parameter: usize) -> &'a [f32] {
        self.block_of(run, self.parameters[parameter])
    }

    /// The values of a parameter of all runs: in each row the columns of the first run, then those of the second, and so on. For
    /// a layer that [reads them so](Layer::reads_side_by_side).
    pub(crate) fn parameter_of_all(&self, parameter: usize) -> &'a [f32] {
        self.block_of_all(self.parameters[parameter])
    }

    /// The number of parameters.
    pub fn n_parameters(&self) -> usize {
        self.parameters.len()
    }

    /// The rows and columns of a parameter.
    pub fn parameter_axes(&self, parameter: usize) -> (Axis, Axis) {
        let block = &self.common.layout.blocks()[self.parameters[parameter].0];
        (block.rows, block.columns)
    }

    /// Whether parameters stand behind an input.
    pub fn needs_gradient(&self, input: usize) -> bool {
        self.common.shapes[self.inputs[input].0].gradient
    }

    fn block(&self, parameter: Parameter) -> &'a [f32] {
        self.block_of(0, parameter)
    }

    fn block_of(&self, run: usize, parameter: Parameter) -> &'a [f32] {
        let Common { parameters, layout, .. } = self.common;
        &parameters[run * layout.stored()..][layout.blocks()[parameter.0].range()]
    }

    fn block_of_all(&self, parameter: Parameter) -> &'a [f32] {
        self.common.side_by_side.map_or_else(|| self.block(parameter), |(runs, _)| &runs.blocks[parameter.0])
    }

    /// The mask of this pass.
    pub fn mask(&self, mask: Option<Mask>) -> Option<Dropout> {
        mask.and_then(|mask| dropout(mask.p, self.common.seed, self.common.pass, mask.number, mask.site))
    }

    /// The masks of this pass, of all runs.
    pub(crate) fn masks(&self, mask: Option<Mask>) -> Masks<'a> {
        match (self.common.side_by_side, mask) {
            (Some((_, drawn)), Some(mask)) => drawn.of(mask),
            _ => Masks::One(self.mask(mask)),
        }
    }

    /// The mask of this pass, of one of the runs.
    pub(crate) fn mask_of(&self, run: usize, mask: Option<Mask>) -> Option<Dropout> {
        match self.masks(mask) {
            Masks::One(mask) => mask,
            Masks::Each(masks) => masks[run],
        }
    }

    /// The function that is applied to each row of sums, of all runs.
    pub fn finish(&self) -> Finish<'a> {
        Finish {
            bias: self.tail.bias.map(|bias| self.block_of_all(bias)),
            activation: self.tail.activation,
            dropout: self.masks(self.tail.dropout),
        }
    }

    /// The function that is applied to each row of sums of one of the runs.
    pub(crate) fn finish_of(&self, run: usize) -> Finish<'a> {
        Finish {
            bias: self.tail.bias.map(|bias| self.block_of(run, bias)),
            activation: self.tail.activation,
            dropout: self.mask_of(run, self.tail.dropout).into(),
        }
    }

    /// The index structures that [`Layer::prepare`] made for this scope.
    pub fn prepared(&self) -> &'a Prepared {
        self.prepared
    }

    /// A matrix of features.
    pub(crate) fn features(&self, features: InputFeatures) -> &'a Input {
        &self.common.features[features.number]
    }
}

/// A layer's view of a backward pass.
pub struct Backward<'a> {
    /// The forward pass that it undoes.
    pub forward: Forward<'a>,
    pub(super) gradients: &'a [RefCell<Vec<f32>>],
    pub(super) written: &'a [Cell<bool>],
    pub(super) sole_tails: &'a [Option<Tail>],
    pub(super) gated: &'a [Cell<bool>],
    pub(super) all: &'a mut [f32],
    pub(super) touched: &'a mut [bool],
    pub(super) partials: &'a mut [f32],
    pub(super) transposed: &'a mut [f32],
    pub(super) shared: &'a mut [f32],
    /// Room for the gradient of a block of all runs, next to each other.
    pub(super) of_all: &'a mut [f32],
}

impl Debug for Backward<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backward").field("forward", &self.forward).finish_non_exhaustive()
    }
}

/// The gradient of an input, to be written or added to.
pub struct Gradient<'a> {
    /// The values of the gradient.
    pub values: RefMut<'a, Vec<f32>>,
    /// Whether another layer has written it: then add.
    pub add: bool,
}

impl Debug for Gradient<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gradient").field("add", &self.add).finish_non_exhaustive()
    }
}

impl<'a> Backward<'a> {
    /// The gradient of an input, for a layer that writes or adds to the rows of the *output*; none where no parameter
    /// stands behind it.
    pub fn gradient(&self, input: usize) -> Option<Gradient<'a>> {
        let mut gradient = self.gradient_everywhere(input)?;
        let slot = self.forward.inputs[input];
        let (set, out) = (&self.forward.common.rows[slot.0], &self.forward.common.rows[self.forward.output.0]);
        if !gradient.add && !Arc::ptr_eq(set, out) {
            // The output has not all rows of the input: the others get nothing.
            clear(&self.forward.common.shapes[slot.0], self.forward.runs(), set, &mut gradient.values);
            gradient.add = true;
        }
        Some(gradient)
    }

    /// The gradient of an input, for a layer that writes or adds to all rows of the *input*.
    pub fn gradient_everywhere(&self, input: usize) -> Option<Gradient<'a>> {
        let slot = self.forward.inputs[input];
        let gradients: &'a [RefCell<Vec<f32>>] = self.gradients;
        self.forward.common.shapes[slot.0]
            .gradient
            .then(|| Gradient { values: gradients[slot.0].borrow_mut(), add: self.written[slot.0].replace(true) })
    }

    /// The activation and dropout of an input that this layer alone reads: a layer that calls this applies them to the
    /// gradient of the input itself, in the pass that writes it.
    pub(crate) fn gate(&self, input: usize) -> Option<Gate<'a>> {
        let slot = self.forward.inputs[input];
        // Several runs have no such pass.
        let tail = self.sole_tails[slot.0].filter(|_| self.forward.runs() == 1)?;
        self.gated[slot.0].set(true);
        let dropout = self.forward.masks(tail.dropout);
        Some(Gate { output: self.forward.input(input), activation: tail.activation, dropout })
    }

    /// Computes the gradient of a parameter: `compute(out, partials, transposed)` overwrites `out`.
    pub fn parameter_gradient(
        &mut self,
        parameter: usize,
        compute: impl FnOnce(&mut [f32], &mut [f32], &mut [f32]) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        self.parameter_gradient_of(0, parameter, compute)
    }

    /// [`Backward::parameter_gradient`] of one of the runs.
    pub(crate) fn parameter_gradient_of(
        &mut self,
        run: usize,
        parameter: usize,
        compute: impl FnOnce(&mut [f32], &mut [f32], &mut [f32]) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        self.parameter(run, self.forward.parameters[parameter], compute)
    }

    /// Computes the gradient of a parameter of all runs, laid out as [`Forward::parameter_of_all`]: `compute(out, partials)`
    /// overwrites `out`.
    pub(crate) fn parameter_gradient_of_all(
        &mut self,
        parameter: usize,
        compute: impl FnOnce(&mut [f32], &mut [f32]) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        self.parameter_of_all(self.forward.parameters[parameter], compute)
    }

    fn parameter(
        &mut self,
        run: usize,
        parameter: Parameter,
        compute: impl FnOnce(&mut [f32], &mut [f32], &mut [f32]) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let layout = self.forward.common.layout;
        let block = &mut self.all[run * layout.stored()..][layout.blocks()[parameter.0].range()];
        if !std::mem::replace(&mut self.touched[run * layout.blocks().len() + parameter.0], true) {
            return compute(block, self.partials, self.transposed);
        }
        let shared = &mut self.shared[..block.len()];
        compute(shared, self.partials, self.transposed)?;
        block.iter_mut().zip(shared).for_each(|(sum, part)| *sum += *part);
        Ok(())
    }

    pub(super) fn parameter_of_all(
        &mut self,
        parameter: Parameter,
        compute: impl FnOnce(&mut [f32], &mut [f32]) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        if self.forward.common.side_by_side.is_none() {
            return self.parameter(0, parameter, |out, partials, _| compute(out, partials));
        }
        let (runs, layout) = (self.forward.runs(), self.forward.common.layout);
        let (block, n_blocks) = (&layout.blocks()[parameter.0], layout.blocks().len());
        let room = &mut self.of_all[..runs * block.range().len()];
        compute(room, self.partials)?;
        let from = room.as_chunks::<8>().0;
        for (run, gradient) in self.all.chunks_exact_mut(layout.stored().max(1)).enumerate() {
            let add = std::mem::replace(&mut self.touched[run * n_blocks + parameter.0], true);
            let to = gradient[block.range()].as_chunks_mut::<8>().0;
            for (to, at) in to.iter_mut().zip(eights_of(block, run, runs)) {
                match add {
                    true => to.iter_mut().zip(&from[at]).for_each(|(to, from)| *to += from),
                    false => *to = from[at],
                }
            }
        }
        Ok(())
    }

    /// The memory for partial sums and for transposed weights, as [`Layer::scratch`] asked for it.
    pub fn scratch(&mut self) -> (&mut [f32], &mut [f32]) {
        (self.partials, self.transposed)
    }
}

/// Zeros in the rows of a set.
fn clear(shape: &SlotShape, runs: usize, set: &RowSet, values: &mut [f32]) {
    let stride = runs * shape.axis.stride();
    for &row in set.rows() {
        let range = match &shape.space {
            Space::Rows(_) => row as usize..row as usize + 1,
            Space::Edges(operator) => operator.offsets()[row as usize]..operator.offsets()[row as usize + 1],
        };
        values[range.start * stride..range.end * stride].fill(0.0);
    }
}
