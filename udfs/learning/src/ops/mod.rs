//! The operations that definitions of layers need and candle lacks, with their gradients, a file each: what happens along
//! the entries of a sparse matrix, dropout with the masks of [`crate::ground::random`], activations, losses.
//!
//! They are written for clarity and for `f32` and `f64`; the fused passes of layers do not use them. A result depends on no
//! number of threads: each number is computed by one of them, and sums run in the order of their terms.

mod activate;
mod add_row;
#[cfg(feature = "cuda")]
mod cuda;
mod dropout;
mod edge_dots;
mod edge_dropout;
mod edge_ends;
mod edge_softmax;
mod edge_sum;
#[cfg(test)]
mod host;
mod inverse;
pub mod kernel;
mod nll;
mod pattern;
mod segment_max;
#[cfg(test)]
mod tests;
mod update;

use candle_core::{CpuStorage, DType, Layout, Result, Shape, Tensor, WithDType, bail};
use rayon::prelude::*;

pub use activate::{Curve, activate};
pub use add_row::add_row;
pub use dropout::dropout;
pub use inverse::inverse;
pub use nll::Labelled;
pub use pattern::Pattern;
pub(crate) use update::Update;

/// The rows that one task computes.
const ROWS: usize = 256;

/// Evaluates an expression for the type of some storage, `f32` or `f64`.
macro_rules! for_type {
    ($storage:expr, $name:literal, $real:ident => $body:expr) => {{
        use candle_core::backend::BackendStorage as _;
        match $storage.dtype() {
            candle_core::DType::F32 => {
                type $real = f32;
                $body
            }
            candle_core::DType::F64 => {
                type $real = f64;
                $body
            }
            other => candle_core::bail!("{} takes f32 or f64, not {other:?}", $name),
        }
    }};
}
use for_type;

/// Runs an operation of one, two or three tensors on a GPU, inside its implementation.
macro_rules! on_gpu {
    (1) => {
        #[cfg(feature = "cuda")]
        fn cuda_fwd(&self, x: &candle_core::CudaStorage, x_at: &Layout) -> Result<(candle_core::CudaStorage, Shape)> {
            super::cuda::run(self, &[(x, x_at)])
        }
    };
    (2) => {
        #[cfg(feature = "cuda")]
        fn cuda_fwd(
            &self,
            x: &candle_core::CudaStorage,
            x_at: &Layout,
            y: &candle_core::CudaStorage,
            y_at: &Layout,
        ) -> Result<(candle_core::CudaStorage, Shape)> {
            super::cuda::run(self, &[(x, x_at), (y, y_at)])
        }
    };
    (3) => {
        #[cfg(feature = "cuda")]
        fn cuda_fwd(
            &self,
            x: &candle_core::CudaStorage,
            x_at: &Layout,
            y: &candle_core::CudaStorage,
            y_at: &Layout,
            z: &candle_core::CudaStorage,
            z_at: &Layout,
        ) -> Result<(candle_core::CudaStorage, Shape)> {
            super::cuda::run(self, &[(x, x_at), (y, y_at), (z, z_at)])
        }
    };
}
use on_gpu;

/// The values of an argument: operations are applied to contiguous tensors.
fn values<'a, T: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [T]> {
    match layout.contiguous_offsets() {
        Some((from, to)) => Ok(&T::cpu_storage_as_slice(storage)?[from..to]),
        None => bail!("the operation takes contiguous tensors"),
    }
}

/// The result of an operation: values of a shape.
fn result<T: WithDType>(values: Vec<T>, shape: impl Into<Shape>) -> Result<(CpuStorage, Shape)> {
    Ok((T::to_cpu_storage_owned(values), shape.into()))
}

/// Zeros of a shape.
fn zeros<T: WithDType>(len: usize) -> Vec<T> {
    vec![T::zero(); len]
}

/// Calls `body(row, its values)` for every row of a matrix.
fn for_each_row<T: Send>(out: &mut [T], width: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    if width == 0 {
        return;
    }
    out.par_chunks_mut(ROWS * width).enumerate().for_each(|(block, chunk)| {
        for (row, out) in chunk.chunks_exact_mut(width).enumerate() {
            body(block * ROWS + row, out);
        }
    });
}

/// Calls `body(row, quantities of its entries)` for every row of a sparse matrix, `width` quantities an entry.
fn for_each_segment<T: Send>(offsets: &[u32], out: &mut [T], width: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    let (n, mut rest, mut blocks) = (offsets.len() - 1, out, Vec::new());
    for first in (0..n).step_by(ROWS) {
        let len = (offsets[n.min(first + ROWS)] - offsets[first]) as usize * width;
        let (block, after) = std::mem::take(&mut rest).split_at_mut(len);
        blocks.push((first, block));
        rest = after;
    }
    blocks.into_par_iter().for_each(|(first, mut block)| {
        for row in first..n.min(first + ROWS) {
            let len = (offsets[row + 1] - offsets[row]) as usize * width;
            let (segment, after) = std::mem::take(&mut block).split_at_mut(len);
            body(row, segment);
            block = after;
        }
    });
}

/// Refuses a matrix of another shape.
fn expect_shape(what: &str, tensor: &Tensor, rows: usize, columns: Option<usize>) -> Result<usize> {
    let (found_rows, found) = tensor.dims2()?;
    match columns {
        Some(columns) if (found_rows, found) != (rows, columns) => {
            bail!("{what} must be {rows} x {columns}, not {found_rows} x {found}")
        }
        None if found_rows != rows => bail!("{what} must have {rows} rows, not {found_rows}"),
        _ => Ok(found),
    }
}

/// A constant as a tensor of a type on a device.
pub(crate) fn constant(
    values: &[f32],
    shape: impl Into<Shape>,
    dtype: DType,
    device: &candle_core::Device,
) -> Result<Tensor> {
    let shape = shape.into();
    if values.is_empty() && !device.is_cpu() && shape.rank() == 2 {
        // A device has no memory of no bytes.
        let (rows, columns) = shape.dims2()?;
        let room = Tensor::zeros((rows.max(1), columns.max(1)), dtype, device)?;
        return room.narrow(0, 0, rows)?.narrow(1, 0, columns);
    }
    Tensor::from_slice(values, shape, device)?.to_dtype(dtype)
}
