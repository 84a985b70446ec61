//! Graphs like a given one, with a shifted preference of classes for each other.

use std::collections::HashSet;

use bonnet_graph::{Graph, Monitor, Reservation};
use rayon::prelude::*;

use crate::edge_list::{EdgeList, zeros};
use crate::error::require;
use crate::random::{Random, Stream, power};
use crate::{Error, Generated};

const NAME: &str = "gencat";

/// The most attempts of a node to reach its degree, and of an edge to find its end.
const ROUNDS: usize = 50;

/// The smallest membership that is drawn: one of 0 could never grow.
const LEAST: f64 = f64::EPSILON;

/// A graph to generate others like it from. Nodes without a label take no part.
#[derive(Debug, Clone, Copy)]
pub struct BaseGraph<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The class of each node.
    pub labels: &'a [Option<u32>],
    /// The number of features of a node, and all features row by row.
    pub features: Option<(usize, &'a [f32])>,
}

/// A square matrix of classes, row by row.
type Matrix = Vec<Vec<f64>>;

/// GenCAT with a shifted class preference: a graph on the labelled nodes of the base, each with its class and its degree
/// there, but for edges that found no end. (Maekawa et al., GenCAT: Generating attributed graphs with controlled
/// relationships between classes, attributes, and topology, Information Systems 2023; the shift of Luan et al., Are
/// heterophilic GNNs and homophily metrics really effective?, Sec. 4.1.)
///
/// * Preference: M_ab is the mean share of class b among the neighbours of a node of class a (0 without neighbours), D_ab its
///   deviation. The shift takes 0.1 beta from M_aa and gives it to the others in equal parts; what falls below 0 is 0, and
///   rows are scaled to sum 1. D_aa shrinks or grows with M_aa.
/// * Memberships: U_i ~ N(M_a, D_a) clipped to [0, 1] and scaled to sum 1. Of a class with M_aa below 1 / C, U_i is reversed,
///   so that it stays a membership: 1 - U_ia in its own class, the rest in proportion to 1 - U_ib. Then U_i becomes
///   U_i^(1/T), scaled, with the T in 0.01, 0.02, ..., 0.99 for which the mean of U_i U'_i is closest to M_a; the
///   proportions of connection U'_i are U_i, or U_i reversed.
/// * Edges: nodes by falling degree; each draws a class b from U_i and a node j in proportion to U'_jb, until its degree is
///   that of the base, at most 50 times over; j takes no more than its own degree.
/// * Features: H_fb is the mean of feature f in class b. Where all features are 0 or 1, feature f of node i is 1 with
///   probability (sum_b H_fb) U_i V_f, V_f being H_f scaled to sum 1 and raised to the power 1/T for which the classes' means
///   come closest to it (T from 0.1 to 1.1). Others are U_i H_f plus a normal deviate of the feature's deviation within the
///   class.
///
/// Where the published script draws classes anew in the base's proportions, this keeps those of the base. The script also
/// multiplies D_ab by M_ab / (M_ab - 0.1 / (C - 1)) whatever beta is, which for a negative beta divides by about nothing: at
/// beta = -1 on Cora its graphs have an edge homophily of 0.834, and 0.886 without that, as here; it matters little elsewhere.
///
/// O(100 n C + n F C + m log n) time, 16 n C bytes while it works.
///
/// # Errors
/// No labelled node, a beta that is not finite, or the monitor stopped the work.
pub fn gencat(base: BaseGraph<'_>, beta: f64, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    require(beta.is_finite(), NAME, "beta", beta, "a finite number")?;
    let labelled = Labelled::new(base);
    let (n, classes) = (labelled.nodes.len(), labelled.n_classes);
    require(n > 0, NAME, "graph", "a graph without labels", "a graph with labels")?;
    let _reservation = Reservation::new(monitor, 16 * n * classes + 16 * n)?;
    let (mean, deviation) = labelled.preference();
    let (mean, deviation) = shifted(&mean, &deviation, beta);

    let mut memberships = labelled.memberships(&mean, &deviation, seed);
    let mut connections: Vec<f64> = Vec::with_capacity(memberships.len());
    let powers: Vec<f64> = (0..classes)
        .map(|class| labelled.best_power(class, &mean[class], &memberships, monitor))
        .collect::<Result<_, Error>>()?;
    for (row, &class) in memberships.chunks_mut(classes).zip(&labelled.classes) {
        raise(row, powers[class as usize]);
        let mut other = row.to_vec();
        if is_heterophilic(&mean, class as usize) {
            reverse(&mut other, class as usize);
        }
        connections.extend(other);
    }
    let edges = labelled.edges(&memberships, &connections, seed, monitor)?;
    let features = match base.features {
        Some((width, values)) => Some((width, labelled.features(width, values, &memberships, seed, monitor)?)),
        None => None,
    };
    let labels = labelled.classes.iter().map(|&class| i64::from(class)).collect();
    Ok(Generated { n_nodes: n, edges, labels: Some(labels), features })
}

