//! A program on a device: its slots as buffers, and its passes as launches.
//!
//! Each layer writes itself down with [`super::Layer::lower_forward`] and [`super::Layer::lower_backward`], once for every
//! scope. What is fixed for a run (slots, operators, features) is held once, whatever the number of scopes.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Features, Mask, Node, Parameter, Prepared, Program, Slot, Space};
use crate::device::{Arg, Buffer, Device, DeviceError, Launch, Memory, THREADS, WARPS, args};
use crate::features::{self, SparseRows};
use crate::kernels::RowSet;
use crate::kernels::elementwise::Activation;
use crate::models::{Axis, Operator, Pass, Scope, dropout};

/// Rows of a matrix on a device.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    list: Option<Buffer>,
    len: usize,
}

impl Rows {
    /// Their number.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The entries of a row that a warp takes; rows of more get a block. Few in tests, whose graphs are small.
const HEAVY: usize = if cfg!(test) { 3 } else { 256 };

/// A sparse matrix on a device.
#[derive(Debug, Clone, Copy)]
pub struct Entries {
    /// Where the entries of each row start.
    pub offsets: Buffer,
    /// Their columns.
    pub columns: Buffer,
    /// Their values, or none.
    pub values: Option<Buffer>,
    /// Their numbers in the matrix that this is the transpose of, or none where they count from 0.
    pub edges: Option<Buffer>,
    /// The rows of more than [`HEAVY`] entries, and their number.
    heavy: Option<(Buffer, usize)>,
}

/// Features on a device.
#[derive(Debug, Clone, Copy)]
pub enum Matrix {
    /// In compressed rows.
    Sparse(Entries),
    /// Dense, so many columns.
    Dense(Buffer, usize),
}

/// The gradient of an input or of parameters, to be written or added to.
#[derive(Debug, Clone, Copy)]
pub struct Sink {
    /// Where.
    pub buffer: Buffer,
    /// Whether something else has written it: then add.
    pub add: bool,
}

/// What follows the sums of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Tailing {
    bias: Option<Buffer>,
    activation: Activation,
    mask: Option<Buffer>,
}

impl Tailing {
    /// Nothing.
    pub const NOTHING: Self = Self { bias: None, activation: Activation::Identity, mask: None };
}

/// The code of an activation in the kernels, and its slope below 0.
pub(crate) fn code(activation: Activation) -> (u32, f32) {
    match activation {
        Activation::Identity => (0, 0.0),
        Activation::Relu => (1, 0.0),
        Activation::Elu => (2, 0.0),
        Activation::Leaky(slope) => (3, slope),
        Activation::Tanh => (4, 0.0),
        Activation::Sigmoid => (5, 0.0),
    }
}

/// A sum along the entries of rows: see `spmm` in the kernels.
#[derive(Debug, Clone, Copy)]
pub struct Gather {
    /// The entries.
    pub entries: Entries,
    /// Their weights, `heads` an entry, in the order of their numbers; 1 without.
    pub weights: Option<Buffer>,
    /// The number of weights an entry; they share the columns evenly.
    pub heads: usize,
    /// A mask of elements (row, column), or (column, row) if the flag is set.
    pub mask: Option<(Buffer, bool)>,
    /// What is gathered, and its stored columns.
    pub x: (Buffer, usize),
    /// How many of them, from the first.
    pub width: usize,
    /// The factor of the sums.
    pub scale: f32,
    /// A matrix that is added, its stored columns and its factor.
    pub base: Option<(Buffer, usize, f32)>,
    /// Whether the output is added to.
    pub add: bool,
    /// What follows.
    pub tail: Tailing,
    /// The output, and its stored columns.
    pub out: (Buffer, usize),
}

impl Gather {
    /// `out = entries * x`, both of `width` stored columns, with the entries' own values.
    pub fn plain(entries: Entries, x: Buffer, width: usize, out: Buffer) -> Self {
        Self {
            entries,
            weights: entries.values,
            heads: 1,
            mask: None,
            x: (x, width),
            width,
            scale: 1.0,
            base: None,
            add: false,
            tail: Tailing::NOTHING,
            out: (out, width),
        }
    }
}

