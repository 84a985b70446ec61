//! The curvature of each layer of a hyperbolic model.

use crate::ground::{Axis, Initial};
use crate::options::ModelOptions;
use crate::program::{Builder, Parameter};
use crate::spaces::{Curvature, softplus_inverse};

/// The curvature of each layer: one for all as the option `curvature` has it, or one learned for each, 1 at first.
#[derive(Debug)]
pub(crate) struct Layered {
    fixed: Option<f64>,
    raw: Option<Parameter>,
}

impl Layered {
    /// The curvature of each layer as the option has it.
    pub fn of(options: &ModelOptions<'_>) -> Self {
        Self { fixed: options.real("curvature").ok(), raw: None }
    }

    /// The same constant in all layers.
    pub fn fixed(c: f64) -> Self {
        Self { fixed: Some(c), raw: None }
    }

    /// The curvature of the layer that begins.
    pub fn begin(&mut self, b: &mut Builder<'_, '_>, layer: usize) {
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