/// The labelled nodes of a base, numbered anew.
struct Labelled {
    /// Their numbers in the base.
    nodes: Vec<u32>,
    classes: Vec<u32>,
    n_classes: usize,
    /// The neighbours of each with a label, by class.
    neighbors: Vec<Vec<u32>>,
}

impl Labelled {
    fn new(base: BaseGraph<'_>) -> Self {
        let n_classes = base.labels.iter().flatten().max().map_or(0, |&class| class as usize + 1);
        let (mut nodes, mut classes, mut neighbors) = (Vec::new(), Vec::new(), Vec::new());
        for (node, class) in (0u32..).zip(base.labels) {
            let Some(class) = *class else { continue };
            let mut counts = vec![0u32; n_classes];
            for &other in base.graph.neighbors(node).iter().filter(|&&other| other != node) {
                if let Some(class) = base.labels[other as usize] {
                    counts[class as usize] += 1;
                }
            }
            nodes.push(node);
            classes.push(class);
            neighbors.push(counts);
        }
        Self { nodes, classes, n_classes, neighbors }
    }

    /// The nodes of a class.
    fn of(&self, class: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(move |&node| self.classes[node] as usize == class)
    }

    /// The degree of a node among the labelled.
    fn degree(&self, node: usize) -> u32 {
        self.neighbors[node].iter().sum()
    }

    /// The mean share of each class among the neighbours of a node of each class, and its deviation (of the sample).
    fn preference(&self) -> (Matrix, Matrix) {
        let share = |node: usize, other: usize| match self.degree(node) {
            0 => 0.0,
            degree => f64::from(self.neighbors[node][other]) / f64::from(degree),
        };
        let statistics = |class: usize| {
            let size = self.of(class).count() as f64;
            let of_other = |other: usize| {
                let mean = self.of(class).map(|node| share(node, other)).sum::<f64>() / size.max(1.0);
                let squares = self.of(class).map(|node| (share(node, other) - mean).powi(2)).sum::<f64>();
                (mean, if size > 1.0 { (squares / (size - 1.0)).sqrt() } else { 0.0 })
            };
            (0..self.n_classes).map(of_other).unzip()
        };
        (0..self.n_classes).map(statistics).unzip()
    }