/// What a run holds beside its slots.
#[derive(Debug, Default)]
struct Held {
    operators: Vec<(Arc<Operator>, Entries)>,
    transposed: Vec<(Arc<SparseRows>, Entries)>,
    features: HashMap<usize, Matrix>,
    rows: Vec<(Arc<RowSet>, Rows)>,
    own: HashMap<(usize, usize), Buffer>,
    scratch: HashMap<usize, (Buffer, usize)>,
    masks: Vec<Mask>,
}

/// A program's buffers on a device.
#[derive(Debug)]
pub(crate) struct OnDevice<'d> {
    /// All of them.
    pub memory: Memory<'d>,
    /// The parameters and their gradient: those of the program, then others.
    pub parameters: Buffer,
    pub gradient: Buffer,
    values: Vec<Buffer>,
    gradients: Vec<Option<Buffer>>,
    masks: Buffer,
    held: Held,
}

/// Which pass is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Evaluate,
    Train,
}

impl<'d> OnDevice<'d> {
    /// Room for a program and `stored` parameters in all.
    pub fn new(program: &Program, stored: usize, device: &'d dyn Device) -> Result<Self, DeviceError> {
        let mut memory = Memory::new(device);
        let (parameters, gradient) = (memory.room::<f32>(stored)?, memory.zeros(stored)?);
        let masks = memory.room::<u32>(4 * 2 * program.masks)?;
        let (mut values, mut gradients) = (Vec::new(), Vec::new());
        let written = |slot: usize| program.nodes.iter().any(|node| node.output.0 == slot);
        let read = |slot: usize| program.nodes.iter().any(|node| node.inputs.iter().any(|input| input.0 == slot));
        for (slot, shape) in program.shapes.iter().enumerate() {
            let len = shape.space.len() * shape.axis.stride();
            let output = slot == program.output.0;
            match (written(slot), &program.values[slot]) {
                (false, constant) if !constant.is_empty() => values.push(memory.hold(constant)?),
                // A slot whose tail was fused into the layer before is nobody's.
                (false, _) if !read(slot) && !output => values.push(memory.room::<f32>(0)?),
                _ => values.push(memory.zeros(len)?),
            }
            let needed = output || (shape.gradient && written(slot));
            gradients.push(if needed { Some(memory.zeros(len)?) } else { None });
        }
        Ok(Self { memory, parameters, gradient, values, gradients, masks, held: Held::default() })
    }

    /// The outputs of the program.
    pub fn output(&self, program: &Program) -> Buffer {
        self.values[program.output.0]
    }

    /// Where the gradient of the outputs goes before the backward pass.
    pub fn output_gradient(&self, program: &Program) -> Option<Buffer> {
        self.gradients[program.output.0]
    }

    /// The embedding, with its columns and its number of rows.
    pub fn embedding(&self, program: &Program) -> Option<(Buffer, Axis, usize)> {
        let slot = program.embedding?;
        Some((self.values[slot.0], program.shapes[slot.0].axis, program.shapes[slot.0].space.len()))
    }

    /// Writes the masks of an epoch.
    pub fn write_masks(&self, program: &Program, epoch: u32) -> Result<(), DeviceError> {
        let record = |mask: &Mask| {
            let pass = Pass::Train { epoch };
            dropout(mask.p, program.seed, pass, mask.number, mask.site)
                .map_or([0, 0, 0, 1f32.to_bits()], |d| d.record())
        };
        let words: Vec<u32> = self.held.masks.iter().flat_map(record).collect();
        self.memory.write(self.masks, &words)
    }

    /// The launches of a forward pass.
    pub fn forward(&mut self, program: &Program, scope: &Scope, way: Way) -> Result<Vec<Launch>, DeviceError> {
        let mut lower = Lower::new(self, program, scope, way);
        for (number, node) in program.nodes.iter().enumerate() {
            lower.node = number;
            if lower.rows().is_empty() {
                continue;
            }
            node.layer.lower_forward(&mut lower)?;
            if node.tail.activation == Activation::Sigmoid {
                let (rows, out, axis) = (lower.rows(), lower.output(), lower.axis());
                let (stored, real) = axis.group();
                lower.by_element("clear_padding", rows, axis.stride(), args![axis.stride(), stored, real, out]);
            }
        }
        lower.done()
    }

