//! Differences of rows to some ends as tangents, with the frame and the metric that they span (Sun et al. 2026,
//! GraphGlue).

use candle_core::{Result, Tensor};

/// The least square of a length: its logarithm is taken.
const LEAST: f64 = 1e-6;

/// What is left of a tangent beside those before it, as a share of the square of the longest, up to which it counts as
/// their combination: well above the rounding of `f32`.
const DEPENDENT: f64 = 1e-4;

/// Both less the mean of the ends: differences stay as they are, and their squares lose fewer digits when they are
/// expanded.
fn centred(z: &Tensor, ends: &Tensor) -> Result<(Tensor, Tensor)> {
    let mean = ends.mean_keepdim(0)?.detach();
    Ok((z.broadcast_sub(&mean)?, ends.broadcast_sub(&mean)?))
}

/// `|g_m - z_i|^2` for rows `z_i` (n x width) and ends `g_m` (ends x width): n x ends, 1e-6 at least. O(n ends width),
/// without the tangents themselves.
pub(in crate::models::foundation) fn tangent_squares(z: &Tensor, ends: &Tensor) -> Result<Tensor> {
    let (z, ends) = centred(z, ends)?;
    let of_ends = ends.sqr()?.sum_keepdim(1)?.t()?;
    let own = z.sqr()?.sum_keepdim(1)?;
    let across = z.matmul(&ends.t()?)?;
    (across * -2.0)?.broadcast_add(&of_ends)?.broadcast_add(&own)?.maximum(LEAST)
}

/// `<z_i, e_im>` for the orthonormal frame `e_i1, e_i2, ...` that Gram and Schmidt make of the tangents `u_im = g_m -
/// z_i`, in their order: n x ends. A tangent of which less than a hundredth of the longest one's length is left beside
/// those before it, as of all beyond the width, has a direction orthogonal to everything, `z_i` among it: 0.
///
/// The frame itself, n x ends x width, is not made: with the Cholesky factor `L L^T` of the tangents' scalar products,
/// `L^T` is the R of their QR decomposition, and the result is `L^-1 (<z_i, u_i1>, ...)`. O(n ends (width + ends^2))
/// time, O(n ends^3) numbers with what the gradient keeps.
pub(in crate::models::foundation) fn along_frame(z: &Tensor, ends: &Tensor) -> Result<Tensor> {
    let least = (tangent_squares(z, ends)?.max_keepdim(1)?.detach() * DEPENDENT)?;
    let given = z;
    let (z, ends) = centred(z, ends)?;
    let turned = ends.t()?;
    let (of_ends, across) = (ends.matmul(&turned)?, z.matmul(&turned)?);
    let own = z.sqr()?.sum_keepdim(1)?;
    // <u_m, u_l> = <g_m, g_l> - <g_m, z> - <z, g_l> + <z, z>, less what the directions so far have of both.
    let mut rest = of_ends
        .unsqueeze(0)?
        .broadcast_sub(&across.unsqueeze(2)?)?
        .broadcast_sub(&across.unsqueeze(1)?)?
        .broadcast_add(&own.unsqueeze(2)?)?;
    let mut of_z = given.matmul(&turned)?.broadcast_sub(&(given * &z)?.sum_keepdim(1)?)?;
    let count = ends.dim(0)?;
    let mut found = Vec::with_capacity(count);
    for m in 0..count {
        let pivot = rest.narrow(1, 0, 1)?.narrow(2, 0, 1)?.squeeze(2)?;
        let is_new = pivot.gt(&least)?.to_dtype(z.dtype())?;
        let scale = (is_new / pivot.maximum(&least)?.sqrt()?)?;
        let along = (of_z.narrow(1, 0, 1)? * &scale)?;
        let left = count - m - 1;
        if left > 0 {
            let column = rest.narrow(1, 1, left)?.narrow(2, 0, 1)?.squeeze(2)?.broadcast_mul(&scale)?;
            of_z = (of_z.narrow(1, 1, left)? - column.broadcast_mul(&along)?)?;
            let both = column.unsqueeze(2)?.broadcast_mul(&column.unsqueeze(1)?)?;
            rest = (rest.narrow(1, 1, left)?.narrow(2, 1, left)? - both)?;
        }
        found.push(along);
    }
    Tensor::cat(&found, 1)
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};

    use super::*;
    use crate::ground::random::Stream;

    fn drawn(rows: usize, columns: usize, seed: u64, dtype: DType) -> Tensor {
        let mut stream = Stream::new(seed);
        let values: Vec<f64> = (0..rows * columns).map(|_| stream.normal()).collect();
        Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap().to_dtype(dtype).unwrap()
    }

    #[test]
    fn a_frame_spans_no_more_than_its_space() {
        for dtype in [DType::F32, DType::F64] {
            let (z, ends) = (drawn(5, 3, 1, dtype), drawn(7, 3, 2, dtype));
            let along = along_frame(&z, &ends).unwrap().to_dtype(DType::F64).unwrap().to_vec2::<f64>().unwrap();
            let rows = z.to_dtype(DType::F64).unwrap().to_vec2::<f64>().unwrap();
            for (along, row) in along.iter().zip(rows) {
                // Three directions are all of the space: the square of the row is the sum of its squares along them.
                let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
                assert!((square(&along[..3]) - square(&row)).abs() < 1e-3 * square(&row), "{along:?} {row:?}");
                assert!(along[3..].iter().all(|&x| x == 0.0), "{along:?}");
            }
        }
    }

    #[test]
    fn close_ends_far_away_keep_a_frame_within_its_bounds() {
        // Many more ends than columns, all close to one another and far from 0, the rows as far or among them.
        for (seed, spread) in [1.0, 1e-1, 1e-2, 1e-3].into_iter().enumerate() {
            let far = (drawn(1, 12, 9, DType::F32) * 10.0).unwrap();
            let moved = |rows: usize, seed: usize, spread: f64| {
                (drawn(rows, 12, seed as u64, DType::F32) * spread).unwrap().broadcast_add(&far).unwrap()
            };
            let ends = moved(40, 2 * seed, spread);
            for z in [moved(30, 2 * seed + 1, spread), moved(30, 2 * seed + 1, 1.0)] {
                let along = along_frame(&z, &ends).unwrap().to_vec2::<f32>().unwrap();
                for (along, row) in along.iter().zip(z.to_vec2::<f32>().unwrap()) {
                    let square = |x: &[f32]| x.iter().map(|x| f64::from(x * x)).sum::<f64>();
                    assert!(square(along) <= 1.1 * square(&row), "{spread}: {along:?}");
                }
            }
        }
    }

    #[test]
    fn no_tangent_is_shorter_than_its_floor() {
        let z = drawn(2, 3, 4, DType::F64);
        let squares = tangent_squares(&z, &z).unwrap().to_vec2::<f64>().unwrap();
        assert_eq!((squares[0][0], squares[1][1]), (LEAST, LEAST));
        assert!((squares[0][1] - squares[1][0]).abs() < 1e-12 && squares[0][1] > LEAST);
        assert!(along_frame(&z, &z).unwrap().to_vec2::<f64>().unwrap().concat().iter().all(|x| x.is_finite()));
    }
}
