//! Points of the hyperboloid of curvature -1, time first, read by other coordinates.

use candle_core::{D, Result, Tensor};

use crate::program::layers::expressions::expression::Rowwise;
use crate::spaces::lorentz;
use crate::spaces::space::with_curvatures;

/// The time and the space of rows, time first.
pub(super) fn parts(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let width = x.dim(D::Minus1)?;
    Ok((x.narrow(D::Minus1, 0, 1)?.contiguous()?, x.narrow(D::Minus1, 1, width - 1)?.contiguous()?))
}

/// The space coordinates, with the curvature beside them.
#[derive(Debug)]
pub(crate) struct SpaceCoordinates;

impl Rowwise for SpaceCoordinates {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        let (_, rest) = parts(&x[0])?;
        let minus = (Tensor::ones((1, 1), rest.dtype(), rest.device())? * -1.0)?;
        with_curvatures(&rest, &[minus])
    }
}

/// LorentzTangent vectors at the origin.
#[derive(Debug)]
pub(crate) struct LorentzTangent;

impl Rowwise for LorentzTangent {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        let (_, rest) = parts(&x[0])?;
        lorentz::log0(&rest, &Tensor::ones((1, 1), rest.dtype(), rest.device())?)
    }
}
