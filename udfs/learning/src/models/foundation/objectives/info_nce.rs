//! Two views of each thing are nearer to one another than to those of others (van den Oord et al. 2018; You et al. 2020, GraphCL, Eq. 3).

use candle_core::{D, DType, Device, Result, Tensor};

use super::unit_rows;

/// `- mean over i of ln [e^{s_ii / tau} / sum over j other than i of e^{s_ij / tau}]`, `s_ij = cos(x_i, y_j)`: rows of `x` and `y`
/// are two views of the same things, two at least. O(rows^2 width).
pub(in crate::models::foundation) fn info_nce(x: &Tensor, y: &Tensor, temperature: f64) -> Result<Tensor> {
    let n = x.dim(0)?;
    let similarity = (unit_rows(x)?.matmul(&unit_rows(y)?.t()?)? / temperature)?;
    let identity = Tensor::eye(n, DType::F64, &Device::Cpu)?.to_dtype(x.dtype())?;
    let positive = (&similarity * &identity)?.sum(D::Minus1)?;
    // e^-inf is 0, but its gradient is not a number: far below every similarity is enough.
    let others = (similarity - (identity * FAR)?)?.log_sum_exp(D::Minus1)?;
    (others - positive)?.mean_all()
}

/// Beyond 2 / tau for every tau that is taken, so that its exponential is 0.
pub(super) const FAR: f64 = 1e4;
