//! Moves of points by a common point, row by row with their gradient: between tangent vectors at the origin, in whose plane
//! with that of the common point the result lies.

use crate::program::layers::expressions::row_kernel::RowKernel;
use crate::spaces::{Curvature, Dual, Manifold, Radial, inner, stereographic};

/// `log_0(exp_0(z) + exp_0(b))` of each row z and one row b, the parameter 0. The curvature is `-sign` times its size.
#[derive(Debug, Clone, Copy)]
pub struct Translation {
    /// The coordinates, which say how long tangent vectors are.
    pub manifold: Manifold,
    /// The size of the curvature.
    pub curvature: Curvature,
    /// 1 for hyperbolic space, -1 for the sphere (of the ball's coordinates).
    pub sign: f64,
    /// The factor of the lengths of tangent vectors in the ball.
    pub scale: f64,
    /// The number of columns that are of the space; to the others b is added.
    pub columns: usize,
}

impl Translation {
    /// In hyperbolic space.
    pub fn hyperbolic(manifold: Manifold, curvature: Curvature, columns: usize) -> Self {
        Self { manifold, curvature, sign: 1.0, scale: 1.0, columns }
    }

    /// On the sphere, whose tangent vectors at the origin are half as long in the ball's coordinates.
    pub fn spherical(curvature: Curvature, columns: usize) -> Self {
        Self { manifold: Manifold::Ball, curvature, sign: -1.0, scale: 0.5, columns }
    }

    /// The coefficients of z and b, of the inner products and the curvature's size with its sign.
    fn coefficients<const N: usize>(&self, zz: f64, zb: f64, bb: f64, c: f64) -> [Dual<N>; 2] {
        let square = self.scale * self.scale;
        let [zz, zb, bb, c] = [(zz, 0), (zb, 1), (bb, 2), (c, 3)].map(|(x, number)| Dual::variable(x, number));
        match self.manifold {
            Manifold::Ball => in_ball(zz * square, zb * square, bb * square, c),
            Manifold::Hyperboloid => on_hyperboloid(zz, zb, bb, c),
        }
    }
}

/// The Moebius sum, as [`crate::spaces::stereographic::add`] has it.
fn in_ball<const N: usize>(zz: Dual<N>, zb: Dual<N>, bb: Dual<N>, c: Dual<N>) -> [Dual<N>; 2] {
    let (of_z, of_b) = ((c * zz).radial(Radial::Tan), (c * bb).radial(Radial::Tan));
    let (xx, xy, yy) = (of_z.square() * zz, of_z * of_b * zb, of_b.square() * bb);
    let twice = c * xy * 2.0 + 1.0;
    let below = (twice + c.square() * xx * yy).at_least(stereographic::LEAST);
    let (a, b) = ((twice + c * yy) / below * of_z, (-(c * xx) + 1.0) / below * of_b);
    let sum = a.square() * zz + a * b * zb * 2.0 + b.square() * bb;
    let back = (c * sum).radial(Radial::ArcTan);
    [back * a, back * b]
}

/// Along the vector that is transported from the origin, as [`crate::spaces::lorentz::exp`] of [`crate::spaces::lorentz::transport0`];
/// transport keeps its length.
fn on_hyperboloid<const N: usize>(zz: Dual<N>, zb: Dual<N>, bb: Dual<N>, c: Dual<N>) -> [Dual<N>; 2] {
    let k = Dual::variable(1.0, N) / c;
    let of_z = (c * zz).radial(Radial::Sin);
    let time = (of_z.square() * zz + k).sqrt();
    let share = of_z * zb / (time * k.sqrt() + k);
    let along = (c * bb).radial(Radial::Sin);
    let (a, b) = (of_z * ((c * bb).radial(Radial::Cos) + share * along), along);
    let sum = a.square() * zz + a * b * zb * 2.0 + b.square() * bb;
    let back = (c * sum).radial(Radial::ArcSin);
    [back * a, back * b]
}

impl RowKernel for Translation {
    fn read(&self, w: &[Vec<f64>]) -> Vec<Vec<f64>> {
        vec![w[0].clone(), vec![self.sign * self.curvature.value(w)]]
    }

    fn pull(&self, w: &[Vec<f64>], _: &[Vec<f64>], d_read: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let slope = self.sign * self.curvature.slope(w) * d_read[1][0];
        let mut gradient = vec![d_read.into_iter().next().unwrap_or_default()];
        gradient.extend((w.len() > 1).then(|| vec![slope]));
        gradient
    }

    fn values(&self, n: usize, x: &[f64], read: &[Vec<f64>], y: &mut [f64]) {
        let width = x.len() / n.max(1);
        let (b, rest) = read[0].split_at(self.columns);
        let bb = inner(b, b);
        for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
            let (z, x) = x.split_at(self.columns);
            let [of_z, of_b] = self.coefficients::<0>(inner(z, z), inner(z, b), bb, read[1][0]).map(|c| c.value);
            let (y, last) = y.split_at_mut(self.columns);
            y.iter_mut().zip(z.iter().zip(b)).for_each(|(y, (z, b))| *y = of_z * z + of_b * b);
            last.iter_mut().zip(x.iter().zip(rest)).for_each(|(y, (x, b))| *y = x + b);
        }
    }

    fn gradients(&self, n: usize, x: &[f64], read: &[Vec<f64>], d_y: &[f64], d_x: &mut [f64], d_read: &mut [Vec<f64>]) {
        let width = x.len() / n.max(1);
        let b = &read[0][..self.columns];
        let bb = inner(b, b);
        let rows = x.chunks_exact(width).zip(d_y.chunks_exact(width)).zip(d_x.chunks_exact_mut(width));
        for ((x, d_y), d_x) in rows {
            let (z, d) = (&x[..self.columns], &d_y[..self.columns]);
            let [of_z, of_b] = self.coefficients::<4>(inner(z, z), inner(z, b), bb, read[1][0]);
            let (d_z, d_b) = (inner(d, z), inner(d, b));
            let [zz, zb, bb, c] = std::array::from_fn(|at| d_z * of_z.slopes[at] + d_b * of_b.slopes[at]);
            d_read[1][0] += c;
            for (at, d_y) in d_y.iter().enumerate() {
                if at < self.columns {
                    d_x[at] += of_z.value * d_y + 2.0 * zz * z[at] + zb * b[at];
                    d_read[0][at] += of_b.value * d_y + zb * z[at] + 2.0 * bb * b[at];
                } else {
                    d_x[at] += d_y;
                    d_read[0][at] += d_y;
                }
            }
        }
    }
}
