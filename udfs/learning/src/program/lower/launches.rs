//! The kernels that a layer launches: on rows, along entries, products and sums.

use super::Lower;
use super::matrices::{Gather, HEAVY, RowList, Sink, Tailing, code};
use crate::device::{Arg, Buffer, DeviceError, Launch, THREADS, WARPS, args};

impl Lower<'_, '_> {
    /// A kernel that gives each row a warp: `args` follow the rows.
    pub fn by_warp(&mut self, kernel: &'static str, rows: RowList, args: Vec<Arg>) {
        self.over(kernel, rows, rows.len.div_ceil(WARPS), args);
    }

    /// A kernel that gives each of `width` elements of each row a thread: `args` follow the rows.
    pub fn by_element(&mut self, kernel: &'static str, rows: RowList, width: usize, args: Vec<Arg>) {
        self.over(kernel, rows, (rows.len * width).div_ceil(THREADS), args);
    }

    fn over(&mut self, kernel: &'static str, rows: RowList, blocks: usize, args: Vec<Arg>) {
        let mut all = args![rows.list, rows.len];
        all.extend(args);
        self.launch(kernel, blocks, all);
    }

    /// A kernel of so many blocks; nothing without blocks.
    pub fn launch(&mut self, kernel: &'static str, blocks: usize, args: Vec<Arg>) {
        match u32::try_from(blocks) {
            Ok(0) => {}
            Ok(blocks) if blocks <= i32::MAX as u32 => self.launches.push(Launch { kernel, blocks, args }),
            _ => {
                let error = DeviceError::Failed(format!("{kernel} takes {blocks} blocks, more than a GPU has"));
                self.failed.get_or_insert(error);
            }
        }
    }

    /// Zeros in `len` numbers.
    pub fn fill(&mut self, out: Buffer, len: usize) {
        self.launch("fill", len.div_ceil(THREADS), vec![out.into(), Arg::Long(len as u64), Arg::Real(0.0)]);
    }

    /// A sum along entries, on some rows.
    pub fn gather(&mut self, rows: RowList, gather: Gather) {
        let Gather { entries, weights, heads, mask, x, width, scale, base, add, tail, out } = gather;
        let (activation, slope) = code(tail.activation);
        let (base, base_stride, factor) =
            base.map_or((None, 0, 0.0), |(base, stride, factor)| (Some(base), stride, factor));
        let common = args![
            entries.offsets,
            entries.columns,
            entries.edges,
            weights,
            heads,
            width / heads,
            mask.map(|mask| mask.0),
            mask.is_some_and(|mask| mask.1),
            x.0,
            x.1,
            width,
            scale,
            base,
            base_stride,
            factor,
            add,
            tail.bias,
            activation,
            slope,
            tail.mask,
            out.0,
            out.1,
        ];
        let mut args = args![HEAVY];
        args.extend(common.iter().copied());
        self.by_warp("spmm", rows, args);
        if let Some((heavy, len)) = entries.heavy {
            let mut args = args![heavy];
            args.extend(common);
            self.over("spmm_heavy", rows, len, args);
        }
    }

    /// `out = tail(a w)`, or added, on some rows: `a` has `k` columns, `w` is `k x n`, or the transpose of an `n x k` matrix.
    #[expect(clippy::too_many_arguments, reason = "the operands of a matrix product with their sizes")]
    pub fn product(
        &mut self,
        rows: RowList,
        (a, k): (Buffer, usize),
        mask: Option<Buffer>,
        (w, n): (Buffer, usize),
        transposed: bool,
        tail: Tailing,
        sink: Sink,
    ) {
        const TILE: (usize, usize) = (128, 64);
        let (activation, slope) = code(tail.activation);
        let args = args![a, k, mask, w, n, transposed, sink.add, tail.bias, activation, slope, tail.mask, sink.buffer];
        self.over("gemm", rows, rows.len.div_ceil(TILE.0) * n.div_ceil(TILE.1), args);
    }

