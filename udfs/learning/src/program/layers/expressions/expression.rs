//! Layers written as candle expressions of rows: the normal form of a new layer.
//!
//! An expression is evaluated by pieces of rows, each a task of the caller's pool. The backward pass evaluates a piece once
//! more, under candle's autograd, so that nothing but the slots is kept between the passes. Sums over rows are made piece
//! by piece, in order: the same bits for any number of threads.

use std::fmt::Debug;

use bonnet_graph::{Monitor, Reservation, Stopped};
use candle_core::{CpuStorage, DType, Device, Result, Storage, Tensor, Var, bail};
use rayon::prelude::*;

use super::row_kernel::{self, RowKernel};
use crate::ground::Axis;
use crate::network::pieces::{PIECE, Piece, WAVE, spans};
use crate::program::{Backward, Forward, Layer, Tensors};

/// A function of rows: of the inputs' rows with the same number, and of parameters.
pub trait Rowwise: Send + Sync + Debug {
    /// The rows of the output from the same rows of the inputs, rows x columns each, and the parameters, each in its exact
    /// shape.
    ///
    /// # Errors
    /// The errors of candle, which are errors of the expression.
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor>;

    /// The same function with its gradient written out, for the passes on the CPU: where a profile asks for it.
    fn kernel(&self) -> Option<&dyn RowKernel> {
        None
    }
}

/// The numbers that an expression computes with; slots and parameters are `f32` in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// `f32`.
    Single,
    /// `f64`: for spaces of negative curvature, whose points crowd at a rim.
    #[default]
    Double,
}

impl Precision {
    fn dtype(self) -> DType {
        match self {
            Self::Single => DType::F32,
            Self::Double => DType::F64,
        }
    }
}

/// The layer of a [`Rowwise`] function.
#[derive(Debug)]
pub struct Expression<R> {
    rows: R,
    precision: Precision,
}

impl<R: Rowwise> Expression<R> {
    /// Computed in `f64`.
    pub fn new(rows: R) -> Self {
        Self { rows, precision: Precision::Double }
    }

    /// Computed with other numbers.
    pub fn with(rows: R, precision: Precision) -> Self {
        Self { rows, precision }
    }
}

