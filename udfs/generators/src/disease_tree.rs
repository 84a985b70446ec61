//! An epidemic on a tree.

use bonnet_graph::{Monitor, Reservation};

use crate::edge_list::{EdgeList, zeros};
use crate::error::{require, require_nodes, require_probability};
use crate::random::{Random, Stream};
use crate::{Error, Generated};

const NAME: &str = "disease_tree";

/// The width of the features.
const WIDTH: usize = 2;

/// The parameters of a [`disease_tree`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiseaseTree {
    /// The number of nodes, at least 1.
    pub n: usize,
    /// The largest number of children of a node, at least 1.
    pub branching: usize,
    /// The share of nodes that are infected from outside, in (0, 1]; at least one node is.
    pub sources: f64,
    /// The probability, over the draw of a node's susceptibility, that a contact infects it; in [0, 1].
    pub transmission: f64,
    /// The standard deviation of the error with which the susceptibility is observed.
    pub noise: f64,
}

impl Default for DiseaseTree {
    /// 1,000 nodes, up to 3 children, 5 % sources, transmission 0.5, noise 0.1.
    fn default() -> Self {
        Self { n: 1000, branching: 3, sources: 0.05, transmission: 0.5, noise: 0.1 }
    }
}

/// A disease that spreads along a random tree, in the manner of the disease data of Chami et al. (Hyperbolic graph
/// convolutional neural networks, NeurIPS 2019), which were made by simulating an SIR process on a tree. Tree, process and
/// features here are of this project's own making: figures are not comparable with those of the published sets.
///
/// - *Tree*: node 0 is the root; in the order of their numbers, nodes get 1 to `branching` children (uniform), numbered
///   on, until there are `n` nodes.
/// - *Epidemic*: each node has a susceptibility, uniform on (0, 1]. `max(1, round(sources * n))` distinct nodes, drawn
///   uniformly, are infected from outside at time 0. A node that was infected at time t has contact with all its
///   neighbours at time t + 1 and then recovers for good. A contact infects a neighbour that was never infected if its
///   susceptibility is above 1 - `transmission`.
/// - *Labels*: 1 if the node was ever infected, else 0.
/// - *Features*, 2 a node: the susceptibility as observed, with a normal error of deviation `noise`; and 1 for a node
///   infected from outside, else 0.
///
/// Without noise the labels follow from tree and features (the nodes that a source reaches through susceptible ones), but
/// not from a node's own features: a susceptible node is infected only if the disease gets there. O(n) time and memory.
///
/// # Errors
/// `n` outside of 1..=4,294,967,295; `branching` 0; `sources` outside of (0, 1]; `transmission` outside of [0, 1];
/// `noise` outside of [0, 1e30]; or the monitor stopped the work.
pub fn disease_tree(model: &DiseaseTree, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    let &DiseaseTree { n, branching, sources, transmission, noise } = model;
    require_nodes(NAME, "n", n, 1)?;
    require(branching > 0, NAME, "branching", branching, "at least 1")?;
    require(sources > 0.0 && sources <= 1.0, NAME, "sources", sources, "a share above 0 and up to 1")?;
    require_probability(NAME, "transmission", transmission)?;
    require((0.0..=1e30).contains(&noise), NAME, "noise", noise, "from 0 to 1e30")?;
    let mut reservation = Reservation::new(monitor, 0)?;
    monitor.expect(n as u64);

    let edges = tree(n, branching, seed, monitor)?;
    let mut features: Vec<f32> = zeros(n.saturating_mul(WIDTH), &mut reservation)?;
    let mut susceptible: Vec<bool> = zeros(n, &mut reservation)?;
    let (mut nodes, mut errors) = (Random::new(seed, Stream::DiseaseNodes), Random::new(seed, Stream::DiseaseFeatures));
    for (v, row) in features.chunks_mut(WIDTH).enumerate() {
        let susceptibility = nodes.unit();
        susceptible[v] = susceptibility > 1.0 - transmission;
        row[0] = (susceptibility + noise * errors.normal()) as f32;
        if v.is_multiple_of(1 << 14) {
            monitor.check()?;
        }
    }

    let mut labels: Vec<i64> = zeros(n, &mut reservation)?;
    let n_sources = ((sources * n as f64).round() as usize).clamp(1, n);
    for source in distinct(n, n_sources, seed, &mut reservation)? {
        labels[source as usize] = 1;
        features[source as usize * WIDTH + 1] = 1.0;
    }
    spread(&edges, &susceptible, &mut labels);
    monitor.advance(n as u64);
    Ok(Generated { n_nodes: n, edges, labels: Some(labels), features: Some((WIDTH, features)) })
}

