//! One scalar product an edge and head: of its target's row and its source's.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};

use super::kernel::{DeviceInput, Kernel, Launch, args};
use super::{Pattern, expect_shape, for_each_segment, for_type, result, values, zeros};

/// `out[e, h] = <x[i], y[j]>` on the columns of head `h`, for the edge e from j into i.
pub(super) struct EdgeDots {
    pub(super) pattern: Arc<Pattern>,
    pub(super) heads: usize,
}

impl Pattern {
    /// `out[e, h] = <x[i], y[j]>` on the columns of head `h`, for the edge `e` from `j` into `i`: `x` has a row a target, `y`
    /// a row a source, both `heads * dim` columns. O(edges * heads * dim).
    ///
    /// # Errors
    /// If the shapes, types or devices do not fit.
    pub fn dots(self: &Arc<Self>, x: &Tensor, y: &Tensor, heads: usize) -> Result<Tensor> {
        let width = expect_shape("the matrix of targets", x, self.n_rows(), None)?;
        expect_shape("the matrix of sources", y, self.n_columns(), Some(width))?;
        if heads == 0 || !width.is_multiple_of(heads) {
            bail!("{width} columns are not {heads} heads of one width");
        }
        x.contiguous()?.apply_op2(&y.contiguous()?, EdgeDots { pattern: Arc::clone(self), heads })
    }
}

impl Kernel for EdgeDots {
    fn shape(&self, _: &[DeviceInput<'_>]) -> Shape {
        (self.pattern.n_entries(), self.heads).into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, y, side) = (inputs[0], inputs[1], self.pattern.side(false));
        let (heads, dim) = (self.heads, x.dims[1] / self.heads);
        let args = args![side.offsets.address()?, side.others.address()?, heads, dim, x.address, y.address, out];
        Ok(Launch::by_warp("edge_dots", side.n, args).into_iter().collect())
    }
}

impl CustomOp2 for EdgeDots {
    super::on_gpu!(2);

    fn name(&self) -> &'static str {
        "edge-dots"
    }

    fn cpu_fwd(&self, x: &CpuStorage, x_at: &Layout, y: &CpuStorage, y_at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (heads, width, len) = (self.heads, x_at.dims()[1], self.pattern.n_entries());
        let (side, dim) = (self.pattern.side(false).host()?, width / heads);
        for_type!(x, "edge-dots", Real => {
            let (x, y) = (values::<Real>(x, x_at)?, values::<Real>(y, y_at)?);
            let mut out = zeros::<Real>(len * heads);
            for_each_segment(side.offsets, &mut out, heads, |row, out| {
                let x = &x[row * width..][..width];
                for (out, &source) in out.chunks_exact_mut(heads).zip(&side.others[side.range(row)]) {
                    let y = &y[source as usize * width..][..width];
                    for (h, out) in out.iter_mut().enumerate() {
                        let (x, y) = (&x[h * dim..][..dim], &y[h * dim..][..dim]);
                        *out = x.iter().zip(y).map(|(x, y)| x * y).sum();
                    }
                }
            });
            result(out, (len, heads))
        })
    }

    fn bwd(&self, x: &Tensor, y: &Tensor, _: &Tensor, g: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let d_x = if x.track_op() { Some(self.pattern.sum(g, y)?) } else { None };
        let d_y = if y.track_op() { Some(self.pattern.transposed_sum(g, x)?) } else { None };
        Ok((d_x, d_y))
    }
}
