//! A program on a device: its slots as buffers, and its passes as launches.
//!
//! Each layer emits its launches with [`super::Layer::lower_forward`] and [`super::Layer::lower_backward`], once for every
//! scope. What is fixed for a run (slots, operators, features) is held once, whatever the number of scopes.

use std::sync::Arc;

use super::{Features, Mask, Node, Parameter, Prepared, Program, Slot, Space};
use crate::device::{Buffer, DeviceError, Launch, Memory, args};
use crate::features;
use crate::network::{Axis, Operator, Scope};

mod launches;
mod matrices;
mod on_device;

pub(crate) use matrices::code;
use matrices::hold;
pub use matrices::{DeviceFeatures, Entries, Gather, RowList, Sink, Tailing};
pub(crate) use on_device::{OnDevice, PassKind};

/// A layer's view of its program on a device, and the launches so far. Slots and parameters are known by their place in the
/// lists given to [`super::Builder::push`].
#[derive(Debug)]
pub struct Lower<'a, 'd> {
    device: &'a mut OnDevice<'d>,
    program: &'a Program,
    scope: &'a Scope,
    way: PassKind,
    node: usize,
    written: Vec<bool>,
    touched: Vec<bool>,
    launches: Vec<Launch>,
    /// What went wrong where nothing could be returned.
    failed: Option<DeviceError>,
}

impl<'a, 'd> Lower<'a, 'd> {
    fn new(device: &'a mut OnDevice<'d>, program: &'a Program, scope: &'a Scope, way: PassKind) -> Self {
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
    pub fn rows(&mut self) -> RowList {
        self.rows_of(self.this().output)
    }

    /// The rows of an input that are computed.
    pub fn input_rows(&mut self, input: usize) -> RowList {
        self.rows_of(self.slot(input))
    }

    fn rows_of(&mut self, slot: Slot) -> RowList {
        let set = &self.scope.rows[slot.0];
        if set.is_all() {
            return RowList { list: None, len: set.len() };
        }
        if let Some((_, rows)) = self.device.cache.rows.iter().find(|(known, _)| Arc::ptr_eq(known, set)) {
            return *rows;
        }
        match self.device.memory.hold(set.rows()) {
            Ok(list) => {
                let rows = RowList { list: Some(list), len: set.len() };
                self.device.cache.rows.push((Arc::clone(set), rows));
                rows
            }
            Err(error) => {
                self.failed.get_or_insert(error);
                RowList { list: None, len: 0 }
            }
        }
    }

    /// The number of rows of the output, computed or not.
    pub fn all_rows(&self) -> usize {
        self.program.shapes[self.this().output.0].space.len()
    }

    /// All rows of a matrix.
    pub fn all(&self, len: usize) -> RowList {
        RowList { list: None, len }
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
        let mask = mask.filter(|_| self.way == PassKind::Train)?;
        let masks = &mut self.device.cache.masks;
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
        match self.device.cache.scratch.get(&number) {
            Some(&(buffer, held)) if held >= len => Ok(buffer),
            _ => {
                let buffer = self.device.memory.room::<f32>(len)?;
                self.device.cache.scratch.insert(number, (buffer, len));
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

    /// A buffer of the layer alone, allocated on first use.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn own_filled(
        &mut self,
        number: usize,
        make: impl FnOnce(&mut Memory<'d>) -> Result<Buffer, DeviceError>,
    ) -> Result<Buffer, DeviceError> {
        let key = (self.node, number);
        if let Some(buffer) = self.device.cache.own.get(&key) {
            return Ok(*buffer);
        }
        let buffer = make(&mut self.device.memory)?;
        self.device.cache.own.insert(key, buffer);
        Ok(buffer)
    }

    /// An operator.
    ///
    /// # Errors
    /// If the device has no room for it, or it has 2^32 entries.
    pub fn operator(&mut self, operator: &Arc<Operator>) -> Result<Entries, DeviceError> {
        if let Some((_, entries)) = self.device.cache.operators.iter().find(|(known, _)| Arc::ptr_eq(known, operator)) {
            return Ok(*entries);
        }
        let csr = operator.csr();
        let mut entries = hold(&mut self.device.memory, csr.offsets, csr.columns, csr.values)?;
        let edges = operator.outgoing().edges;
        if !edges.is_empty() {
            entries.edges = Some(self.device.memory.hold(edges)?);
        }
        self.device.cache.operators.push((Arc::clone(operator), entries));
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
    pub fn features(&mut self, features: Features) -> Result<(DeviceFeatures, Option<Buffer>), DeviceError> {
        let mask = self.mask(features.dropout);
        if let Some(matrix) = self.device.cache.features.get(&features.number) {
            return Ok((*matrix, mask));
        }
        let input = &self.program.features[features.number];
        let memory = &mut self.device.memory;
        let matrix = match input.features() {
            features::Features::Sparse(rows) => {
                let csr = rows.csr();
                DeviceFeatures::Sparse(hold(memory, csr.offsets, csr.columns, csr.values)?)
            }
            features::Features::Dense { columns, values } => DeviceFeatures::Dense(memory.hold(values)?, *columns),
            features::Features::None => return Err(DeviceError::Unsupported("no features")),
        };
        self.device.cache.features.insert(features.number, matrix);
        Ok((matrix, mask))
    }

    /// The sparse features of this scope by column, with the number of columns.
    ///
    /// # Errors
    /// If the device has no room for them.
    pub fn transposed_features(&mut self) -> Result<Option<(Entries, usize)>, DeviceError> {
        let Prepared::Features(features) = &self.scope.prepared[self.node] else { return Ok(None) };
        let columns = features.n_rows();
        if let Some((_, entries)) = self.device.cache.transposed.iter().find(|(known, _)| Arc::ptr_eq(known, features))
        {
            return Ok(Some((*entries, columns)));
        }
        let csr = features.csr();
        let entries = hold(&mut self.device.memory, csr.offsets, csr.columns, csr.values)?;
        self.device.cache.transposed.push((Arc::clone(features), entries));
        Ok(Some((entries, columns)))
    }
}
