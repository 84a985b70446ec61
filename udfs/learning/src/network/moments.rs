//! Means and variances of columns over the rows of many batches.

use std::collections::BTreeMap;

use crate::ground::Layout;

/// The moments that a normalisation uses without training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistics {
    /// The moments of training rows under the current parameters, measured by passes of their own ([`super::Pass::Measure`]).
    Population,
    /// Moving averages over the steps, each under the parameters of its time.
    Running,
}

/// The moments of the input of a layer over the rows of a batch.
#[derive(Debug, Clone, Copy)]
pub struct BatchMoments<'a> {
    /// The positions of the mean and of the variance in the layer's list of parameters.
    pub parameters: [usize; 2],
    /// The number of rows.
    pub rows: usize,
    /// The mean of each stored column.
    pub mean: &'a [f32],
    /// The mean squared deviation of each stored column.
    pub variance: &'a [f32],
}

/// The moments over all rows of several batches, for each layer that has some.
#[derive(Debug, Default)]
pub struct Moments {
    /// By the blocks of the mean and of the variance.
    layers: BTreeMap<[usize; 2], LayerMoments>,
}

#[derive(Debug, Default)]
struct LayerMoments {
    rows: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl Moments {
    /// The bytes that the moments of a layout hold, at most.
    pub fn bytes(layout: &Layout) -> usize {
        8 * layout.blocks().iter().filter(|block| block.measured).map(|block| block.range().len()).sum::<usize>()
    }

    /// Merges the moments of a batch (Chan, Golub and LeVeque 1983, Algorithms for computing the sample variance). The mean of a
    /// column that is constant over all batches is exactly its value, the variance 0.
    pub fn add(&mut self, blocks: [usize; 2], batch: BatchMoments<'_>) {
        if batch.rows == 0 {
            return;
        }
        let layer = self.layers.entry(blocks).or_default();
        layer.mean.resize(batch.mean.len(), 0.0);
        layer.variance.resize(batch.variance.len(), 0.0);
        layer.rows += batch.rows as f64;
        let share = batch.rows as f64 / layer.rows;
        let columns = layer.mean.iter_mut().zip(&mut layer.variance).zip(batch.mean.iter().zip(batch.variance));
        for ((mean, variance), (&of_batch, &spread)) in columns {
            let apart = f64::from(of_batch) - *mean;
            *mean += share * apart;
            *variance += share * (f64::from(spread) - *variance + (1.0 - share) * apart * apart);
        }
    }

    /// Writes the moments to their blocks of the parameters. The blocks of a layer without rows stay as they are.
    pub fn write(&self, layout: &Layout, parameters: &mut [f32]) {
        for (blocks, layer) in &self.layers {
            for (&block, values) in blocks.iter().zip([&layer.mean, &layer.variance]) {
                let places = &mut parameters[layout.blocks()[block].range()];
                places.iter_mut().zip(values).for_each(|(place, value)| *place = *value as f32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::{Axis, Initial};

    #[test]
    fn moments_of_batches_merge_into_those_of_all_rows() {
        let batches = [vec![1.5f32, -2.0, 4.0], vec![], vec![0.25], vec![3.0, 3.0, -7.5, 1.0]];
        let mut moments = Moments::default();
        for rows in &batches {
            let n = rows.len().max(1) as f32;
            let mean = rows.iter().sum::<f32>() / n;
            let variance = rows.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / n;
            // The second column is the same everywhere.
            let (mean, variance) = ([mean, 0.1], [variance, 0.0]);
            moments
                .add([1, 2], BatchMoments { parameters: [1, 2], rows: rows.len(), mean: &mean, variance: &variance });
        }
        let mut layout = Layout::default();
        for name in ["gain", "mean", "variance"] {
            layout.push(name.into(), Axis::exact(1), Axis::exact(2), Initial::Zeros);
        }
        let mut parameters = vec![9.0; 6];
        moments.write(&layout, &mut parameters);
        let all: Vec<f64> = batches.concat().into_iter().map(f64::from).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / all.len() as f64;
        assert!((f64::from(parameters[2]) - mean).abs() < 1e-6, "{parameters:?}");
        assert!((f64::from(parameters[4]) - variance).abs() < 1e-5, "{parameters:?}");
        assert_eq!([parameters[0], parameters[1], parameters[3], parameters[5]], [9.0, 9.0, 0.1, 0.0]);
    }
}
