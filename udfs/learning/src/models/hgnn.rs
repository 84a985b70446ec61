//! Hyperbolic graph neural network (Liu, Nickel and Kiela 2019, Eq. 2, 6 and 7).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{Result, Tensor};

use crate::choices::Task;
use crate::error::{BuildError, OptionError};
use crate::kernels::doubles::{add_combinations, add_transposed_combinations, products};
use crate::network::{Axis, Initial, Problem};
use crate::option_spec::{COMMON, Defaults, OptionSpec};
use crate::program::layers::expression::Rowwise;
use crate::program::layers::row_kernel::RowKernel;
use crate::program::{Builder, Program, Source};
use crate::spaces::hyperbolic::{self, Layered};
use crate::spaces::{Dual, Manifold, PointSpace, Radial, inner, lorentz, stereographic};
use crate::spec::{ModelSpec, reach};
use crate::table::{AFFINITY, DIRECTION, GEODESIC, MANIFOLD, NO_YES, WEIGHTS};

/// The registration.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hgnn",
    family: "message passing",
    geometry: "hyperbolic",
    tasks: Task::NAMES,
    source: "Liu, Nickel and Kiela 2019, Hyperbolic graph neural networks",
    defaults: Defaults { hidden: 16, ..COMMON },
    own: &[
        MANIFOLD,
        OptionSpec::choice(
            "aggregate",
            "true",
            NO_YES,
            "whether nodes aggregate their neighbours; false is the hyperbolic perceptron (Ganea, Becigneul and Hofmann 2018)",
        ),
        OptionSpec::integer(
            "centroids",
            100,
            [1, 4096],
            "learned points of the last layer's space; nodes are classified by their distances to these",
        ),
        AFFINITY,
        DIRECTION,
        WEIGHTS,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// The curvature is -1.
const CURVATURE: f64 = 1.0;

/// `log_0(relu(exp_0(m)))`: the activation acts on coordinates of the ball. A tangent vector of the hyperboloid is half as
/// long there.
#[derive(Debug)]
struct Activate(f64);

impl Rowwise for Activate {
    fn compute(&self, x: &[Tensor], _: &[Tensor]) -> Result<Tensor> {
        let kappa = Tensor::full(-CURVATURE, (1, 1), x[0].device())?.to_dtype(x[0].dtype())?;
        let ball = stereographic::exp0(&(&x[0] * self.0)?, &kappa)?.relu()?;
        stereographic::log0(&ball, &kappa)? * (1.0 / self.0)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(self)
    }
}

impl Activate {
    /// The output is a multiple of relu(m): by the squared lengths of m and relu(m).
    fn coefficient<const N: usize>(&self, m: &[f64]) -> Dual<N> {
        let positive = m.iter().filter(|m| **m > 0.0).map(|m| m * m).sum();
        let (square, positive) = (Dual::variable(inner(m, m), 0), Dual::variable(positive, 1));
        let scale = CURVATURE * self.0 * self.0;
        let exp = (square * scale).radial(Radial::Tan);
        exp * (exp.square() * positive * scale).radial(Radial::ArcTan)
    }
}

impl RowKernel for Activate {
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

/// The distance of each row to each centroid, which a parameter holds by space coordinates.
#[derive(Debug)]
struct Distances {
    /// The length in the ball of a tangent vector of length 1.
    scale: f64,
    dimension: usize,
}

impl Rowwise for Distances {
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
impl RowKernel for Distances {
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
    /// Their squared lengths.
    squares: Vec<f64>,
}

impl Distances {
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

/// `h_i <- relu(exp_0(sum_j a_ij W log_0(h_j)))` with `D^-1/2 (A + I) D^-1/2 = (a_ij)`, as the authors' program has it, or the
/// other affinity, the rectifier on coordinates of the Poincare ball. Classes are an affine map of the distances to learned
/// centroids.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> std::result::Result<Program, BuildError> {
    let options = problem.options;
    let manifold = Manifold::of(options)?;
    let aggregate = options.text("aggregate")? == "true";
    let centroids = options.integer("centroids")? as usize;
    let operator = match aggregate {
        true => Some(Arc::new(problem.affinity(reservation)?)),
        false if options.reads_weights() => {
            let valid = "false with aggregate => false, where nodes aggregate no neighbours";
            return Err(OptionError::invalid("weights", "true", valid).into());
        }
        false if options.reads_arcs() => {
            let valid = "edges with aggregate => false, where nodes aggregate no neighbours";
            return Err(OptionError::invalid("adjacency", "arcs", valid).into());
        }
        false if options.text("affinity")? != "symmetric" => {
            let valid = "symmetric with aggregate => false, where nodes aggregate no neighbours";
            return Err(OptionError::invalid("affinity", options.text("affinity")?, valid).into());
        }
        false => None,
    };
    let of_ball = if manifold == Manifold::Ball { 1.0 } else { 0.5 };
    let mut b = Builder::new(problem, reservation);
    let mut x: Source = b.input(options.dropout).into();
    let mut l = 0;
    loop {
        let last = l + 1 == options.layers;
        let width = if last { hyperbolic::last_width(options) } else { options.hidden };
        let z = b.linear(x, format!("{l}.weight"), width);
        let z = operator.as_ref().map_or(z, |operator| b.propagate(operator, z));
        let h = b.rows(Activate(of_ball), &[z], &[], width);
        b.embedding(h);
        if last {
            return hyperbolic::finish(b, h, manifold.space(width), &Layered::fixed(CURVATURE), |b, h| {
                let (rows, columns) = (Axis::exact(centroids), b.axis(h));
                let (initial, space) = (Initial::glorot(centroids, width), PointSpace::Hyperboloid { c: CURVATURE });
                let centres = b.point_parameter("centroids", rows, columns, initial, space);
                let distances = b.rows(Distances { scale: of_ball, dimension: width }, &[h], &[centres], centroids);
                Ok(b.affine(distances, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}
