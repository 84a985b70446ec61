//! A program's buffers on a device, and its two passes as lists of launches.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::{Mask, Program};
use super::Lower;
use super::matrices::{DeviceFeatures, Entries, RowList, code};
use crate::device::{Buffer, Device, DeviceError, Launch, Memory, args};
use crate::features::SparseRows;
use crate::kernels::RowSet;
use crate::kernels::elementwise::Activation;
use crate::network::{Axis, Operator, Pass, Scope, dropout};

/// What a run holds beside its slots.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) operators: Vec<(Arc<Operator>, Entries)>,
    pub(super) transposed: Vec<(Arc<SparseRows>, Entries)>,
    pub(super) features: HashMap<usize, DeviceFeatures>,
    pub(super) rows: Vec<(Arc<RowSet>, RowList)>,
    pub(super) own: HashMap<(usize, usize), Buffer>,
    pub(super) scratch: HashMap<usize, (Buffer, usize)>,
    pub(super) masks: Vec<Mask>,
}

/// A program's buffers on a device.
#[derive(Debug)]
pub(crate) struct OnDevice<'d> {
    /// All of them.
    pub memory: Memory<'d>,
    /// The parameters and their gradient: those of the program, then others.
    pub parameters: Buffer,
    pub gradient: Buffer,
    pub(super) values: Vec<Buffer>,
    pub(super) gradients: Vec<Option<Buffer>>,
    pub(super) masks: Buffer,
    pub(super) cache: Cache,
}

/// Which pass is lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassKind {
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
                // A slot whose tail was fused into the layer before is unused.
                (false, _) if !read(slot) && !output => values.push(memory.room::<f32>(0)?),
                _ => values.push(memory.zeros(len)?),
            }
            let needed = output || (shape.gradient && written(slot));
            gradients.push(if needed { Some(memory.zeros(len)?) } else { None });
        }
        Ok(Self { memory, parameters, gradient, values, gradients, masks, cache: Cache::default() })
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
        let words: Vec<u32> = self.cache.masks.iter().flat_map(record).collect();
        self.memory.write(self.masks, &words)
    }

    /// The launches of a forward pass.
    pub fn forward(&mut self, program: &Program, scope: &Scope, way: PassKind) -> Result<Vec<Launch>, DeviceError> {
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
        let mut lower = Lower::new(self, program, scope, PassKind::Train);
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
