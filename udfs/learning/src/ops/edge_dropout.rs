//! Dropout of quantities of edges.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, WithDType};

use super::kernel::{DeviceInput, Kernel, Launch, args, mask_args};
use super::{Pattern, expect_shape, for_each_segment, for_type, result, values, zeros};
use crate::ground::random::Dropout;

/// `out[e, h] = mask(i, j * heads + h) x[e, h]` for the edge e from j into i.
pub(super) struct EdgeDropout {
    pub(super) pattern: Arc<Pattern>,
    pub(super) mask: Dropout,
}

impl Pattern {
    /// Drops quantities of edges: that of column `h` of the edge from `j` into `i` by element `(i, j * columns + h)` of the
    /// mask; without a mask, nothing. The entries of a matrix of features are dropped alike. O(edges * columns).
    ///
    /// # Errors
    /// If the shape, type or device does not fit.
    pub fn dropout(self: &Arc<Self>, x: &Tensor, mask: Option<Dropout>) -> Result<Tensor> {
        let Some(mask) = mask else { return Ok(x.clone()) };
        expect_shape("the quantities of the edges", x, self.n_entries(), None)?;
        x.contiguous()?.apply_op1(EdgeDropout { pattern: Arc::clone(self), mask })
    }
}

impl Kernel for EdgeDropout {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        inputs[0].dims.into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, side) = (inputs[0], self.pattern.side(false));
        let mut args = args![side.offsets.address()?, side.others.address()?, x.dims[1]];
        args.extend(mask_args(self.mask));
        args.extend(args![x.address, out]);
        Ok(Launch::by_warp("edge_dropout", side.n, args).into_iter().collect())
    }
}

impl CustomOp1 for EdgeDropout {
    super::on_gpu!(1);

    fn name(&self) -> &'static str {
        "edge-dropout"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (width, len, mask) = (at.dims()[1], self.pattern.n_entries(), self.mask);
        let side = self.pattern.side(false).host()?;
        for_type!(x, "edge-dropout", Real => {
            let x = values::<Real>(x, at)?;
            let mut out = zeros::<Real>(len * width);
            for_each_segment(side.offsets, &mut out, width, |row, out| {
                let (range, key) = (side.range(row), mask.row(row as u32));
                let edges = out.chunks_exact_mut(width.max(1)).zip(x[range.start * width..].chunks_exact(width.max(1)));
                for ((out, x), &source) in edges.zip(&side.others[range]) {
                    let element = source.wrapping_mul(width as u32);
                    for (h, (out, x)) in out.iter_mut().zip(x).enumerate() {
                        let factor = mask.factor(key, element.wrapping_add(h as u32));
                        *out = *x * <Real as WithDType>::from_f64(f64::from(factor));
                    }
                }
            });
            result(out, (len, width))
        })
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(self.pattern.dropout(g, Some(self.mask))?))
    }
}
