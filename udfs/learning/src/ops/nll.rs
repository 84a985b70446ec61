//! Softmax with negative log-likelihood.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor, WithDType, bail};

use super::{for_each_row, for_type, result, values, zeros};

/// Rows with their classes and shares in the loss.
#[derive(Debug, Clone)]
struct Items(Arc<[(u32, u32, f64)]>);

/// The loss.
struct Nll(Items);

/// Its gradient by the logits, times that of the loss.
struct NllGradient(Items);

/// The weighted mean of the negative log-likelihood of the classes of some rows, a matrix of one element: `logits` has a row
/// an item and a column a class; `items` has rows, ascending, with their classes, and `weights` a number a class, or none for
/// all 1. 0 without items. O(items * classes).
///
/// # Errors
/// If a row or class does not exist, or the type or device does not fit.
pub fn nll(logits: &Tensor, items: &[(u32, u32)], weights: &[f32]) -> Result<Tensor> {
    let (n, classes) = logits.dims2()?;
    if let Some((row, class)) = items.iter().find(|(row, class)| *row as usize >= n || *class as usize >= classes) {
        bail!("row {row} of class {class} is not in a matrix of {n} rows and {classes} classes");
    }
    let weight = |class: u32| weights.get(class as usize).map_or(1.0, |weight| f64::from(*weight));
    let total: f64 = items.iter().map(|item| weight(item.1)).sum();
    let total = if total > 0.0 { total } else { 1.0 };
    let items = Items(items.iter().map(|&(row, class)| (row, class, weight(class) / total)).collect());
    logits.contiguous()?.apply_op1(Nll(items))
}

/// The logarithm of the sum of the exponentials.
fn log_sum<T: WithDType>(logits: &[T]) -> f64 {
    let max = logits.iter().map(|z| z.to_f64()).fold(f64::NEG_INFINITY, f64::max);
    max + logits.iter().map(|z| (z.to_f64() - max).exp()).sum::<f64>().ln()
}

impl CustomOp1 for Nll {
    fn name(&self) -> &'static str {
        "nll"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, at: &Layout) -> Result<(CpuStorage, Shape)> {
        let classes = at.dims()[1];
        for_type!(logits, "nll", Real => {
            let logits = values::<Real>(logits, at)?;
            let loss = |&(row, class, share): &(u32, u32, f64)| {
                let row = &logits[row as usize * classes..][..classes];
                share * (log_sum(row) - row[class as usize].to_f64())
            };
            result(vec![<Real as WithDType>::from_f64(self.0.0.iter().map(loss).sum())], (1, 1))
        })
    }

    fn bwd(&self, logits: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(logits.apply_op2_no_bwd(&g.contiguous()?, &NllGradient(self.0.clone()))?))
    }
}

impl CustomOp2 for NllGradient {
    fn name(&self) -> &'static str {
        "nll-gradient"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, at: &Layout, g: &CpuStorage, g_at: &Layout) -> Result<(CpuStorage, Shape)> {
        let (classes, items) = (at.dims()[1], &self.0.0);
        for_type!(logits, "nll-gradient", Real => {
            let (logits, g) = (values::<Real>(logits, at)?, values::<Real>(g, g_at)?[0].to_f64());
            let mut out = zeros::<Real>(logits.len());
            for_each_row(&mut out, classes, |row, out| {
                let Ok(item) = items.binary_search_by_key(&(row as u32), |item| item.0) else { return };
                let (_, class, share) = items[item];
                let logits = &logits[row * classes..][..classes];
                let log_sum = log_sum(logits);
                for (c, (out, z)) in out.iter_mut().zip(logits).enumerate() {
                    let probability = (z.to_f64() - log_sum).exp();
                    let answer = f64::from(u8::from(c == class as usize));
                    *out = <Real as WithDType>::from_f64(g * share * (probability - answer));
                }
            });
            result(out, at.shape())
        })
    }
}
