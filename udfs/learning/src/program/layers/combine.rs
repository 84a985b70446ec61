//! Sums of slots with one coefficient a slot, constant or learnt.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Forward, Layer, Scratch, Shapes, Tensors};
use super::add_rows;
use crate::kernels::Activation;
use crate::kernels::combine::{scalar_products, weighted_sum};
use crate::ops;

/// The map from parameters to weights. Kernels know it by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    /// The identity.
    Identity,
    /// `max(theta, 0)`.
    Relu,
    /// `e^theta_k / sum over l of e^theta_l`.
    Softmax,
    /// `1 / (1 + e^-theta)`.
    Sigmoid,
}

/// Coefficients as functions of parameters: `c = offset + basis * map(theta)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The map of theta.
    pub map: Map,
    /// A matrix with a row a slot and a column a parameter, row by row; none for the identity.
    pub basis: Option<Vec<f64>>,
    /// A value a slot, or none for zeros.
    pub offset: Vec<f64>,
}

impl Weights {
    /// The coefficients are the mapped parameters.
    pub fn plain(map: Map) -> Self {
        Self { map, basis: None, offset: Vec::new() }
    }

    /// The coefficients are combinations of the mapped parameters.
    pub fn in_basis(map: Map, basis: Vec<f64>) -> Self {
        Self { map, basis: Some(basis), offset: Vec::new() }
    }

    fn mapped(&self, theta: &[f32]) -> Vec<f64> {
        let theta: Vec<f64> = theta.iter().map(|theta| f64::from(*theta)).collect();
        match self.map {
            Map::Identity => theta,
            Map::Relu => theta.into_iter().map(|theta| theta.max(0.0)).collect(),
            Map::Sigmoid => theta.into_iter().map(|theta| 1.0 / (1.0 + (-theta).exp())).collect(),
            Map::Softmax => {
                let max = theta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let powers: Vec<f64> = theta.iter().map(|theta| (theta - max).exp()).collect();
                let sum: f64 = powers.iter().sum();
                powers.into_iter().map(|power| power / sum).collect()
            }
        }
    }

    /// The coefficients as one row.
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let theta = &tensors.parameters[0];
        let mapped = match self.map {
            Map::Identity => theta.clone(),
            Map::Relu => ops::activate(theta, Activation::Relu)?,
            Map::Sigmoid => ops::activate(theta, Activation::Sigmoid)?,
            Map::Softmax => candle_nn::ops::softmax(theta, 1)?,
        };
        let row = |values: &[f64], rows, columns| {
            Tensor::from_slice(values, (rows, columns), tensors.device())?.to_dtype(tensors.dtype())
        };
        let k = theta.dims()[1];
        let sums = match &self.basis {
            None => mapped,
            Some(basis) => mapped.matmul(&row(basis, basis.len() / k, k)?.t()?.contiguous()?)?,
        };
        if self.offset.is_empty() { Ok(sums) } else { sums + row(&self.offset, 1, self.offset.len())? }
    }

    fn coefficients(&self, theta: &[f32], out: &mut [f32]) {
        let mapped = self.mapped(theta);
        for (slot, out) in out.iter_mut().enumerate() {
            let sum: f64 = match &self.basis {
                None => mapped[slot],
                Some(basis) => mapped.iter().zip(&basis[slot * mapped.len()..]).map(|(m, b)| m * b).sum(),
            };
            *out = (sum + self.offset.get(slot).unwrap_or(&0.0)) as f32;
        }
    }

    /// From the gradient of the coefficients to that of the parameters.
    fn gradient(&self, theta: &[f32], d_coefficients: &[f32], out: &mut [f32]) {
        let mapped = self.mapped(theta);
        let k = mapped.len();
        let d_mapped: Vec<f64> = (0..k)
            .map(|at| match &self.basis {
                None => f64::from(d_coefficients[at]),
                Some(basis) => {
                    d_coefficients.iter().enumerate().map(|(slot, d)| f64::from(*d) * basis[slot * k + at]).sum()
                }
            })
            .collect();
        let mean: f64 = mapped.iter().zip(&d_mapped).map(|(m, d)| m * d).sum();
        for at in 0..k {
            let slope = match self.map {
                Map::Identity => d_mapped[at],
                Map::Relu => {
                    if theta[at] > 0.0 {
                        d_mapped[at]
                    } else {
                        0.0
                    }
                }
                Map::Sigmoid => d_mapped[at] * mapped[at] * (1.0 - mapped[at]),
                Map::Softmax => mapped[at] * (d_mapped[at] - mean),
            };
            out[at] = slope as f32;
        }
    }
}

