//! The classifier-based homophily metrics: the accuracy of simple classifiers on features as they are, and aggregated.

use bonnet_graph::{Digraph, Monitor, Reservation, Stopped};
use bonnet_ranking::welch_test;
use faer::Mat;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::kernel_regression::{Kernel, products};
use crate::propagation::{Normalization, Propagation};
use crate::{FeatureRows, gaussian_naive_bayes, kernel_regression};

/// A classifier that needs no training by steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Classifier {
    /// Gaussian naive Bayes.
    GaussianNaiveBayes,
    /// Kernel regression with the linear kernel.
    KernelRegressionLinear,
    /// Kernel regression with the NNGP kernel.
    KernelRegressionNonlinear,
}

impl Classifier {
    /// All classifiers.
    pub const ALL: [Self; 3] =
        [Self::GaussianNaiveBayes, Self::KernelRegressionLinear, Self::KernelRegressionNonlinear];

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::GaussianNaiveBayes => "gnb",
            Self::KernelRegressionLinear => "kr_linear",
            Self::KernelRegressionNonlinear => "kr_nonlinear",
        }
    }
}

/// Options of the draws of nodes and of the aggregation of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassifierOptions {
    /// The number of labelled nodes of a repetition, about the same number of each class.
    pub samples: usize,
    /// The number of repetitions.
    pub repeats: usize,
    /// What the draws depend on.
    pub seed: u64,
    /// The normalisation of A-hat.
    pub normalization: Normalization,
}

impl Default for ClassifierOptions {
    fn default() -> Self {
        Self { samples: 500, repeats: 100, seed: 0, normalization: Normalization::Symmetric }
    }
}

/// The accuracies of one repetition on its test nodes, in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracies {
    /// On the features X as they are.
    pub given: f64,
    /// On the aggregated features H = A-hat X.
    pub aggregated: f64,
}

/// Why there are no accuracies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClassifierError {
    /// Too few samples for the classes.
    #[error("samples is {samples}, which leaves none for each of {classes} classes: take at least {classes}")]
    TooFewSamples {
        /// The given value.
        samples: usize,
        /// The number of classes.
        classes: usize,
    },
    /// Two samples of accuracies need two values each.
    #[error("repeats is {0}, but a test needs at least 2")]
    TooFewRepeats(usize),
    /// A kernel of features has no eigenvalues.
    #[error("features hold values that are not finite, or too large to be squared")]
    NotFinite,
    /// The host stopped the work.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// For each classifier, its accuracies in every repetition, which all classifiers share; `None` with fewer than two
/// classes, or if no class has two nodes. (Luan et al., When do graph neural networks help with node classification?,
/// NeurIPS 2023; App. B of Luan et al., Are heterophilic GNNs and homophily metrics really effective?)
///
/// A repetition draws round(samples / C) labelled nodes of each class (all where it has fewer), takes round(60 %) of each
/// for training and the rest for testing; X are the features of those nodes, H = A-hat X over the whole graph. The draws
/// of a repetition depend on the seed and its number alone.
///
/// O(samples^2 w + samples^3) time a repetition for rows of w different features, 16 samples w bytes for each thread.
///
/// # Errors
/// `samples` below half of the number of classes; `repeats` below 2; or the monitor stopped the work.
///
/// # Panics
/// If `labels` or `features` have not one entry a node.
pub fn classifier_accuracies(
    graph: &Digraph,
    features: &FeatureRows,
    labels: &[Option<u32>],
    classifiers: &[Classifier],
    options: &ClassifierOptions,
    monitor: &dyn Monitor,
) -> Result<Option<Vec<Vec<Accuracies>>>, ClassifierError> {
    let n = graph.n_nodes();
    assert!(labels.len() == n && features.len() == n, "one label and one row of features a node");
    if options.repeats < 2 {
        return Err(ClassifierError::TooFewRepeats(options.repeats));
    }
    let members = members_of_classes(labels);
    let n_classes = members.len();
    if n_classes < 2 || members.iter().all(|members| members.len() < 2) {
        return Ok(None);
    }
    let per_class = (options.samples as f64 / n_classes as f64).round() as usize;
    if per_class == 0 {
        return Err(ClassifierError::TooFewSamples { samples: options.samples, classes: n_classes });
    }
    if members.iter().all(|members| members.len().min(per_class) < 2) {
        return Err(ClassifierError::TooFewSamples { samples: options.samples, classes: n_classes });
    }

    let propagation = Propagation::new(graph, options.normalization);
    monitor.expect(2 * options.repeats as u64);
    let repetitions = (0..options.repeats).into_par_iter().map(|repetition| {
        monitor.check()?;
        let draw = Draw::new(&members, per_class, options.seed, repetition as u64);
        let given = sample_rows(features, None, &draw.nodes, monitor)?;
        let given = classify(given, &draw, n_classes, classifiers).ok_or(ClassifierError::NotFinite)?;
        monitor.advance(1);
        monitor.check()?;
        let aggregated = sample_rows(features, Some(&propagation), &draw.nodes, monitor)?;
        let aggregated = classify(aggregated, &draw, n_classes, classifiers).ok_or(ClassifierError::NotFinite)?;
        monitor.advance(1);
        Ok(given.into_iter().zip(aggregated).map(|(given, aggregated)| Accuracies { given, aggregated }).collect())
    });
    let repetitions = repetitions.collect::<Result<Vec<Vec<Accuracies>>, ClassifierError>>()?;
    Ok(Some((0..classifiers.len()).map(|i| repetitions.iter().map(|accuracies| accuracies[i]).collect()).collect()))
}

