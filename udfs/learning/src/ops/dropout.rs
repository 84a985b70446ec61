//! Dropout of the elements of a matrix.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, WithDType};

use super::kernel::{DeviceInput, Kernel, Launch, args, mask_args};
use super::{expect_shape, for_each_row, for_type, result, values, zeros};
use crate::ground::Axis;
use crate::ground::random::Dropout;

/// `out[r, c] = mask(r, where column c is stored) x[r, c]`.
pub(super) struct Drop {
    pub(super) mask: Dropout,
    pub(super) axis: Axis,
}

/// Drops the elements of a matrix with the real columns of an axis: that of row `r` and column `c` by element `(r, s)` of
/// the mask, `s` the place where `c` is stored, and scales the others; without a mask, nothing. O(elements).
///
/// # Errors
/// If the shape, type or device does not fit.
pub fn dropout(x: &Tensor, mask: Option<Dropout>, axis: Axis) -> Result<Tensor> {
    let Some(mask) = mask else { return Ok(x.clone()) };
    expect_shape("what is dropped", x, x.dims()[0], Some(axis.len()))?;
    let x = x.contiguous()?;
    let drop = Drop { mask, axis };
    if x.track_op() { x.apply_op1(drop) } else { x.apply_op1_no_bwd(&drop) }
}

impl Kernel for Drop {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        inputs[0].dims.into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, (stored, group)) = (inputs[0], self.axis.group());
        let mut args = args![self.axis.len(), group, stored];
        args.extend(mask_args(self.mask));
        args.extend(args![x.address, out]);
        Ok(Launch::by_element("dropout", x.dims.iter().product(), args).into_iter().collect())
    }
}

impl CustomOp1 for Drop {
    super::on_gpu!(1);

    fn name(&self) -> &'static str {
        "dropout"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (mask, width) = (self.mask, self.axis.len());
        let positions: Vec<usize> = self.axis.positions().collect();
        for_type!(x, "dropout", Real => {
            let x = values::<Real>(x, at)?;
            let mut out = zeros::<Real>(x.len());
            for_each_row(&mut out, width, |row, out| {
                let key = mask.row(row as u32);
                for ((out, x), &stored) in out.iter_mut().zip(&x[row * width..]).zip(&positions) {
                    *out = *x * <Real as WithDType>::from_f64(f64::from(mask.factor(key, stored as u32)));
                }
            });
            result(out, at.shape())
        })
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(g.contiguous()?.apply_op1_no_bwd(&Self { ..*self })?))
    }
}