/// `sum of c_i x_i`.
#[derive(Debug)]
pub struct Combine {
    weights: Option<Weights>,
    coefficients: Vec<f32>,
}

impl Combine {
    /// With constant coefficients.
    pub fn constant(coefficients: Vec<f64>) -> Self {
        Self { weights: None, coefficients: coefficients.into_iter().map(|c| c as f32).collect() }
    }

    /// With coefficients that follow from parameters.
    pub fn learned(weights: Weights) -> Self {
        Self { weights: Some(weights), coefficients: Vec::new() }
    }
}

impl Layer for Combine {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let mut terms = match &self.weights {
            None => tensors.inputs.iter().zip(&self.coefficients).map(|(x, c)| x * f64::from(*c)).collect::<Vec<_>>(),
            Some(weights) => {
                let c = weights.candle(tensors)?;
                let term = |(at, x): (usize, &Tensor)| x.broadcast_mul(&c.narrow(1, at, 1)?);
                tensors.inputs.iter().enumerate().map(term).collect()
            }
        };
        let Some(last) = terms.pop() else { candle_core::bail!("a sum has terms") };
        terms.into_iter().rfold(last, |sum, term| sum? + term?)
    }

    fn scratch(&self, shapes: &Shapes<'_>) -> Scratch {
        Scratch { partials: shapes.blocks() * shapes.n_inputs(), transposed: 0 }
    }

    fn finishes(&self) -> bool {
        true
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        if let Some(weights) = &self.weights {
            self.coefficients.resize(pass.n_inputs(), 0.0);
            weights.coefficients(pass.parameter(0), &mut self.coefficients);
        }
        let xs: Vec<&[f32]> = (0..pass.n_inputs()).map(|input| pass.input(input)).collect();
        let (set, width) = (pass.rows(), pass.width());
        weighted_sum(set, &xs, &self.coefficients, width, false, pass.finish(), out, pass.monitor)
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let f = pass.forward;
        for (input, &coefficient) in self.coefficients.iter().enumerate() {
            add_rows(pass, input, coefficient, d_out)?;
        }
        let Some(weights) = &self.weights else { return Ok(()) };
        let xs: Vec<&[f32]> = (0..f.n_inputs()).map(|input| f.input(input)).collect();
        let mut products = vec![0.0; xs.len()];
        pass.parameter_gradient(0, |out, partials, _| {
            scalar_products(f.rows(), d_out, &xs, f.width(), partials, &mut products, f.monitor)?;
            weights.gradient(f.parameter(0), &products, out);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_and_their_slopes_follow_every_map_and_basis() {
        let theta = [0.3f32, -0.4, 0.9];
        let basis: Vec<f64> = (0..12).map(|i| f64::from(i * 7 % 5) - 1.5).collect();
        for map in [Map::Identity, Map::Relu, Map::Softmax, Map::Sigmoid] {
            for basis in [None, Some(basis.clone())] {
                let n = if basis.is_some() { 4 } else { 3 };
                let weights = Weights { map, basis, offset: vec![0.5; n] };
                let at = |theta: &[f32]| {
                    let mut out = vec![0.0; n];
                    weights.coefficients(theta, &mut out);
                    out
                };
                if map == Map::Softmax && n == 3 {
                    assert!((at(&theta).iter().sum::<f32>() - 2.5).abs() < 1e-6);
                }
                let direction: Vec<f32> = (0..n).map(|i| 1.0 - 0.3 * i as f32).collect();
                let along = |theta: &[f32]| -> f32 { at(theta).iter().zip(&direction).map(|(c, d)| c * d).sum() };
                let mut gradient = [0.0; 3];
                weights.gradient(&theta, &direction, &mut gradient);
                for k in 0..3 {
                    let moved = |h: f32| {
                        let mut theta = theta;
                        theta[k] += h;
                        along(&theta)
                    };
                    let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                    assert!((slope - gradient[k]).abs() < 1e-3, "{map:?} {k}: {} for {slope}", gradient[k]);
                }
            }
        }
    }
}