    /// `sink = sum over some rows of a[r]' g[r]`.
    ///
    /// # Errors
    /// If the device has no room for partial sums.
    pub fn outer(
        &mut self,
        rows: RowList,
        (a, k): (Buffer, usize),
        mask: Option<Buffer>,
        (g, n): (Buffer, usize),
        sink: Sink,
    ) -> Result<(), DeviceError> {
        const TILE: usize = 64;
        /// Partial sums of one product, in numbers.
        const ROOM: usize = 1 << 24;
        let most = (ROOM / (k * n).max(1)).clamp(1, 256);
        let (per_chunk, chunks) = chunks(rows.len, 256, most);
        let partials = self.scratch(PARTIALS, chunks * k * n)?;
        let blocks = chunks * k.div_ceil(TILE) * n.div_ceil(TILE);
        self.over("gemm_tn", rows, blocks, args![per_chunk, a, k, mask, g, n, partials]);
        self.sum_partials(partials, chunks, k * n, sink);
        Ok(())
    }

    /// `sink = sum over some rows of x[r]`, `width` columns.
    ///
    /// # Errors
    /// If the device has no room for partial sums.
    pub fn column_sums(&mut self, rows: RowList, x: Buffer, width: usize, sink: Sink) -> Result<(), DeviceError> {
        let (per_chunk, chunks) = chunks(rows.len, 64, 512);
        let partials = self.scratch(PARTIALS, chunks * width)?;
        self.over("column_sums", rows, chunks * width.div_ceil(32), args![per_chunk, x, width, partials]);
        self.sum_partials(partials, chunks, width, sink);
        Ok(())
    }

    /// `sink = sum over some rows of <x[r], y[r]>`, one number.
    ///
    /// # Errors
    /// If the device has no room for partial sums.
    pub fn scalar_product(
        &mut self,
        rows: RowList,
        (x, y): (Buffer, Buffer),
        width: usize,
        sink: Sink,
    ) -> Result<(), DeviceError> {
        let (per_chunk, chunks) = chunks(rows.len, 64, 512);
        let partials = self.scratch(PARTIALS, chunks)?;
        self.over("dot_partials", rows, chunks, args![per_chunk, x, y, width, partials]);
        self.sum_partials(partials, chunks, 1, sink);
        Ok(())
    }

    fn sum_partials(&mut self, partials: Buffer, chunks: usize, len: usize, sink: Sink) {
        self.launch("sum_partials", len.div_ceil(THREADS), args![partials, chunks, len, sink.add, sink.buffer]);
    }

    /// `sink = tail(coefficient[0] * factor * x)`, or added, on some rows.
    pub fn add_scaled(
        &mut self,
        rows: RowList,
        x: Buffer,
        (coefficient, factor): (Option<Buffer>, f32),
        width: usize,
        tail: Tailing,
        sink: Sink,
    ) {
        let (activation, slope) = code(tail.activation);
        let args = args![width, x, coefficient, factor, sink.add, tail.bias, activation, slope, tail.mask, sink.buffer];
        self.by_element("add_rows", rows, width, args);
    }

    /// Passes the gradient of the output on to an input, times a factor.
    ///
    /// # Errors
    /// As [`Lower::gradient`].
    pub fn pass_on(&mut self, input: usize, factor: (Option<Buffer>, f32)) -> Result<(), DeviceError> {
        let Some(sink) = self.gradient(input)? else { return Ok(()) };
        let (rows, d_out, width) = (self.rows(), self.d_out(), self.width());
        self.add_scaled(rows, d_out, factor, width, Tailing::NOTHING, sink);
        Ok(())
    }
}

/// The scratch of partial sums; layers use other numbers.
const PARTIALS: usize = usize::MAX;

/// RowList a chunk and the number of chunks: they depend on the number of rows alone.
fn chunks(rows: usize, least: usize, most: usize) -> (usize, usize) {
    let per_chunk = rows.div_ceil(most).max(least);
    (per_chunk, rows.div_ceil(per_chunk).max(1))
}