/// The classifier-based metric: half of the p-value P of Welch's test between the two samples of accuracies if H wins at
/// most half of the repetitions, else 1 - P / 2: near 1 where aggregation helps. (Eq. 10 of Luan et al., Are heterophilic
/// GNNs and homophily metrics really effective?)
///
/// # Panics
/// If there are fewer than two repetitions.
pub fn classifier_p_value(accuracies: &[Accuracies]) -> f64 {
    let given: Vec<f64> = accuracies.iter().map(|accuracy| accuracy.given).collect();
    let aggregated: Vec<f64> = accuracies.iter().map(|accuracy| accuracy.aggregated).collect();
    let p = welch_test(&given, &aggregated);
    let wins = accuracies.iter().filter(|accuracy| accuracy.aggregated > accuracy.given).count();
    if 2 * wins <= accuracies.len() { p / 2.0 } else { 1.0 - p / 2.0 }
}

/// The nodes of each class that has some, in ascending order.
fn members_of_classes(labels: &[Option<u32>]) -> Vec<Vec<u32>> {
    let n_labels = labels.iter().flatten().max().map_or(0, |&label| label as usize + 1);
    let mut members = vec![Vec::new(); n_labels];
    for (node, label) in (0..).zip(labels) {
        if let Some(label) = label {
            members[*label as usize].push(node);
        }
    }
    members.retain(|members| !members.is_empty());
    members
}

/// The nodes of a repetition, those for training first, with their classes.
struct Draw {
    nodes: Vec<u32>,
    classes: Vec<u32>,
    n_train: usize,
}

impl Draw {
    fn new(members: &[Vec<u32>], per_class: usize, seed: u64, repetition: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut bits = ChaCha8Rng::from_seed(key);
        bits.set_stream(repetition);
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for (class, members) in (0u32..).zip(members) {
            let take = members.len().min(per_class);
            let n_train = (0.6 * take as f64).round() as usize;
            let mut members = members.clone();
            for drawn in 0..take {
                let other = drawn + below(&mut bits, (members.len() - drawn) as u64) as usize;
                members.swap(drawn, other);
                let part = if drawn < n_train { &mut train } else { &mut test };
                part.push((members[drawn], class));
            }
        }
        let n_train = train.len();
        train.append(&mut test);
        let (nodes, classes) = train.into_iter().unzip();
        Self { nodes, classes, n_train }
    }
}