/// The random tree: the edges to the children of 0, of 1, and so on.
fn tree(n: usize, branching: usize, seed: u64, monitor: &dyn Monitor) -> Result<Vec<(u32, u32)>, Error> {
    let mut random = Random::new(seed, Stream::DiseaseTree);
    let mut edges = EdgeList::with_room_for(n as u128 - 1, monitor)?;
    let mut grown = 1usize;
    for parent in 0..n {
        let children = random.below(branching as u64) as usize + 1;
        for child in grown..n.min(grown.saturating_add(children)) {
            edges.push(parent as u32, child as u32)?;
        }
        grown = grown.saturating_add(children);
        if grown >= n {
            break;
        }
    }
    Ok(edges.into_vec())
}

/// `k` distinct nodes of `n`, uniformly (Floyd's method: O(k) draws).
fn distinct(n: usize, k: usize, seed: u64, reservation: &mut Reservation<'_>) -> Result<Vec<u32>, Error> {
    let mut random = Random::new(seed, Stream::DiseaseSources);
    let mut chosen: Vec<bool> = zeros(n, reservation)?;
    let mut nodes: Vec<u32> = zeros(k, reservation)?;
    for (slot, last) in nodes.iter_mut().zip(n - k..n) {
        let drawn = random.below(last as u64 + 1) as usize;
        let node = if chosen[drawn] { last } else { drawn };
        chosen[node] = true;
        *slot = node as u32;
    }
    Ok(nodes)
}

