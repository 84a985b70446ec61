//! From nodes to edges and back: what an edge takes of one of its ends, and sums over the edges at an end.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};

use super::kernel::{DeviceInput, Kernel, Launch, args};
use super::{Pattern, expect_shape, for_each_row, for_each_segment, for_type, result, values, zeros};

/// `out[e] = x[i]`, the row of the target of e; of its source where `sources`.
pub(super) struct Take {
    pub(super) pattern: Arc<Pattern>,
    pub(super) sources: bool,
}

/// `out[i] = sum of x[e]` over the edges into i; out of it where `sources`.
pub(super) struct Total {
    pub(super) pattern: Arc<Pattern>,
    pub(super) sources: bool,
}

impl Pattern {
    /// The row of each edge's target: edges x columns. O(edges * columns).
    ///
    /// # Errors
    /// If the shape, type or device does not fit.
    pub fn at_targets(self: &Arc<Self>, x: &Tensor) -> Result<Tensor> {
        self.take(x, false)
    }

    /// The row of each edge's source: edges x columns. O(edges * columns).
    ///
    /// # Errors
    /// If the shape, type or device does not fit.
    pub fn at_sources(self: &Arc<Self>, x: &Tensor) -> Result<Tensor> {
        self.take(x, true)
    }

    /// The sum of the rows of the edges into each target; zeros for one without any. O(edges * columns).
    ///
    /// # Errors
    /// If the shape, type or device does not fit.
    pub fn total(self: &Arc<Self>, x: &Tensor) -> Result<Tensor> {
        self.total_at(x, false)
    }

    fn take(self: &Arc<Self>, x: &Tensor, sources: bool) -> Result<Tensor> {
        expect_shape("the matrix of nodes", x, self.side(sources).n, None)?;
        x.contiguous()?.apply_op1(Take { pattern: Arc::clone(self), sources })
    }

    fn total_at(self: &Arc<Self>, x: &Tensor, sources: bool) -> Result<Tensor> {
        expect_shape("the quantities of the edges", x, self.n_entries(), None)?;
        x.contiguous()?.apply_op1(Total { pattern: Arc::clone(self), sources })
    }
}

impl Kernel for Take {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        (self.pattern.n_entries(), inputs[0].dims[1]).into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, side) = (inputs[0], self.pattern.side(false));
        let args = args![side.offsets.address()?, side.others.address()?, self.sources, x.dims[1], x.address, out];
        Ok(Launch::by_warp("edge_take", side.n, args).into_iter().collect())
    }
}

impl CustomOp1 for Take {
    super::on_gpu!(1);

    fn name(&self) -> &'static str {
        "edge-ends"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (width, len) = (at.dims()[1], self.pattern.n_entries());
        let side = self.pattern.side(false).host()?;
        for_type!(x, "edge-ends", Real => {
            let x = values::<Real>(x, at)?;
            let mut out = zeros::<Real>(len * width);
            for_each_segment(side.offsets, &mut out, width, |row, out| {
                for (out, &source) in out.chunks_exact_mut(width.max(1)).zip(&side.others[side.range(row)]) {
                    let node = if self.sources { source as usize } else { row };
                    out.copy_from_slice(&x[node * width..][..width]);
                }
            });
            result(out, (len, width))
        })
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(self.pattern.total_at(g, self.sources)?))
    }
}

impl Kernel for Total {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        (self.pattern.side(self.sources).n, inputs[0].dims[1]).into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let x = inputs[0];
        self.pattern.side(self.sources).sums(false, None, (1, x.dims[1]), x.address, out)
    }
}

impl CustomOp1 for Total {
    super::on_gpu!(1);

    fn name(&self) -> &'static str {
        "edge-total"
    }

    fn cpu_fwd(&self, x: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (width, side) = (at.dims()[1], self.pattern.side(self.sources));
        let (n, side) = (side.n, side.host()?);
        for_type!(x, "edge-total", Real => {
            let x = values::<Real>(x, at)?;
            let mut out = zeros::<Real>(n * width);
            for_each_row(&mut out, width, |row, out| {
                for place in side.range(row) {
                    let x = &x[side.entry(place) * width..][..width];
                    out.iter_mut().zip(x).for_each(|(out, x)| *out += *x);
                }
            });
            result(out, (n, width))
        })
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(self.pattern.take(g, self.sources)?))
    }
}
