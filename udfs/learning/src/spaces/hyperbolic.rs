//! Hyperbolic space in one of two coordinates, by its tangent vectors at the origin.

use candle_core::{Result, Tensor};

use super::space::with_curvatures;
use super::{Geometry, Space, lorentz, sigmoid, softplus, softplus_inverse, softplus_of, stereographic};
use crate::choices::Task;
use crate::error::{BuildError, OptionError};
use crate::network::{Axis, Initial};
use crate::options::TrainOptions;
use crate::program::layers::expression::Rowwise;
use crate::program::{Builder, Parameter, Program, Slot};

/// The coordinates of hyperbolic space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manifold {
    /// The hyperboloid, whose tangent vectors at the origin are as long as they look.
    Hyperboloid,
    /// The Poincare ball, whose tangent vectors at the origin are twice as long.
    Ball,
}

impl Manifold {
    /// The value of the option `manifold`.
    pub(crate) fn of(options: &TrainOptions) -> std::result::Result<Self, OptionError> {
        Ok(if options.text("manifold")? == "poincare" { Self::Ball } else { Self::Hyperboloid })
    }

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
    /// As given.
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

    /// Its slope by the parameter; 0 for a constant.
    pub fn slope(self, w: &[Vec<f64>]) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Learned(at) => sigmoid(w[at][0]),
        }
    }
}

/// The curvature of each layer: one for all as the option `curvature` has it, or one learned for each, 1 at first.
#[derive(Debug)]
pub(crate) struct Layered {
    fixed: Option<f64>,
    raw: Option<Parameter>,
}

impl Layered {
    /// As the option has it.
    pub fn of(options: &TrainOptions) -> Self {
        Self { fixed: options.real("curvature").ok(), raw: None }
    }

    /// The same constant in all layers.
    pub fn fixed(c: f64) -> Self {
        Self { fixed: Some(c), raw: None }
    }

    /// The curvature of the layer that begins.
    pub fn begin(&mut self, b: &mut Builder<'_, '_, '_>, layer: usize) {
        let (one, initial) = (Axis::exact(1), Initial::Constant(softplus_inverse(1.0)));
        self.raw = self.fixed.is_none().then(|| b.parameter(format!("{layer}.curvature"), one, one, initial));
    }

    /// A layer of curvature -1, whose equations do not read it.
    pub fn without(&mut self) {
        self.raw = None;
    }

    /// The curvature of an expression, whose learned value is the parameter after `others` other ones.
    pub fn after(&self, others: usize) -> Curvature {
        match (self.fixed, self.raw) {
            (None, Some(_)) => Curvature::Learned(others),
            (fixed, _) => Curvature::Fixed(fixed.unwrap_or(1.0)),
        }
    }

    /// The parameters of such an expression.
    pub fn with(&self, others: &[Parameter]) -> Vec<Parameter> {
        others.iter().copied().chain(self.raw).collect()
    }
}

/// Tangent vectors at the origin with the curvature of each factor beside them.
#[derive(Debug)]
struct TangentVectors {
    factors: usize,
    curvature: Curvature,
}

impl Rowwise for TangentVectors {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        with_curvatures(&x[0], &vec![self.curvature.size(w, &x[0])?.neg()?; self.factors])
    }
}

/// The width of the last layer: that of a node's output where the task reads points or pools them.
pub(crate) fn last_width(options: &TrainOptions) -> usize {
    if options.task == Task::NodeClassification { options.hidden } else { options.embedding }
}

/// The end of a model whose last layer gives tangent vectors at the origin of a space, all of whose factors have the last
/// curvature: classes by `decode`, points for pairs, the vectors themselves for graphs.
pub(crate) fn finish(
    mut b: Builder<'_, '_, '_>,
    h: Slot,
    space: Space,
    curvature: &Layered,
    decode: impl FnOnce(&mut Builder<'_, '_, '_>, Slot) -> std::result::Result<Slot, BuildError>,
) -> std::result::Result<Program, BuildError> {
    let options = b.problem().options;
    let points = |b: &mut Builder<'_, '_, '_>| {
        let layer = TangentVectors { factors: space.factors.len(), curvature: curvature.after(0) };
        let points = b.rows(layer, &[h], &curvature.with(&[]), space.columns());
        b.points(points, space);
        points
    };
    let output = match options.task {
        Task::NodeClassification => {
            if options.keep_embeddings {
                points(&mut b);
            }
            decode(&mut b, h)?
        }
        Task::LinkPrediction => points(&mut b),
        _ => h,
    };
    Ok(b.finish(output)?)
}
