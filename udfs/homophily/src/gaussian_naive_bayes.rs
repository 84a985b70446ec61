//! The Gaussian naive Bayes classifier.

use faer::MatRef;

/// The part of the largest variance of a feature that is added to all variances, as scikit-learn does.
const SMOOTHING: f64 = 1e-9;

/// The share of test rows whose class a Gaussian naive Bayes classifier predicts: in each class every feature is normal
/// with the mean and the (population) variance of the class's training rows, the prior is the class's share of them.
/// Ties go to the smaller class. To all variances 1e-9 of the largest variance of a feature is added. Rows are training
/// rows first, then test rows; `classes` has one entry a row. (Hastie et al., The elements of statistical learning, 6.6.3.)
///
/// Features that are zero in all rows change nothing and may be left out. O(rows * C * width) time.
pub(crate) fn accuracy(rows: MatRef<'_, f64>, n_train: usize, classes: &[u32], n_classes: usize) -> f64 {
    let (n, width) = rows.shape();
    let mut counts = vec![0usize; n_classes];
    classes[..n_train].iter().for_each(|&class| counts[class as usize] += 1);

    let mut widest = 0.0f64;
    let mut means = vec![0.0; n_classes * width];
    let mut variances = vec![0.0; n_classes * width];
    for feature in 0..width {
        let column = rows.col(feature);
        let mean = (0..n_train).map(|row| column[row]).sum::<f64>() / n_train as f64;
        let variance = (0..n_train).map(|row| (column[row] - mean).powi(2)).sum::<f64>() / n_train as f64;
        widest = widest.max(variance);
        for row in 0..n_train {
            means[classes[row] as usize * width + feature] += column[row] / counts[classes[row] as usize] as f64;
        }
        for row in 0..n_train {
            let cell = classes[row] as usize * width + feature;
            variances[cell] += (column[row] - means[cell]).powi(2) / counts[classes[row] as usize] as f64;
        }
    }
    // Where no feature varies every row is alike, and the prior decides: any variance will do.
    let smoothing = if widest > 0.0 { SMOOTHING * widest } else { 1.0 };
    let constants: Vec<f64> = (0..n_classes)
        .map(|class| {
            let variances = &mut variances[class * width..][..width];
            variances.iter_mut().for_each(|variance| *variance += smoothing);
            let prior = (counts[class] as f64 / n_train as f64).ln();
            let spread: f64 = variances.iter().map(|variance| (2.0 * std::f64::consts::PI * variance).ln()).sum();
            prior - 0.5 * spread
        })
        .collect();
    // Dividing once a class and feature, not once a row.
    variances.iter_mut().for_each(|variance| *variance = 1.0 / *variance);

    let mut row = vec![0.0; width];
    let correct = (n_train..n).filter(|&test| {
        (0..width).for_each(|feature| row[feature] = rows[(test, feature)]);
        let mut best: Option<(u32, f64)> = None;
        for class in (0..n_classes).filter(|&class| counts[class] > 0) {
            let (means, precisions) = (&means[class * width..][..width], &variances[class * width..][..width]);
            let distance: f64 = row
                .iter()
                .zip(means)
                .zip(precisions)
                .map(|((x, mean), precision)| (x - mean).powi(2) * precision)
                .sum();
            let likelihood = constants[class] - 0.5 * distance;
            if best.is_none_or(|best| likelihood > best.1) {
                best = Some((class as u32, likelihood));
            }
        }
        best.is_some_and(|best| best.0 == classes[test])
    });
    correct.count() as f64 / (n - n_train) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn two_bells_on_a_line() {
        // Class 0 around 0 (variance 1), class 1 around 10 (variance 4): between them the border is nearer to class 0.
        let points = [-1.0, 1.0, 8.0, 12.0, 0.5, 3.0, 3.9, 9.0];
        let rows = Mat::from_fn(8, 1, |i, _| points[i]);
        // 3.0: 4.5 against 49 / 8 + ln 2 = 6.8: class 0; 3.9: 7.6 against 4.65 + 0.69 = 5.3: class 1.
        assert_eq!(accuracy(rows.as_ref(), 4, &[0, 0, 1, 1, 0, 0, 1, 1], 2), 1.0);
        assert_eq!(accuracy(rows.as_ref(), 4, &[0, 0, 1, 1, 0, 1, 1, 0], 2), 0.5);
    }

    #[test]
    fn rows_that_are_all_alike_go_to_the_larger_prior() {
        let rows = Mat::from_fn(5, 2, |_, _| 3.0);
        assert_eq!(accuracy(rows.as_ref(), 3, &[0, 1, 1, 1, 0], 2), 0.5);
    }
}
