//! Figures of predictions, each as scikit-learn defines it. `None` where a figure is not defined.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::kernels::loss::arg_max;
use crate::options::SelectBy;

/// The figures that are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FigureSet {
    /// The one that selects, and the accuracy, which costs nothing.
    Selecting(SelectBy),
    /// Every one that the task has.
    All,
}

/// The figures of a part; those that the task does not have are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Metrics {
    /// The share of right predictions.
    pub accuracy: Option<f64>,
    /// The mean F1 of the classes in truth or prediction.
    pub macro_f1: Option<f64>,
    /// F1 of the positive class, of two classes the second.
    pub f1: Option<f64>,
    /// The area under the ROC curve; for several classes one against the rest, averaged over the classes.
    pub auc: Option<f64>,
    /// The average precision, for two classes.
    pub ap: Option<f64>,
    /// The mean absolute error, of a regression.
    pub mae: Option<f64>,
    /// The mean squared error, of a regression.
    pub mse: Option<f64>,
    /// The root of the mean squared error, of a regression.
    pub rmse: Option<f64>,
    /// The coefficient of determination, of a regression of one number each.
    pub r2: Option<f64>,
}

/// The share of equal entries. `accuracy_score`.
pub fn accuracy(truth: &[u32], predicted: &[u32]) -> Option<f64> {
    let right = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
    (!truth.is_empty()).then(|| right as f64 / truth.len() as f64)
}

/// The mean of F1 over the classes in truth or prediction; F1 is 0 where it is undefined.
/// `f1_score(average='macro', zero_division=0)`.
pub fn macro_f1(truth: &[u32], predicted: &[u32]) -> Option<f64> {
    let classes = truth.iter().chain(predicted).max().map_or(0, |&class| class as usize + 1);
    // True positives, and the sizes in truth and prediction.
    let mut counts = vec![(0u64, 0u64); classes];
    for (&t, &p) in truth.iter().zip(predicted) {
        counts[t as usize].0 += u64::from(t == p);
        counts[t as usize].1 += 1;
        counts[p as usize].1 += 1;
    }
    let scores: Vec<f64> = counts.iter().filter(|(_, size)| *size > 0).map(|&(hits, size)| f1_of(hits, size)).collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

/// F1 of the class `positive`; 0 where it is undefined. `f1_score(pos_label=positive, zero_division=0)`.
pub fn f1(truth: &[u32], predicted: &[u32], positive: u32) -> Option<f64> {
    let hits = truth.iter().zip(predicted).filter(|&(&t, &p)| t == positive && p == positive).count();
    let size = truth.iter().chain(predicted).filter(|&&class| class == positive).count();
    (!truth.is_empty()).then(|| f1_of(hits as u64, size as u64))
}

fn f1_of(hits: u64, size: u64) -> f64 {
    if size == 0 { 0.0 } else { 2.0 * hits as f64 / size as f64 }
}

/// The area under the ROC curve: the probability that a positive scores above a negative, ties counting half. `None`
/// without positives or without negatives. `roc_auc_score`. O(n log n).
pub fn auc(positive: &[bool], scores: &[f64]) -> Option<f64> {
    let mut order: Vec<(f64, bool)> = scores.iter().copied().zip(positive.iter().copied()).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positives = positive.iter().filter(|&&p| p).count() as u64;
    let negatives = positive.len() as u64 - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    // Twice the number of pairs in which the positive wins, ties counting once.
    let (mut pairs, mut below) = (0u64, 0u64);
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let hits = group.iter().filter(|(_, p)| *p).count() as u64;
        let misses = group.len() as u64 - hits;
        pairs += hits * (2 * below + misses);
        below += misses;
    }
    Some(pairs as f64 / (2.0 * positives as f64 * negatives as f64))
}

/// The mean over the classes of the area of a class against the rest; `scores` has one row an item. `None` if a class has
/// no item or all. `roc_auc_score(multi_class='ovr', average='macro')`.
pub fn auc_one_vs_rest(truth: &[u32], scores: &[f64], n_classes: usize) -> Option<f64> {
    let mut sum = 0.0;
    for class in 0..n_classes {
        let positive: Vec<bool> = truth.iter().map(|&t| t as usize == class).collect();
        let column: Vec<f64> = scores.iter().skip(class).step_by(n_classes).copied().collect();
        sum += auc(&positive, &column)?;
    }
    (n_classes > 0).then(|| sum / n_classes as f64)
}

/// The sum over the distinct scores, falling, of the gain in recall times the precision. `None` without positives.
/// `average_precision_score`. O(n log n).
pub fn average_precision(positive: &[bool], scores: &[f64]) -> Option<f64> {
    let mut order: Vec<(f64, bool)> = scores.iter().copied().zip(positive.iter().copied()).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives = positive.iter().filter(|&&p| p).count();
    let (mut sum, mut hits, mut seen) = (0.0, 0, 0);
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let new = group.iter().filter(|(_, p)| *p).count();
        (hits, seen) = (hits + new, seen + group.len());
        sum += new as f64 / positives as f64 * (hits as f64 / seen as f64);
    }
    (positives > 0).then_some(sum)
}