    /// Memberships U, row by row, before they are raised to a power.
    fn memberships(&self, mean: &Matrix, deviation: &Matrix, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed, Stream::GencatMemberships);
        let mut all = Vec::with_capacity(self.nodes.len() * self.n_classes);
        for &class in &self.classes {
            let class = class as usize;
            let drawn =
                mean[class].iter().zip(&deviation[class]).map(|(mean, deviation)| mean + deviation * random.normal());
            let mut row: Vec<f64> = drawn.collect();
            if is_heterophilic(mean, class) {
                reverse(&mut row, class);
            }
            row.iter_mut().for_each(|value| *value = if value.is_finite() { value.clamp(LEAST, 1.0) } else { LEAST });
            let sum: f64 = row.iter().sum();
            all.extend(row.into_iter().map(|value| value / sum));
        }
        all
    }

    /// The power 1 / T with the T for which the mean product of memberships and connections of a class is closest to what it
    /// prefers; the smallest such T.
    fn best_power(
        &self,
        class: usize,
        preferred: &[f64],
        memberships: &[f64],
        monitor: &dyn Monitor,
    ) -> Result<f64, Error> {
        let nodes: Vec<usize> = self.of(class).collect();
        let heterophilic = preferred[class] < 1.0 / self.n_classes as f64;
        let loss = |t: u32| {
            monitor.check()?;
            let power = 100.0 / f64::from(t);
            let mut sums = vec![0.0; self.n_classes];
            for &node in &nodes {
                let mut row = memberships[node * self.n_classes..][..self.n_classes].to_vec();
                raise(&mut row, power);
                let mut other = row.clone();
                if heterophilic {
                    reverse(&mut other, class);
                }
                sums.iter_mut().zip(row.iter().zip(other)).for_each(|(sum, (a, b))| *sum += a * b);
            }
            let size = nodes.len().max(1) as f64;
            let squares = preferred.iter().zip(&sums).map(|(preferred, sum)| (preferred - sum / size).powi(2));
            Ok((squares.sum::<f64>(), power))
        };
        let losses = (1..100u32).into_par_iter().map(loss).collect::<Result<Vec<_>, Error>>()?;
        Ok(losses.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1.0, |(_, power)| power))
    }

    fn edges(
        &self,
        memberships: &[f64],
        connections: &[f64],
        seed: u64,
        monitor: &dyn Monitor,
    ) -> Result<Vec<(u32, u32)>, Error> {
        let (n, classes) = (self.nodes.len(), self.n_classes);
        // For each class, the sums of all nodes' connections with it up to each node.
        let mut sums: Vec<Vec<f64>> = Vec::with_capacity(classes);
        for class in 0..classes {
            let mut sum = 0.0;
            sums.push(
                connections
                    .iter()
                    .skip(class)
                    .step_by(classes)
                    .map(|value| {
                        sum += value;
                        sum
                    })
                    .collect(),
            );
        }
        let wanted: Vec<u32> = (0..n).map(|node| self.degree(node)).collect();
        let total: u128 = wanted.iter().map(|&degree| u128::from(degree)).sum();
        let mut edges = EdgeList::with_room_for(total / 2, monitor)?;
        let mut reservation = Reservation::new(monitor, 0)?;
        let mut degrees: Vec<u32> = zeros(n, &mut reservation)?;
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&node| std::cmp::Reverse(wanted[node as usize]));
        let mut random = Random::new(seed, Stream::GencatEdges);
        let mut joined: Vec<Vec<u32>> = vec![Vec::new(); n];
        monitor.expect(n as u64);
        for node in order {
            let i = node as usize;
            monitor.check()?;
            // Those that are joined to the node already, and those that were full.
            let mut known: HashSet<u32> = joined[i].iter().copied().chain([node]).collect();
            for _ in 0..ROUNDS {
                let missing = wanted[i] - degrees[i];
                if missing == 0 {
                    break;
                }
                for _ in 0..missing {
                    let class = draw(&memberships[i * classes..][..classes], &mut random);
                    let found = (0..ROUNDS).find_map(|_| {
                        let all = sums[class].last().copied().unwrap_or(0.0);
                        let point = random.unit() * all;
                        let j = sums[class].partition_point(|&sum| sum < point).min(n - 1) as u32;
                        known.insert(j).then_some(j)
                    });
                    if let Some(j) = found.filter(|&j| degrees[j as usize] < wanted[j as usize]) {
                        edges.push(node, j)?;
                        joined[j as usize].push(node);
                        degrees[i] += 1;
                        degrees[j as usize] += 1;
                    }
                }
            }
            joined[i] = Vec::new();
            monitor.advance(1);
        }
        Ok(edges.into_sorted(n)?)
    }

    fn features(
        &self,
        width: usize,
        values: &[f32],
        memberships: &[f64],
        seed: u64,
        monitor: &dyn Monitor,
    ) -> Result<Vec<f32>, Error> {
        let (n, classes) = (self.nodes.len(), self.n_classes);
        let mut reservation = Reservation::new(monitor, 24 * width * classes)?;
        let mut features: Vec<f32> = zeros(n.saturating_mul(width), &mut reservation)?;
        if width == 0 {
            return Ok(features);
        }
        let row = |node: usize| &values[self.nodes[node] as usize * width..][..width];
        let binary = (0..n).all(|node| row(node).iter().all(|&value| value == 0.0 || value == 1.0));
        // Means and deviations by class, feature by feature: f * classes + c.
        let (mut means, mut deviations) = (vec![0.0f64; width * classes], vec![0.0f64; width * classes]);
        let mut sizes = vec![0.0f64; classes];
        for node in 0..n {
            let class = self.classes[node] as usize;
            sizes[class] += 1.0;
            row(node).iter().enumerate().for_each(|(f, &value)| means[f * classes + class] += f64::from(value));
        }
        means.iter_mut().enumerate().for_each(|(at, mean)| *mean /= sizes[at % classes].max(1.0));
        for node in 0..n {
            let class = self.classes[node] as usize;
            for (f, &value) in row(node).iter().enumerate() {
                deviations[f * classes + class] += (f64::from(value) - means[f * classes + class]).powi(2);
            }
        }
        deviations.iter_mut().enumerate().for_each(|(at, sum)| *sum = (*sum / sizes[at % classes].max(1.0)).sqrt());
        monitor.check()?;
        let weights = if binary { self.attribute_proportions(&means, memberships, &sizes) } else { means };
        let rows = features.par_chunks_mut(width).enumerate().map(|(node, row)| {
            monitor.check()?;
            let own = &memberships[node * classes..][..classes];
            let class = self.classes[node] as usize;
            let mut random = Random::numbered(seed, Stream::GencatAttributes, node as u64);
            for (f, value) in row.iter_mut().enumerate() {
                let mean: f64 = weights[f * classes..][..classes].iter().zip(own).map(|(h, u)| h * u).sum();
                *value = if binary {
                    f32::from(random.unit() <= mean)
                } else {
                    (mean + deviations[f * classes + class] * random.normal()) as f32
                };
            }
            Ok(())
        });
        rows.collect::<Result<(), Error>>()?;
        Ok(features)
    }

    /// The proportions V, each row times the sum of its feature's means.
    fn attribute_proportions(&self, means: &[f64], memberships: &[f64], sizes: &[f64]) -> Vec<f64> {
        let classes = self.n_classes;
        // The mean membership of a class's nodes.
        let mut mixing = vec![0.0; classes * classes];
        for (row, &class) in memberships.chunks(classes).zip(&self.classes) {
            let sums = &mut mixing[class as usize * classes..][..classes];
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        mixing.iter_mut().enumerate().for_each(|(at, sum)| *sum /= sizes[at / classes].max(1.0));
        let adjust = |means: &[f64]| {
            let scale: f64 = means.iter().sum();
            if scale <= 0.0 {
                return vec![0.0; classes];
            }
            let target: Vec<f64> = means.iter().map(|mean| mean / scale).collect();
            let candidate = |t: u32| {
                let mut row: Vec<f64> = target.iter().map(|value| value.max(LEAST)).collect();
                raise(&mut row, 20.0 / f64::from(t));
                let squares = mixing.chunks(classes).zip(&target).map(|(mixing, target)| {
                    (target - mixing.iter().zip(&row).map(|(a, b)| a * b).sum::<f64>()).powi(2)
                });
                (squares.sum::<f64>(), row)
            };
            let best = (2..=22).map(candidate).min_by(|a, b| a.0.total_cmp(&b.0));
            best.map_or(target.clone(), |(_, row)| row).into_iter().map(|value| value * scale).collect()
        };
        means.par_chunks(classes).flat_map_iter(adjust).collect()
    }
}

