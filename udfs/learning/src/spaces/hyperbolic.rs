//! Hyperbolic space in one of two coordinates, by its tangent vectors at the origin.

use candle_core::{Result, Tensor};

use super::{Geometry, Space, lorentz, sigmoid, softplus, softplus_of, stereographic};

/// The coordinates of hyperbolic space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manifold {
    /// The hyperboloid, whose tangent vectors at the origin are as long as they look.
    Hyperboloid,
    /// The Poincare ball, whose tangent vectors at the origin are twice as long.
    Ball,
}

impl Manifold {
    /// The space of points that are stored by their tangent vectors at the origin.
    pub fn space(self, dimension: usize) -> Space {
        let geometry = match self {
            Self::Hyperboloid => Geometry::Hyperboloid,
            Self::Ball => Geometry::Stereographic,
        };
        Space::single(geometry, dimension)
    }

    /// The product of `factors` such spaces.
    pub fn power(self, dimension: usize, factors: usize) -> Space {
        let Space { factors: single, gates } = self.space(dimension);
        Space { factors: vec![single[0]; factors], gates }
    }

    /// The point that a tangent vector at the origin leads to; `c` is the size of the curvature.
    pub fn exp0(self, v: &Tensor, c: &Tensor) -> Result<Tensor> {
        match self {
            Self::Hyperboloid => lorentz::exp0(v, &c.recip()?),
            Self::Ball => stereographic::exp0(v, &c.neg()?),
        }
    }

    /// The tangent vector at the origin that leads to a point.
    pub fn log0(self, x: &Tensor, c: &Tensor) -> Result<Tensor> {
        match self {
            Self::Hyperboloid => lorentz::log0(x, &c.recip()?),
            Self::Ball => stereographic::log0(x, &c.neg()?),
        }
    }

    /// The point that a tangent vector at `x` leads to.
    pub fn exp(self, x: &Tensor, v: &Tensor, c: &Tensor) -> Result<Tensor> {
        match self {
            Self::Hyperboloid => lorentz::exp(x, v, &c.recip()?),
            Self::Ball => stereographic::exp(x, v, &c.neg()?),
        }
    }

    /// The tangent vector at `x` that leads to `y`.
    pub fn log(self, x: &Tensor, y: &Tensor, c: &Tensor) -> Result<Tensor> {
        match self {
            Self::Hyperboloid => lorentz::log(x, y, &c.recip()?),
            Self::Ball => stereographic::log(x, y, &c.neg()?),
        }
    }

    /// From a point on along a tangent vector at the origin that is transported there: `x + exp_0(b)` in the ball.
    pub fn translate(self, x: &Tensor, b: &Tensor, c: &Tensor) -> Result<Tensor> {
        match self {
            Self::Hyperboloid => {
                let k = c.recip()?;
                lorentz::exp(x, &lorentz::transport0(x, b, &k)?, &k)
            }
            Self::Ball => {
                let kappa = c.neg()?;
                stereographic::add(x, &stereographic::exp0(b, &kappa)?, &kappa)
            }
        }
    }

    /// The squared distance of rows, a column.
    pub fn square_distance(self, x: &Tensor, y: &Tensor, c: &Tensor) -> Result<Tensor> {
        match self {
            Self::Hyperboloid => lorentz::square_distance(x, y, &c.recip()?),
            Self::Ball => stereographic::square_distance(x, y, &c.neg()?),
        }
    }
}

/// The size of a negative curvature: a constant, or `softplus` of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curvature {
    /// A constant as given.
    Fixed(f64),
    /// Learned: the parameter of an expression with this number.
    Learned(usize),
}

impl Curvature {
    /// The size, 1 x 1.
    pub fn size(self, w: &[Tensor], like: &Tensor) -> Result<Tensor> {
        match self {
            Self::Fixed(c) => Tensor::full(c, (1, 1), like.device())?.to_dtype(like.dtype()),
            Self::Learned(at) => softplus(&w[at]),
        }
    }

    /// The size as a number.
    pub fn value(self, w: &[Vec<f64>]) -> f64 {
        match self {
            Self::Fixed(c) => c,
            Self::Learned(at) => softplus_of(w[at][0]),
        }
    }

    /// The slope of the size by the parameter; 0 for a constant.
    pub fn slope(self, w: &[Vec<f64>]) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Learned(at) => sigmoid(w[at][0]),
        }
    }
}
