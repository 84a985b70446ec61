//! The encoder that these models share: graph convolutions with a learned slope.

use candle_core::{Result, Tensor};

use super::{Shape, Weights};
use crate::ground::{Axis, Initial, Layout};
use crate::ops;

/// The slope of the activation below 0, at first (He et al. 2015).
const SLOPE: f64 = 0.25;

/// Appends the parameters of the encoder: `encoder.l.weight`, `encoder.l.bias`, `encoder.l.slope`.
pub(super) fn push(layout: &mut Layout, shape: &Shape<'_>) {
    let hidden = shape.options.hidden;
    for l in 0..shape.options.layers {
        push_layer(layout, &format!("encoder.{l}"), if l == 0 { shape.dim } else { hidden }, hidden);
    }
}

/// Appends the parameters of a layer: `name.weight`, `name.bias`, `name.slope`.
pub(super) fn push_layer(layout: &mut Layout, name: &str, inputs: usize, outputs: usize) {
    let name = |what: &str| format!("{name}.{what}");
    layout.push(name("weight"), Axis::exact(inputs), Axis::exact(outputs), Initial::glorot(inputs, outputs));
    layout.push(name("bias"), Axis::exact(1), Axis::exact(outputs), Initial::Zeros);
    layout.push(name("slope"), Axis::exact(1), Axis::exact(1), Initial::Constant(SLOPE));
}

/// `H_l = prelu(A (s_l * dropout(H_{l-1})) W_l + b_l)` for every layer, `A` the matrix by which rows are carried (`carry`) and `s_l` the token of a layer,
/// whose columns it scales; 1 where there is none.
pub(super) fn encode(
    shape: &Shape<'_>,
    weights: &Weights,
    x: &Tensor,
    carry: impl Fn(&Tensor) -> Result<Tensor>,
    tokens: Option<&[Tensor]>,
    pass: Option<u64>,
) -> Result<Tensor> {
    let mut h = x.clone();
    for l in 0..shape.options.layers {
        shape.check()?;
        let mask = pass.and_then(|pass| shape.mask(pass, l));
        let width = h.dim(1)?;
        h = ops::dropout(&h, mask, Axis::exact(width))?;
        if let Some(token) = tokens.and_then(|tokens| tokens.get(l)) {
            h = h.broadcast_mul(token)?;
        }
        h = layer(weights, &format!("encoder.{l}"), &h, &carry)?;
    }
    Ok(h)
}

/// `prelu(A h W + b)` with the parameters of a layer.
pub(super) fn layer(
    weights: &Weights,
    name: &str,
    h: &Tensor,
    carry: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let weight = weights.get(&format!("{name}.weight"))?;
    // The narrower side is carried along the edges.
    let product = match weight.dim(0)? < weight.dim(1)? {
        true => carry(h)?.matmul(weight)?,
        false => carry(&h.matmul(weight)?)?,
    };
    prelu(weights, name, &product)
}

/// `prelu(z + b)` with the bias and the slope of a layer.
pub(super) fn prelu(weights: &Weights, name: &str, z: &Tensor) -> Result<Tensor> {
    let h = ops::add_row(z, weights.get(&format!("{name}.bias"))?)?;
    let above = h.relu()?;
    &above + (&h - &above)?.broadcast_mul(weights.get(&format!("{name}.slope"))?)?
}

/// Appends the parameters of an affine map, drawn as torch's linear layers are: `name.weight`, `name.bias`.
pub(super) fn push_affine(layout: &mut Layout, name: &str, inputs: usize, outputs: usize) {
    let (rows, columns) = (Axis::exact(inputs), Axis::exact(outputs));
    layout.push(format!("{name}.weight"), rows, columns, Initial::linear(inputs));
    layout.push(format!("{name}.bias"), Axis::exact(1), columns, Initial::linear(inputs));
}

/// `x W + b` with the parameters of an affine map.
pub(super) fn affine(weights: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
    x.matmul(weights.get(&format!("{name}.weight"))?)?.broadcast_add(weights.get(&format!("{name}.bias"))?)
}

/// The bytes that a pass of the encoder keeps for its gradient, about: seven matrices a layer.
pub(super) fn bytes(shape: &Shape<'_>, n: usize) -> usize {
    4 * n * (4 * shape.dim + 7 * shape.options.layers * shape.options.hidden)
}
