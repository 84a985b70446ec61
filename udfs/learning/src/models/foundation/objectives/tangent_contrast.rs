//! A row is nearer to itself moved along its tangents than to the rows of others (Sun et al. 2026, GraphGlue).

use candle_core::{D, DType, Device, Result, Tensor};

use super::info_nce::FAR;
use super::tangents::{along_frame, tangent_squares};
use super::unit_rows;

/// `- mean over i and m of ln [e^{-d(z_i, v_im)} / (e^{-d(z_i, v_im)} + sum over j other than i of e^{-d(z_i, z_j)})]`
/// with `d(a, b) = |a / |a| - b / |b||^2 / tau` and `v_im = z_i + |u_im| e_im`: tangents `u_im = g_m - z_i` to the rows
/// of `ends`, made orthogonal ([`along_frame`]) with their lengths kept. `z` is rows x width, two rows at least, `ends`
/// ends x width. O(rows^2 width + rows ends^3).
///
/// Of a distance of unit vectors, `2 - 2 cos`, the 2 cancels; a cosine with `v_im` needs no more of the frame than
/// `<z_i, e_im>`.
pub(in crate::models::foundation) fn tangent_contrast(z: &Tensor, ends: &Tensor, temperature: f64) -> Result<Tensor> {
    let unit = unit_rows(z)?;
    let similarity = (unit.matmul(&unit.t()?)? * (2.0 / temperature))?;
    let identity = Tensor::eye(z.dim(0)?, DType::F64, &Device::Cpu)?.to_dtype(z.dtype())?;
    let others = (similarity - (identity * FAR)?)?.log_sum_exp(D::Minus1)?.unsqueeze(1)?;
    let own = (cosines(z, ends)? * (2.0 / temperature))?;
    // ln(1 + e^x) for an x of either sign.
    let x = others.broadcast_sub(&own)?;
    (x.relu()? + (x.abs()?.neg()?.exp()? + 1.0)?.log()?)?.mean_all()
}

/// The cosine of each row with itself moved along each direction of its frame: rows x ends.
fn cosines(z: &Tensor, ends: &Tensor) -> Result<Tensor> {
    const SHORTEST: f64 = 1e-16;
    let squares = tangent_squares(z, ends)?;
    let moved = (squares.sqrt()? * along_frame(z, ends)?)?;
    let own = z.sqr()?.sum_keepdim(1)?;
    let product = moved.broadcast_add(&own)?;
    let square = (squares + (moved * 2.0)?)?.broadcast_add(&own)?;
    let lengths = square.maximum(SHORTEST)?.sqrt()?.broadcast_mul(&own.maximum(SHORTEST)?.sqrt()?)?;
    product / lengths
}