    /// The launches of a backward pass after the forward pass of the same scope: from the gradient of the outputs, on the
    /// rows of the targets, to that of all parameters of the program.
    pub fn backward(&mut self, program: &Program, scope: &Scope) -> Result<Vec<Launch>, DeviceError> {
        let stored = program.layout.stored();
        let mut lower = Lower::new(self, program, scope, Way::Train);
        let gradient = lower.device.gradient;
        lower.fill(gradient, stored);
        lower.written[program.output.0] = true;
        for (number, node) in program.nodes.iter().enumerate().rev() {
            lower.node = number;
            if !program.shapes[node.output.0].gradient || !lower.written[node.output.0] || lower.rows().is_empty() {
                continue;
            }
            let (rows, width, tail) = (lower.rows(), lower.width(), node.tail);
            if !tail.is_linear() {
                let (activation, slope) = code(tail.activation);
                let (output, mask, d_out) = (lower.output(), lower.mask(tail.dropout), lower.d_out());
                let list = args![width, output, activation, slope, mask, d_out];
                lower.by_element("gate_rows", rows, width, list);
            }
            if let Some(bias) = tail.bias {
                let (d_out, sink) = (lower.d_out(), lower.block_gradient(bias));
                lower.column_sums(rows, d_out, width, sink)?;
            }
            node.layer.lower_backward(&mut lower)?;
        }
        lower.done()
    }
}

/// A layer's view of its program on a device, and the launches so far. Slots and parameters are known by their place in the
/// lists given to [`super::Builder::push`].
#[derive(Debug)]
pub struct Lower<'a, 'd> {
    device: &'a mut OnDevice<'d>,
    program: &'a Program,
    scope: &'a Scope,
    way: Way,
    node: usize,
    written: Vec<bool>,
    touched: Vec<bool>,
    launches: Vec<Launch>,
    /// What went wrong where nothing could be returned.
    failed: Option<DeviceError>,
}

impl<'a, 'd> Lower<'a, 'd> {
    fn new(device: &'a mut OnDevice<'d>, program: &'a Program, scope: &'a Scope, way: Way) -> Self {
        Self {
            written: vec![false; program.shapes.len()],
            touched: vec![false; program.layout.blocks().len()],
            device,
            program,
            scope,
            way,
            node: 0,
            launches: Vec::new(),
            failed: None,
        }
    }

    fn done(self) -> Result<Vec<Launch>, DeviceError> {
        self.failed.map_or(Ok(self.launches), Err)
    }

