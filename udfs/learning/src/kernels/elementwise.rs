//! Bias, activation and dropout of rows between two products, and their gradients.

use bonnet_graph::{Monitor, Stopped};

use super::exp::exp;
use super::parallel::{for_each_block, sum_blocks};
use super::rows::RowSet;
use super::simd::{self, Body, Vectors};
use crate::ground::random::Dropout;

/// The non-linearity of a layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// None: the last layer.
    Identity,
    /// max(x, 0).
    Relu,
    /// x for x > 0, else e^x - 1.
    Elu,
    /// x for x > 0, else x times a slope above 0.
    Leaky(f32),
    /// The hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e^-x).
    Sigmoid,
}

/// The hyperbolic tangent, from `e^(-2|x|)`: absolute error below 2e-7.
#[inline(always)]
pub(crate) fn tanh<V: Vectors>(x: f32) -> f32 {
    let e = exp::<V>(-2.0 * x.abs());
    ((1.0 - e) / (1.0 + e)).copysign(x)
}

/// The logistic function: relative error below 5e-7 for results that are normal numbers.
#[inline(always)]
pub(crate) fn sigmoid<V: Vectors>(x: f32) -> f32 {
    1.0 / (1.0 + exp::<V>(-x))
}

/// The dropout of a matrix's columns.
#[derive(Debug, Clone, Copy)]
pub enum Masks<'a> {
    /// One mask, or none.
    One(Option<Dropout>),
    /// Those of runs side by side: each has an equal part of the columns, which its mask counts from 0.
    Each(&'a [Option<Dropout>]),
}

impl From<Option<Dropout>> for Masks<'_> {
    fn from(mask: Option<Dropout>) -> Self {
        Self::One(mask)
    }
}

/// Columns whose mask is drawn at a time for several runs.
const DRAWN: usize = 64;

/// Drops elements of a row that holds the columns of several runs under the same mask, `part` each.
#[inline(always)]
fn drop_parts(dropout: Dropout, row: u32, part: usize, values: &mut [f32]) {
    let key = dropout.row(row);
    for from in (0..part).step_by(DRAWN) {
        let mut factors = [0f32; DRAWN];
        let columns = DRAWN.min(part - from);
        factors[..columns].iter_mut().zip(from as u32..).for_each(|(factor, c)| *factor = dropout.factor(key, c));
        for values in values.chunks_exact_mut(part) {
            values[from..from + columns].iter_mut().zip(&factors).for_each(|(x, factor)| *x *= factor);
        }
    }
}

/// The function from the sums of a row to the layer's output.
#[derive(Debug, Clone, Copy)]
pub struct Finish<'a> {
    /// Added first; one value a column.
    pub bias: Option<&'a [f32]>,
    /// Applied next.
    pub activation: Activation,
    /// Applied last; element (row, stored column).
    pub dropout: Masks<'a>,
}

impl Finish<'_> {
    /// Leaves the sums as they are.
    pub const NOTHING: Self = Self { bias: None, activation: Activation::Identity, dropout: Masks::One(None) };

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
            Activation::Leaky(slope) => values.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { *x * slope }),
            Activation::Tanh => values.iter_mut().for_each(|x| *x = tanh::<V>(*x)),
            Activation::Sigmoid => values.iter_mut().for_each(|x| *x = sigmoid::<V>(*x)),
        }
        match self.dropout {
            Masks::One(None) => {}
            Masks::One(Some(dropout)) => {
                let key = dropout.row(row);
                values.iter_mut().enumerate().for_each(|(c, x)| *x *= dropout.factor(key, c as u32));
            }
            Masks::Each(masks) => {
                let (part, mut at) = (values.len() / masks.len(), 0);
                for same in masks.chunk_by(PartialEq::eq) {
                    let values = &mut values[at..][..same.len() * part];
                    at += values.len();
                    if let Some(dropout) = same[0] {
                        drop_parts(dropout, row, part, values);
                    }
                }
            }
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
    pub dropout: Masks<'a>,
}

impl Gate<'_> {
    /// Turns the gradient of one row in place.
    #[inline(always)]
    pub fn row<V: Vectors>(&self, row: u32, gradient: &mut [f32]) {
        let width = gradient.len();
        let output = &self.output[row as usize * width..][..width];
        match self.dropout {
            Masks::One(mask) => self.part(row, gradient, output, mask),
            Masks::Each(masks) => {
                let part = width / masks.len();
                let parts = gradient.chunks_exact_mut(part).zip(output.chunks_exact(part));
                parts.zip(masks).for_each(|((gradient, output), mask)| self.part(row, gradient, output, *mask));
            }
        }
    }

    /// Turns the columns of one mask.
    #[inline(always)]
    fn part(&self, row: u32, gradient: &mut [f32], output: &[f32], mask: Option<Dropout>) {
        let scale = mask.map_or(1.0, |dropout| dropout.scale);
        match (self.activation, mask) {
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
            // The output is scale * elu: for negative sums e^x = elu + 1. Dropped elements look like elu(0): see the mask.
            (Activation::Elu, Some(dropout)) => {
                let key = dropout.row(row);
                for (c, (g, h)) in gradient.iter_mut().zip(output).enumerate() {
                    let slope = if *h > 0.0 { scale } else { *h + scale };
                    *g *= if dropout.keeps(key, c as u32) { slope } else { 0.0 };
                }
            }
            (Activation::Leaky(slope), _) => {
                masked(mask, row, gradient, output, |h| if h > 0.0 { 1.0 } else { slope });
            }
            (Activation::Tanh, _) => masked(mask, row, gradient, output, |h| 1.0 - h * h),
            (Activation::Sigmoid, _) => masked(mask, row, gradient, output, |h| h * (1.0 - h)),
        }
    }
}