/// Uniform on `0..bound`, without bias (Lemire 2019).
fn below(bits: &mut ChaCha8Rng, bound: u64) -> u64 {
    loop {
        let product = u128::from(bits.next_u64()) * u128::from(bound);
        let low = product as u64;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

/// The rows of some nodes, as they are or aggregated, over the columns that occur in them.
fn sample_rows(
    features: &FeatureRows,
    propagation: Option<&Propagation<'_>>,
    nodes: &[u32],
    monitor: &dyn Monitor,
) -> Result<Mat<f64>, Stopped> {
    // Rows by entries first: (column, value), sums of the same column in the order of the neighbours.
    let mut rows: Vec<Vec<(u32, f64)>> = Vec::with_capacity(nodes.len());
    for &node in nodes {
        let mut row: Vec<(u32, f64)> = Vec::new();
        match propagation {
            None => row.extend(features.row(node as usize).map(|(column, value)| (column, f64::from(value)))),
            Some(propagation) => {
                for (other, weight) in propagation.row(node) {
                    row.extend(features.row(other as usize).map(|(column, value)| (column, weight * f64::from(value))));
                }
                row.sort_by_key(|entry| entry.0);
                row.dedup_by(|next, kept| {
                    let same = next.0 == kept.0;
                    kept.1 += if same { next.1 } else { 0.0 };
                    same
                });
            }
        }
        rows.push(row);
        monitor.check()?;
    }
    let mut used: Vec<u32> = rows.iter().flatten().map(|entry| entry.0).collect();
    used.sort_unstable();
    used.dedup();
    let _reservation = Reservation::new(monitor, nodes.len().saturating_mul(used.len()).saturating_mul(8))?;
    let mut matrix = Mat::zeros(nodes.len(), used.len());
    for (i, row) in rows.iter().enumerate() {
        let mut position = 0;
        for &(column, value) in row {
            position += used[position..].partition_point(|&other| other < column);
            matrix[(i, position)] = value;
        }
    }
    Ok(matrix)
}

/// The accuracy of each classifier; `None` where a kernel is not finite.
fn classify(rows: Mat<f64>, draw: &Draw, n_classes: usize, classifiers: &[Classifier]) -> Option<Vec<f64>> {
    let rows = rows.as_ref();
    let kernels = classifiers.iter().any(|classifier| *classifier != Classifier::GaussianNaiveBayes);
    let products = if kernels { products(rows, draw.n_train) } else { Mat::zeros(0, 0) };
    let squares: Vec<f64> = match kernels {
        true => (0..rows.nrows()).map(|row| rows.row(row).squared_norm_l2()).collect(),
        false => Vec::new(),
    };
    let regression =
        |kernel| kernel_regression::accuracy(kernel, products.as_ref(), &squares, &draw.classes, n_classes);
    let accuracy = |classifier: &Classifier| match classifier {
        Classifier::GaussianNaiveBayes => {
            Some(gaussian_naive_bayes::accuracy(rows, draw.n_train, &draw.classes, n_classes))
        }
        Classifier::KernelRegressionLinear => regression(Kernel::Linear),
        Classifier::KernelRegressionNonlinear => regression(Kernel::Nngp),
    };
    classifiers.iter().map(accuracy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    /// Three classes of 40 nodes, each joined to the next two of its class; features are one coordinate a class, drowned
    /// in noise.
    fn noisy_blocks() -> (Digraph, FeatureRows, Vec<Option<u32>>) {
        let n = 120u32;
        let mut arcs = Vec::new();
        for v in 0..n {
            for step in [3, 6, 9, 12] {
                arcs.extend([(v, (v + step) % n), ((v + step) % n, v)]);
            }
        }
        let mut bits = ChaCha8Rng::from_seed([7; 32]);
        let mut noise = || below(&mut bits, 1000) as f32 / 250.0 - 2.0;
        let values: Vec<f32> =
            (0..n).flat_map(|v| (0..4).map(move |k| if k == v % 3 { 1.0 } else { 0.0 })).map(|x| x + noise()).collect();
        (
            Digraph::from_arcs(n as usize, &arcs),
            FeatureRows::from_dense(4, &values),
            (0..n).map(|v| Some(v % 3)).collect(),
        )
    }

    #[test]
    fn aggregation_within_classes_helps_every_classifier() {
        let (graph, features, labels) = noisy_blocks();
        let options = ClassifierOptions { repeats: 20, ..ClassifierOptions::default() };
        let found = classifier_accuracies(&graph, &features, &labels, &Classifier::ALL, &options, &Unmonitored);
        for accuracies in found.unwrap().unwrap() {
            assert_eq!(accuracies.len(), 20);
            let mean = |f: fn(&Accuracies) -> f64| accuracies.iter().map(f).sum::<f64>() / 20.0;
            assert!(mean(|a| a.aggregated) > mean(|a| a.given) + 0.1);
            assert!(classifier_p_value(&accuracies) > 0.99);
        }
    }

    #[test]
    fn repetitions_depend_on_the_seed_and_their_number_alone() {
        let (graph, features, labels) = noisy_blocks();
        let run = |repeats, seed, classifiers: &[Classifier]| {
            let options = ClassifierOptions { repeats, seed, samples: 30, ..ClassifierOptions::default() };
            classifier_accuracies(&graph, &features, &labels, classifiers, &options, &Unmonitored).unwrap().unwrap()
        };
        let all = run(6, 3, &Classifier::ALL);
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one.install(|| run(6, 3, &Classifier::ALL)), all);
        assert_eq!(run(2, 3, &Classifier::ALL[2..]), [all[2][..2].to_vec()]);
        assert_ne!(run(6, 4, &Classifier::ALL), all);
    }

    #[test]
    fn draws_are_balanced_and_cut_at_60_per_cent() {
        let members: Vec<Vec<u32>> = vec![(0..50).collect(), (50..53).collect(), vec![60]];
        let draw = Draw::new(&members, 10, 1, 2);
        assert_eq!((draw.nodes.len(), draw.n_train), (14, 6 + 2 + 1));
        let count = |range: std::ops::Range<usize>, class| draw.classes[range].iter().filter(|&&c| c == class).count();
        assert_eq!([0, 1, 2].map(|class| count(0..9, class)), [6, 2, 1]);
        assert_eq!([0, 1, 2].map(|class| count(9..14, class)), [4, 1, 0]);
        let distinct: std::collections::BTreeSet<_> = draw.nodes.iter().collect();
        assert_eq!(distinct.len(), 14);
    }

    #[test]
    fn every_member_is_drawn_equally_often() {
        let members: Vec<Vec<u32>> = vec![(0..5).collect(), vec![9]];
        let mut counts = [0u32; 5];
        for repetition in 0..5000 {
            let draw = Draw::new(&members, 2, 0, repetition);
            draw.nodes.iter().filter(|&&node| node < 5).for_each(|&node| counts[node as usize] += 1);
        }
        // 2 of 5 in each of 5,000 draws: mean 2000, deviation 35.
        assert!(counts.iter().all(|&count| count.abs_diff(2000) < 175), "{counts:?}");
    }

    #[test]
    fn the_p_value_turns_at_half_of_the_wins() {
        let accuracy = |given, aggregated| Accuracies { given, aggregated };
        let worse = [accuracy(0.9, 0.5), accuracy(0.8, 0.6), accuracy(0.85, 0.4), accuracy(0.7, 0.75)];
        let better: Vec<Accuracies> = worse.iter().map(|a| accuracy(a.aggregated, a.given)).collect();
        let (low, high) = (classifier_p_value(&worse), classifier_p_value(&better));
        assert!(low < 0.05 && (low + high - 1.0).abs() < 1e-12, "{low} {high}");
        assert_eq!(classifier_p_value(&[accuracy(0.5, 0.5); 4]), 0.5);
        assert_eq!(classifier_p_value(&[accuracy(0.5, 0.6); 4]), 1.0);
        assert_eq!(classifier_p_value(&[accuracy(0.6, 0.5); 4]), 0.0);
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error_or_no_value() {
        let (graph, features, labels) = noisy_blocks();
        let run = |labels: &[Option<u32>], options| {
            classifier_accuracies(&graph, &features, labels, &Classifier::ALL, &options, &Unmonitored)
        };
        let options = ClassifierOptions { repeats: 2, ..ClassifierOptions::default() };
        let error = run(&labels, ClassifierOptions { samples: 1, ..options }).unwrap_err().to_string();
        assert!(error.contains("samples is 1, which leaves none for each of 3 classes"), "{error}");
        let error = run(&labels, ClassifierOptions { repeats: 1, ..options }).unwrap_err().to_string();
        assert!(error.contains("repeats is 1, but a test needs at least 2"), "{error}");
        assert_eq!(run(&[Some(4); 120], options).unwrap(), None);
        assert_eq!(run(&[None; 120], options).unwrap(), None);
        let mut single = [None; 120];
        (single[0], single[1]) = (Some(0), Some(1));
        assert_eq!(run(&single, options).unwrap(), None);
    }

    #[test]
    fn every_classifier_is_right_as_often_as_scikit_learn_and_numpy() {
        // Made by sklearn 1.9.1 (GaussianNB) and numpy 2.4.6 (pinv with rcond n eps) from the same numbers:
        // seed, rows, training rows, features, classes; correct of GNB, of the linear kernel, of NNGP.
        for (seed, n, n_train, width, n_classes, correct) in [
            (1u64, 200, 120, 6, 3, [51, 53, 32]),
            (2, 200, 120, 9, 4, [37, 36, 37]),
            (3, 300, 180, 12, 5, [58, 67, 54]),
            (4, 150, 90, 200, 3, [60, 60, 60]),
        ] {
            let mut state = seed;
            let mut rows = Mat::<f64>::zeros(n, width);
            for i in 0..n {
                for j in 0..width {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let bonus = if j % n_classes == i % n_classes { 0.45 } else { 0.0 };
                    rows[(i, j)] = (state >> 40) as f64 / (1u64 << 24) as f64 * 2.0 - 1.0 + bonus;
                }
            }
            let classes: Vec<u32> = (0..n).map(|i| (i % n_classes) as u32).collect();
            let draw = Draw { nodes: Vec::new(), classes, n_train };
            let found = classify(rows, &draw, n_classes, &Classifier::ALL).unwrap();
            let counts: Vec<i64> = found.iter().map(|share| (share * (n - n_train) as f64).round() as i64).collect();
            assert_eq!(counts, correct, "seed {seed}");
        }
    }
}
