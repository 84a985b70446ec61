//! The bias of a hyperbolic linear layer (Chami et al. 2019, Eq. 7).

use candle_core::{Result, Tensor};

use super::Translation;
use crate::program::layers::expressions::expression::Rowwise;
use crate::program::layers::expressions::row_kernel::RowKernel;

/// `log_0(exp_0(z) + exp_0(b))`: the bias of a hyperbolic linear layer (Eq. 7), between tangent vectors at the origin.
#[derive(Debug)]
pub(crate) struct HyperbolicBias(pub Translation);

impl Rowwise for HyperbolicBias {
    fn compute(&self, x: &[Tensor], w: &[Tensor]) -> Result<Tensor> {
        let (Self(Translation { manifold, curvature, .. }), z) = (self, &x[0]);
        let c = curvature.size(w, z)?;
        manifold.log0(&manifold.translate(&manifold.exp0(z, &c)?, &w[0], &c)?, &c)
    }

    fn kernel(&self) -> Option<&dyn RowKernel> {
        Some(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spaces::{Curvature, Manifold};
    use crate::tests::equations::row_kernels::{check, normal};

    #[test]
    fn biases_move_points_near_and_far_as_their_definition_does() {
        for manifold in [Manifold::Ball, Manifold::Hyperboloid] {
            for length in [0.0, 1e-9, 0.1, 1.0, 2.5] {
                let learned = HyperbolicBias(Translation::hyperbolic(manifold, Curvature::Learned(1), 4));
                let (z, b) = (normal(20, length, 1), normal(4, 0.5, 2));
                check(&learned, 5, std::slice::from_ref(&z), &[(1, b.clone()), (1, vec![0.3])]);
                let fixed = HyperbolicBias(Translation::hyperbolic(manifold, Curvature::Fixed(1e-6), 4));
                check(&fixed, 5, &[z], &[(1, b)]);
            }
        }
    }
}
