//! Hyperbolic graph attention network (Zhang, Wang, Shi, Jiang and Ye 2021, Eq. 5-13).

use std::sync::Arc;

use bonnet_graph::Reservation;
use candle_core::{Result, Tensor};

use crate::choices::Task;
use crate::error::BuildError;
use crate::kernels::attention::MAX_HEADS;
use crate::network::{Axis, Entries, Hop, Initial, Operator, Problem};
use crate::option_spec::{COMMON, Defaults, OptionSpec};
use crate::program::layers::composed::Neighborwise;
use crate::program::layers::hop_kernel::HopKernel;
use crate::program::{Builder, Program, Source};
use crate::spaces::hyperbolic::{self, Layered};
use crate::spaces::{Curvature, Manifold, Radial, inner};
use crate::spec::{ModelSpec, reach};
use crate::table::{CURVATURE, DIRECTION, GEODESIC};

/// The registration: 8 heads of 8 as in the paper.
pub const SPEC: ModelSpec = ModelSpec {
    name: "hat",
    family: "message passing",
    geometry: "hyperbolic",
    tasks: Task::NAMES,
    source: "Zhang, Wang, Shi, Jiang and Ye 2021, Hyperbolic graph attention network",
    defaults: Defaults { lr: 0.005, hidden: 8, dropout: 0.6, ..COMMON },
    own: &[
        OptionSpec::integer(
            "heads",
            8,
            [1, MAX_HEADS as i64],
            "factors of the space, of the width hidden each, whose squared distances add up to that of the score; in link \
             and graph tasks the last layer has one",
        ),
        CURVATURE,
        DIRECTION,
        GEODESIC,
    ],
    reach: reach::A_LAYER,
    build,
};

/// `sum_j a_ij log_0(g_j)` with the softmax `a_ij` of `-d(g_i, g_j)` over the neighbours and the node itself.
#[derive(Debug)]
struct Attend {
    heads: usize,
    curvature: Curvature,
}

impl Neighborwise for Attend {
    fn compute(&self, x: &[Tensor], w: &[Tensor], hop: &Hop) -> Result<Tensor> {
        let (manifold, v) = (Manifold::Ball, &x[0]);
        let c = self.curvature.size(w, v)?;
        let width = v.dims2()?.1 / self.heads;
        let mut square = None;
        for head in 0..self.heads {
            let points = manifold.exp0(&v.narrow(1, head * width, width)?.contiguous()?, &c)?;
            let part = manifold.square_distance(&hop.target(&points)?, &hop.source(&points)?, &c)?;
            square = Some(match square {
                None => part,
                Some(sum) => (sum + part)?,
            });
        }
        let Some(square) = square else { candle_core::bail!("attention has heads") };
        // No root of 0, which has no slope.
        let scores = (square + 1e-15)?.sqrt()?.neg()?;
        hop.sum(&hop.source(v)?.broadcast_mul(&hop.softmax(&scores)?)?)
    }

    fn kernel(&self) -> Option<&dyn HopKernel> {
        Some(self)
    }
}

/// Beneath the root of a squared distance, and beneath the conformal factors of the ball.
const LEAST: f64 = 1e-15;

/// The rows that are read as points of the ball, with `1 - c |x|^2` of each head.
struct BallPoints {
    x: Vec<f64>,
    conformal: Vec<f64>,
}

/// The coefficients of a row's entries, and of each head the share of the distance: `q` with `d^2 = 4 q (arsinh / t)^2`.
#[derive(Default)]
struct Scores {
    distances: Vec<f64>,
    weights: Vec<f64>,
    shares: Vec<f64>,
}

impl Attend {
    fn points(&self, v: &[f64], columns: usize, c: f64) -> BallPoints {
        let width = columns / self.heads;
        let (mut x, mut conformal) = (v.to_vec(), Vec::with_capacity(v.len() / width));
        for x in x.chunks_exact_mut(width) {
            let factor = Radial::Tan.value(c * inner(x, x));
            x.iter_mut().for_each(|x| *x *= factor);
            conformal.push((1.0 - c * inner(x, x)).max(LEAST));
        }
        BallPoints { x, conformal }
    }

    fn scores(&self, points: &BallPoints, columns: usize, row: usize, sources: &[u32], c: f64, scores: &mut Scores) {
        let width = columns / self.heads;
        let Scores { distances, weights, shares } = scores;
        distances.clear();
        weights.clear();
        shares.clear();
        let own = &points.x[row * columns..][..columns];
        for &source in sources {
            let other = &points.x[source as usize * columns..][..columns];
            let mut square = 0.0;
            for head in 0..self.heads {
                let (x, y) = (&own[head * width..][..width], &other[head * width..][..width]);
                let apart: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
                let below = points.conformal[row * self.heads + head];
                let q = apart / (below * points.conformal[source as usize * self.heads + head]);
                let f = Radial::ArcSin.value(c * q);
                square += 4.0 * q * f * f;
                shares.push(q);
            }
            distances.push((square + LEAST).sqrt());
        }
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        weights.extend(distances.iter().map(|d| (least - d).exp()));
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}

impl HopKernel for Attend {
    fn values(&self, entries: Entries<'_>, v: &[f64], w: &[Vec<f64>], y: &mut [f64]) {
        let (columns, c, mut scores) = (y.len() / entries.rows().max(1), self.curvature.value(w), Scores::default());
        let points = self.points(v, columns, c);
        for (row, y) in y.chunks_exact_mut(columns).enumerate() {
            self.scores(&points, columns, row, entries.of(row), c, &mut scores);
            for (&source, weight) in entries.of(row).iter().zip(&scores.weights) {
                let v = &v[source as usize * columns..][..columns];
                y.iter_mut().zip(v).for_each(|(y, v)| *y += weight * v);
            }
        }
    }