/// The coefficient of determination: 1 - the squared error / that of the mean of the truth, at most 1. `None` for fewer than two
/// items, or where all have one number: the figure has no scale there. `r2_score`.
pub fn r2(truth: &[f64], predicted: &[f64]) -> Option<f64> {
    let mean = truth.iter().sum::<f64>() / truth.len().max(1) as f64;
    let around: f64 = truth.iter().map(|t| (t - mean) * (t - mean)).sum();
    let error: f64 = truth.iter().zip(predicted).map(|(t, p)| (t - p) * (t - p)).sum();
    (truth.len() > 1 && around > 0.0).then(|| 1.0 - error / around)
}

/// The softmax of logits in `f64`.
pub fn softmax(logits: &[f32]) -> Vec<f64> {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut exponentials: Vec<f64> = logits.iter().map(|&z| f64::from(z - max).exp()).collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.iter_mut().for_each(|e| *e /= sum);
    exponentials
}

/// The scores of some labelled items, nodes or graphs.
pub(crate) struct ItemScores<'a> {
    outputs: &'a [f32],
    stride: usize,
    n_classes: usize,
    items: &'a [u32],
    truth: Vec<u32>,
    predicted: Vec<u32>,
}

impl<'a> ItemScores<'a> {
    pub(crate) fn padded(
        outputs: &'a [f32],
        stride: usize,
        labels: &[Option<u32>],
        n_classes: usize,
        items: &'a [u32],
    ) -> Self {
        // Items without a label never get into a split.
        let truth = items.iter().map(|&v| labels[v as usize].unwrap_or(u32::MAX)).collect();
        let predicted = |&v: &u32| arg_max(&outputs[v as usize * stride..][..n_classes]);
        let predicted = match items.len() {
            // Too few for tasks to pay.
            ..4096 => items.iter().map(predicted).collect(),
            _ => items.par_iter().with_min_len(1024).map(predicted).collect(),
        };
        Self { outputs, stride, n_classes, items, truth, predicted }
    }

    pub(crate) fn accuracy(&self) -> Option<f64> {
        accuracy(&self.truth, &self.predicted)
    }

    pub(crate) fn macro_f1(&self) -> Option<f64> {
        macro_f1(&self.truth, &self.predicted)
    }

    pub(crate) fn f1(&self) -> Option<f64> {
        if self.n_classes == 2 { f1(&self.truth, &self.predicted, 1) } else { None }
    }

    pub(crate) fn auc(&self) -> Option<f64> {
        match self.n_classes {
            0 | 1 => None,
            2 => auc(&self.positive(), &self.positive_scores()),
            n => auc_one_vs_rest(&self.truth, &self.probabilities().concat(), n),
        }
    }

    pub(crate) fn ap(&self) -> Option<f64> {
        if self.n_classes == 2 { average_precision(&self.positive(), &self.positive_scores()) } else { None }
    }

    /// Some of the figures.
    pub(crate) fn figures(&self, figures: FigureSet) -> Metrics {
        let FigureSet::Selecting(figure) = figures else { return self.all() };
        let mut metrics = Metrics { accuracy: self.accuracy(), ..Metrics::default() };
        match figure {
            SelectBy::MacroF1 => metrics.macro_f1 = self.macro_f1(),
            SelectBy::F1 => metrics.f1 = self.f1(),
            SelectBy::Auc => metrics.auc = self.auc(),
            SelectBy::Ap => metrics.ap = self.ap(),
            SelectBy::Accuracy | SelectBy::Loss | SelectBy::Last | SelectBy::Mae | SelectBy::Mse => {}
        }
        metrics
    }

    /// Every figure of a classification.
    pub(crate) fn all(&self) -> Metrics {
        Metrics {
            accuracy: self.accuracy(),
            macro_f1: self.macro_f1(),
            f1: self.f1(),
            auc: self.auc(),
            ap: self.ap(),
            ..Metrics::default()
        }
    }

    fn probabilities(&self) -> Vec<Vec<f64>> {
        let logits = |v: u32| &self.outputs[v as usize * self.stride..][..self.n_classes];
        self.items.iter().map(|&v| softmax(logits(v))).collect()
    }

    fn positive(&self) -> Vec<bool> {
        self.truth.iter().map(|&t| t == 1).collect()
    }

