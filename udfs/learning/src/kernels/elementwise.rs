//! What happens to a row between two products: bias, activation, dropout, and their gradients.

use bonnet_graph::{Monitor, Stopped};

use super::exp::exp;
use super::parallel::{for_each_block, sum_blocks};
use super::rows::RowSet;
use super::simd::{self, Body, Vectors};
use crate::random::Dropout;

/// The non-linearity of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// None: the last layer.
    Identity,
    /// max(x, 0).
    Relu,
    /// x for x > 0, else e^x - 1.
    Elu,
}

/// What turns the sums of a row into the layer's output.
#[derive(Debug, Clone, Copy)]
pub struct Finish<'a> {
    /// Added first; one value a column.
    pub bias: Option<&'a [f32]>,
    /// Applied next.
    pub activation: Activation,
    /// Applied last; element (row, stored column).
    pub dropout: Option<Dropout>,
}

impl Finish<'_> {
    /// Leaves the sums as they are.
    pub const NOTHING: Self = Self { bias: None, activation: Activation::Identity, dropout: None };

    /// Finishes one row in place.
    #[inline(always)]
    pub fn row<V: Vectors>(&self, row: u32, values: &mut [f32]) {
        if let Some(bias) = self.bias {
            values.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
        }
        match self.activation {
            Activation::Identity => {}
            Activation::Relu => values.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { *x * 0.0 }),
            Activation::Elu => values.iter_mut().for_each(|x| {
                let negative = exp::<V>(*x) - 1.0;
                *x = if *x > 0.0 { *x } else { negative };
            }),
        }
        if let Some(dropout) = self.dropout {
            let key = dropout.row(row);
            values.iter_mut().enumerate().for_each(|(c, x)| *x *= dropout.factor(key, c as u32));
        }
    }
}

/// From the gradient of a layer's finished output to that of its sums, given the finished output.
#[derive(Debug, Clone, Copy)]
pub struct Gate<'a> {
    /// The finished output, `stride` columns.
    pub output: &'a [f32],
    /// The activation that made it.
    pub activation: Activation,
    /// The dropout that made it.
    pub dropout: Option<Dropout>,
}

impl Gate<'_> {
    /// Turns the gradient of one row in place.
    #[inline(always)]
    pub fn row<V: Vectors>(&self, row: u32, gradient: &mut [f32]) {
        let width = gradient.len();
        let output = &self.output[row as usize * width..][..width];
        let scale = self.dropout.map_or(1.0, |dropout| dropout.scale);
        match (self.activation, self.dropout) {
            (Activation::Identity, None) => {}
            (Activation::Identity, Some(dropout)) => {
                let key = dropout.row(row);
                gradient.iter_mut().enumerate().for_each(|(c, g)| *g *= dropout.factor(key, c as u32));
            }
            // What was dropped or negative is 0: no mask is needed.
            (Activation::Relu, _) => {
                gradient.iter_mut().zip(output).for_each(|(g, h)| *g = if *h > 0.0 { *g * scale } else { 0.0 });
            }
            (Activation::Elu, None) => {
                gradient.iter_mut().zip(output).for_each(|(g, h)| *g *= if *h > 0.0 { 1.0 } else { *h + 1.0 });
            }
            // The output is scale * elu: for negative sums e^x = elu + 1. Dropped elements look like elu(0): the mask tells.
            (Activation::Elu, Some(dropout)) => {
                let key = dropout.row(row);
                for (c, (g, h)) in gradient.iter_mut().zip(output).enumerate() {
                    let slope = if *h > 0.0 { scale } else { *h + scale };
                    *g *= if dropout.keeps(key, c as u32) { slope } else { 0.0 };
                }
            }
        }
    }
}

/// Adds up the columns of the rows of a set: the gradient of a bias. `O(rows * width)`; `partials` has room for
/// `n_blocks * width`.
pub fn column_sums(
    set: &RowSet,
    x: &[f32],
    width: usize,
    partials: &mut [f32],
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Sum<'a>(&'a [u32], &'a [f32], &'a mut [f32]);
    impl Body for Sum<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            let width = self.2.len();
            for &row in self.0 {
                let values = &self.1[row as usize * width..][..width];
                self.2.iter_mut().zip(values).for_each(|(sum, x)| *sum += x);
            }
        }
    }
    sum_blocks(set, width, partials, out, monitor, |rows, partial| simd::run(Sum(rows, x, partial)))
}

/// `out = dropout(x)` on the rows of a set; rows of `width` stored columns.
pub fn drop_rows(
    set: &RowSet,
    x: &[f32],
    width: usize,
    dropout: Dropout,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Drop<'a>(&'a [u32], usize, &'a [f32], usize, Dropout, &'a mut [f32]);
    impl Body for Drop<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            let Self(rows, first, x, width, dropout, out) = self;
            for &row in rows {
                let key = dropout.row(row);
                let x = &x[row as usize * width..][..width];
                let out = &mut out[(row as usize - first) * width..][..width];
                for (c, (out, x)) in out.iter_mut().zip(x).enumerate() {
                    *out = x * dropout.factor(key, c as u32);
                }
            }
        }
    }
    for_each_block(set, out, width, monitor, |rows, first, chunk| {
        simd::run(Drop(rows, first, x, width, dropout, chunk));
    })
}
