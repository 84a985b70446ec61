//! The largest of the rows of each segment.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, CustomOp3, Layout, Result, Shape, Tensor};

use super::kernel::{DeviceInput, Kernel, Launch, args};
use super::{Pattern, expect_shape, for_each_row, for_each_segment, for_type, result, values, zeros};

/// `out[i] = max of x[e]` over the edges into i, column by column.
pub(super) struct SegmentMax {
    pub(super) pattern: Arc<Pattern>,
}

/// `out[e] = g[i]` where `x[e]` is the first of the edges into i with the value `max[i]`, else 0.
pub(super) struct SegmentMaxGradient {
    pub(super) pattern: Arc<Pattern>,
}

impl Pattern {
    /// The largest of the rows of the edges into each target, column by column; among equals the first passes the gradient
    /// on. Zeros for a target without edges. O(edges * columns).
    ///
    /// # Errors
    /// If the shape, type or device does not fit.
    pub fn max(self: &Arc<Self>, x: &Tensor) -> Result<Tensor> {
        expect_shape("the quantities of the edges", x, self.n_entries(), None)?;
        x.contiguous()?.apply_op1(SegmentMax { pattern: Arc::clone(self) })
    }
}

impl Kernel for SegmentMax {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        (self.pattern.n_rows(), inputs[0].dims[1]).into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, side) = (inputs[0], self.pattern.side(false));
        let args = args![side.offsets.address()?, x.dims[1], x.address, out];
        Ok(Launch::by_warp("segment_max", side.n, args).into_iter().collect())
    }
}

impl CustomOp1 for SegmentMax {
    super::on_gpu!(1);

    fn name(&self) -> &'static str {
        "segment-max"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (width, n) = (at.dims()[1], self.pattern.n_rows());
        let side = self.pattern.side(false).host()?;
        for_type!(x, "segment-max", Real => {
            let x = values::<Real>(x, at)?;
            let mut out = zeros::<Real>(n * width);
            for_each_row(&mut out, width, |row, out| {
                for (number, edge) in side.range(row).enumerate() {
                    let x = &x[edge * width..][..width];
                    for (out, x) in out.iter_mut().zip(x).filter(|(out, x)| number == 0 || *x > *out) {
                        *out = *x;
                    }
                }
            });
            result(out, (n, width))
        })
    }

    fn bwd(&self, x: &Tensor, max: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        let pattern = Arc::clone(&self.pattern);
        Ok(Some(x.apply_op3_no_bwd(max, &g.contiguous()?, &SegmentMaxGradient { pattern })?))
    }
}

impl Kernel for SegmentMaxGradient {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        inputs[0].dims.into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let ([x, max, g], side) = ([inputs[0], inputs[1], inputs[2]], self.pattern.side(false));
        let args = args![side.offsets.address()?, x.dims[1], x.address, max.address, g.address, out];
        Ok(Launch::by_warp("segment_max_gradient", side.n, args).into_iter().collect())
    }
}

impl CustomOp3 for SegmentMaxGradient {
    super::on_gpu!(3);

    fn name(&self) -> &'static str {
        "segment-max-gradient"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_at: &Layout,
        max: &CpuStorage,
        max_at: &Layout,
        g: &CpuStorage,
        g_at: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let width = x_at.dims()[1];
        let side = self.pattern.side(false).host()?;
        for_type!(x, "segment-max-gradient", Real => {
            let (x, max, g) = (values::<Real>(x, x_at)?, values::<Real>(max, max_at)?, values::<Real>(g, g_at)?);
            let mut out = zeros::<Real>(x.len());
            for_each_segment(side.offsets, &mut out, width, |row, out| {
                let edges = side.range(row);
                for column in 0..width {
                    let found = edges.clone().position(|edge| x[edge * width + column] == max[row * width + column]);
                    if let Some(first) = found {
                        out[first * width + column] = g[row * width + column];
                    }
                }
            });
            result(out, x_at.shape())
        })
    }
}
