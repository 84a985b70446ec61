//! The rectifier on coordinates of the Poincare ball.

use candle_core::{Result, Tensor};

use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::{Dual, Radial, inner, stereographic};

/// The curvature is -1.
const CURVATURE: f64 = 1.0;

/// `log_0(relu(exp_0(m)))`: the activation acts on coordinates of the ball. A tangent vector of the hyperboloid is half as
/// long there.
#[derive(Debug)]
pub(crate) struct BallRectifier(pub f64);

impl Rowwise for BallRectifier {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        let kappa = Tensor::full(-CURVATURE, (1, 1), x[0].device())?.to_dtype(x[0].dtype())?;
        let ball = stereographic::exp0(&(&x[0] * self.0)?, &kappa)?.relu()?;
        stereographic::log0(&ball, &kappa)? * (1.0 / self.0)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

impl BallRectifier {
    /// The output is a multiple of relu(m): by the squared lengths of m and relu(m).
    fn coefficient<const N: usize>(&self, m: &[f64]) -> Dual<N> {
        let positive = m.iter().filter(|m| **m > 0.0).map(|m| m * m).sum();
        let (square, positive) = (Dual::variable(inner(m, m), 0), Dual::variable(positive, 1));
        let scale = CURVATURE * self.0 * self.0;
        let exp = (square * scale).radial(Radial::Tan);
        exp * (exp.square() * positive * scale).radial(Radial::ArcTan)
    }
}

impl RowKernel for BallRectifier {
    fn values(&self, n: usize, x: &[f64], _: &[Vec<f64>], y: &mut [f64]) {
        let width = x.len() / n.max(1);
        for (m, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
            let factor = self.coefficient::<0>(m).value;
            y.iter_mut().zip(m).for_each(|(y, m)| *y = factor * m.max(0.0));
        }
    }

    fn gradients(&self, n: usize, x: &[f64], _: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], _: &mut [Vec<f64>]) {
        let width = x.len() / n.max(1);
        let rows = x.chunks_exact(width).zip(d_y.chunks_exact(width)).zip(d_x.chunks_exact_mut(width));
        for ((m, d_y), d_x) in rows {
            let Dual { value, slopes } = self.coefficient::<2>(m);
            let d: f64 = m.iter().zip(d_y).map(|(m, d_y)| m.max(0.0) * d_y).sum();
            let [of_all, of_positive] = slopes.map(|slope| 2.0 * d * slope);
            for ((d_x, m), d_y) in d_x.iter_mut().zip(m).zip(d_y) {
                // As candle has it, the slope at 0 is 1.
                let through = if *m >= 0.0 { value * d_y + of_positive * m } else { 0.0 };
                *d_x += of_all * m + through;
            }
        }
    }
}
