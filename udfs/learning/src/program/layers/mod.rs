//! The layers of programs, a file each.

pub mod batch_norm;
pub mod codebook;
pub mod combine;
pub mod concat;
pub mod curved;
pub mod edges;
pub mod elementwise;
pub mod expressions;
pub mod gelu;
pub mod given_labels;
pub mod given_rows;
pub mod hadamard;
pub mod linear;
pub mod low_rank;
pub mod mean_heads;
pub mod mix;
pub mod normalize;
pub mod pool;
pub mod propagation;
pub mod sample_mean;
pub mod signs;
pub mod softmax;
pub mod tokens;
pub mod typed;

use bonnet_graph::Stopped;

use super::{Backward, Gradient};
use crate::ground::Axis;
use crate::kernels::RowSet;
use crate::kernels::combine::weighted_sum;
use crate::kernels::edge::Store;
use crate::kernels::elementwise::Finish;
use crate::kernels::parallel::for_each_block;

/// Zeros in the padding of the rows of a set. O(rows * padding).
pub(crate) fn clear_padding(set: &RowSet, axis: Axis, values: &mut [f32]) {
    let stride = axis.stride();
    let mut padding = vec![true; stride];
    axis.positions().for_each(|at| padding[at] = false);
    let padding: Vec<usize> = (0..stride).filter(|&at| padding[at]).collect();
    for &row in set.rows() {
        let row = &mut values[row as usize * stride..][..stride];
        padding.iter().for_each(|&at| row[at] = 0.0);
    }
}

/// Whether a gradient is written or added to.
pub(crate) fn store(gradient: &Gradient<'_>) -> Store {
    if gradient.add { Store::Add } else { Store::Replace }
}

/// Passes a gradient on, times a factor, on the rows of the output.
pub(crate) fn add_rows(pass: &Backward<'_>, input: usize, factor: f32, d_out: &[f32]) -> Result<(), Stopped> {
    let Some(mut d_x) = pass.gradient(input) else { return Ok(()) };
    let (forward, add) = (pass.forward, d_x.add);
    let (set, width) = (forward.rows(), forward.width());
    weighted_sum(set, &[d_out], &[factor], width, add, Finish::NOTHING, &mut d_x.values, forward.monitor)
}

/// Adds to the gradient of an input row by row, on the rows of the output: `add(row, gradient of the row)`.
pub(crate) fn map_rows(pass: &Backward<'_>, input: usize, add: impl Fn(u32, &mut [f32]) + Sync) -> Result<(), Stopped> {
    let Some(mut d_x) = pass.gradient(input) else { return Ok(()) };
    let (set, stride) = (pass.forward.rows(), pass.forward.input_axis(input).stride());
    let fresh = !d_x.add;
    for_each_block(set, &mut d_x.values, stride, pass.forward.monitor, |rows, first, chunk| {
        for &row in rows {
            let gradient = &mut chunk[(row as usize - first) * stride..][..stride];
            if fresh {
                gradient.fill(0.0);
            }
            add(row, gradient);
        }
    })
}
