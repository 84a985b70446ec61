//! The loss and the figures of numbers.

use crate::data::Targets;
use crate::kernels::RowSet;
use crate::tasks::metrics::Metrics;

/// The mean squared error over items and the numbers of each, and its gradient; columns behind them get none.
pub(super) fn squared_error(
    items: &RowSet,
    targets: &Targets,
    outputs: &[f32],
    stride: usize,
    gradient: &mut [f32],
) -> f64 {
    let scale = 1.0 / (items.len() * targets.n_outputs()).max(1) as f64;
    let mut sum = 0.0;
    for &item in items.rows() {
        let at = item as usize * stride;
        gradient[at..at + stride].fill(0.0);
        for (i, target) in targets.numbers(item).iter().enumerate() {
            let error = f64::from(outputs[at + i]) - target;
            sum += error * error;
            gradient[at + i] = (2.0 * scale * error) as f32;
        }
    }
    sum * scale
}

/// The mean absolute and squared errors over items and the numbers of each. Where targets are lists of whole numbers, the
/// accuracy is the share of items whose outputs round to all of them.
pub(super) fn figures(items: &[u32], targets: &Targets, outputs: &[f32], stride: usize) -> Metrics {
    let (mut absolute, mut squares, mut exact, mut whole) = (0.0, 0.0, 0usize, true);
    for &item in items {
        let mut is_exact = true;
        for (i, &target) in targets.numbers(item).iter().enumerate() {
            let output = f64::from(outputs[item as usize * stride + i]);
            absolute += (output - target).abs();
            squares += (output - target) * (output - target);
            is_exact &= output.round() == target;
            whole &= target.fract() == 0.0;
        }
        exact += usize::from(is_exact);
    }
    let numbers = (items.len() * targets.n_outputs()) as f64;
    Metrics {
        mae: Some(absolute / numbers),
        mse: Some(squares / numbers),
        accuracy: (whole && matches!(targets, Targets::Vectors(..))).then(|| exact as f64 / items.len() as f64),
        ..Metrics::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_regression_equal_scikit_learn() {
        let cases: [(&[f64], &[f32], f64, f64); 2] = [
            (&[1.5, -2.0, 0.25, 4.0], &[1.0, -1.5, 1.0, 3.0], 0.6875, 0.515_625),
            (&[0.5, 0.5, -1.0, 2.0, 2.0, 7.25], &[0.5, -0.5, -1.0, 2.0, 2.5, 7.0], 0.291_666_666_666_666_7, 0.218_75),
        ];
        for (truth, predicted, mae, mse) in cases {
            let targets = Targets::Values(truth.iter().copied().map(Some).collect());
            let items: Vec<u32> = (0..truth.len() as u32).collect();
            let found = figures(&items, &targets, predicted, 1);
            assert!((found.mae.unwrap() - mae).abs() < 1e-12 && (found.mse.unwrap() - mse).abs() < 1e-12, "{found:?}");
        }
    }
}
