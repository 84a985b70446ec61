//! Attention between points of the hyperboloid (Chen et al. 2022, Eq. 5).

use candle_core::{D, Result, Tensor};

use super::lorentz_centroid::centroid;
use super::lorentz_coordinates::parts;
use crate::network::Hop;
use crate::program::layers::expressions::composed::Neighborwise;

/// The centroid of the neighbours by attention (Eq. 5): points, queries, keys.
#[derive(Debug)]
pub(crate) struct LorentzAttention;

impl Neighborwise for LorentzAttention {
    fn compute(&self, x: &[Tensor], _: &[Tensor], hop: &Hop) -> Result<Tensor> {
        let ((q_time, q), (k_time, k)) = (parts(&x[1])?, parts(&x[2])?);
        let times = (hop.target(&q_time)? * hop.source(&k_time)?)?;
        let inner = ((hop.target(&q)? * hop.source(&k)?)?.sum_keepdim(D::Minus1)? - times)?;
        // -d^2 = 2 + 2 <q, k> by the root of the width.
        let scores = inner.affine(2.0, 2.0)? * (1.0 / (q.dim(D::Minus1)? as f64).sqrt());
        let weights = hop.softmax(&scores?)?;
        centroid(&hop.sum(&hop.source(&x[0])?.broadcast_mul(&weights)?)?)
    }
}