    fn gradients(
        &self,
        entries: Entries<'_>,
        v: &[f64],
        w: &[Vec<f64>],
        d_y: &[f64],
        d_v: &mut [f64],
        d_w: &mut [Vec<f64>],
    ) {
        let (columns, c, mut scores) = (d_y.len() / entries.rows().max(1), self.curvature.value(w), Scores::default());
        let (width, heads, mut d_c) = (columns / self.heads, self.heads, 0.0);
        let points = self.points(v, columns, c);
        let (mut d_points, mut d_conformal) = (vec![0.0; v.len()], vec![0.0; points.conformal.len()]);
        let mut along = Vec::new();
        for (row, d_y) in d_y.chunks_exact(columns).enumerate() {
            let sources = entries.of(row);
            self.scores(&points, columns, row, sources, c, &mut scores);
            along.clear();
            for (&source, weight) in sources.iter().zip(&scores.weights) {
                let at = source as usize * columns;
                along.push(inner(d_y, &v[at..at + columns]));
                d_v[at..at + columns].iter_mut().zip(d_y).for_each(|(d, d_y)| *d += weight * d_y);
            }
            let mean = inner(&along, &scores.weights);
            for (entry, &source) in sources.iter().enumerate() {
                // Of the squared distance: the score is minus the root.
                let d = scores.weights[entry] * (mean - along[entry]) / (2.0 * scores.distances[entry]);
                for head in 0..heads {
                    let q = scores.shares[entry * heads + head];
                    let (f, slope) = Radial::ArcSin.value_and_slope(c * q);
                    let d_q = d * 4.0 * f * (f + 2.0 * q * slope * c);
                    d_c += d * 8.0 * q * q * f * slope;
                    let (own, other) = (row * heads + head, source as usize * heads + head);
                    let d_apart = 2.0 * d_q / (points.conformal[own] * points.conformal[other]);
                    d_conformal[own] -= d_q * q / points.conformal[own];
                    d_conformal[other] -= d_q * q / points.conformal[other];
                    for at in 0..width {
                        let (i, j) = (own * width + at, other * width + at);
                        let d = d_apart * (points.x[i] - points.x[j]);
                        d_points[i] += d;
                        d_points[j] -= d;
                    }
                }
            }
        }
        let groups = v.chunks_exact(width).zip(d_v.chunks_exact_mut(width)).zip(d_points.chunks_exact_mut(width));
        for (((v, d_v), d_x), (conformal, d)) in groups.zip(points.conformal.iter().zip(d_conformal)) {
            let square = inner(v, v);
            let (f, slope) = Radial::Tan.value_and_slope(c * square);
            if *conformal > LEAST {
                d_c -= d * square * f * f;
                d_x.iter_mut().zip(v).for_each(|(d_x, v)| *d_x -= 2.0 * c * d * f * v);
            }
            let along = slope * inner(d_x, v);
            d_c += along * square;
            d_v.iter_mut().zip(d_x.iter().zip(v)).for_each(|(d_v, (d_x, v))| *d_v += f * d_x + 2.0 * c * along * v);
        }
        if let Some(d_w) = d_w.first_mut() {
            d_w[0] += d_c * self.curvature.slope(w);
        }
    }
}

/// `h_i <- exp_0(relu(sum_j a_ij log_0(g_j) + b))`, `g_j = exp_0(W log_0(h_j))`, in the Poincare ball; the score of a
/// neighbour is its negative distance, without a learned vector. Tangent vectors at the origin carry a representation from
/// a layer to the next. Nodes are classified by an affine map of these.
fn build(problem: &Problem<'_>, reservation: &mut Reservation<'_>) -> std::result::Result<Program, BuildError> {
    let options = problem.options;
    let heads = options.integer("heads")? as usize;
    let operator = Arc::new(Operator::attention(&problem.graph, reservation)?);
    let classes = options.task == Task::NodeClassification;
    let mut b = Builder::new(problem, reservation);
    let (mut x, mut curvature): (Source, _) = (b.input(options.dropout).into(), Layered::of(options));
    let mut l = 0;
    loop {
        let last = l + 1 == options.layers;
        let heads = if last && !classes { 1 } else { heads };
        let width = if last { hyperbolic::last_width(options) } else { options.hidden };
        let (rows, columns) = (b.source_axis(x), Axis::padded(heads, width));
        let weights = b.parameter(format!("{l}.weight"), rows, columns, Initial::glorot(rows.len(), columns.len()));
        let z = b.linear_with(x, weights);
        curvature.begin(&mut b, l);
        let layer = Attend { heads, curvature: curvature.after(0) };
        let z = b.neighbors(layer, &operator, &[z], &curvature.with(&[]), columns);
        let z = b.bias(z, format!("{l}.bias"));
        let h = b.relu(z);
        b.embedding(h);
        if last {
            return hyperbolic::finish(b, h, Manifold::Ball.power(width, heads), &curvature, |b, h| {
                let h = b.dropout(h, options.dropout);
                Ok(b.affine(h, "decode", problem.n_outputs))
            });
        }
        x = b.dropout(h, options.dropout).into();
        l += 1;
    }
}
