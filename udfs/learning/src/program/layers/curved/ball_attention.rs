//! Attention by distance in a product of Poincare balls (Zhang et al. 2021, Eq. 5-13).

use candle_core::{Result, Tensor};

use crate::network::{Entries, Hop};
use crate::program::layers::expressions::composed::Neighborwise;
use crate::program::layers::expressions::hop_kernel::HopKernel;
use crate::spaces::{Curvature, Manifold, Radial, inner};

/// `sum_j a_ij log_0(g_j)` with the softmax `a_ij` of `-d(g_i, g_j)` over the neighbours and the node itself.
#[derive(Debug)]
pub(crate) struct BallAttention {
    /// The factors, side by side.
    pub heads: usize,
    /// The curvature of every factor.
    pub curvature: Curvature,
}

impl Neighborwise for BallAttention {
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

impl BallAttention {
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

impl HopKernel for BallAttention {
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
