//! A row added to every row: a bias.

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};

use super::kernel::{DeviceInput, Kernel, Launch, args};
use super::{expect_shape, for_each_row, for_type, result, values, zeros};

/// `out[r] = x[r] + b`.
pub(super) struct AddRow;

/// `x + b` for a matrix and a row of as many columns. The gradient of the row is formed by a product with ones, whose sums
/// are those of a matrix product: sums over many rows lose no digits. O(elements).
///
/// # Errors
/// If the shapes, types or devices do not fit.
pub fn add_row(x: &Tensor, b: &Tensor) -> Result<Tensor> {
    let width = x.dims2()?.1;
    expect_shape("a row that is added", b, 1, Some(width))?;
    x.contiguous()?.apply_op2(&b.contiguous()?, AddRow)
}

impl Kernel for AddRow {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        inputs[0].dims.into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let (x, row) = (inputs[0], inputs[1]);
        let args = args![x.dims[1], x.address, row.address, out];
        Ok(Launch::by_element("add_row", x.dims.iter().product(), args).into_iter().collect())
    }
}

impl CustomOp2 for AddRow {
    super::on_gpu!(2);

    fn name(&self) -> &'static str {
        "add-row"
    }

    fn cpu_fwd(&self, x: &CpuStorage, x_at: &Layout, b: &CpuStorage, b_at: &Layout) -> Result<(CpuStorage, Shape)> {
        let width = x_at.dims()[1];
        for_type!(x, "add-row", Real => {
            let (x, b) = (values::<Real>(x, x_at)?, values::<Real>(b, b_at)?);
            let mut out = zeros::<Real>(x.len());
            for_each_row(&mut out, width, |row, out| {
                let x = &x[row * width..][..width];
                out.iter_mut().zip(x.iter().zip(b)).for_each(|(out, (x, b))| *out = *x + *b);
            });
            result(out, x_at.shape())
        })
    }

    fn bwd(&self, x: &Tensor, b: &Tensor, _: &Tensor, g: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let d_x = if x.track_op() { Some(g.clone()) } else { None };
        let d_b = if b.track_op() { Some(column_sums(g)?) } else { None };
        Ok((d_x, d_b))
    }
}

/// The sums of the columns, one row.
fn column_sums(x: &Tensor) -> Result<Tensor> {
    let (n, width) = x.dims2()?;
    if n == 0 {
        return Tensor::zeros((1, width), x.dtype(), x.device());
    }
    Tensor::ones((1, n), x.dtype(), x.device())?.matmul(&x.contiguous()?)
}