    fn this(&self) -> &'a Node {
        &self.program.nodes[self.node]
    }

    fn slot(&self, input: usize) -> Slot {
        self.this().inputs[input]
    }

    /// The number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.this().inputs.len()
    }

    /// The values of an input.
    pub fn input(&self, input: usize) -> Buffer {
        self.device.values[self.slot(input).0]
    }

    /// The columns of an input.
    pub fn input_axis(&self, input: usize) -> Axis {
        self.program.shapes[self.slot(input).0].axis
    }

    /// The values of the output.
    pub fn output(&self) -> Buffer {
        self.device.values[self.this().output.0]
    }

    /// The columns of the output.
    pub fn axis(&self) -> Axis {
        self.program.shapes[self.this().output.0].axis
    }

    /// The stored columns of the output.
    pub fn width(&self) -> usize {
        self.axis().stride()
    }

    /// The gradient of the output, on its rows: that of the sums before the tail. In the backward pass of a slot that has
    /// one.
    pub fn d_out(&self) -> Buffer {
        self.device.gradients[self.this().output.0].unwrap_or_else(|| self.output())
    }

    /// The rows of the output that are computed.
    pub fn rows(&mut self) -> Rows {
        self.rows_of(self.this().output)
    }

    /// The rows of an input that are computed.
    pub fn input_rows(&mut self, input: usize) -> Rows {
        self.rows_of(self.slot(input))
    }

    fn rows_of(&mut self, slot: Slot) -> Rows {
        let set = &self.scope.rows[slot.0];
        if set.is_all() {
            return Rows { list: None, len: set.len() };
        }
        if let Some((_, rows)) = self.device.held.rows.iter().find(|(known, _)| Arc::ptr_eq(known, set)) {
            return *rows;
        }
        match self.device.memory.hold(set.rows()) {
            Ok(list) => {
                let rows = Rows { list: Some(list), len: set.len() };
                self.device.held.rows.push((Arc::clone(set), rows));
                rows
            }
            Err(error) => {
                self.failed.get_or_insert(error);
                Rows { list: None, len: 0 }
            }
        }
    }

    /// The number of rows of the output, computed or not.
    pub fn all_rows(&self) -> usize {
        self.program.shapes[self.this().output.0].space.len()
    }

    /// All rows of a matrix.
    pub fn all(&self, len: usize) -> Rows {
        Rows { list: None, len }
    }

    /// The values of a parameter.
    pub fn parameter(&self, parameter: usize) -> Buffer {
        self.block(self.this().parameters[parameter])
    }

    fn block(&self, parameter: Parameter) -> Buffer {
        self.device.parameters.after::<f32>(self.program.layout.blocks()[parameter.0].range().start)
    }

    /// The length of a parameter.
    pub fn parameter_len(&self, parameter: usize) -> usize {
        self.program.layout.blocks()[self.this().parameters[parameter].0].range().len()
    }

    /// Where the gradient of a parameter goes.
    pub fn parameter_gradient(&mut self, parameter: usize) -> Sink {
        self.block_gradient(self.this().parameters[parameter])
    }

    fn block_gradient(&mut self, parameter: Parameter) -> Sink {
        let start = self.program.layout.blocks()[parameter.0].range().start;
        let add = std::mem::replace(&mut self.touched[parameter.0], true);
        Sink { buffer: self.device.gradient.after::<f32>(start), add }
    }

    /// The gradient of an input, for a layer that writes or adds to the rows of the *output*; none where no parameter stands
    /// behind it.
    ///
    /// # Errors
    /// For a slot of edges of which the output lacks some.
    pub fn gradient(&mut self, input: usize) -> Result<Option<Sink>, DeviceError> {
        let Some(mut sink) = self.gradient_everywhere(input) else { return Ok(None) };
        let slot = self.slot(input);
        if !sink.add && !Arc::ptr_eq(&self.scope.rows[slot.0], &self.scope.rows[self.this().output.0]) {
            let shape = &self.program.shapes[slot.0];
            if matches!(shape.space, Space::Edges(_)) {
                return Err(DeviceError::Unsupported("pruned edges"));
            }
            let (rows, width) = (self.input_rows(input), shape.axis.stride());
            self.by_element("clear_rows", rows, width, args![width, sink.buffer]);
            sink.add = true;
        }
        Ok(Some(sink))
    }

    /// The gradient of an input, for a layer that writes or adds to all rows of the *input*.
    pub fn gradient_everywhere(&mut self, input: usize) -> Option<Sink> {
        let slot = self.slot(input);
        if !self.program.shapes[slot.0].gradient {
            return None;
        }
        let buffer = self.device.gradients[slot.0]?;
        let add = std::mem::replace(&mut self.written[slot.0], true);
        Some(Sink { buffer, add })
    }

    /// The mask of this pass.
    pub fn mask(&mut self, mask: Option<Mask>) -> Option<Buffer> {
        let mask = mask.filter(|_| self.way == Way::Train)?;
        let masks = &mut self.device.held.masks;
        let at = masks.iter().position(|known| *known == mask).unwrap_or_else(|| {
            masks.push(mask);
            masks.len() - 1
        });
        Some(self.device.masks.after::<u32>(4 * at))
    }

    /// What is applied to each row of sums.
    pub fn finish(&mut self) -> Tailing {
        let tail = self.this().tail;
        Tailing {
            bias: tail.bias.map(|bias| self.block(bias)),
            activation: tail.activation,
            mask: self.mask(tail.dropout),
        }
    }

    /// Room of `len` numbers that other layers use too, for what is read before the layer's last launch.
    ///
    /// # Errors
    /// If the device has none.
    pub fn scratch(&mut self, number: usize, len: usize) -> Result<Buffer, DeviceError> {
        match self.device.held.scratch.get(&number) {
            Some(&(buffer, held)) if held >= len => Ok(buffer),
            _ => {
                let buffer = self.device.memory.room::<f32>(len)?;
                self.device.held.scratch.insert(number, (buffer, len));
                Ok(buffer)
            }
        }
    }

    /// Room of the layer's own of `len` numbers, the same in both passes and all scopes.
    ///
    /// # Errors
    /// If the device has none.
    pub fn own(&mut self, number: usize, len: usize) -> Result<Buffer, DeviceError> {
        self.own_filled(number, |memory| memory.room::<f32>(len))
    }

    /// What the layer alone holds: made when it is first asked for.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn own_filled(
        &mut self,
        number: usize,
        make: impl FnOnce(&mut Memory<'d>) -> Result<Buffer, DeviceError>,
    ) -> Result<Buffer, DeviceError> {
        let key = (self.node, number);
        if let Some(buffer) = self.device.held.own.get(&key) {
            return Ok(*buffer);
        }
        let buffer = make(&mut self.device.memory)?;
        self.device.held.own.insert(key, buffer);
        Ok(buffer)
    }

    /// An operator.
    ///
    /// # Errors
    /// If the device has no room for it, or it has 2^32 entries.
    pub fn operator(&mut self, operator: &Arc<Operator>) -> Result<Entries, DeviceError> {
        if let Some((_, entries)) = self.device.held.operators.iter().find(|(known, _)| Arc::ptr_eq(known, operator)) {
            return Ok(*entries);
        }
        let csr = operator.csr();
        let mut entries = hold(&mut self.device.memory, csr.offsets, csr.columns, csr.values)?;
        let edges = operator.outgoing().edges;
        if !edges.is_empty() {
            entries.edges = Some(self.device.memory.hold(edges)?);
        }
        self.device.held.operators.push((Arc::clone(operator), entries));
        Ok(entries)
    }

    /// The operator by source that this scope's backward pass takes; none where nothing needs it.
    ///
    /// # Errors
    /// If the device has no room for it.
    pub fn transposed(&mut self) -> Result<Option<Entries>, DeviceError> {
        match &self.scope.prepared[self.node] {
            Prepared::Transposed(operator) => self.operator(operator).map(Some),
            _ => Ok(None),
        }
    }

    /// A matrix of features, and its mask.
    ///
    /// # Errors
    /// If the device has no room for it.
    pub fn features(&mut self, features: Features) -> Result<(Matrix, Option<Buffer>), DeviceError> {
        let mask = self.mask(features.dropout);
        if let Some(matrix) = self.device.held.features.get(&features.number) {
            return Ok((*matrix, mask));
        }
        let input = &self.program.features[features.number];
        let memory = &mut self.device.memory;
        let matrix = match input.features() {
            features::Features::Sparse(rows) => {
                let csr = rows.csr();
                Matrix::Sparse(hold(memory, csr.offsets, csr.columns, csr.values)?)
            }
            features::Features::Dense { columns, values } => Matrix::Dense(memory.hold(values)?, *columns),
            features::Features::None => return Err(DeviceError::Unsupported("no features")),
        };
        self.device.held.features.insert(features.number, matrix);
        Ok((matrix, mask))
    }

    /// The sparse features of this scope by column, with the number of columns.
    ///
    /// # Errors
    /// If the device has no room for them.
    pub fn transposed_features(&mut self) -> Result<Option<(Entries, usize)>, DeviceError> {
        let Prepared::Features(features) = &self.scope.prepared[self.node] else { return Ok(None) };
        let columns = features.n_rows();
        if let Some((_, entries)) = self.device.held.transposed.iter().find(|(known, _)| Arc::ptr_eq(known, features)) {
            return Ok(Some((*entries, columns)));
        }
        let csr = features.csr();
        let entries = hold(&mut self.device.memory, csr.offsets, csr.columns, csr.values)?;
        self.device.held.transposed.push((Arc::clone(features), entries));
        Ok(Some((entries, columns)))
    }

    /// A kernel that gives each row a warp: `args` follow the rows.
    pub fn by_warp(&mut self, kernel: &'static str, rows: Rows, args: Vec<Arg>) {
        self.over(kernel, rows, rows.len.div_ceil(WARPS), args);
    }

    /// A kernel that gives each of `width` elements of each row a thread: `args` follow the rows.
    pub fn by_element(&mut self, kernel: &'static str, rows: Rows, width: usize, args: Vec<Arg>) {
        self.over(kernel, rows, (rows.len * width).div_ceil(THREADS), args);
    }

    fn over(&mut self, kernel: &'static str, rows: Rows, blocks: usize, args: Vec<Arg>) {
        let mut all = args![rows.list, rows.len];
        all.extend(args);
        self.launch(kernel, blocks, all);
    }

    /// A kernel of so many blocks; nothing without blocks.
    pub fn launch(&mut self, kernel: &'static str, blocks: usize, args: Vec<Arg>) {
        match u32::try_from(blocks) {
            Ok(0) => {}
            Ok(blocks) if blocks <= i32::MAX as u32 => self.launches.push(Launch { kernel, blocks, args }),
            _ => {
                let error = DeviceError::Failed(format!("{kernel} takes {blocks} blocks, more than a GPU has"));
                self.failed.get_or_insert(error);
            }
        }
    }

    /// Zeros in `len` numbers.
    pub fn fill(&mut self, out: Buffer, len: usize) {
        self.launch("fill", len.div_ceil(THREADS), vec![out.into(), Arg::Long(len as u64), Arg::Real(0.0)]);
    }

    /// A sum along entries, on some rows.
    pub fn gather(&mut self, rows: Rows, gather: Gather) {
        let Gather { entries, weights, heads, mask, x, width, scale, base, add, tail, out } = gather;
        let (activation, slope) = code(tail.activation);
        let (base, base_stride, factor) =
            base.map_or((None, 0, 0.0), |(base, stride, factor)| (Some(base), stride, factor));
        let common = args![
            entries.offsets,
            entries.columns,
            entries.edges,
            weights,
            heads,
            width / heads,
            mask.map(|mask| mask.0),
            mask.is_some_and(|mask| mask.1),
            x.0,
            x.1,
            width,
            scale,
            base,
            base_stride,
            factor,
            add,
            tail.bias,
            activation,
            slope,
            tail.mask,
            out.0,
            out.1,
        ];
        let mut args = args![HEAVY];
        args.extend(common.iter().copied());
        self.by_warp("spmm", rows, args);
        if let Some((heavy, len)) = entries.heavy {
            let mut args = args![heavy];
            args.extend(common);
            self.over("spmm_heavy", rows, len, args);
        }
    }

    /// `out = tail(a w)`, or added, on some rows: `a` has `k` columns, `w` is `k x n`, or the transpose of an `n x k` matrix.
    #[expect(clippy::too_many_arguments, reason = "the operands of a matrix product with their sizes")]
    pub fn product(
        &mut self,
        rows: Rows,
        (a, k): (Buffer, usize),
        mask: Option<Buffer>,
        (w, n): (Buffer, usize),
        transposed: bool,
        tail: Tailing,
        sink: Sink,
    ) {
        const TILE: (usize, usize) = (128, 64);
        let (activation, slope) = code(tail.activation);
        let args = args![a, k, mask, w, n, transposed, sink.add, tail.bias, activation, slope, tail.mask, sink.buffer];
        self.over("gemm", rows, rows.len.div_ceil(TILE.0) * n.div_ceil(TILE.1), args);
    }

    /// `sink = sum over some rows of a[r]' g[r]`.
    ///
    /// # Errors
    /// If the device has no room for partial sums.
    pub fn outer(
        &mut self,
        rows: Rows,
        (a, k): (Buffer, usize),
        mask: Option<Buffer>,
        (g, n): (Buffer, usize),
        sink: Sink,
    ) -> Result<(), DeviceError> {
        const TILE: usize = 64;
        /// Partial sums of one product, in numbers.
        const ROOM: usize = 1 << 24;
        let most = (ROOM / (k * n).max(1)).clamp(1, 256);
        let (per_chunk, chunks) = chunks(rows.len, 256, most);
        let partials = self.scratch(PARTIALS, chunks * k * n)?;
        let blocks = chunks * k.div_ceil(TILE) * n.div_ceil(TILE);
        self.over("gemm_tn", rows, blocks, args![per_chunk, a, k, mask, g, n, partials]);
        self.sum_partials(partials, chunks, k * n, sink);
        Ok(())
    }

    /// `sink = sum over some rows of x[r]`, `width` columns.
    ///
    /// # Errors
    /// If the device has no room for partial sums.
    pub fn column_sums(&mut self, rows: Rows, x: Buffer, width: usize, sink: Sink) -> Result<(), DeviceError> {
        let (per_chunk, chunks) = chunks(rows.len, 64, 512);
        let partials = self.scratch(PARTIALS, chunks * width)?;
        self.over("column_sums", rows, chunks * width.div_ceil(32), args![per_chunk, x, width, partials]);
        self.sum_partials(partials, chunks, width, sink);
        Ok(())
    }

    /// `sink = sum over some rows of <x[r], y[r]>`, one number.
    ///
    /// # Errors
    /// If the device has no room for partial sums.
    pub fn scalar_product(
        &mut self,
        rows: Rows,
        (x, y): (Buffer, Buffer),
        width: usize,
        sink: Sink,
    ) -> Result<(), DeviceError> {
        let (per_chunk, chunks) = chunks(rows.len, 64, 512);
        let partials = self.scratch(PARTIALS, chunks)?;
        self.over("dot_partials", rows, chunks, args![per_chunk, x, y, width, partials]);
        self.sum_partials(partials, chunks, 1, sink);
        Ok(())
    }

    fn sum_partials(&mut self, partials: Buffer, chunks: usize, len: usize, sink: Sink) {
        self.launch("sum_partials", len.div_ceil(THREADS), args![partials, chunks, len, sink.add, sink.buffer]);
    }

    /// `sink = tail(coefficient[0] * factor * x)`, or added, on some rows.
    pub fn add_scaled(
        &mut self,
        rows: Rows,
        x: Buffer,
        (coefficient, factor): (Option<Buffer>, f32),
        width: usize,
        tail: Tailing,
        sink: Sink,
    ) {
        let (activation, slope) = code(tail.activation);
        let args = args![width, x, coefficient, factor, sink.add, tail.bias, activation, slope, tail.mask, sink.buffer];
        self.by_element("add_rows", rows, width, args);
    }

    /// Passes the gradient of the output on to an input, times a factor.
    ///
    /// # Errors
    /// As [`Lower::gradient`].
    pub fn pass_on(&mut self, input: usize, factor: (Option<Buffer>, f32)) -> Result<(), DeviceError> {
        let Some(sink) = self.gradient(input)? else { return Ok(()) };
        let (rows, d_out, width) = (self.rows(), self.d_out(), self.width());
        self.add_scaled(rows, d_out, factor, width, Tailing::NOTHING, sink);
        Ok(())
    }
}

