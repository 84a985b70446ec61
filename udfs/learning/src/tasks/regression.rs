//! The loss and the figures of numbers.

use crate::data::Targets;
use crate::kernels::RowSet;
use crate::options::RegressionLoss;
use crate::tasks::metrics::{Metrics, r2};

/// The mean squared or absolute error over items and the numbers of each, and its gradient: none where a number is met, and none in
/// the columns behind them.
pub(super) fn error(
    loss: RegressionLoss,
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
            let (part, slope) = match loss {
                RegressionLoss::SquaredError => (error * error, 2.0 * error),
                RegressionLoss::AbsoluteError if error == 0.0 => (0.0, 0.0),
                RegressionLoss::AbsoluteError => (error.abs(), error.signum()),
            };
            sum += part;
            gradient[at + i] = (scale * slope) as f32;
        }
    }
    sum * scale
}

/// The mean absolute and squared errors over items and the numbers of each; of one number each also the coefficient of
/// determination. Where targets are lists of whole numbers, the accuracy is the share of items whose outputs round to all of them.
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
    let of_one_number = || {
        let truth: Vec<f64> = items.iter().flat_map(|&item| targets.numbers(item)).copied().collect();
        let predicted: Vec<f64> = items.iter().map(|&item| f64::from(outputs[item as usize * stride])).collect();
        r2(&truth, &predicted)
    };
    Metrics {
        mae: Some(absolute / numbers),
        mse: Some(squares / numbers),
        rmse: Some((squares / numbers).sqrt()),
        r2: if matches!(targets, Targets::Values(_)) { of_one_number() } else { None },
        accuracy: (whole && matches!(targets, Targets::Vectors(..))).then(|| exact as f64 / items.len() as f64),
        ..Metrics::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_regression_equal_scikit_learn() {
        let cases: [(&[f64], &[f32], [f64; 4]); 2] = [
            (
                &[1.5, -2.0, 0.25, 4.0],
                &[1.0, -1.5, 1.0, 3.0],
                [0.6875, 0.515_625, 0.718_070_330_817_253_6, 0.890_274_314_214_463_8],
            ),
            (
                &[0.5, 0.5, -1.0, 2.0, 2.0, 7.25],
                &[0.5, -0.5, -1.0, 2.0, 2.5, 7.0],
                [0.291_666_666_666_666_7, 0.218_75, 0.467_707_173_346_742_67, 0.967_963_386_727_688_8],
            ),
        ];
        for (truth, predicted, expected) in cases {
            let targets = Targets::Values(truth.iter().copied().map(Some).collect());
            let items: Vec<u32> = (0..truth.len() as u32).collect();
            let found = figures(&items, &targets, predicted, 1);
            let found = [found.mae, found.mse, found.rmse, found.r2].map(Option::unwrap);
            let is_close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
            assert!(is_close, "{found:?} for {expected:?}");
        }
    }

    #[test]
    fn the_absolute_error_has_the_gradient_of_torch() {
        // torch.nn.functional.l1_loss of 2 x 2 numbers and its gradient; the row that is no item keeps what stood there.
        let targets = Targets::Vectors(vec![Some([1.0, 2.0].into()), None, Some([-1.0, 0.5].into())], 2);
        let outputs = [1.5, 2.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0, 1.5, 9.0, 0.0];
        let mut gradient = [7.0; 12];
        let items = RowSet::new(3, vec![0, 2]);
        let mut of = |loss| error(loss, &items, &targets, &outputs, 4, &mut gradient);
        assert_eq!(of(RegressionLoss::SquaredError), 2.25 / 4.0);
        assert_eq!(of(RegressionLoss::AbsoluteError), 2.5 / 4.0);
        assert_eq!(gradient, [0.25, 0.0, 0.0, 0.0, 7.0, 7.0, 7.0, 7.0, -0.25, 0.25, 0.0, 0.0]);
    }

    #[test]
    fn what_has_no_spread_has_no_coefficient_of_determination() {
        assert_eq!((r2(&[3.0], &[3.0]), r2(&[2.0, 2.0], &[2.0, 1.0]), r2(&[], &[])), (None, None, None));
        // The mean of the truth for all of them explains nothing, and worse answers are below that.
        assert_eq!((r2(&[1.0, 3.0], &[2.0, 2.0]), r2(&[1.0, 3.0], &[3.0, 1.0])), (Some(0.0), Some(-3.0)));
    }
}
