//! Blocks of nodes that are denser within than between.

use bonnet_graph::{Monitor, Reservation};

use crate::edge_list::{EdgeList, zeros};
use crate::erdos_renyi::{ROWS, likely_count};
use crate::error::{require, require_nodes, require_probability};
use crate::random::{Random, Stream};
use crate::trials::Trials;
use crate::{Error, Generated};

const NAME: &str = "stochastic_block_model";

/// The parameters of a [`stochastic_block_model`].
#[derive(Debug, Clone, PartialEq)]
pub struct StochasticBlockModel {
    /// The number of nodes of each block, each at least 1. Block 0 holds the first nodes, block 1 the next, and so on.
    pub sizes: Vec<usize>,
    /// The probability of each edge within a block.
    pub p_within: f64,
    /// The probability of each edge between two blocks.
    pub p_between: f64,
    /// The width of the features; 0 for none.
    pub features: usize,
    /// The distance of the blocks' means: the root of half the expected square distance of two means.
    pub separation: f64,
    /// The standard deviation of each feature about its block's mean.
    pub noise: f64,
}

impl Default for StochasticBlockModel {
    /// Two blocks of 100 nodes, 0.1 within, 0.01 between, 16 features, separation 1, noise 1.
    fn default() -> Self {
        Self { sizes: vec![100; 2], p_within: 0.1, p_between: 0.01, features: 16, separation: 1.0, noise: 1.0 }
    }
}