/// The gradient through the dropout, times the slope of the activation by its output before dropout.
#[inline(always)]
fn masked(mask: Option<Dropout>, row: u32, gradient: &mut [f32], output: &[f32], slope: impl Fn(f32) -> f32) {
    match mask {
        None => gradient.iter_mut().zip(output).for_each(|(g, h)| *g *= slope(*h)),
        Some(dropout) => {
            let (key, inverse) = (dropout.row(row), 1.0 / dropout.scale);
            for (c, (g, h)) in gradient.iter_mut().zip(output).enumerate() {
                *g *= dropout.factor(key, c as u32) * slope(*h * inverse);
            }
        }
    }
}

/// `out = finish(x)` on the rows of a set; rows of `width` stored columns. O(rows * width).
pub fn finish_rows(
    set: &RowSet,
    x: &[f32],
    width: usize,
    finish: Finish<'_>,
    out: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Apply<'a>(&'a [u32], usize, &'a [f32], usize, Finish<'a>, &'a mut [f32]);
    impl Body for Apply<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            let Self(rows, first, x, width, finish, out) = self;
            for &row in rows {
                let out = &mut out[(row as usize - first) * width..][..width];
                out.copy_from_slice(&x[row as usize * width..][..width]);
                finish.row::<V>(row, out);
            }
        }
    }
    for_each_block(set, out, width, monitor, |rows, first, chunk| {
        simd::run(Apply(rows, first, x, width, finish, chunk));
    })
}

/// Takes the gradient of finished outputs to that of their sums, in place, on the rows of a set. O(rows * width).
pub fn gate_rows(
    set: &RowSet,
    gate: Gate<'_>,
    width: usize,
    gradient: &mut [f32],
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    struct Apply<'a>(&'a [u32], usize, Gate<'a>, usize, &'a mut [f32]);
    impl Body for Apply<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vectors>(self) {
            let Self(rows, first, gate, width, gradient) = self;
            for &row in rows {
                gate.row::<V>(row, &mut gradient[(row as usize - first) * width..][..width]);
            }
        }
    }
    for_each_block(set, gradient, width, monitor, |rows, first, chunk| {
        simd::run(Apply(rows, first, gate, width, chunk));
    })
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

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::super::simd::{Fused, Plain};
    use super::*;

    #[test]
    fn the_smooth_functions_equal_those_of_the_library() {
        for i in -2000..2000 {
            let x = i as f32 * 0.01;
            let close = |got: f32, expected: f64| (f64::from(got) - expected).abs() < 3e-7;
            for got in [tanh::<Fused>(x), tanh::<Plain>(x)] {
                assert!(close(got, f64::from(x).tanh()), "tanh({x}) = {got}");
            }
            for got in [sigmoid::<Fused>(x), sigmoid::<Plain>(x)] {
                assert!(close(got, 1.0 / (1.0 + f64::from(-x).exp())), "sigmoid({x}) = {got}");
            }
        }
        assert_eq!((tanh::<Fused>(200.0), tanh::<Fused>(-200.0), sigmoid::<Fused>(-200.0)), (1.0, -1.0, 0.0));
    }

    #[test]
    fn a_gate_is_the_slope_of_the_finish_for_every_activation_and_mask() {
        const ALL: [Activation; 6] = [
            Activation::Identity,
            Activation::Relu,
            Activation::Elu,
            Activation::Leaky(0.2),
            Activation::Tanh,
            Activation::Sigmoid,
        ];
        let (n, width) = (40, 8);
        let x: Vec<f32> = (0..n * width).map(|i| ((i * 37 % 101) as f32 - 50.3) * 0.04).collect();
        let (set, h) = (RowSet::all(n), 1e-3f32);
        for activation in ALL {
            for dropout in [None, Dropout::new(0.4, 12345)] {
                let finish = Finish { bias: None, activation, dropout: dropout.into() };
                let apply = |shift: f32| {
                    let moved: Vec<f32> = x.iter().map(|x| x + shift).collect();
                    let mut out = vec![0.0; n * width];
                    finish_rows(&set, &moved, width, finish, &mut out, &Unmonitored).unwrap();
                    out
                };
                let (low, output, high) = (apply(-h), apply(0.0), apply(h));
                let mut gradient = vec![1.0; n * width];
                let gate = Gate { output: &output, activation, dropout: dropout.into() };
                gate_rows(&set, gate, width, &mut gradient, &Unmonitored).unwrap();
                for at in 0..n * width {
                    let slope = (high[at] - low[at]) / (2.0 * h);
                    assert!((slope - gradient[at]).abs() < 2e-3, "{activation:?} at {}: {slope}", x[at]);
                }
            }
        }
    }
}
