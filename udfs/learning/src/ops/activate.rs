//! Activations with the slopes that the fused passes have: that of a rectifier at 0 is the one below.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor, WithDType};

use super::kernel::{DeviceInput, Kernel, Launch, args};
use super::{for_each_row, for_type, result, values, zeros};
use crate::kernels::Activation;

/// A function of each element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curve {
    /// That of a layer.
    Activation(Activation),
    /// `x / (1 + e^-x)`.
    Silu,
    /// `ln(1 + e^x)`.
    Softplus,
}

impl From<Activation> for Curve {
    fn from(activation: Activation) -> Self {
        Self::Activation(activation)
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Curve {
    /// The number by which kernels know it, and its slope below 0.
    fn number(self) -> (u32, f32) {
        match self {
            Self::Activation(Activation::Identity) => (0, 0.0),
            Self::Activation(Activation::Relu) => (1, 0.0),
            Self::Activation(Activation::Elu) => (2, 0.0),
            Self::Activation(Activation::Leaky(slope)) => (3, slope),
            Self::Activation(Activation::Tanh) => (4, 0.0),
            Self::Activation(Activation::Sigmoid) => (5, 0.0),
            Self::Silu => (6, 0.0),
            Self::Softplus => (7, 0.0),
        }
    }

    fn value(self, x: f64) -> f64 {
        match self {
            Self::Activation(activation) => match activation {
                Activation::Identity => x,
                Activation::Relu if x.is_nan() => x,
                Activation::Relu => x.max(0.0),
                Activation::Elu if x > 0.0 => x,
                Activation::Elu => x.exp_m1(),
                Activation::Leaky(_) if x > 0.0 => x,
                Activation::Leaky(slope) => f64::from(slope) * x,
                Activation::Tanh => x.tanh(),
                Activation::Sigmoid => logistic(x),
            },
            Self::Silu => x * logistic(x),
            Self::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
        }
    }

    fn slope(self, x: f64) -> f64 {
        match self {
            Self::Activation(activation) => match activation {
                Activation::Identity => 1.0,
                Activation::Relu => f64::from(u8::from(x > 0.0)),
                Activation::Elu if x > 0.0 => 1.0,
                Activation::Elu => x.exp(),
                Activation::Leaky(_) if x > 0.0 => 1.0,
                Activation::Leaky(slope) => f64::from(slope),
                Activation::Tanh => 1.0 - x.tanh().powi(2),
                Activation::Sigmoid => logistic(x) * (1.0 - logistic(x)),
            },
            Self::Silu => logistic(x) * (1.0 + x * (1.0 - logistic(x))),
            Self::Softplus => logistic(x),
        }
    }
}

/// Applies a function to each element. O(elements).
///
/// # Errors
/// If the type or device does not fit.
pub fn activate(x: &Tensor, curve: impl Into<Curve>) -> Result<Tensor> {
    match curve.into() {
        Curve::Activation(Activation::Identity) => Ok(x.clone()),
        curve => x.contiguous()?.apply_op1(Activate(curve)),
    }
}

/// `f(x)`.
pub(super) struct Activate(pub(super) Curve);

/// `f'(x) g`.
pub(super) struct Slope(pub(super) Curve);

impl Kernel for Activate {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        inputs[0].dims.into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, (curve, slope)) = (inputs[0], self.0.number());
        let args = args![curve, slope, x.address, out];
        Ok(Launch::by_element("activate", x.dims.iter().product(), args).into_iter().collect())
    }
}

impl CustomOp1 for Activate {
    super::on_gpu!(1);

    fn name(&self) -> &'static str {
        "activate"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        for_type!(x, "activate", Real => {
            let x = values::<Real>(x, at)?;
            let mut out = zeros::<Real>(x.len());
            for_each_row(&mut out, 1, |at, out| out[0] = Real::from_f64(self.0.value(x[at].to_f64())));
            result(out, at.shape())
        })
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(x.apply_op2_no_bwd(&g.contiguous()?, &Slope(self.0))?))
    }
}

impl Kernel for Slope {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        inputs[0].dims.into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, (curve, slope)) = (inputs[0], self.0.number());
        let args = args![curve, slope, x.address, inputs[1].address, out];
        Ok(Launch::by_element("activation_slope", x.dims.iter().product(), args).into_iter().collect())
    }
}

impl CustomOp2 for Slope {
    super::on_gpu!(2);

    fn name(&self) -> &'static str {
        "activation-slope"
    }

    fn cpu_fwd(&self, x: &CpuStorage, x_at: &Layout, g: &CpuStorage, g_at: &Layout) -> Result<(CpuStorage, Shape)> {
        for_type!(x, "activation-slope", Real => {
            let (x, g) = (values::<Real>(x, x_at)?, values::<Real>(g, g_at)?);
            let mut out = zeros::<Real>(x.len());
            for_each_row(&mut out, 1, |at, out| out[0] = g[at] * Real::from_f64(self.0.slope(x[at].to_f64())));
            result(out, x_at.shape())
        })
    }
}
