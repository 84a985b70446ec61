//! The inverse of a small matrix.

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor, WithDType};

use super::{expect_shape, for_type, result, values};
use crate::kernels::low_rank;

/// `A^-1` of a symmetric positive definite matrix.
struct Inverse;

/// The inverse of a symmetric positive definite matrix, NaN if it is none. Computed on the CPU in `f64`, wherever the matrix
/// is. O(columns^3).
///
/// # Errors
/// If the shape, type or device does not fit.
pub fn inverse(a: &Tensor) -> Result<Tensor> {
    expect_shape("what is inverted", a, a.dims()[0], Some(a.dims()[0]))?;
    a.contiguous()?.to_device(&Device::Cpu)?.apply_op1(Inverse)?.to_device(a.device())
}

impl CustomOp1 for Inverse {
    fn name(&self) -> &'static str {
        "inverse"
    }

    fn cpu_fwd(&self, a: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let k = at.dims()[0];
        for_type!(a, "inverse", Real => {
            let wide: Vec<f64> = values::<Real>(a, at)?.iter().map(|x| x.to_f64()).collect();
            let inverse = low_rank::inverse(k, &wide).unwrap_or_else(|| vec![f64::NAN; k * k]);
            result(inverse.into_iter().map(<Real as WithDType>::from_f64).collect(), at.shape())
        })
    }

    fn bwd(&self, _: &Tensor, inverse: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        let turned = inverse.t()?.contiguous()?;
        Ok(Some(turned.matmul(&g.contiguous()?)?.matmul(&turned)?.neg()?))
    }
}
