//! Smooth functions of a squared length, through curvature 0.
//!
//! Distances, exponentials and logarithms of a space of constant curvature are `f(t) / t` for a hyperbolic `f`, with `t` a
//! length times the root of the curvature's size; on a sphere `f` is circular. As functions of `s = t^2`, with `s < 0` on
//! the sphere, they are one analytic function each, without a root that has no slope at 0.

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::{CpuStorage, CudaStorage, CustomOp1, DType, Layout, Result, Shape, Tensor, bail};

/// A function of `s`, with `t = sqrt |s|`: the hyperbolic form for `s > 0`, the circular one for `s < 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Radial {
    /// `tanh t / t`, `tan t / t`. Constant lengths beyond [`TAN_BOUND`] on the sphere.
    Tan,
    /// `artanh t / t`, `arctan t / t`. Constant lengths beyond [`ARTANH_BOUND`].
    ArcTan,
    /// `sinh t / t`, `sin t / t`. Constant lengths beyond [`SINH_BOUND`].
    Sin,
    /// `cosh t`, `cos t`. Constant beyond [`SINH_BOUND`].
    Cos,
    /// `arsinh t / t`, `arcsin t / t`. Constant lengths beyond [`ARCSIN_BOUND`] on the sphere.
    ArcSin,
    /// The squared length of the way between two points of the pseudo-hyperboloid `<x, x> = -1`, of `s = 1 + <x, y>`:
    /// `arccos^2 (1 - s)` for `0 < s < 2`, `arcosh^2 (1 - s)` for `s < 0`, and `(pi + arcosh (s - 1))^2` for `s >= 2`, where
    /// no geodesic joins them (Xiong et al. 2022, Eq. 9).
    PseudoSquare,
}

/// A tangent is read at most here: `arctan` of it is 0.96 of a quarter turn.
pub const TAN_BOUND: f64 = 1.5;
/// The least relative distance from the rim of the ball: a distance of 23.7 from the centre at curvature -1.
pub const ARTANH_BOUND: f64 = 1.0 - 1e-10;
/// The longest way whose hyperbolic sine is read: `sinh` of it is 2.4e8.
pub const SINH_BOUND: f64 = 20.0;
/// The largest sine of half an angle between points of a sphere whose slope is read: the slope at antipodes is infinite.
pub const ARCSIN_BOUND: f64 = 1.0 - 1e-9;
/// The least `|1 - <x, y>^2|` of which the slope of [`Radial::PseudoSquare`] takes the root.
pub const PSEUDO_BOUND: f64 = 1e-6;

/// Below this size of `s` a series is evaluated, to an error of 1e-16.
const SMALL: f64 = 1e-3;

/// Coefficients of the powers of `s`.
const TAN: [f64; 6] = [1.0, -1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0, 62.0 / 2835.0, -1382.0 / 155_925.0];
const ARC_TAN: [f64; 6] = [1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0];
const SIN: [f64; 6] = [1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362_880.0, 1.0 / 39_916_800.0];
const ARC_SIN: [f64; 6] = [1.0, -1.0 / 6.0, 3.0 / 40.0, -5.0 / 112.0, 35.0 / 1152.0, -63.0 / 2816.0];
/// Of `arccos^2 (1 - s)`.
const PSEUDO: [f64; 6] = [0.0, 2.0, 1.0 / 3.0, 4.0 / 45.0, 1.0 / 35.0, 16.0 / 1575.0];

fn series(coefficients: &[f64; 6], s: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * s + c)
}

fn series_slope(coefficients: &[f64; 6], s: f64) -> f64 {
    (1..6).rev().fold(0.0, |sum, k| sum * s + k as f64 * coefficients[k])
}

// The standard library's keep their digits near 0, where series are evaluated here, and take twice the time.

fn tanh(t: f64) -> f64 {
    1.0 - 2.0 / ((2.0 * t).exp() + 1.0)
}

fn artanh(t: f64) -> f64 {
    0.5 * ((1.0 + t) / (1.0 - t)).ln()
}

fn arsinh(t: f64) -> f64 {
    (t + (t * t + 1.0).sqrt()).ln()
}