/// The planted partition (Holland, Laskey and Leinhardt, Stochastic blockmodels: first steps, 1983, with one probability
/// within and one between): the nodes stand in blocks, and each pair of nodes is an edge independently of the others,
/// with probability `p_within` in the same block, `p_between` in different ones. The label of a node is its block.
///
/// The features are a mixture of Gaussians. With `d` features, each block has a mean, drawn once, whose entries are
/// normal with deviation `separation / sqrt(d)`; the features of a node are its block's mean plus independent normal
/// deviates times `noise`. The expected distance of two means is thus about `sqrt(2) * separation` whatever `d`, and
/// `separation / noise` says how much the features alone tell: the best rule for two blocks at this distance errs on a
/// share of Phi(-separation / (sqrt(2) * noise)), 24 % by default.
///
/// Edges, means and noise have random streams of their own: the same seed with other features is the same graph.
/// O(n (1 + d) + m) time; 8 m + (8 + 4 d) n bytes.
///
/// # Errors
/// No block or an empty one; more than 4,294,967,295 nodes; a probability outside of [0, 1]; a separation or noise outside
/// of [0, 1e30]; or the monitor stopped the work.
pub fn stochastic_block_model(
    model: &StochasticBlockModel,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Generated, Error> {
    let n = checked_n_nodes(model)?;
    let all_pairs = n as f64 * (n as f64 - 1.0) / 2.0;
    let pairs_within: f64 = model.sizes.iter().map(|&size| size as f64 * (size as f64 - 1.0) / 2.0).sum();
    let expected = likely_count(pairs_within, model.p_within) + likely_count(all_pairs - pairs_within, model.p_between);
    let mut edges = EdgeList::with_room_for(expected, monitor)?;
    let mut reservation = Reservation::new(monitor, 0)?;
    let mut labels: Vec<i64> = zeros(n, &mut reservation)?;
    monitor.expect(n as u64);

    let mut within = Trials::new(model.p_within, Random::new(seed, Stream::BlocksWithin));
    let mut between = Trials::new(model.p_between, Random::new(seed, Stream::BlocksBetween));
    let mut end = 0;
    for (block, &size) in model.sizes.iter().enumerate() {
        let start = end;
        end += size;
        labels[start..end].fill(block as i64);
        for u in start..end {
            within.over(u as u64 + 1..end as u64, |v| edges.push(u as u32, v as u32))?;
            between.over(end as u64..n as u64, |v| edges.push(u as u32, v as u32))?;
            if u.is_multiple_of(ROWS) {
                monitor.check()?;
            }
        }
        monitor.advance(size as u64);
    }

    let features = match model.features {
        0 => None,
        width => Some((width, features(model, &labels, seed, &mut reservation, monitor)?)),
    };
    Ok(Generated { n_nodes: n, edges: edges.into_vec(), labels: Some(labels), features })
}

/// Checks all parameters and counts the nodes.
fn checked_n_nodes(model: &StochasticBlockModel) -> Result<usize, Error> {
    require(!model.sizes.is_empty(), NAME, "sizes", "empty", "a list of at least one block")?;
    for &size in &model.sizes {
        require_nodes(NAME, "a block's size", size, 1)?;
    }
    let n = model.sizes.iter().fold(0usize, |n, &size| n.saturating_add(size));
    require_nodes(NAME, "the sum of the sizes", n, 1)?;
    require_probability(NAME, "p_within", model.p_within)?;
    require_probability(NAME, "p_between", model.p_between)?;
    for (argument, value) in [("separation", model.separation), ("noise", model.noise)] {
        require((0.0..=1e30).contains(&value), NAME, argument, value, "from 0 to 1e30")?;
    }
    Ok(n)
}

/// The features of all nodes, row by row.
fn features(
    model: &StochasticBlockModel,
    labels: &[i64],
    seed: u64,
    reservation: &mut Reservation<'_>,
    monitor: &dyn Monitor,
) -> Result<Vec<f32>, Error> {
    let width = model.features;
    let mut means: Vec<f64> = zeros(model.sizes.len().saturating_mul(width), reservation)?;
    let mut values: Vec<f32> = zeros(labels.len().saturating_mul(width), reservation)?;
    let mut random = Random::new(seed, Stream::BlockMeans);
    let deviation = model.separation / (width as f64).sqrt();
    means.iter_mut().for_each(|mean| *mean = deviation * random.normal());
    let mut random = Random::new(seed, Stream::BlockFeatures);
    let mut drawn = 0;
    for (row, &label) in values.chunks_mut(width).zip(labels) {
        let mean = &means[label as usize * width..][..width];
        row.iter_mut().zip(mean).for_each(|(value, mean)| *value = (mean + model.noise * random.normal()) as f32);
        drawn += width;
        if drawn >= ROWS {
            monitor.check()?;
            drawn = 0;
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_simple, fingerprint};
    use bonnet_graph::Unmonitored;

    fn generate(model: &StochasticBlockModel, seed: u64) -> Generated {
        stochastic_block_model(model, seed, &Unmonitored).unwrap()
    }

    #[test]
    fn the_density_of_every_pair_of_blocks_is_binomial() {
        let sizes = vec![13, 1, 30, 22];
        let model = StochasticBlockModel { sizes: sizes.clone(), p_within: 0.4, p_between: 0.07, ..Default::default() };
        let seeds = 1500;
        let mut counts = [[0.0f64; 4]; 4];
        for seed in 0..seeds {
            let generated = generate(&model, seed);
            assert_simple(&generated);
            let labels = generated.labels.unwrap();
            for (u, v) in generated.edges {
                counts[labels[u as usize] as usize][labels[v as usize] as usize] += 1.0;
            }
        }
        for a in 0..4 {
            for b in a..4 {
                let pairs = if a == b { sizes[a] * (sizes[a] - 1) / 2 } else { sizes[a] * sizes[b] } * seeds as usize;
                let p = if a == b { 0.4 } else { 0.07 };
                let deviation = (pairs as f64 * p * (1.0 - p)).sqrt();
                let excess = counts[a][b] - pairs as f64 * p;
                assert!(excess.abs() <= 4.0 * deviation, "blocks {a} and {b}: {excess}, deviation {deviation}");
            }
        }
    }

    #[test]
    fn labels_are_the_blocks_in_order() {
        let model = StochasticBlockModel { sizes: vec![2, 1, 3], features: 0, ..Default::default() };
        let generated = generate(&model, 0);
        assert_eq!(generated.labels.unwrap(), [0, 0, 1, 2, 2, 2]);
        assert_eq!((generated.n_nodes, generated.features), (6, None));
    }

    #[test]
    fn certain_and_impossible_edges_give_cliques_or_a_multipartite_graph() {
        let edges = |p_within, p_between| {
            generate(&StochasticBlockModel { sizes: vec![2, 3], p_within, p_between, ..Default::default() }, 0).edges
        };
        assert_eq!(edges(1.0, 0.0), [(0, 1), (2, 3), (2, 4), (3, 4)]);
        assert_eq!(edges(0.0, 1.0), [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]);
    }

    #[test]
    fn features_scatter_about_their_blocks_mean_and_means_lie_apart_as_said() {
        let blocks = 40;
        let model = StochasticBlockModel {
            sizes: vec![200; blocks],
            p_within: 0.0,
            p_between: 0.0,
            features: 8,
            separation: 3.0,
            noise: 0.5,
        };
        let generated = generate(&model, 11);
        let (width, values) = generated.features.unwrap();
        assert_eq!((width, values.len()), (8, 8 * 200 * blocks));
        let block = |b: usize| &values[b * 200 * 8..(b + 1) * 200 * 8];
        let mean = |b: usize, f: usize| block(b).iter().skip(f).step_by(8).map(|&x| f64::from(x)).sum::<f64>() / 200.0;
        let (mut scatter, mut distance) = (0.0, 0.0);
        for b in 0..blocks {
            for f in 0..8 {
                let scattered = block(b).iter().skip(f).step_by(8);
                scatter += scattered.map(|&x| (f64::from(x) - mean(b, f)).powi(2)).sum::<f64>() / 199.0;
                for other in 0..b {
                    distance += (mean(b, f) - mean(other, f)).powi(2);
                }
            }
        }
        let scatter = scatter / (blocks * 8) as f64;
        assert!((scatter - 0.25).abs() < 0.01, "{scatter}");
        // 2 separation^2 = 18 on average over the pairs of blocks; the deviation of the average is about 18 sqrt(2 / 312).
        let distance = distance / (blocks * (blocks - 1) / 2) as f64;
        assert!((distance - 18.0).abs() < 4.0, "{distance}");
    }

    #[test]
    fn features_do_not_change_the_edges() {
        let model = StochasticBlockModel::default();
        let bare = StochasticBlockModel { features: 0, ..model.clone() };
        assert_eq!(generate(&model, 3).edges, generate(&bare, 3).edges);
    }

    #[test]
    fn a_seed_pins_the_graph() {
        let fingerprints = [0, 1].map(|seed| fingerprint(&generate(&StochasticBlockModel::default(), seed)));
        assert_eq!(fingerprints, [0x38d2_9a18_79e9_74fa, 0xd241_6c5c_2ad8_e9e2]);
    }

    #[test]
    fn errors_name_the_argument_and_its_range() {
        let error =
            |model: StochasticBlockModel| stochastic_block_model(&model, 0, &Unmonitored).unwrap_err().to_string();
        let model = StochasticBlockModel::default();
        assert_eq!(
            error(StochasticBlockModel { sizes: vec![], ..model.clone() }),
            "stochastic_block_model: sizes is empty, but must be a list of at least one block"
        );
        assert_eq!(
            error(StochasticBlockModel { sizes: vec![5, 0], ..model.clone() }),
            "stochastic_block_model: a block's size is 0, but must be from 1 to 4294967295"
        );
        assert_eq!(
            error(StochasticBlockModel { p_between: -0.1, ..model.clone() }),
            "stochastic_block_model: p_between is -0.1, but must be a probability, from 0 to 1"
        );
        assert_eq!(
            error(StochasticBlockModel { noise: f64::NAN, ..model.clone() }),
            "stochastic_block_model: noise is NaN, but must be from 0 to 1e30"
        );
        assert!(error(StochasticBlockModel { sizes: vec![1 << 31; 3], ..model }).contains("the sum of the sizes"));
    }
}