/// The preference after the shift by `beta`, and its deviation.
fn shifted(mean: &Matrix, deviation: &Matrix, beta: f64) -> (Matrix, Matrix) {
    let others = (mean.len().max(2) - 1) as f64;
    let (mut mean, mut deviation) = (mean.clone(), deviation.clone());
    for class in 0..mean.len() {
        let before = mean[class][class];
        for (other, value) in mean[class].iter_mut().enumerate() {
            let shift = if other == class { -0.1 * beta } else { 0.1 * beta / others };
            *value = (*value + shift).max(0.0);
        }
        let after = mean[class][class];
        deviation[class][class] *= if before > 0.0 { after / before } else { 1.0 };
        let sum: f64 = mean[class].iter().sum();
        if sum > 0.0 {
            mean[class].iter_mut().for_each(|value| *value /= sum);
        } else {
            mean[class][class] = 1.0;
        }
    }
    (mean, deviation)
}

/// Whether a class prefers its own less than chance would have it.
fn is_heterophilic(mean: &Matrix, class: usize) -> bool {
    mean[class][class] < 1.0 / mean.len() as f64
}

/// What a membership leaves: 1 - u in the own class, and u shared out among the others in proportion to what each leaves.
fn reverse(row: &mut [f64], class: usize) {
    let own = row[class];
    let left: f64 = row.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, value)| 1.0 - value).sum();
    let others = row.len().max(2) - 1;
    for (other, value) in row.iter_mut().enumerate() {
        let share = if left > 0.0 { (1.0 - *value) / left } else { 1.0 / others as f64 };
        *value = if other == class { 1.0 - own } else { own * share };
    }
}

/// Raises every value in [0, 1] to a power and scales them to sum 1. Divides by the largest first, so that none is lost.
fn raise(row: &mut [f64], exponent: f64) {
    let largest = row.iter().copied().fold(0.0, f64::max);
    row.iter_mut().for_each(|value| *value = if *value > 0.0 { power(*value / largest, exponent) } else { 0.0 });
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
}