impl Radial {
    /// The value.
    pub fn value(self, s: f64) -> f64 {
        let t = s.abs().sqrt();
        let small = s.abs() < SMALL;
        match self {
            Self::Tan if small => series(&TAN, s),
            Self::Tan if s > 0.0 => tanh(t) / t,
            Self::Tan => t.min(TAN_BOUND).tan() / t,
            Self::ArcTan if small => series(&ARC_TAN, s),
            Self::ArcTan if s > 0.0 => artanh(t.min(ARTANH_BOUND)) / t,
            Self::ArcTan => t.atan() / t,
            Self::Sin if small => series(&SIN, s),
            Self::Sin if s > 0.0 => t.min(SINH_BOUND).sinh() / t,
            Self::Sin => t.sin() / t,
            Self::Cos if s > 0.0 => t.min(SINH_BOUND).cosh(),
            Self::Cos => t.cos(),
            Self::ArcSin if small => series(&ARC_SIN, s),
            Self::ArcSin if s > 0.0 => arsinh(t) / t,
            Self::ArcSin => t.min(ARCSIN_BOUND).asin() / t,
            Self::PseudoSquare if small => series(&PSEUDO, s).abs(),
            Self::PseudoSquare if s < 0.0 => (1.0 - s).acosh().powi(2),
            Self::PseudoSquare if s < 2.0 => (1.0 - s).acos().powi(2),
            Self::PseudoSquare => (std::f64::consts::PI + (s - 1.0).acosh()).powi(2),
        }
    }

    /// The derivative by `s`, computed in itself: a difference of rounded values would lose what a curvature learns.
    pub fn slope(self, s: f64) -> f64 {
        self.slope_at(s, self.value(s))
    }

    /// The value and the slope.
    pub fn value_and_slope(self, s: f64) -> (f64, f64) {
        let value = self.value(s);
        (value, self.slope_at(s, value))
    }

    /// The derivative where the value is `f`.
    pub(crate) fn slope_at(self, s: f64, f: f64) -> f64 {
        let t = s.abs().sqrt();
        let small = s.abs() < SMALL;
        match self {
            Self::Tan if small => series_slope(&TAN, s),
            Self::Tan if s < 0.0 && t > TAN_BOUND => -f / (2.0 * s),
            Self::Tan => (1.0 - s * f * f - f) / (2.0 * s),
            Self::ArcTan if small => series_slope(&ARC_TAN, s),
            Self::ArcTan if s > 0.0 && t > ARTANH_BOUND => -f / (2.0 * s),
            Self::ArcTan => (1.0 / (1.0 - s) - f) / (2.0 * s),
            Self::Sin if small => series_slope(&SIN, s),
            Self::Sin if s > 0.0 && t > SINH_BOUND => -f / (2.0 * s),
            Self::Sin => (Self::Cos.value(s) - f) / (2.0 * s),
            Self::Cos if s > 0.0 && t > SINH_BOUND => 0.0,
            Self::Cos => Self::Sin.value(s) / 2.0,
            Self::ArcSin if small => series_slope(&ARC_SIN, s),
            Self::ArcSin if s < 0.0 && t > ARCSIN_BOUND => -f / (2.0 * s),
            Self::ArcSin => (1.0 / (1.0 + s).sqrt() - f) / (2.0 * s),
            Self::PseudoSquare if small => series_slope(&PSEUDO, s) * if s < 0.0 { -1.0 } else { 1.0 },
            Self::PseudoSquare => {
                let root = (s * (2.0 - s)).abs().max(PSEUDO_BOUND).sqrt();
                2.0 * f.sqrt() / root * if s < 0.0 { -1.0 } else { 1.0 }
            }
        }
    }

    /// The function of each element.
    pub fn apply(self, s: &Tensor) -> Result<Tensor> {
        s.contiguous()?.apply_op1(self)
    }
}

/// A function of each element of a contiguous tensor, computed in `f64`.
fn each(s: &CpuStorage, layout: &Layout, f: impl Fn(f64) -> f64) -> Result<(CpuStorage, Shape)> {
    let Some((from, to)) = layout.contiguous_offsets() else { bail!("a contiguous tensor is expected") };
    let out = match s {
        CpuStorage::F64(s) => CpuStorage::F64(s[from..to].iter().map(|&s| f(s)).collect()),
        CpuStorage::F32(s) => CpuStorage::F32(s[from..to].iter().map(|&s| f(f64::from(s)) as f32).collect()),
        _ => bail!("expected numbers of {:?} or {:?}", DType::F32, DType::F64),
    };
    Ok((out, layout.shape().clone()))
}

