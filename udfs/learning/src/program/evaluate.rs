//! A program as its definition says: layer by layer on tensors of candle, on any device, with candle's gradients.
//!
//! Tensors hold the real columns alone and all rows. What stays the same from pass to pass (operators, features, constants)
//! is laid out on the device once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bonnet_graph::{Monitor, Stopped};
use candle_core::{DType, Device, Result, Tensor, bail};

use super::{Mask, Program};
use crate::features;
use crate::network::{Axis, Operator, Pass, dropout};
use crate::ops::{self, Pattern};
use crate::random::Dropout;

/// A layer's view of the program where it is evaluated on tensors.
pub struct Tensors<'a> {
    /// The inputs: rows x real columns.
    pub inputs: &'a [Tensor],
    /// The parameters: real rows x real columns.
    pub parameters: &'a [Tensor],
    axes: &'a [Axis],
    axis: Axis,
    pass: Pass,
    evaluation: &'a Evaluation,
}

impl fmt::Debug for Tensors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensors").field("inputs", &self.inputs).field("pass", &self.pass).finish_non_exhaustive()
    }
}

/// A sparse matrix on a device: the places of its entries, and their values unless a layer computes them.
#[derive(Debug, Clone)]
pub struct Sparse {
    /// The places.
    pub pattern: Arc<Pattern>,
    values: Option<Tensor>,
}

impl Sparse {
    /// An operator on a device, with values of a type. O(rows + entries).
    ///
    /// # Errors
    /// If the device fails, or has no room.
    pub fn new(operator: &Operator, dtype: DType, device: &Device) -> Result<Self> {
        let (matrix, n) = (operator.csr(), operator.n_columns());
        Self::of(matrix.offsets, matrix.columns, matrix.values, n, dtype, device)
    }

    fn of(
        offsets: &[usize],
        columns: &[u32],
        values: &[f32],
        n_columns: usize,
        dtype: DType,
        device: &Device,
    ) -> Result<Self> {
        let pattern = Pattern::new(offsets, columns, n_columns, device)?;
        let values = match values {
            [] if !columns.is_empty() => None,
            values => Some(ops::constant(values, (values.len(), 1), dtype, device)?),
        };
        Ok(Self { pattern, values })
    }

    /// The values of the entries, a column; none unless the operator has some.
    pub fn values(&self) -> Option<&Tensor> {
        self.values.as_ref()
    }

    /// The product with a matrix.
    ///
    /// # Errors
    /// If the matrix has no values, or shapes, types or devices do not fit.
    pub fn product(&self, x: &Tensor) -> Result<Tensor> {
        match &self.values {
            Some(values) => self.pattern.sum(values, x),
            None => bail!("a matrix without values multiplies nothing"),
        }
    }

    /// The same with a mask on the entries.
    fn masked_product(&self, x: &Tensor, mask: Option<Dropout>) -> Result<Tensor> {
        match &self.values {
            Some(values) => self.pattern.sum(&self.pattern.dropout(values, mask)?, x),
            None => bail!("a matrix without values multiplies nothing"),
        }
    }
}

