//! A program as its definition says: layer by layer on tensors of candle, on any device, with candle's gradients.
//!
//! Tensors hold the real columns alone and all rows. What stays the same from pass to pass (operators, features, constants)
//! is laid out on the device once.

use std::fmt;

use bonnet_graph::{Monitor, Stopped};
use candle_core::{DType, Device, Result, Tensor};

use super::Program;
use super::tensors::{Resident, Tensors};
use crate::ground::{Axis, Block};
use crate::network::Pass;
use crate::ops;

/// A program whose passes are tensors on a device.
pub struct Evaluation {
    program: Program,
    resident: Resident,
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation")
            .field("program", &self.program)
            .field("device", &self.resident.device)
            .finish_non_exhaustive()
    }
}

/// The outputs of a pass.
#[derive(Debug, Clone)]
pub struct Values {
    /// The outputs: rows x real columns.
    pub output: Tensor,
    /// The input of the last layer, unless that is the features.
    pub embedding: Option<Tensor>,
    /// The terms that layers add to the loss of training, a matrix of one element; none where no layer does.
    pub penalty: Option<Tensor>,
}

/// The error that ended a pass.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// The host.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The tensors' library or the device.
    #[error(transparent)]
    Tensor(#[from] candle_core::Error),
}

impl Evaluation {
    /// Passes on a device, in `f32` or, on the CPU, in `f64`. Nothing is laid out before the first pass.
    pub fn new(program: Program, device: Device, dtype: DType) -> Self {
        Self { program, resident: Resident::new(device, dtype) }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Where the passes run.
    pub fn device(&self) -> &Device {
        &self.resident.device
    }

    /// The parameters as tensors of their real shapes, from the flat vector of the layout.
    ///
    /// # Errors
    /// If the device has no memory for them.
    pub fn parameters(&self, flat: &[f32]) -> Result<Vec<Tensor>> {
        let one = |block: &Block| {
            let values: Vec<f32> = block.positions().map(|at| flat[at]).collect();
            ops::constant(&values, (block.rows.len(), block.columns.len()), self.resident.dtype, &self.resident.device)
        };
        self.program.layout.blocks().iter().map(one).collect()
    }

    /// The outputs of all rows. Where a parameter is a variable, the results can be differentiated by it.
    ///
    /// # Errors
    /// If the device fails or has no memory, or the host wants no answer any more: asked before each layer.
    pub fn run(
        &self,
        parameters: &[Tensor],
        pass: Pass,
        monitor: &dyn Monitor,
    ) -> std::result::Result<Values, EvaluationError> {
        let program = &self.program;
        let mut values: Vec<Option<Tensor>> = vec![None; program.shapes.len()];
        let mut penalty: Option<Tensor> = None;
        let mut readers = vec![0usize; program.shapes.len()];
        program.nodes.iter().flat_map(|node| &node.inputs).for_each(|slot| readers[slot.0] += 1);
        [Some(program.output), program.embedding].into_iter().flatten().for_each(|slot| readers[slot.0] += 1);
        for node in &program.nodes {
            monitor.check()?;
            let inputs: Vec<Tensor> =
                node.inputs.iter().map(|slot| self.slot(slot.0, &values)).collect::<Result<_>>()?;
            let own: Vec<Tensor> = node.parameters.iter().map(|parameter| parameters[parameter.0].clone()).collect();
            let axes: Vec<Axis> = node.inputs.iter().map(|slot| program.shapes[slot.0].axis).collect();
            let shape = &program.shapes[node.output.0];
            let tensors = Tensors {
                inputs: &inputs,
                parameters: &own,
                axes: &axes,
                axis: shape.axis,
                pass,
                seed: program.seed,
                features: &program.features,
                resident: &self.resident,
            };
            let mut out = node.layer.candle(&tensors)?;
            let expected = (shape.space.len(), shape.axis.len());
            if out.dims2()? != expected {
                return Err(EvaluationError::Tensor(candle_core::Error::Msg(format!(
                    "{:?} gives {:?}, not {expected:?}",
                    node.layer,
                    out.dims()
                ))));
            }
            if let Some(bias) = node.tail.bias {
                out = ops::add_row(&out, &parameters[bias.0])?;
            }
            out = ops::activate(&out, node.tail.activation)?;
            out = ops::dropout(&out, tensors.mask(node.tail.dropout), shape.axis)?;
            if let (Pass::Train { .. }, Some(more)) = (pass, node.layer.candle_penalty(&tensors)?) {
                penalty = Some(match penalty {
                    None => more,
                    Some(sum) => (sum + more)?,
                });
            }
            values[node.output.0] = Some(out);
            for slot in &node.inputs {
                readers[slot.0] -= 1;
                if readers[slot.0] == 0 {
                    values[slot.0] = None;
                }
            }
        }
        let output = self.slot(program.output.0, &values)?;
        let embedding = program.embedding.map(|slot| self.slot(slot.0, &values)).transpose()?;
        Ok(Values { output, embedding, penalty })
    }

    /// The value of a slot: a layer's, or a constant.
    fn slot(&self, slot: usize, values: &[Option<Tensor>]) -> Result<Tensor> {
        if let Some(value) = &values[slot] {
            return Ok(value.clone());
        }
        let (shape, stored) = (&self.program.shapes[slot], &self.program.values[slot]);
        let real = || {
            let positions: Vec<usize> = shape.axis.positions().collect();
            let rows = stored.chunks_exact(shape.axis.stride().max(1));
            Ok(rows.flat_map(|row| positions.iter().map(|&at| row[at])).collect::<Vec<f32>>().into())
        };
        self.resident.constant(stored.as_ptr() as usize, real, (shape.space.len(), shape.axis.len()))
    }
}