/// One of the classes, with these probabilities.
fn draw(probabilities: &[f64], random: &mut Random) -> usize {
    let mut point = random.unit();
    let last = probabilities.iter().rposition(|p| *p > 0.0).unwrap_or(0);
    let found = probabilities[..last].iter().position(|p| {
        point -= p;
        point <= 0.0 && *p > 0.0
    });
    found.unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_simple, fingerprint};
    use crate::{RegularHomophily, regular_homophily};
    use bonnet_graph::Unmonitored;

    /// 5 classes of 200 nodes with an edge homophily of 0.7; features say the class, with noise.
    fn base() -> (Generated, Graph, Vec<Option<u32>>) {
        let model = RegularHomophily { h: 0.7, classes: 5, nodes_per_class: 200, intra_edges: 600 };
        let mut made = regular_homophily(&model, 1, &Unmonitored).unwrap();
        let graph = Graph::from_edges(made.n_nodes, &made.edges);
        let labels: Vec<Option<u32>> = made.labels.iter().flatten().map(|&label| Some(label as u32)).collect();
        let mut random = Random::new(3, Stream::BlockFeatures);
        let one = |(i, label): (usize, u32)| {
            let likely = if i as u32 % 5 == label { 0.5 } else { 0.1 };
            f32::from(random.unit() <= likely)
        };
        let values = labels.iter().flat_map(|label| (0..20).map(|i| (i, label.unwrap()))).map(one).collect();
        made.features = Some((20, values));
        (made, graph, labels)
    }

    fn homophily(made: &Generated) -> f64 {
        let labels = made.labels.as_ref().unwrap();
        let within = made.edges.iter().filter(|(u, v)| labels[*u as usize] == labels[*v as usize]).count();
        within as f64 / made.edges.len() as f64
    }

    fn class_means(made: &Generated) -> Vec<f64> {
        let (width, values) = made.features.as_ref().unwrap();
        let labels = made.labels.as_ref().unwrap();
        let (mut sums, mut sizes) = (vec![0.0; 5 * width], [0.0; 5]);
        for (row, &label) in values.chunks(*width).zip(labels) {
            sizes[label as usize] += 1.0;
            row.iter().enumerate().for_each(|(f, &value)| sums[label as usize * width + f] += f64::from(value));
        }
        sums.iter().enumerate().map(|(at, sum)| sum / sizes[at / width]).collect()
    }

    #[test]
    fn homophily_falls_with_beta_and_the_rest_stays() {
        let (made, graph, labels) = base();
        let (width, values) = made.features.as_ref().unwrap();
        let base = BaseGraph { graph: &graph, labels: &labels, features: Some((*width, values)) };
        let mut found = Vec::new();
        for beta in [-2.0, 0.0, 2.0, 4.0, 6.0] {
            let other = gencat(base, beta, 7, &Unmonitored).unwrap();
            assert_simple(&other);
            assert_eq!((other.n_nodes, &other.labels), (made.n_nodes, &made.labels));
            // Most edges found an end, and nobody has more than in the base.
            let share = other.edges.len() as f64 / made.edges.len() as f64;
            assert!((0.9..=1.0).contains(&share), "{beta}: {share}");
            let again = Graph::from_edges(other.n_nodes, &other.edges);
            assert!((0..other.n_nodes as u32).all(|node| again.degree(node) <= graph.degree(node)), "{beta}");
            // The features still say the class.
            let means = class_means(&other);
            for (class, means) in means.chunks(20).enumerate() {
                let of = |own: bool| {
                    let all: Vec<f64> = (0..20).filter(|f| (f % 5 == class) == own).map(|f| means[f]).collect();
                    all.iter().sum::<f64>() / all.len() as f64
                };
                assert!(of(true) > of(false) + 0.1, "{beta}, class {class}: {} {}", of(true), of(false));
            }
            found.push(homophily(&other));
        }
        assert!(found.windows(2).all(|pair| pair[0] > pair[1] + 0.05), "{found:?}");
        assert!(found[0] > 0.8 && (found[1] - 0.7).abs() < 0.12 && found[4] < 0.2, "{found:?}");
    }

    #[test]
    fn the_preference_is_that_of_the_definition() {
        // A path of classes 0 0 1 1 and a node alone of class 1.
        let graph = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (3, 5)]);
        let labels = [Some(0), Some(0), Some(1), Some(1), Some(1), None];
        let labelled = Labelled::new(BaseGraph { graph: &graph, labels: &labels, features: None });
        let (mean, deviation) = labelled.preference();
        // Shares of class 0: 1, 1/2; 1/2, 0, and 0 of the node alone.
        assert_eq!(mean[0], [0.75, 0.25]);
        assert!((mean[1][0] - 0.5 / 3.0).abs() < 1e-15 && (mean[1][1] - 0.5).abs() < 1e-15);
        assert!((deviation[0][0] - 0.125f64.sqrt()).abs() < 1e-15);
        let (shifted_mean, shifted_deviation) = shifted(&mean, &deviation, 2.0);
        assert!((shifted_mean[0][0] - 0.55).abs() < 1e-12 && (shifted_mean[0][1] - 0.45).abs() < 1e-12);
        assert!((shifted_deviation[0][0] - 0.125f64.sqrt() * 0.55 / 0.75).abs() < 1e-12);
        // 0.75 - 1 is cut at 0; 0.25 + 1 is scaled to 1.
        assert_eq!(shifted(&mean, &deviation, 10.0).0[0], [0.0, 1.0]);
    }

    #[test]
    fn what_is_reversed_and_raised_sums_to_one() {
        let mut row = vec![0.2, 0.5, 0.3];
        reverse(&mut row, 0);
        // Left: 0.5 and 0.7 of 1.2.
        let expected = [0.8, 0.2 * 0.5 / 1.2, 0.2 * 0.7 / 1.2];
        assert!(row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{row:?}");
        let mut row = vec![0.0, 1.0];
        reverse(&mut row, 0);
        assert_eq!(row, [1.0, 0.0]);
        let mut row = vec![0.6, 0.3, 0.1];
        raise(&mut row, 2.0);
        let expected = [0.36 / 0.46, 0.09 / 0.46, 0.01 / 0.46];
        assert!(row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{row:?}");
    }

    #[test]
    fn real_features_keep_mean_and_deviation_of_their_class() {
        let (made, graph, labels) = base();
        let mut random = Random::new(9, Stream::BlockMeans);
        let values: Vec<f32> =
            labels.iter().map(|label| (f64::from(label.unwrap()) * 3.0 + 0.5 * random.normal()) as f32).collect();
        let base = BaseGraph { graph: &graph, labels: &labels, features: Some((1, &values)) };
        let other = gencat(base, -2.0, 1, &Unmonitored).unwrap();
        let (_, found) = other.features.unwrap();
        for class in 0..5i64 {
            let of = |values: &[f32]| {
                let own: Vec<f64> = values
                    .iter()
                    .zip(made.labels.iter().flatten())
                    .filter(|(_, l)| **l == class)
                    .map(|(v, _)| f64::from(*v))
                    .collect();
                let mean = own.iter().sum::<f64>() / own.len() as f64;
                (mean, (own.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / own.len() as f64).sqrt())
            };
            let ((mean, deviation), (expected, _)) = (of(&found), of(&values));
            // Memberships are mixed, so classes move towards each other.
            assert!((mean - expected).abs() < 1.5, "{class}: {mean} {expected}");
            assert!((0.3..2.5).contains(&deviation), "{class}: {deviation}");
        }
    }

    #[test]
    fn a_seed_pins_the_graph_for_any_number_of_threads_and_arguments_are_checked() {
        let (made, graph, labels) = base();
        let (width, values) = made.features.as_ref().unwrap();
        let base = BaseGraph { graph: &graph, labels: &labels, features: Some((*width, values)) };
        let with = |threads: usize, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            fingerprint(&pool.install(|| gencat(base, 1.0, seed, &Unmonitored).unwrap()))
        };
        assert_eq!(with(1, 5), with(3, 5));
        assert_ne!(with(1, 5), with(1, 6));
        let error = |labels: &[Option<u32>], beta| {
            let base = BaseGraph { graph: &graph, labels, features: None };
            gencat(base, beta, 0, &Unmonitored).unwrap_err().to_string()
        };
        assert!(error(&labels, f64::NAN).contains("beta is NaN, but must be a finite number"));
        assert!(error(&vec![None; 1000], 0.0).contains("graph is a graph without labels"));
        // One class, and nodes without a label, are no trouble.
        let one: Vec<Option<u32>> = (0..1000).map(|node| (node % 3 > 0).then_some(0)).collect();
        let made = gencat(BaseGraph { graph: &graph, labels: &one, features: None }, 3.0, 0, &Unmonitored).unwrap();
        assert_eq!(made.n_nodes, one.iter().flatten().count());
    }
}
