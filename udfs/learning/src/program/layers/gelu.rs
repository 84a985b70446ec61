//! The Gaussian error linear unit (Hendrycks and Gimpel 2016).

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, Layer, Slot, Tensors};
use super::map_rows;
use crate::kernels::exp::exp;
use crate::kernels::parallel::for_each_block;
use crate::kernels::simd::{self, Body, Vectors};

/// `x Phi(x)`, with the distribution function Phi of the standard normal distribution. Its slope is no function of its value:
/// it is a layer, not an activation behind one.
#[derive(Debug)]
pub struct Gelu;

impl Builder<'_, '_> {
    /// `x Phi(x)` for each entry.
    pub fn gelu(&mut self, x: Slot) -> Slot {
        self.like(Gelu, &[x], &[])
    }
}

/// `Phi(x)` and `e^(-x^2 / 2)`: the error function by Abramowitz and Stegun, 7.1.26, absolute error below 3e-7.
#[inline(always)]
fn distribution<V: Vectors>(x: f32) -> (f32, f32) {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let bell = exp::<V>(-z * z);
    let t = 1.0 / V::fma(0.327_591_1, z, 1.0);
    let mut p = 1.061_405_4;
    for c in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        p = V::fma(p, t, c);
    }
    let tail = 0.5 * p * t * bell;
    (if x < 0.0 { tail } else { 1.0 - tail }, bell)
}

struct Values<'a>(&'a [f32], &'a mut [f32]);

impl Body for Values<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        self.1.iter_mut().zip(self.0).for_each(|(out, &x)| *out = x * distribution::<V>(x).0);
    }
}

struct Slopes<'a>(&'a [f32], &'a [f32], &'a mut [f32]);

impl Body for Slopes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        const DENSITY: f32 = 0.398_942_3;
        for ((out, &x), d) in self.2.iter_mut().zip(self.0).zip(self.1) {
            let (below, bell) = distribution::<V>(x);
            *out += d * V::fma(DENSITY * x, bell, below);
        }
    }
}

impl Layer for Gelu {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        // Candle's own has constants of six digits in its gradient.
        let x = &tensors.inputs[0];
        x * (((x * std::f64::consts::FRAC_1_SQRT_2)?.erf()? + 1.0)? * 0.5)?
    }

    fn rereads_output(&self) -> bool {
        false
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, width) = (pass.input(0), pass.width());
        for_each_block(pass.rows(), out, width, pass.monitor, |rows, first, chunk| {
            for &row in rows {
                let out = &mut chunk[(row as usize - first) * width..][..width];
                simd::run(Values(&x[row as usize * width..][..width], out));
            }
        })
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (x, width) = (pass.forward.input(0), pass.forward.width());
        map_rows(pass, 0, |row, out| {
            let row = row as usize * width..(row as usize + 1) * width;
            simd::run(Slopes(&x[row.clone()], &d_out[row], out));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::simd::{Fused, Plain};

    /// Phi(x) = 1/2 + x / sqrt(2 pi) sum over k of (-x^2 / 2)^k / (k! (2k + 1)).
    fn series(x: f64) -> f64 {
        let (mut term, mut sum) = (1.0, 0.0);
        for k in 0..200 {
            sum += term / f64::from(2 * k + 1);
            term *= -x * x / 2.0 / f64::from(k + 1);
        }
        0.5 + x * sum / std::f64::consts::TAU.sqrt()
    }

    #[test]
    fn the_distribution_function_is_that_of_its_series() {
        for i in -500..=500 {
            let x = f64::from(i) * 1e-2;
            for got in [distribution::<Fused>(x as f32).0, distribution::<Plain>(x as f32).0] {
                assert!((f64::from(got) - series(x)).abs() < 3e-7, "Phi({x}) is {got}, not {}", series(x));
            }
        }
        assert_eq!((distribution::<Plain>(-40.0).0, distribution::<Plain>(40.0).0), (0.0, 1.0));
    }
}
