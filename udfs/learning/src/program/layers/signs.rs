//! Columns whose sign is arbitrary.

use bonnet_graph::Stopped;
use candle_core::Tensor;

use super::super::{Backward, Builder, Forward, Layer, Mask, Slot, Tensors};
use super::map_rows;
use crate::ground::random::Dropout;

/// The columns of each segment of rows, with random signs in training: one for a segment and column.
#[derive(Debug)]
struct RandomSigns {
    /// The segment of each row.
    segments: Vec<u32>,
    mask: Option<Mask>,
}

impl Builder<'_, '_> {
    /// In training each column of each segment of rows has a random sign, such as that of an eigenvector: segment `s` holds
    /// the rows `offsets[s]..offsets[s + 1]`.
    pub fn random_signs(&mut self, x: Slot, offsets: &[u32]) -> Slot {
        let segments = offsets.windows(2).zip(0..).flat_map(|(w, s)| (w[0]..w[1]).map(move |_| s)).collect();
        let layer = RandomSigns { segments, mask: self.mask(0.5) };
        self.like(layer, &[x], &[])
    }
}

fn sign(mask: Option<Dropout>, segment: u32, column: usize) -> f32 {
    match mask {
        Some(mask) if !mask.keeps(mask.row(segment), column as u32) => -1.0,
        _ => 1.0,
    }
}

impl Layer for RandomSigns {
    fn candle(&self, tensors: &Tensors<'_>) -> candle_core::Result<Tensor> {
        let (mask, columns) = (tensors.mask(self.mask), tensors.axis().positions().collect::<Vec<_>>());
        let signs = self.segments.iter().flat_map(|&segment| columns.iter().map(move |&c| sign(mask, segment, c)));
        let signs: Vec<f32> = signs.collect();
        &tensors.inputs[0] * tensors.of_pass(&signs, self.segments.len(), columns.len())?
    }

    fn forward(&mut self, pass: &Forward<'_>, out: &mut [f32]) -> Result<(), Stopped> {
        let (x, width, mask) = (pass.input(0), pass.width(), pass.mask(self.mask));
        for &row in pass.rows().rows() {
            let (at, segment) = (row as usize * width, self.segments[row as usize]);
            for (c, (out, x)) in out[at..at + width].iter_mut().zip(&x[at..at + width]).enumerate() {
                *out = x * sign(mask, segment, c);
            }
        }
        Ok(())
    }

    fn backward(&mut self, pass: &mut Backward<'_>, d_out: &[f32]) -> Result<(), Stopped> {
        let (width, mask) = (pass.forward.width(), pass.forward.mask(self.mask));
        map_rows(pass, 0, |row, gradient| {
            let segment = self.segments[row as usize];
            for (c, (to, d)) in gradient.iter_mut().zip(&d_out[row as usize * width..][..width]).enumerate() {
                *to += d * sign(mask, segment, c);
            }
        })
    }
}
