//! Weighted sums of the sources of the edges into each target: a sparse product.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};

use super::kernel::{DeviceInput, Kernel, Launch};
use super::{Pattern, expect_shape, for_each_row, for_type, result, values, zeros};

/// `out[i] = sum over the edges e from j into i of w[e, h] x[j]` head by head; the sum of the targets of each source where
/// the matrix is turned.
pub(super) struct EdgeSum {
    pub(super) pattern: Arc<Pattern>,
    pub(super) turned: bool,
}

impl Pattern {
    /// `out[i] = sum over the edges e from j into i of w[e, h] x[j]` for each head `h`, whose columns are the `h`-th part of
    /// `x`: `w` is edges x heads, `x` columns x (heads * dim), the result rows x (heads * dim). With one head and constant
    /// weights a sparse product. O(edges * heads * dim).
    ///
    /// # Errors
    /// If the shapes, types or devices do not fit.
    pub fn sum(self: &Arc<Self>, w: &Tensor, x: &Tensor) -> Result<Tensor> {
        self.weighted_sum(w, x, false)
    }

    /// The same for the transposed matrix: for each source the sum over its edges of `w[e, h] x[i]`, `x` a row a target.
    ///
    /// # Errors
    /// If the shapes, types or devices do not fit.
    pub fn transposed_sum(self: &Arc<Self>, w: &Tensor, x: &Tensor) -> Result<Tensor> {
        self.weighted_sum(w, x, true)
    }

    fn weighted_sum(self: &Arc<Self>, w: &Tensor, x: &Tensor, turned: bool) -> Result<Tensor> {
        let heads = expect_shape("the weights of the edges", w, self.n_entries(), None)?;
        let width = expect_shape("the matrix that a sparse one multiplies", x, self.side(!turned).n, None)?;
        if heads == 0 || !width.is_multiple_of(heads) {
            bail!("{width} columns are not {heads} heads of one width");
        }
        w.contiguous()?.apply_op2(&x.contiguous()?, EdgeSum { pattern: Arc::clone(self), turned })
    }
}

impl Kernel for EdgeSum {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        (self.pattern.side(self.turned).n, inputs[1].dims[1]).into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (w, x) = (inputs[0], inputs[1]);
        let (heads, width) = (w.dims[1], x.dims[1]);
        self.pattern.side(self.turned).sums(true, Some(w.address), (heads, width / heads), x.address, out)
    }
}

impl CustomOp2 for EdgeSum {
    super::on_gpu!(2);

    fn name(&self) -> &'static str {
        "edge-sum"
    }

    fn cpu_fwd(&self, w: &CpuStorage, w_at: &Layout, x: &CpuStorage, x_at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (heads, width) = (w_at.dims()[1], x_at.dims()[1]);
        let side = self.pattern.side(self.turned);
        let (n, side) = (side.n, side.host()?);
        let dim = width / heads;
        for_type!(w, "edge-sum", Real => {
            let (w, x) = (values::<Real>(w, w_at)?, values::<Real>(x, x_at)?);
            let mut out = zeros::<Real>(n * width);
            for_each_row(&mut out, width, |row, out| {
                for place in side.range(row) {
                    let x = &x[side.others[place] as usize * width..][..width];
                    let w = &w[side.entry(place) * heads..][..heads];
                    for ((out, x), w) in out.chunks_exact_mut(dim).zip(x.chunks_exact(dim)).zip(w) {
                        out.iter_mut().zip(x).for_each(|(out, x)| *out += *w * *x);
                    }
                }
            });
            result(out, (n, width))
        })
    }

    fn bwd(&self, w: &Tensor, x: &Tensor, _: &Tensor, g: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (pattern, heads) = (&self.pattern, w.dims()[1]);
        let d_w = match (w.track_op(), self.turned) {
            (false, _) => None,
            (true, false) => Some(pattern.dots(g, x, heads)?),
            (true, true) => Some(pattern.dots(x, g, heads)?),
        };
        let d_x = if x.track_op() { Some(pattern.weighted_sum(w, g, !self.turned)?) } else { None };
        Ok((d_w, d_x))
    }
}