/// Infects what the epidemic reaches. When each contact succeeds or fails by the susceptibility of its target alone, who
/// is ever infected does not depend on the order of the contacts: on a tree one sweep towards the root and one away
/// from it reach all of them, since a parent's number is below its children's.
fn spread(edges: &[(u32, u32)], susceptible: &[bool], infected: &mut [i64]) {
    for &(parent, child) in edges.iter().rev() {
        if infected[child as usize] == 1 && susceptible[parent as usize] {
            infected[parent as usize] = 1;
        }
    }
    for &(parent, child) in edges {
        if infected[parent as usize] == 1 && susceptible[child as usize] {
            infected[child as usize] = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{fingerprint, graph, n_components};
    use bonnet_graph::Unmonitored;

    fn generate(model: &DiseaseTree, seed: u64) -> Generated {
        disease_tree(model, seed, &Unmonitored).unwrap()
    }

    #[test]
    fn the_graph_is_a_tree_with_as_many_children_as_allowed() {
        for (n, branching) in [(1, 1), (2, 5), (50, 1), (1000, 3), (777, 10)] {
            let generated = generate(&DiseaseTree { n, branching, ..Default::default() }, 5);
            assert_eq!((generated.n_nodes, generated.edges.len(), n_components(&generated)), (n, n - 1, 1));
            let graph = graph(&generated);
            let children = |v: u32| graph.neighbors(v).iter().filter(|&&u| u > v).count();
            assert!((0..n as u32).all(|v| children(v) <= branching));
            assert!((1..n as u32).all(|v| graph.neighbors(v).iter().filter(|&&u| u < v).count() == 1));
        }
    }

    /// The epidemic in steps of time, contact by contact.
    fn simulate(generated: &Generated, transmission: f64) -> Vec<i64> {
        let graph = graph(generated);
        let (_, features) = generated.features.as_ref().unwrap();
        let mut ever: Vec<i64> = features.chunks(2).map(|row| row[1] as i64).collect();
        let mut now: Vec<u32> = (0..graph.n_nodes() as u32).filter(|&v| ever[v as usize] == 1).collect();
        while !now.is_empty() {
            let mut next = Vec::new();
            for v in now {
                for &u in graph.neighbors(v) {
                    if ever[u as usize] == 0 && f64::from(features[2 * u as usize]) > 1.0 - transmission {
                        ever[u as usize] = 1;
                        next.push(u);
                    }
                }
            }
            now = next;
        }
        ever
    }

    #[test]
    fn without_noise_the_labels_follow_by_simulating_the_epidemic_step_by_step() {
        for (seed, transmission) in [(0, 0.5), (1, 0.2), (2, 0.9), (3, 0.5), (4, 0.7)] {
            let generated = generate(&DiseaseTree { noise: 0.0, transmission, ..Default::default() }, seed);
            assert_eq!(generated.labels.as_ref().unwrap(), &simulate(&generated, transmission));
        }
    }

    #[test]
    fn the_ends_of_the_range_infect_the_sources_alone_or_everybody() {
        let infected = |transmission, sources| {
            let model = DiseaseTree { transmission, sources, ..Default::default() };
            generate(&model, 9).labels.unwrap().iter().sum::<i64>()
        };
        assert_eq!(infected(0.0, 0.05), 50);
        assert_eq!(infected(0.0, 1e-9), 1);
        assert_eq!(infected(1.0, 1e-9), 1000);
        assert_eq!(infected(0.3, 1.0), 1000);
    }

    #[test]
    fn neither_class_is_rare_by_default_at_any_size() {
        for n in [500, 5000, 50_000] {
            for seed in 0..10 {
                let labels = generate(&DiseaseTree { n, ..Default::default() }, seed).labels.unwrap();
                let share = labels.iter().sum::<i64>() as f64 / n as f64;
                assert!((0.1..0.6).contains(&share), "n {n}, seed {seed}: {share}");
            }
        }
    }

    #[test]
    fn susceptibility_is_uniform_and_sources_are_uniform() {
        let n = 100_000;
        let generated = generate(&DiseaseTree { n, sources: 0.2, noise: 0.0, ..Default::default() }, 1);
        let (_, features) = generated.features.unwrap();
        let (mut tenths, mut sources) = ([0u32; 10], [0u32; 10]);
        for (v, row) in features.chunks(2).enumerate() {
            tenths[((row[0] * 10.0) as usize).min(9)] += 1;
            sources[v * 10 / n] += row[1] as u32;
        }
        let chi_square =
            |counts: [u32; 10], mean: f64| counts.iter().map(|&c| (f64::from(c) - mean).powi(2) / mean).sum::<f64>();
        // The 99.9 % point of 9 degrees of freedom is 27.9; drawing without replacement scatters less.
        assert!(chi_square(tenths, 10_000.0) < 27.9);
        assert_eq!(sources.iter().sum::<u32>(), 20_000);
        assert!(chi_square(sources, 2_000.0) < 27.9);
    }

    #[test]
    fn a_seed_pins_the_tree() {
        let fingerprints = [0, 1].map(|seed| fingerprint(&generate(&DiseaseTree::default(), seed)));
        assert_eq!(fingerprints, [0x0713_30a9_eff4_5524, 0xc1b6_0c10_7307_14df]);
    }

    #[test]
    fn errors_name_the_argument_and_its_range() {
        let error = |model: DiseaseTree| disease_tree(&model, 0, &Unmonitored).unwrap_err().to_string();
        let model = DiseaseTree::default();
        assert_eq!(error(DiseaseTree { n: 0, ..model }), "disease_tree: n is 0, but must be from 1 to 4294967295");
        assert_eq!(
            error(DiseaseTree { branching: 0, ..model }),
            "disease_tree: branching is 0, but must be at least 1"
        );
        assert_eq!(
            error(DiseaseTree { sources: 0.0, ..model }),
            "disease_tree: sources is 0, but must be a share above 0 and up to 1"
        );
        assert_eq!(
            error(DiseaseTree { transmission: 2.0, ..model }),
            "disease_tree: transmission is 2, but must be a probability, from 0 to 1"
        );
        assert_eq!(
            error(DiseaseTree { noise: f64::INFINITY, ..model }),
            "disease_tree: noise is inf, but must be from 0 to 1e30"
        );
    }
}