    fn positive_scores(&self) -> Vec<f64> {
        self.probabilities().iter().map(|p| p[1]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: Option<f64>, expected: f64) {
        assert!(got.is_some_and(|got| (got - expected).abs() < 1e-12), "{got:?} for {expected}");
    }

    // Expected values: scikit-learn 1.9.1.

    #[test]
    fn two_class_figures_equal_scikit_learn() {
        let truth = [0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
        let scores =
            [0.5, 0.6, 0.6, 0.6, 0.3, 0.4, 0.3, 0.8, 0.8, 0.8, 0.9, 0.5, 0.3, 0.8, 0.1, 0.4, 0.1, 0.6, 0.3, 0.5];
        let predicted = scores.map(|s| u32::from(s > 0.5));
        let positive = truth.map(|t| t == 1);
        close(accuracy(&truth, &predicted), 0.7);
        close(f1(&truth, &predicted, 1), 0.7);
        close(macro_f1(&truth, &predicted), 0.7);
        close(auc(&positive, &scores), 0.782_828_282_828_282_8);
        close(average_precision(&positive, &scores), 0.826_118_326_118_326_1);
    }

    #[test]
    fn figures_of_many_tied_scores_equal_scikit_learn() {
        let truth = [
            1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0,
            1, 1, 1, 0,
        ];
        // Five scores for forty items, in quarters.
        let scores = [
            3, 2, 2, 2, 1, 3, 2, 2, 3, 0, 1, 0, 2, 1, 0, 1, 2, 1, 0, 3, 1, 3, 2, 1, 2, 1, 1, 2, 0, 3, 2, 3, 1, 2, 2, 2,
            3, 2, 3, 1,
        ]
        .map(|quarters| f64::from(quarters) / 4.0);
        let positive = truth.map(|t| t == 1);
        close(auc(&positive, &scores), 0.931_818_181_818_181_9);
        close(average_precision(&positive, &scores), 0.875);
        let predicted = scores.map(|s| u32::from(s >= 0.5));
        close(f1(&truth, &predicted, 1), 0.857_142_857_142_857_1);
        close(macro_f1(&truth, &predicted), 0.849_624_060_150_376);
        close(accuracy(&truth, &predicted), 0.85);
        // One score for all.
        close(auc(&[false, true, true], &[1.0; 3]), 0.5);
        close(average_precision(&[false, true, true], &[1.0; 3]), 2.0 / 3.0);
    }

    #[test]
    fn figures_of_four_classes_with_ties_equal_scikit_learn() {
        let truth = [0, 1, 2, 3, 0, 1, 2, 3, 1, 1, 0, 2];
        let fifths: [[u8; 4]; 12] = [
            [3, 1, 1, 0],
            [1, 3, 1, 0],
            [1, 1, 2, 1],
            [1, 1, 1, 2],
            [2, 2, 1, 0],
            [0, 2, 2, 1],
            [0, 0, 3, 2],
            [0, 3, 0, 2],
            [1, 2, 1, 1],
            [4, 1, 0, 0],
            [2, 1, 1, 1],
            [1, 1, 1, 2],
        ];
        let scores = fifths.map(|row| row.map(|fifth| f64::from(fifth) / 5.0));
        close(auc_one_vs_rest(&truth, scores.as_flattened(), 4), 0.843_055_555_555_555_6);
        // Among equal scores the first class is predicted, as numpy's argmax does.
        let predicted = fifths.map(|row| arg_max(&row.map(f32::from)));
        assert_eq!(predicted, [0, 1, 2, 3, 0, 1, 2, 1, 1, 0, 0, 3]);
        close(macro_f1(&truth, &predicted), 0.726_785_714_285_714_4);
        close(accuracy(&truth, &predicted), 0.75);
    }

    #[test]
    fn macro_f1_counts_the_classes_of_truth_or_prediction() {
        // Class 3 is only predicted, class 4 only true: both count, with 0.
        let (truth, predicted) = ([0, 0, 1, 1, 2, 2, 2, 4], [0, 1, 1, 1, 2, 0, 3, 2]);
        close(accuracy(&truth, &predicted), 0.5);
        close(macro_f1(&truth, &predicted), 0.34);
    }

    #[test]
    fn one_against_the_rest_equals_scikit_learn() {
        let truth = [0, 1, 2, 0, 1, 2, 1, 0];
        let scores = [
            [0.5, 0.3, 0.2],
            [0.2, 0.5, 0.3],
            [0.1, 0.2, 0.7],
            [0.3, 0.4, 0.3],
            [0.4, 0.4, 0.2],
            [0.3, 0.3, 0.4],
            [0.1, 0.8, 0.1],
            [0.6, 0.2, 0.2],
        ];
        close(auc_one_vs_rest(&truth, scores.as_flattened(), 3), 0.955_555_555_555_555_6);
        assert_eq!(auc_one_vs_rest(&[0, 1, 0, 1, 0, 1, 0, 1], scores.as_flattened(), 3), None, "class 2 has no item");
    }

    #[test]
    fn what_is_not_defined_is_none() {
        assert_eq!((accuracy(&[], &[]), macro_f1(&[], &[]), f1(&[], &[], 1)), (None, None, None));
        assert_eq!((auc(&[true], &[0.5]), auc(&[false], &[0.5])), (None, None));
        assert_eq!(average_precision(&[false], &[0.5]), None);
        assert_eq!(f1(&[0, 0], &[0, 0], 1), Some(0.0));
    }

    #[test]
    fn softmax_survives_large_logits() {
        assert_eq!(softmax(&[1e30, 1e30]), [0.5, 0.5]);
    }
}
