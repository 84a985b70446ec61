//! The softmax over the edges into each target.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, WithDType};

use super::kernel::{DeviceInput, Kernel, Launch, args};
use super::{Pattern, expect_shape, for_each_segment, for_type, result, values, zeros};

/// `e^x[e] / sum of e^x[f]` over the edges f with the target of e, column by column.
pub(super) struct EdgeSoftmax {
    pub(super) pattern: Arc<Pattern>,
}

impl Pattern {
    /// `e^x[e] / sum of e^x[f]` over the edges `f` with the target of `e`, column by column: `x` has a row an edge.
    /// O(edges * columns).
    ///
    /// # Errors
    /// If the shape, type or device does not fit.
    pub fn softmax(self: &Arc<Self>, x: &Tensor) -> Result<Tensor> {
        expect_shape("the scores of the edges", x, self.n_entries(), None)?;
        x.contiguous()?.apply_op1(EdgeSoftmax { pattern: Arc::clone(self) })
    }
}

impl Kernel for EdgeSoftmax {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        inputs[0].dims.into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, side) = (inputs[0], self.pattern.side(false));
        let args = args![side.offsets.address()?, x.dims[1], x.address, out];
        Ok(Launch::by_warp("edge_softmax", side.n, args).into_iter().collect())
    }
}

impl CustomOp1 for EdgeSoftmax {
    super::on_gpu!(1);

    fn name(&self) -> &'static str {
        "edge-softmax"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (width, len) = (at.dims()[1], self.pattern.n_entries());
        let side = self.pattern.side(false).host()?;
        for_type!(x, "edge-softmax", Real => {
            let x = values::<Real>(x, at)?;
            let mut out = zeros::<Real>(len * width);
            for_each_segment(side.offsets, &mut out, width, |row, out| {
                let range = side.range(row);
                let x = &x[range.start * width..range.end * width];
                (0..width).for_each(|column| softmax(x, out, column, width));
            });
            result(out, (len, width))
        })
    }

    fn bwd(&self, _: &Tensor, alpha: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        // alpha (g - sum of alpha g), the sum over the edges into a target.
        let weighted = (alpha * g)?;
        let sums = self.pattern.at_targets(&self.pattern.total(&weighted)?)?;
        Ok(Some((weighted - (alpha * sums)?)?))
    }
}

/// A column of rows of `width` numbers.
fn softmax<T: WithDType>(x: &[T], out: &mut [T], column: usize, width: usize) {
    let of_column = || x.iter().skip(column).step_by(width).map(|x| x.to_f64());
    let max = of_column().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = of_column().map(|x| (x - max).exp()).sum();
    let out = out.iter_mut().skip(column).step_by(width);
    out.zip(of_column()).for_each(|(out, x)| *out = T::from_f64((x - max).exp() / sum));
}