impl<R: Rowwise> Layer for Expression<R> {
    fn candle(&self, tensors: &Tensors<'_>) -> Result<Tensor> {
        whole(tensors, self.precision, |x, w| self.rows.compute(x, w))
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> std::result::Result<(), Stopped> {
        if let Some(kernel) = self.rows.kernel() {
            return row_kernel::forward(kernel, pass, out);
        }
        let set = pass.rows();
        let pieces: Vec<Piece<'_>> =
            spans(set.rows(), set.n_rows()).into_iter().map(|rows| Piece { rows, reads: rows }).collect();
        forward(pass, &pieces, self.precision, out, (&|_| 0, &|_, x, w| self.rows.compute(x, w)))
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> std::result::Result<(), Stopped> {
        let set = pass.forward.rows();
        for input in 0..pass.forward.n_inputs() {
            let stride = pass.forward.input_axis(input).stride();
            if let Some(mut d_x) = pass.gradient(input)
                && !d_x.add
            {
                set.rows().iter().for_each(|&row| d_x.values[row as usize * stride..][..stride].fill(0.0));
            }
        }
        if let Some(kernel) = self.rows.kernel() {
            return row_kernel::backward(kernel, pass, d_out);
        }
        let pieces: Vec<Piece<'_>> =
            spans(set.rows(), set.n_rows()).into_iter().map(|rows| Piece { rows, reads: rows }).collect();
        backward(pass, &pieces, self.precision, d_out, (&|_| 0, &|_, x, w| self.rows.compute(x, w)))
    }
}

/// The output of all rows at once.
pub(super) fn whole(
    tensors: &Tensors<'_>,
    precision: Precision,
    compute: impl FnOnce(&[Tensor], &[Tensor]) -> Result<Tensor>,
) -> Result<Tensor> {
    let convert = |of: &[Tensor]| of.iter().map(|x| x.to_dtype(precision.dtype())).collect::<Result<Vec<_>>>();
    compute(&convert(tensors.inputs)?, &convert(tensors.parameters)?)?.to_dtype(tensors.dtype())
}

/// The bytes that the evaluation of a piece, by its number, holds beside the rows of its inputs and output.
pub(super) type Bytes<'a> = &'a (dyn Fn(usize) -> usize + Sync);

/// A function of the piece's number, its inputs and the parameters.
pub(super) type Compute<'a> = &'a (dyn Fn(usize, &[Tensor], &[Tensor]) -> Result<Tensor> + Sync);

/// The output of every piece; piece `i` has the rows of span `i`.
pub(super) fn forward(
    pass: &Forward<'_>,
    pieces: &[Piece<'_>],
    precision: Precision,
    out: &mut [f32],
    (bytes, compute): (Bytes<'_>, Compute<'_>),
) -> std::result::Result<(), Stopped> {
    let (stride, positions) = (pass.axis().stride(), pass.axis().positions().collect::<Vec<_>>());
    let w = valid((0..pass.n_parameters()).map(|p| parameter(pass, p, precision)).collect::<Result<Vec<_>>>());
    let one = |(number, (piece, chunk)): (usize, (&Piece<'_>, &mut [f32]))| {
        if piece.rows.is_empty() {
            return Ok(());
        }
        pass.monitor.check()?;
        let _held = held(pass.monitor, bytes(number))?;
        let mut evaluate = || -> Result<()> {
            let x = (0..pass.n_inputs())
                .map(|input| gather(pass.input(input), piece.reads, pass.input_axis(input), precision))
                .collect::<Result<Vec<_>>>()?;
            let y = compute(number, &x, &w)?;
            expect_shape(&y, piece.rows.len(), positions.len())?;
            with_values(&y, |y| {
                for (i, &row) in piece.rows.iter().enumerate() {
                    let out = &mut chunk[(row as usize - number * PIECE) * stride..][..stride];
                    for (c, &at) in positions.iter().enumerate() {
                        out[at] = y(i * positions.len() + c) as f32;
                    }
                }
            })
        };
        valid(evaluate());
        Ok(())
    };
    pieces.par_iter().zip(out.par_chunks_mut(PIECE * stride)).enumerate().try_for_each(one)
}

/// The gradients of a piece.
struct Gradients {
    inputs: Vec<Vec<f64>>,
    parameters: Vec<Vec<f64>>,
}

/// Adds the gradients of every piece; those of inputs are added to what is there.
pub(super) fn backward(
    pass: &mut Backward<'_>,
    pieces: &[Piece<'_>],
    precision: Precision,
    d_out: &[f32],
    (bytes, compute): (Bytes<'_>, Compute<'_>),
) -> std::result::Result<(), Stopped> {
    let f = pass.forward;
    let w = valid((0..f.n_parameters()).map(|p| parameter(&f, p, precision)).collect::<Result<Vec<_>>>());
    let wanted: Vec<bool> = (0..f.n_inputs()).map(|input| f.needs_gradient(input)).collect();
    let mut sums: Vec<Vec<f64>> = w.iter().map(|w| vec![0.0; w.elem_count()]).collect();
    let one = |number: usize, piece: &Piece<'_>| -> Result<Gradients> {
        let mut x = Vec::new();
        for (input, &wanted) in wanted.iter().enumerate() {
            let rows = gather(f.input(input), piece.reads, f.input_axis(input), precision)?;
            x.push(if wanted { Var::from_tensor(&rows)?.into_inner() } else { rows });
        }
        let vars = w.iter().map(|w| Ok(Var::from_tensor(w)?.into_inner())).collect::<Result<Vec<Tensor>>>()?;
        let y = compute(number, &x, &vars)?;
        // A backward pass of candle starts from ones: the product carries the gradient.
        let store = (y * gather(d_out, piece.rows, f.axis(), precision)?)?.backward()?;
        let values = |of: &Tensor| -> Result<Vec<f64>> {
            match store.get(of) {
                Some(gradient) => with_values(gradient, |g| (0..gradient.elem_count()).map(g).collect()),
                None => Ok(vec![0.0; of.elem_count()]),
            }
        };
        Ok(Gradients {
            inputs: x
                .iter()
                .zip(&wanted)
                .map(|(x, &w)| if w { values(x) } else { Ok(Vec::new()) })
                .collect::<Result<_>>()?,
            parameters: vars.iter().map(values).collect::<Result<_>>()?,
        })
    };
    for (wave, pieces) in pieces.chunks(WAVE).enumerate() {
        let gradients = pieces.par_iter().enumerate().map(|(at, piece)| {
            f.monitor.check()?;
            if piece.rows.is_empty() {
                return Ok(None);
            }
            let number = wave * WAVE + at;
            let _held = held(f.monitor, bytes(number))?;
            Ok(Some(valid(one(number, piece))))
        });
        let gradients: Vec<Option<Gradients>> = gradients.collect::<std::result::Result<_, Stopped>>()?;
        for (input, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
            let axis = f.input_axis(input);
            let (stride, positions) = (axis.stride(), axis.positions().collect::<Vec<_>>());
            let Some(mut d_x) = pass.gradient_everywhere(input) else { continue };
            for (piece, from) in pieces.iter().zip(&gradients) {
                let Some(from) = from else { continue };
                for (&row, from) in piece.reads.iter().zip(from.inputs[input].chunks_exact(positions.len().max(1))) {
                    let to = &mut d_x.values[row as usize * stride..][..stride];
                    positions.iter().zip(from).for_each(|(&at, g)| to[at] += *g as f32);
                }
            }
        }
        for from in gradients.iter().flatten() {
            for (sum, part) in sums.iter_mut().zip(&from.parameters) {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
    }
    for (number, sum) in sums.iter().enumerate() {
        let (rows, columns) = f.parameter_axes(number);
        pass.parameter_gradient(number, |out, _, _| {
            out.fill(0.0);
            let stride = columns.stride();
            let at = rows.positions().flat_map(|row| columns.positions().map(move |column| row * stride + column));
            at.zip(sum).for_each(|(at, g)| out[at] = *g as f32);
            Ok(())
        })?;
    }
    Ok(())
}

/// A reservation while a piece is evaluated; none for nothing.
fn held(monitor: &dyn Monitor, bytes: usize) -> std::result::Result<Option<Reservation<'_>>, Stopped> {
    (bytes > 0).then(|| Reservation::new(monitor, bytes)).transpose()
}

/// The value of an expression that fits its slots; another is an error of the program, as an index out of bounds is.
#[expect(clippy::panic, reason = "a layer that is written wrongly; its tests evaluate it")]
fn valid<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("an expression does not fit its slots: {error}"))
}

fn expect_shape(y: &Tensor, rows: usize, columns: usize) -> Result<()> {
    match y.dims() {
        found if found == [rows, columns] => Ok(()),
        found => bail!("{found:?} instead of {rows} x {columns}"),
    }
}

/// Rows of a slot as a tensor without padding.
fn gather(values: &[f32], rows: &[u32], axis: Axis, precision: Precision) -> Result<Tensor> {
    let (stride, positions) = (axis.stride(), axis.positions().collect::<Vec<_>>());
    let entries = rows.iter().flat_map(|&row| {
        let row = &values[row as usize * stride..][..stride];
        positions.iter().map(|&at| row[at])
    });
    tensor(entries, (rows.len(), positions.len()), precision)
}

/// A parameter as a tensor without padding.
fn parameter(pass: &Forward<'_>, number: usize, precision: Precision) -> Result<Tensor> {
    let (rows, columns) = pass.parameter_axes(number);
    let (values, stride) = (pass.parameter(number), columns.stride());
    let entries = rows.positions().flat_map(|row| columns.positions().map(move |column| values[row * stride + column]));
    tensor(entries, (rows.len(), columns.len()), precision)
}

fn tensor(values: impl Iterator<Item = f32>, shape: (usize, usize), precision: Precision) -> Result<Tensor> {
    // The exact length is known; iterators of nested rows do not tell it.
    match precision.dtype() {
        DType::F32 => {
            let mut exact = Vec::with_capacity(shape.0 * shape.1);
            exact.extend(values);
            Tensor::from_vec(exact, shape, &Device::Cpu)
        }
        _ => {
            let mut exact = Vec::with_capacity(shape.0 * shape.1);
            exact.extend(values.map(f64::from));
            Tensor::from_vec(exact, shape, &Device::Cpu)
        }
    }
}

/// Calls `f` with a reader of the values of a tensor, row by row.
fn with_values<T>(x: &Tensor, f: impl FnOnce(&dyn Fn(usize) -> f64) -> T) -> Result<T> {
    let x = x.contiguous()?;
    let (storage, layout) = x.storage_and_layout();
    let start = layout.start_offset();
    match &*storage {
        Storage::Cpu(CpuStorage::F64(values)) => Ok(f(&|at| values[start + at])),
        Storage::Cpu(CpuStorage::F32(values)) => Ok(f(&|at| f64::from(values[start + at]))),
        _ => bail!("numbers of another kind, or elsewhere"),
    }
}
