//! Products of spaces whose points are the rows of a slot: see [`Space`].

use std::fmt;

use candle_core::{D, Result, Tensor};

use super::{lorentz, pseudo_hyperboloid, square, stereographic};
use crate::ground::Matrix;

/// A kind of space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Geometry {
    /// Of any curvature, by half the normal coordinates: the ball, flat space or the projected sphere of
    /// [`stereographic`].
    Stereographic,
    /// The hyperboloid by its normal coordinates.
    Hyperboloid,
    /// The hyperboloid by its space coordinates.
    SpaceCoordinates,
    /// The pseudo-hyperboloid with this number of dimensions of time, by its normal coordinates.
    PseudoHyperboloid(usize),
}

/// A space of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor {
    /// The factor's kind.
    pub geometry: Geometry,
    /// The factor's dimension: the columns that store a point.
    pub dimension: usize,
}

/// A product of spaces of constant curvature. A row holds the coordinates of a point of each factor, then the curvature of
/// each (negative for hyperbolic space and pseudo-hyperboloids), then, if there are gates, a weight of each.
///
/// The curvature is a column of its own, the same number in every row, so that a distance is a function of two rows and its
/// gradient reaches the curvature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The factors.
    pub factors: Vec<Factor>,
    /// Whether rows weigh the factors (Guo et al. 2025, Eq. 9): the squared distance of two points is the sum over the
    /// factors of `softmax(w_i * w_j)` times the factor's.
    pub gates: bool,
}

impl Space {
    /// A single space.
    pub fn single(geometry: Geometry, dimension: usize) -> Self {
        Self { factors: vec![Factor { geometry, dimension }], gates: false }
    }

    /// The columns of coordinates.
    pub fn dimension(&self) -> usize {
        self.factors.iter().map(|factor| factor.dimension).sum()
    }

    /// The columns of a row.
    pub fn columns(&self) -> usize {
        self.dimension() + self.factors.len() * if self.gates { 2 } else { 1 }
    }

    /// The squared distance of rows, a column.
    ///
    /// # Errors
    /// If rows have other columns.
    pub fn square_distance(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        let part = |x: &Tensor, from: usize, len: usize| x.narrow(D::Minus1, from, len)?.contiguous();
        let (mut from, mut parts) = (0, Vec::new());
        for (number, factor) in self.factors.iter().enumerate() {
            let (a, b) = (part(x, from, factor.dimension)?, part(y, from, factor.dimension)?);
            // Half of each row's: the gradient is shared between the two.
            let at = self.dimension() + number;
            let curvature = ((part(x, at, 1)? + part(y, at, 1)?)? * 0.5)?;
            parts.push(factor.square_distance(&a, &b, &curvature)?);
            from += factor.dimension;
        }
        let parts = Tensor::cat(&parts, D::Minus1)?;
        if !self.gates {
            return parts.sum_keepdim(D::Minus1);
        }
        let (at, n) = (self.dimension() + self.factors.len(), self.factors.len());
        let weights = softmax(&(part(x, at, n)? * part(y, at, n)?)?)?;
        (parts * weights)?.sum_keepdim(D::Minus1)
    }

    /// The coordinates of a row's point in the metrics that [`Space::text`] names.
    pub fn coordinates(&self, row: &[f32]) -> Vec<f64> {
        let (mut from, mut out) = (0, Vec::new());
        for (number, factor) in self.factors.iter().enumerate() {
            let curvature = f64::from(row[self.dimension() + number]);
            let x: Vec<f64> = row[from..from + factor.dimension].iter().map(|&x| f64::from(x)).collect();
            out.extend(factor.coordinates(&x, curvature));
            from += factor.dimension;
        }
        out
    }

    /// The coordinates of all rows, and their metric; none without rows.
    pub fn points(&self, rows: &Matrix) -> (Matrix, Option<String>) {
        let mut points = Matrix { columns: 0, values: Vec::new() };
        for row in rows.values.chunks_exact(rows.columns.max(1)) {
            let x = self.coordinates(row);
            points.columns = x.len();
            points.values.extend(x.into_iter().map(|x| x as f32));
        }
        let text = rows.values.get(..rows.columns).filter(|row| !row.is_empty()).map(|row| self.text(row));
        (points, text)
    }

    /// The metric of [`Space::coordinates`], with the curvatures of a row: `lorentz(17, -0.73)`, factors joined by ` x `.
    pub fn text(&self, row: &[f32]) -> String {
        let factor = |(number, factor): (usize, &Factor)| factor.text(f64::from(row[self.dimension() + number]));
        self.factors.iter().enumerate().map(factor).collect::<Vec<_>>().join(" x ")
    }
}