impl Tensors<'_> {
    /// The columns of the output.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The columns of an input.
    pub fn input_axis(&self, input: usize) -> Axis {
        self.axes[input]
    }

    /// The type of the tensors: `f32` or `f64`.
    pub fn dtype(&self) -> DType {
        self.evaluation.dtype
    }

    /// Where they are.
    pub fn device(&self) -> &Device {
        &self.evaluation.device
    }

    /// The mask of this pass.
    pub fn mask(&self, mask: Option<Mask>) -> Option<Dropout> {
        mask.and_then(|mask| dropout(mask.p, self.evaluation.program.seed, self.pass, mask.number, mask.site))
    }

    /// An operator on the device.
    ///
    /// # Errors
    /// If the device has no room for it.
    pub fn operator(&self, operator: &Arc<Operator>) -> Result<Sparse> {
        self.evaluation.sparse(Arc::as_ptr(operator) as usize, |device| Sparse::new(operator, self.dtype(), device))
    }

    /// Segments of rows as a pattern: segment `s` holds the rows `offsets[s]..offsets[s + 1]`. The list is one that lives as
    /// long as the layer.
    ///
    /// # Errors
    /// If the device has no room for it.
    pub fn segments(&self, offsets: &[u32]) -> Result<Arc<Pattern>> {
        let sparse = self.evaluation.sparse(offsets.as_ptr() as usize, |device| {
            let starts: Vec<usize> = offsets.iter().map(|&offset| offset as usize).collect();
            let rows: Vec<u32> = (0..offsets.last().copied().unwrap_or(0)).collect();
            Sparse::of(&starts, &rows, &[], rows.len(), self.dtype(), device)
        })?;
        Ok(sparse.pattern)
    }

    /// Numbers that stay the same, `rows` x `columns`. They live as long as the layer.
    ///
    /// # Errors
    /// If the device has no room for them.
    pub fn constant(&self, values: &[f32], rows: usize, columns: usize) -> Result<Tensor> {
        self.evaluation.constant(values.as_ptr() as usize, || Ok(values.into()), (rows, columns))
    }

    /// Numbers of this pass, `rows` x `columns`.
    ///
    /// # Errors
    /// If the device has no room for them.
    pub fn of_pass(&self, values: &[f32], rows: usize, columns: usize) -> Result<Tensor> {
        ops::constant(values, (rows, columns), self.dtype(), self.device())
    }

    /// `dropout(X) W` for a matrix of features.
    ///
    /// # Errors
    /// If the device has no room for them, or the weights do not fit.
    pub(crate) fn feature_product(&self, features: super::Features, weights: &Tensor) -> Result<Tensor> {
        let input = self.evaluation.program.features[features.number].features();
        let (mask, at) = (self.mask(features.dropout), std::ptr::from_ref(input) as usize);
        match input {
            features::Features::Sparse(rows) => {
                let matrix = rows.csr();
                let sparse = self.evaluation.sparse(at, |device| {
                    let columns = rows.n_columns();
                    Sparse::of(matrix.offsets, matrix.columns, matrix.values, columns, self.dtype(), device)
                })?;
                sparse.masked_product(weights, mask)
            }
            features::Features::Dense { columns, values } => {
                let x = self.constant(values, values.len() / columns, *columns)?;
                ops::dropout(&x, mask, Axis::exact(*columns))?.matmul(weights)
            }
            features::Features::None => bail!("a program without features reads some"),
        }
    }
}

/// What stays on the device from pass to pass, by where it stands on the host.
#[derive(Default)]
struct Resident {
    sparse: HashMap<usize, Sparse>,
    constants: HashMap<(usize, usize, usize), Tensor>,
}

/// A program whose passes are tensors on a device.
pub struct Evaluation {
    program: Program,
    device: Device,
    dtype: DType,
    resident: RefCell<Resident>,
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation")
            .field("program", &self.program)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

/// What a pass gave.
#[derive(Debug, Clone)]
pub struct Values {
    /// The outputs: rows x real columns.
    pub output: Tensor,
    /// The input of the last layer, unless that is the features.
    pub embedding: Option<Tensor>,
    /// What layers add to the loss of training, a matrix of one element; none where no layer does.
    pub penalty: Option<Tensor>,
}

/// Why a pass ended without values.
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
        Self { program, device, dtype, resident: RefCell::default() }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Where the passes run.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The parameters as tensors of their real shapes, from the flat vector of the layout.
    ///
    /// # Errors
    /// If the device has no room for them.
    pub fn parameters(&self, flat: &[f32]) -> Result<Vec<Tensor>> {
        let one = |block: &crate::network::Block| {
            let values: Vec<f32> = block.positions().map(|at| flat[at]).collect();
            ops::constant(&values, (block.rows.len(), block.columns.len()), self.dtype, &self.device)
        };
        self.program.layout.blocks().iter().map(one).collect()
    }

    /// The outputs of all rows. Where a parameter is a variable, the results can be differentiated by it.
    ///
    /// # Errors
    /// If the device fails or has no room, or the host wants no answer any more: asked before each layer.
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
            let tensors =
                Tensors { inputs: &inputs, parameters: &own, axes: &axes, axis: shape.axis, pass, evaluation: self };
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
        self.constant(stored.as_ptr() as usize, real, (shape.space.len(), shape.axis.len()))
    }

    fn sparse(&self, at: usize, lay_out: impl FnOnce(&Device) -> Result<Sparse>) -> Result<Sparse> {
        if let Some(sparse) = self.resident.borrow().sparse.get(&at) {
            return Ok(sparse.clone());
        }
        let sparse = lay_out(&self.device)?;
        self.resident.borrow_mut().sparse.insert(at, sparse.clone());
        Ok(sparse)
    }

    fn constant<'v>(
        &self,
        at: usize,
        values: impl FnOnce() -> Result<std::borrow::Cow<'v, [f32]>>,
        shape: (usize, usize),
    ) -> Result<Tensor> {
        // Lists without a number stand nowhere: their shapes tell them apart.
        let key = (at, shape.0, shape.1);
        if let Some(constant) = self.resident.borrow().constants.get(&key) {
            return Ok(constant.clone());
        }
        let constant = ops::constant(&values()?, shape, self.dtype, &self.device)?;
        self.resident.borrow_mut().constants.insert(key, constant.clone());
        Ok(constant)
    }
}
