//! Softmax with negative log-likelihood.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, CustomOp2, Device, Layout, Result, Shape, Tensor, WithDType, bail};

use super::kernel::{DeviceInput, Kernel, Launch, args};
use super::pattern::List;
use super::{expect_shape, for_each_row, for_type, result, values, zeros};

/// Rows with their classes, on a device: what a loss is about.
#[derive(Debug)]
pub struct Labelled {
    n_rows: usize,
    classes: usize,
    len: usize,
    rows: List<u32>,
    labels: List<u32>,
    /// The share of each item in the loss.
    shares: List<f64>,
    /// The item of each row; `u32::MAX` for none.
    items: List<u32>,
}

/// The share of each item's loss.
pub(super) struct Nll(pub(super) Arc<Labelled>);

/// The gradient of the losses by the logits, times that of the losses themselves.
pub(super) struct NllGradient(pub(super) Arc<Labelled>);

impl Labelled {
    /// Rows of a matrix of `n_rows` rows and a column a class, with their classes, on a device; `weights` has a number a
    /// class, or none for all 1.
    ///
    /// # Errors
    /// If a row or class does not exist, or the device has no memory.
    pub fn new(
        (n_rows, classes): (usize, usize),
        items: &[(u32, u32)],
        weights: &[f32],
        device: &Device,
    ) -> Result<Arc<Self>> {
        let outside = |&&(row, class): &&(u32, u32)| row as usize >= n_rows || class as usize >= classes;
        if let Some((row, class)) = items.iter().find(outside) {
            bail!("row {row} of class {class} is not in a matrix of {n_rows} rows and {classes} classes");
        }
        let weight = |class: u32| weights.get(class as usize).map_or(1.0, |weight| f64::from(*weight));
        let total: f64 = items.iter().map(|item| weight(item.1)).sum();
        let total = if total > 0.0 { total } else { 1.0 };
        let mut of_rows = vec![u32::MAX; n_rows];
        items.iter().zip(0..).for_each(|(item, number)| of_rows[item.0 as usize] = number);
        Ok(Arc::new(Self {
            n_rows,
            classes,
            len: items.len(),
            rows: List::new(items.iter().map(|item| item.0).collect(), device)?,
            labels: List::new(items.iter().map(|item| item.1).collect(), device)?,
            shares: List::new(items.iter().map(|item| weight(item.1) / total).collect(), device)?,
            items: List::new(of_rows, device)?,
        }))
    }

    /// The weighted mean of the negative log-likelihood of the classes, a matrix of one element: `logits` has a column a
    /// class. 0 without items. O(rows * classes).
    ///
    /// # Errors
    /// If the shape, type or device does not fit.
    pub fn nll(self: &Arc<Self>, logits: &Tensor) -> Result<Tensor> {
        expect_shape("the logits", logits, self.n_rows, Some(self.classes))?;
        if self.len == 0 {
            return Tensor::zeros((1, 1), logits.dtype(), logits.device());
        }
        logits.contiguous()?.apply_op1(Nll(Arc::clone(self)))?.sum_keepdim(0)
    }
}

/// The logarithm of the sum of the exponentials.
fn log_sum<T: WithDType>(logits: &[T]) -> f64 {
    let max = logits.iter().map(|z| z.to_f64()).fold(f64::NEG_INFINITY, f64::max);
    max + logits.iter().map(|z| (z.to_f64() - max).exp()).sum::<f64>().ln()
}

impl Kernel for Nll {
    fn shape(&self, _: &[DeviceInput<'_>]) -> Shape {
        (self.0.len, 1).into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let own = &self.0;
        let lists = args![own.rows.address()?, own.labels.address()?, own.shares.address()?];
        let args = [lists, args![own.classes, inputs[0].address, out]].concat();
        Ok(Launch::by_warp("nll", own.len, args).into_iter().collect())
    }
}

impl CustomOp1 for Nll {
    super::on_gpu!(1);

    fn name(&self) -> &'static str {
        "nll"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (own, classes) = (&self.0, self.0.classes);
        let (rows, labels, shares) = (own.rows.host()?, own.labels.host()?, own.shares.host()?);
        for_type!(logits, "nll", Real => {
            let logits = values::<Real>(logits, at)?;
            let mut out = zeros::<Real>(own.len);
            for_each_row(&mut out, 1, |item, out| {
                let row = &logits[rows[item] as usize * classes..][..classes];
                let loss = log_sum(row) - row[labels[item] as usize].to_f64();
                out[0] = <Real as WithDType>::from_f64(shares[item] * loss);
            });
            result(out, (own.len, 1))
        })
    }

    fn bwd(&self, logits: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(logits.apply_op2_no_bwd(&g.contiguous()?, &NllGradient(Arc::clone(&self.0)))?))
    }
}

impl Kernel for NllGradient {
    fn shape(&self, inputs: &[DeviceInput<'_>]) -> Shape {
        inputs[0].dims.into()
    }

    fn launches(&self, inputs: &[DeviceInput<'_>], out: u64) -> Result<Vec<Launch>> {
        let own = &self.0;
        let lists = args![own.items.address()?, own.labels.address()?, own.shares.address()?];
        let args = [lists, args![own.classes, inputs[0].address, inputs[1].address, out]].concat();
        Ok(Launch::by_warp("nll_gradient", own.n_rows, args).into_iter().collect())
    }
}

impl CustomOp2 for NllGradient {
    super::on_gpu!(2);

    fn name(&self) -> &'static str {
        "nll-gradient"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, at: &Layout, g: &CpuStorage, g_at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (own, classes) = (&self.0, self.0.classes);
        let (items, labels, shares) = (own.items.host()?, own.labels.host()?, own.shares.host()?);
        for_type!(logits, "nll-gradient", Real => {
            let (logits, g) = (values::<Real>(logits, at)?, values::<Real>(g, g_at)?);
            let mut out = zeros::<Real>(logits.len());
            for_each_row(&mut out, classes, |row, out| {
                let item = items[row] as usize;
                let Some(&label) = labels.get(item) else { return };
                let logits = &logits[row * classes..][..classes];
                let (log_sum, scale) = (log_sum(logits), g[item].to_f64() * shares[item]);
                for (c, (out, z)) in out.iter_mut().zip(logits).enumerate() {
                    let answer = f64::from(u8::from(c == label as usize));
                    *out = <Real as WithDType>::from_f64(scale * ((z.to_f64() - log_sum).exp() - answer));
                }
            });
            result(out, at.shape())
        })
    }
}
