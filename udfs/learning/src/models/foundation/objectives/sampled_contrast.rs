//! A row's similarity to one that it belongs to against those to others that were drawn for it.

use std::sync::Arc;

use candle_core::{D, Device, Result, Tensor};

use super::unit_rows;
use crate::ops::Pattern;

/// For each of some rows, the row that is its positive and those that are its negatives, as many for each.
#[derive(Debug)]
pub(in crate::models::foundation) struct Samples {
    pattern: Arc<Pattern>,
    /// Of rows that have some.
    rows: usize,
    negatives: usize,
}

impl Samples {
    /// Of `rows`, each with nothing or with its positive and then its `negatives`, numbers below `n`. None where no row has any.
    pub fn new(rows: impl Iterator<Item = Option<Vec<u32>>>, negatives: usize, n: usize) -> Result<Option<Self>> {
        let (mut offsets, mut columns, mut count) = (vec![0], Vec::new(), 0);
        for row in rows {
            if let Some(row) = row {
                debug_assert_eq!(row.len(), 1 + negatives);
                columns.extend(row);
                count += 1;
            }
            offsets.push(columns.len());
        }
        if count == 0 {
            return Ok(None);
        }
        let pattern = Pattern::new(&offsets, &columns, n, &Device::Cpu)?;
        Ok(Some(Self { pattern, rows: count, negatives }))
    }

    /// `- mean over v of ln [e^{cos(x_v, y_a) / tau} / sum over b of e^{cos(x_v, y_b) / tau}]`, `a` the positive of `v` and `b` its
    /// negatives: the sum is over these alone. O(rows negatives width).
    pub fn loss(&self, x: &Tensor, y: &Tensor, temperature: f64) -> Result<Tensor> {
        let unit = unit_rows(x)?;
        let other = if x.id() == y.id() { unit.clone() } else { unit_rows(y)? };
        let similarity = (self.pattern.dots(&unit, &other, 1)? / temperature)?;
        let similarity = similarity.reshape((self.rows, 1 + self.negatives))?;
        let positive = similarity.narrow(1, 0, 1)?.squeeze(1)?;
        let negative = similarity.narrow(1, 1, self.negatives)?.log_sum_exp(D::Minus1)?;
        (negative - positive)?.mean_all()
    }
}
