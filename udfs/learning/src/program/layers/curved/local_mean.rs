//! Averages in the tangent spaces of the nodes (Chami et al. 2019, Eq. 8 and 9).

use candle_core::{Result, Tensor};

use crate::network::Hop;
use crate::program::layers::expressions::composed::Neighborwise;
use crate::spaces::{Curvature, Manifold};

/// `log_0(exp_i(sum_j w_ij log_i(h_j)))` (Eq. 9) of tangent vectors at the origin.
#[derive(Debug)]
pub(crate) struct LocalMean {
    /// The coordinates.
    pub manifold: Manifold,
    /// The curvature.
    pub curvature: Curvature,
    /// Whether weights are a softmax of scores (Eq. 8); the values of the operator otherwise.
    pub attention: bool,
}

impl LocalMean {
    /// The slope of scores below 0.
    pub const SLOPE: f64 = 0.2;
}

impl Neighborwise for LocalMean {
    fn compute(&self, x: &[Tensor], w: &[Tensor], hop: &Hop) -> Result<Tensor> {
        let (m, v) = (self.manifold, &x[0]);
        let c = self.curvature.size(w, v)?;
        let weights = match self.attention {
            false => hop.values(v)?,
            true => {
                let of = |vector: &Tensor| v.matmul(&vector.t()?.contiguous()?);
                let scores = (hop.target(&of(&w[0])?)? + hop.source(&of(&w[1])?)?)?;
                hop.softmax(&(scores.relu()? - (scores.neg()?.relu()? * Self::SLOPE)?)?)?
            }
        };
        let points = m.exp0(v, &c)?;
        let ways = m.log(&hop.target(&points)?, &hop.source(&points)?, &c)?;
        let mean = hop.sum(&ways.broadcast_mul(&weights)?)?;
        m.log0(&m.exp(&hop.own(&points)?, &mean, &c)?, &c)
    }
}