/// The scratch of partial sums; layers use other numbers.
const PARTIALS: usize = usize::MAX;

/// Rows a chunk and the number of chunks: they depend on the number of rows alone.
fn chunks(rows: usize, least: usize, most: usize) -> (usize, usize) {
    let per_chunk = rows.div_ceil(most).max(least);
    (per_chunk, rows.div_ceil(per_chunk).max(1))
}

fn hold(memory: &mut Memory<'_>, offsets: &[usize], columns: &[u32], values: &[f32]) -> Result<Entries, DeviceError> {
    let lengths = offsets.windows(2).enumerate();
    let heavy: Vec<u32> = lengths.filter(|(_, row)| row[1] - row[0] > HEAVY).map(|(row, _)| row as u32).collect();
    let too_many = |_| DeviceError::Failed(format!("{} entries: a GPU takes fewer than 2^32", columns.len()));
    let offsets: Vec<u32> = offsets.iter().map(|&at| u32::try_from(at)).collect::<Result<_, _>>().map_err(too_many)?;
    Ok(Entries {
        offsets: memory.hold(&offsets)?,
        columns: memory.hold(columns)?,
        values: if values.is_empty() { None } else { Some(memory.hold(values)?) },
        edges: None,
        heavy: if heavy.is_empty() { None } else { Some((memory.hold(&heavy)?, heavy.len())) },
    })
}

impl Program {
    /// What the program has and a device has no kernels for.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        self.nodes.iter().find_map(|node| node.layer.lacks())
    }

    /// The stored parameters.
    pub(crate) fn stored(&self) -> usize {
        self.layout.stored()
    }

    /// The stored numbers of the outputs.
    pub(crate) fn output_len(&self) -> usize {
        let shape = &self.shapes[self.output.0];
        shape.space.len() * shape.axis.stride()
    }

    /// Whether a row of outputs is one padded group, as losses read it.
    pub(crate) fn is_output_padded_alike(&self) -> bool {
        let axis = self.shapes[self.output.0].axis;
        axis.stride() == crate::kernels::padded(axis.len())
    }
}
