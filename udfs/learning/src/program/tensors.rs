//! A layer's view of a program on tensors of candle: its inputs and parameters, and what stays on the device.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use candle_core::{DType, Device, Result, Tensor, bail};

use super::slot::{InputFeatures, Mask};
use crate::data::Features;
use crate::ground::Axis;
use crate::ground::random::Dropout;
use crate::network::{Input, ListedOperator, Operator, Pass, dropout};
use crate::ops::{self, Pattern};

/// A layer's view of the program where it is evaluated on tensors.
pub struct Tensors<'a> {
    /// The inputs: rows x real columns.
    pub inputs: &'a [Tensor],
    /// The parameters: real rows x real columns.
    pub parameters: &'a [Tensor],
    pub(super) axes: &'a [Axis],
    pub(super) axis: Axis,
    pub(super) pass: Pass,
    pub(super) seed: u64,
    pub(super) features: &'a [Input],
    pub(super) resident: &'a Resident,
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
    /// If the device fails, or has no memory.
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

    /// The product with a mask on the entries.
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
        self.resident.dtype
    }

    /// Where they are.
    pub fn device(&self) -> &Device {
        &self.resident.device
    }

    /// The mask of this pass.
    pub fn mask(&self, mask: Option<Mask>) -> Option<Dropout> {
        mask.and_then(|mask| dropout(mask.p, self.seed, self.pass, mask.number, mask.site))
    }

    /// An operator on the device.
    ///
    /// # Errors
    /// If the device has no memory for it.
    pub fn operator(&self, operator: &Arc<Operator>) -> Result<Sparse> {
        self.resident.sparse(Arc::as_ptr(operator) as usize, |device| Sparse::new(operator, self.dtype(), device))
    }

    /// A listed operator on the device.
    ///
    /// # Errors
    /// If the device has no memory for it.
    pub fn listed(&self, operator: &Arc<ListedOperator>) -> Result<Sparse> {
        let whole = |device: &Device| Sparse::new(&operator.whole(), self.dtype(), device);
        self.resident.sparse(Arc::as_ptr(operator) as usize, whole)
    }

    /// Segments of rows as a pattern: segment `s` holds the rows `offsets[s]..offsets[s + 1]`. The list is one that lives as
    /// long as the layer.
    ///
    /// # Errors
    /// If the device has no memory for it.
    pub fn segments(&self, offsets: &[u32]) -> Result<Arc<Pattern>> {
        let sparse = self.resident.sparse(offsets.as_ptr() as usize, |device| {
            let starts: Vec<usize> = offsets.iter().map(|&offset| offset as usize).collect();
            let rows: Vec<u32> = (0..offsets.last().copied().unwrap_or(0)).collect();
            Sparse::of(&starts, &rows, &[], rows.len(), self.dtype(), device)
        })?;
        Ok(sparse.pattern)
    }

    /// Numbers that stay the same, `rows` x `columns`. They live as long as the layer.
    ///
    /// # Errors
    /// If the device has no memory for them.
    pub fn constant(&self, values: &[f32], rows: usize, columns: usize) -> Result<Tensor> {
        self.resident.constant(values.as_ptr() as usize, || Ok(values.into()), (rows, columns))
    }

    /// Numbers of this pass, `rows` x `columns`.
    ///
    /// # Errors
    /// If the device has no memory for them.
    pub fn of_pass(&self, values: &[f32], rows: usize, columns: usize) -> Result<Tensor> {
        ops::constant(values, (rows, columns), self.dtype(), self.device())
    }

    /// `dropout(X) W` for a matrix of features.
    ///
    /// # Errors
    /// If the device has no memory for them, or the weights do not fit.
    pub(crate) fn feature_product(&self, features: InputFeatures, weights: &Tensor) -> Result<Tensor> {
        let input = self.features[features.number].features();
        let (mask, at) = (self.mask(features.dropout), std::ptr::from_ref(input) as usize);
        match input {
            Features::Sparse(rows) => {
                let matrix = rows.csr();
                let sparse = self.resident.sparse(at, |device| {
                    let columns = rows.n_columns();
                    Sparse::of(matrix.offsets, matrix.columns, matrix.values, columns, self.dtype(), device)
                })?;
                sparse.masked_product(weights, mask)
            }
            Features::Dense { columns, values } => {
                let x = self.constant(values, values.len() / columns, *columns)?;
                ops::dropout(&x, mask, Axis::exact(*columns))?.matmul(weights)
            }
            Features::None => bail!("a program without features reads some"),
        }
    }
}

/// The tensors that stay on the device from pass to pass, by their addresses on the host.
pub(super) struct Resident {
    pub(super) device: Device,
    pub(super) dtype: DType,
    sparse: RefCell<HashMap<usize, Sparse>>,
    constants: RefCell<HashMap<(usize, usize, usize), Tensor>>,
}

impl Resident {
    /// Nothing yet.
    pub(super) fn new(device: Device, dtype: DType) -> Self {
        Self { device, dtype, sparse: RefCell::default(), constants: RefCell::default() }
    }

    fn sparse(&self, at: usize, lay_out: impl FnOnce(&Device) -> Result<Sparse>) -> Result<Sparse> {
        if let Some(sparse) = self.sparse.borrow().get(&at) {
            return Ok(sparse.clone());
        }
        let sparse = lay_out(&self.device)?;
        self.sparse.borrow_mut().insert(at, sparse.clone());
        Ok(sparse)
    }

    pub(super) fn constant<'v>(
        &self,
        at: usize,
        values: impl FnOnce() -> Result<Cow<'v, [f32]>>,
        shape: (usize, usize),
    ) -> Result<Tensor> {
        // Empty lists have no address: their shapes distinguish them.
        let key = (at, shape.0, shape.1);
        if let Some(constant) = self.constants.borrow().get(&key) {
            return Ok(constant.clone());
        }
        let constant = ops::constant(&values()?, shape, self.dtype, &self.device)?;
        self.constants.borrow_mut().insert(key, constant.clone());
        Ok(constant)
    }
}
