//! Distances in the Poincare ball to learned centroids (Liu et al. 2019, Eq. 6).

use candle_core::{Result, Tensor};

use crate::kernels::doubles::{add_combinations, add_transposed_combinations, products};
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::{Radial, inner, lorentz, stereographic};

/// The curvature is -1.
const CURVATURE: f64 = 1.0;

/// The distance of each row to each centroid, which a parameter holds by space coordinates.
#[derive(Debug)]
pub(crate) struct BallDistances {
    /// The length in the ball of a tangent vector of length 1.
    pub scale: f64,
    /// The number of coordinates.
    pub dimension: usize,
}

impl Rowwise for BallDistances {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let (v, p) = (&x[0], &w[0]);
        let one = Tensor::ones((1, 1), v.dtype(), v.device())?;
        let kappa = (&one * -CURVATURE)?;
        // x / (1 + x_0) of the hyperboloid is the point of the ball.
        let ball = p.broadcast_div(&(lorentz::time(p, &one)? + 1.0)?)?;
        let squares =
            stereographic::square_distances(&stereographic::exp0(&(v * self.scale)?, &kappa)?, &ball, &kappa)?;
        // No root of 0, which has no slope.
        (squares + LEAST)?.sqrt()
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

/// Beneath the root of a squared distance, and beneath the conformal factors of the ball.
const LEAST: f64 = 1e-15;

/// Rows read the centroids in the ball, and of each the squared length and the conformal factor.
impl RowKernel for BallDistances {
    fn read(&self, w: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let ball = |p: &[f64]| -> Vec<f64> {
            let time = (inner(p, p) + 1.0).sqrt();
            p.iter().map(|p| p / (1.0 + time)).collect()
        };
        let points: Vec<Vec<f64>> = w[0].chunks_exact(self.dimension).map(ball).collect();
        let squares: Vec<f64> = points.iter().map(|p| inner(p, p)).collect();
        let conformal = squares.iter().map(|square| (1.0 - CURVATURE * square).max(LEAST)).collect();
        vec![points.concat(), squares, conformal]
    }

    fn pull(&self, w: &[Vec<f64>], read: &[Vec<f64>], d_read: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let n = self.dimension;
        let centroid = |(c, (p, of_ball)): (usize, (&[f64], &[f64]))| -> Vec<f64> {
            let of_conformal = if read[2][c] > LEAST { CURVATURE * d_read[2][c] } else { 0.0 };
            let along = 2.0 * (d_read[1][c] - of_conformal);
            let d: Vec<f64> = d_read[0][c * n..][..n].iter().zip(of_ball).map(|(d, x)| d + along * x).collect();
            let time = (inner(p, p) + 1.0).sqrt();
            let share = inner(&d, p) / ((1.0 + time) * time);
            d.iter().zip(p).map(|(d, p)| (d - share * p) / (1.0 + time)).collect()
        };
        vec![w[0].chunks_exact(n).zip(read[0].chunks_exact(n)).enumerate().flat_map(centroid).collect()]
    }

    fn values(&self, n: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let count = y.len() / n.max(1);
        let points = self.points(x);
        products(&points.rows, &read[0], self.dimension, y);
        for (xx, y) in points.squares.iter().zip(y.chunks_exact_mut(count)) {
            let conformal = (1.0 - CURVATURE * xx).max(LEAST);
            for (c, y) in y.iter_mut().enumerate() {
                let q = (xx + read[1][c] - 2.0 * *y).max(0.0) / (conformal * read[2][c]);
                let f = Radial::ArcSin.value(CURVATURE * q);
                *y = (4.0 * q * f * f + LEAST).sqrt();
            }
        }
    }

    fn gradients(&self, n: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let (dimension, count) = (self.dimension, d_y.len() / n.max(1));
        let points = self.points(x);
        // The products, then what they are multiplied by in the gradients.
        let mut factors = vec![0.0; d_y.len()];
        products(&points.rows, &read[0], dimension, &mut factors);
        let mut d_squares = vec![0.0; n];
        let rows = points.squares.iter().zip(factors.chunks_exact_mut(count)).zip(d_y.chunks_exact(count));
        for (((xx, factors), d_y), d_xx) in rows.zip(&mut d_squares) {
            let conformal = (1.0 - CURVATURE * xx).max(LEAST);
            let mut d_conformal = 0.0;
            for (c, (factor, d_y)) in factors.iter_mut().zip(d_y).enumerate() {
                let apart = xx + read[1][c] - 2.0 * *factor;
                let below = conformal * read[2][c];
                let q = apart.max(0.0) / below;
                let (f, slope) = Radial::ArcSin.value_and_slope(CURVATURE * q);
                let y = (4.0 * q * f * f + LEAST).sqrt();
                let d_q = d_y / (2.0 * y) * 4.0 * f * (f + 2.0 * q * slope * CURVATURE);
                d_conformal -= d_q * q / conformal;
                d_read[2][c] -= d_q * q / read[2][c];
                let d = if apart >= 0.0 { d_q / below } else { 0.0 };
                *d_xx += d;
                d_read[1][c] += d;
                *factor = -2.0 * d;
            }
            if conformal > LEAST {
                *d_xx -= CURVATURE * d_conformal;
            }
        }
        add_transposed_combinations(&factors, &points.rows, dimension, &mut d_read[0]);
        let mut d_points = vec![0.0; x.len()];
        add_combinations(&factors, &read[0], dimension, &mut d_points);
        let rows = x.chunks_exact(dimension).zip(points.rows.chunks_exact(dimension)).zip(d_squares);
        let gradients = d_points.chunks_exact_mut(dimension).zip(d_x.chunks_exact_mut(dimension));
        for (((v, point), d_xx), (d_point, d_x)) in rows.zip(gradients) {
            d_point.iter_mut().zip(point).for_each(|(d, x)| *d += 2.0 * d_xx * x);
            // point = exp v.
            let scale = self.scale;
            let s = CURVATURE * scale * scale * inner(v, v);
            let (value, slope) = Radial::Tan.value_and_slope(s);
            let factor = scale * value;
            let along = 2.0 * CURVATURE * scale.powi(3) * slope * inner(d_point, v);
            d_x.iter_mut().zip(d_point.iter().zip(v)).for_each(|(d_x, (d, v))| *d_x += factor * d + along * v);
        }
    }
}

/// Points of the ball.
struct BallPoints {
    rows: Vec<f64>,
    /// The squared lengths of the points.
    squares: Vec<f64>,
}

impl BallDistances {
    /// The points of tangent vectors.
    fn points(&self, x: &[f64]) -> BallPoints {
        let (mut rows, mut squares) = (Vec::with_capacity(x.len()), Vec::new());
        for v in x.chunks_exact(self.dimension) {
            let square = inner(v, v);
            let factor = self.scale * Radial::Tan.value(CURVATURE * self.scale * self.scale * square);
            rows.extend(v.iter().map(|v| v * factor));
            squares.push(square * factor * factor);
        }
        BallPoints { rows, squares }
    }
}