impl CustomOp1 for Radial {
    fn name(&self) -> &'static str {
        "radial"
    }

    fn cpu_fwd(&self, s: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        each(s, layout, |s| self.value(s))
    }

    fn cuda_fwd(&self, s: &CudaStorage, layout: &Layout) -> Result<(CudaStorage, Shape)> {
        on_host(self, s, layout)
    }

    fn bwd(&self, s: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some((s.apply_op1_no_bwd(&Slope(*self))? * gradient)?))
    }
}

/// The derivative as an operation.
struct Slope(Radial);

impl CustomOp1 for Slope {
    fn name(&self) -> &'static str {
        "radial-slope"
    }

    fn cpu_fwd(&self, s: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        each(s, layout, |s| self.0.slope(s))
    }

    fn cuda_fwd(&self, s: &CudaStorage, layout: &Layout) -> Result<(CudaStorage, Shape)> {
        on_host(self, s, layout)
    }
}

/// The values of a GPU's column, computed on the host: one number a row goes there and back.
fn on_host(op: &impl CustomOp1, s: &CudaStorage, layout: &Layout) -> Result<(CudaStorage, Shape)> {
    let (out, shape) = op.cpu_fwd(&s.to_cpu_storage()?, layout)?;
    Ok((s.device().storage_from_cpu_storage(&out)?, shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Radial; 6] =
        [Radial::Tan, Radial::ArcTan, Radial::Sin, Radial::Cos, Radial::ArcSin, Radial::PseudoSquare];

    #[test]
    fn values_have_their_closed_forms_on_both_sides_of_zero() {
        let close = |f: Radial, s: f64, expected: f64| {
            assert!((f.value(s) - expected).abs() < 1e-13 * expected.abs(), "{f:?} {s}: {}", f.value(s));
        };
        close(Radial::Tan, 0.25, 0.5f64.tanh() / 0.5);
        close(Radial::Tan, -0.25, 0.5f64.tan() / 0.5);
        close(Radial::ArcTan, 0.25, 0.5f64.atanh() / 0.5);
        close(Radial::ArcTan, -4.0, 2f64.atan() / 2.0);
        close(Radial::Sin, 4.0, 2f64.sinh() / 2.0);
        close(Radial::Sin, -4.0, 2f64.sin() / 2.0);
        close(Radial::Cos, 4.0, 2f64.cosh());
        close(Radial::Cos, -4.0, 2f64.cos());
        close(Radial::ArcSin, 4.0, 2f64.asinh() / 2.0);
        close(Radial::ArcSin, -0.25, 0.5f64.asin() / 0.5);
        close(Radial::PseudoSquare, 0.3, 0.7f64.acos().powi(2));
        close(Radial::PseudoSquare, -0.3, 1.3f64.acosh().powi(2));
        close(Radial::PseudoSquare, 2.5, (std::f64::consts::PI + 1.5f64.acosh()).powi(2));
    }

    #[test]
    fn the_series_meet_the_closed_forms() {
        for f in ALL {
            for s in [SMALL, -SMALL] {
                let (inside, outside) = (s * (1.0 - 1e-12), s * (1.0 + 1e-12));
                assert!((f.value(inside) - f.value(outside)).abs() < 1e-12, "{f:?} {s}");
                assert!((f.slope(inside) - f.slope(outside)).abs() < 1e-9, "{f:?} {s}");
            }
        }
    }

    #[test]
    fn slopes_are_those_of_finite_differences_and_finite_everywhere() {
        for f in ALL {
            for s in [-1.7f64, -0.6, -0.2, -1e-3, -1e-5, 1e-5, 1e-3, 0.2, 0.6, 0.9, 1.7, 5.0, 300.0] {
                let outside = match f {
                    Radial::Tan => s < -2.0,
                    Radial::ArcTan => s > 1.0,
                    Radial::ArcSin => s < -1.0,
                    _ => false,
                };
                if outside {
                    continue;
                }
                let h = 1e-6 * f64::max(s.abs(), 1e-2);
                let slope = (f.value(s + h) - f.value(s - h)) / (2.0 * h);
                assert!((f.slope(s) - slope).abs() < 1e-6 * slope.abs().max(1.0), "{f:?} {s}: {} {slope}", f.slope(s));
            }
            for s in [0.0, -1e300, 1e300, -1.0, 1.0, 2.0, -2.3, 400.0] {
                assert!(f.value(s).is_finite() && f.slope(s).is_finite(), "{f:?} {s}");
            }
        }
    }
}