/// The softmax of each row, of a matrix with few columns.
pub fn softmax(x: &Tensor) -> Result<Tensor> {
    let powers = x.broadcast_sub(&x.max_keepdim(D::Minus1)?.detach())?.exp()?;
    powers.broadcast_div(&powers.sum_keepdim(D::Minus1)?)
}

impl Factor {
    fn square_distance(&self, x: &Tensor, y: &Tensor, curvature: &Tensor) -> Result<Tensor> {
        match self.geometry {
            Geometry::Stereographic => {
                let exp0 = |v: &Tensor| stereographic::exp0(v, curvature);
                stereographic::square_distance(&exp0(x)?, &exp0(y)?, curvature)
            }
            Geometry::Hyperboloid => {
                let k = curvature.neg()?.recip()?;
                lorentz::square_distance(&lorentz::exp0(x, &k)?, &lorentz::exp0(y, &k)?, &k)
            }
            Geometry::SpaceCoordinates => lorentz::square_distance(x, y, &curvature.neg()?.recip()?),
            Geometry::PseudoHyperboloid(time) => {
                pseudo_hyperboloid::square_distance(x, y, time, &curvature.neg()?.recip()?)
            }
        }
    }

    /// In `f64`, by plain numbers.
    fn coordinates(&self, x: &[f64], curvature: f64) -> Vec<f64> {
        use super::Radial;
        let squares: f64 = x.iter().map(|x| x * x).sum();
        match self.geometry {
            Geometry::Stereographic if curvature > 0.0 => {
                // The point of the sphere whose projection this is: the tangent vector is twice as long there.
                let s = -4.0 * curvature * squares;
                let mut out = vec![Radial::Cos.value(s) / curvature.sqrt()];
                out.extend(x.iter().map(|x| 2.0 * x * Radial::Sin.value(s)));
                out
            }
            Geometry::Stereographic => {
                let f = Radial::Tan.value(-curvature * squares);
                // Distances of flat space are those of coordinates twice as large.
                x.iter().map(|x| x * f * if curvature == 0.0 { 2.0 } else { 1.0 }).collect()
            }
            Geometry::Hyperboloid => {
                let f = Radial::Sin.value(-curvature * squares);
                on_hyperboloid(x.iter().map(|x| x * f), curvature)
            }
            Geometry::SpaceCoordinates => on_hyperboloid(x.iter().copied(), curvature),
            Geometry::PseudoHyperboloid(time) => {
                let (a, x_s) = x.split_at(time);
                let b = -1.0 / curvature;
                let length = (b + x_s.iter().map(|x| x * x).sum::<f64>()).sqrt();
                let s = -a.iter().map(|a| a * a).sum::<f64>() / b;
                let mut out = vec![length * Radial::Cos.value(s)];
                out.extend(a.iter().map(|a| length * a * Radial::Sin.value(s) / b.sqrt()));
                out.extend(x_s);
                out
            }
        }
    }

    fn text(&self, curvature: f64) -> String {
        let n = self.dimension;
        match self.geometry {
            Geometry::Stereographic if curvature > 0.0 => Named("spherical", n + 1, curvature),
            Geometry::Stereographic if curvature == 0.0 => Named("euclidean", n, curvature),
            Geometry::Stereographic => Named("poincare", n, curvature),
            Geometry::Hyperboloid | Geometry::SpaceCoordinates => Named("lorentz", n + 1, curvature),
            Geometry::PseudoHyperboloid(time) => {
                return format!("pseudo_hyperboloid({}, {}, {curvature})", time + 1, n - time);
            }
        }
        .to_string()
    }
}

fn on_hyperboloid(x: impl Iterator<Item = f64>, curvature: f64) -> Vec<f64> {
    let mut out = vec![0.0];
    out.extend(x);
    let space: f64 = out.iter().map(|x| x * x).sum();
    out[0] = (space - 1.0 / curvature).sqrt();
    out
}

struct Named(&'static str, usize, f64);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.2 {
            0.0 => write!(f, "{}({})", self.0, self.1),
            curvature => write!(f, "{}({}, {curvature})", self.0, self.1),
        }
    }
}

/// Rows of a space from coordinates and curvatures: each curvature, 1 x 1, is a column.
///
/// # Errors
/// If shapes do not fit.
pub fn with_curvatures(coordinates: &Tensor, curvatures: &[Tensor]) -> Result<Tensor> {
    let column = |curvature: &Tensor| square(&coordinates.narrow(1, 0, 1)?)?.zeros_like()?.broadcast_add(curvature);
    let columns = curvatures.iter().map(column).collect::<Result<Vec<_>>>()?;
    let mut parts = vec![coordinates];
    parts.extend(&columns);
    Tensor::cat(&parts, D::Minus1)
}
