//! Activations whose slope does not follow from their value: they keep their input.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, Layer, Slot, Tensors};
use super::map_rows;
use crate::kernels::elementwise::sigmoid;
use crate::kernels::exp::exp;
use crate::kernels::parallel::for_each_block;
use crate::kernels::simd::{self, Body, Vectors};
use crate::ops::{self, Curve};

/// The curve; 0 at 0. Kernels know it by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Smooth {
    /// `x * P(N < x)`, N standard normal (Hendrycks and Gimpel 2016).
    Gelu,
    /// `x / (1 + e^-x)` (Elfwing, Uchibe and Doya 2018).
    Silu,
}

impl Builder<'_, '_, '_> {
    /// `x * P(N < x)` with a standard normal N.
    pub fn gelu(&mut self, x: Slot) -> Slot {
        self.like(Smooth::Gelu, &[x], &[])
    }

    /// `x / (1 + e^-x)`.
    pub fn silu(&mut self, x: Slot) -> Slot {
        self.like(Smooth::Silu, &[x], &[])
    }
}

impl Smooth {
    /// Value and slope.
    #[inline(always)]
    fn at<V: Vectors>(self, x: f32) -> (f32, f32) {
        match self {
            Self::Silu => {
                let s = sigmoid::<V>(x);
                (x * s, s + x * s * (1.0 - s))
            }
            Self::Gelu => {
                let (p, density) = normal::<V>(x);
                (x * p, p + x * density)
            }
        }
    }
}

/// Distribution and density of the standard normal: Abramowitz and Stegun 1964, 26.2.17, absolute error below 1e-7 (and
/// the rounding of `f32`).
#[inline(always)]
fn normal<V: Vectors>(x: f32) -> (f32, f32) {
    const ROOT: f32 = 0.398_942_3;
    let t = 1.0 / V::fma(0.231_641_9, x.abs(), 1.0);
    let mut sum = 1.330_274_5f32;
    for c in [-1.821_256, 1.781_477_9, -0.356_563_78, 0.319_381_54] {
        sum = V::fma(sum, t, c);
    }
    let density = ROOT * exp::<V>(-0.5 * x * x);
    let tail = density * sum * t;
    (if x > 0.0 { 1.0 - tail } else { tail }, density)
}

struct SmoothRows<'a>(Smooth, &'a [f32], &'a mut [f32]);

impl Body for SmoothRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        self.2.iter_mut().zip(self.1).for_each(|(out, x)| *out = self.0.at::<V>(*x).0);
    }
}

/// Multiplies by the slope at `x`, onto the sums.
struct Slopes<'a>(Smooth, &'a [f32], &'a [f32], &'a mut [f32]);

impl Body for Slopes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        for ((out, x), d) in self.3.iter_mut().zip(self.1).zip(self.2) {
            *out += d * self.0.at::<V>(*x).1;
        }
    }
}

impl Layer for Smooth {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let curve = match self {
            Self::Gelu => Curve::Gelu,
            Self::Silu => Curve::Silu,
        };
        ops::activate(&tensors.inputs[0], curve)
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, width, curve) = (pass.input(0), pass.width(), *self);
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let from = row as usize * width;
                simd::run(SmoothRows(curve, &x[from..from + width], &mut chunk[from - first * width..][..width]));
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (x, curve) = (pass.forward.input(0), *self);
        map_rows(pass, 0, |row, out| {
            let range = row as usize * out.len()..(row as usize + 1) * out.len();
            simd::run(Slopes(curve, &x[range.clone()], &d_out[range], out));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::simd::{Fused, Plain};

    #[test]
    fn values_and_slopes_are_those_of_the_definitions() {
        // GELU at these points by torch.nn.functional.gelu (float64, torch 2.15).
        let golden =
            [(-3.0, -0.004_049_694_094_890_31), (-0.5, -0.154_268_769_362_993_44), (1.25, 1.117_937_782_916_431)];
        for (x, expected) in golden {
            assert!((f64::from(Smooth::Gelu.at::<Plain>(x).0) - expected).abs() < 4e-7, "gelu({x})");
        }
        for i in -600..600 {
            let x = f64::from(i) * 0.01;
            let silu = |x: f64| x / (1.0 + (-x).exp());
            let (value, slope) = Smooth::Silu.at::<Fused>(x as f32);
            assert!((f64::from(value) - silu(x)).abs() < 2e-6, "silu({x}) = {value}");
            assert!((f64::from(slope) - (silu(x + 1e-6) - silu(x - 1e-6)) / 2e-6).abs() < 2e-6);
            let gelu = |x: f32| f64::from(Smooth::Gelu.at::<Plain>(x).0);
            let difference = (gelu(x as f32 + 1e-2) - gelu(x as f32 - 1e-2)) / 2e-2;
            assert!((f64::from(Smooth::Gelu.at::<Fused>(x as f32).1) - difference).abs() < 2e-4, "gelu'({x})");
        }
        assert_eq!((Smooth::Gelu.at::<Plain>(0.0).0, Smooth::Silu.at::<Plain>(0.0).0), (0.0, 0.0));
    }
}
