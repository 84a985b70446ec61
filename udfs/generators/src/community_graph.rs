//! Communities that are random graphs, joined by a few edges.

use bonnet_graph::Monitor;

use crate::edge_list::EdgeList;
use crate::erdos_renyi::likely_count;
use crate::error::{require, require_nodes, require_probability};
use crate::random::{Random, Stream};
use crate::sample::distinct_below;
use crate::trials::Trials;
use crate::{Error, Generated};

/// The parameters of [`community_graph`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommunityGraph {
    /// The number of nodes.
    pub n: usize,
    /// The number of communities, whose sizes differ by at most one.
    pub communities: usize,
    /// The probability of an edge within a community.
    pub p: f64,
    /// The number of edges between communities is this times `n`, rounded.
    pub between: f64,
}

/// The community graphs of You et al., GraphRNN (ICML 2018), Sec. 4.1: each community is a random graph G(n / k, p), and
/// round(`between` n) different edges are drawn uniformly among the pairs of different communities. The label of a node
/// is its community, from 0; communities are runs of consecutive nodes.
///
/// O(n + m log m) time, 16 m bytes at the peak.
///
/// # Errors
/// `n` above 4,294,967,295; `communities` not from 1 to `n`; `p` outside of [0, 1]; `between` negative or for more edges
/// than there are pairs; or the monitor stopped the work.
pub fn community_graph(model: &CommunityGraph, seed: u64, monitor: &dyn Monitor) -> Result<Generated, Error> {
    const NAME: &str = "community_graph";
    let &CommunityGraph { n, communities, p, between } = model;
    require_nodes(NAME, "n", n, 1)?;
    require((1..=n).contains(&communities), NAME, "communities", communities, format_args!("from 1 to n = {n}"))?;
    require_probability(NAME, "p", p)?;
    let start = |block: usize| block * (n / communities) + block.min(n % communities);
    // The pairs of a node of this block and one of a later block.
    let pairs = |block: usize| (start(block + 1) - start(block)) as u64 * (n - start(block + 1)) as u64;
    let all: u64 = (0..communities).map(pairs).sum();
    let count = (between * n as f64).round();
    require(
        between >= 0.0 && count <= all as f64,
        NAME,
        "between",
        between,
        format_args!("from 0 to {} (the {all} pairs between communities over n)", all as f64 / n as f64),
    )?;

    let within: f64 = (0..communities)
        .map(|block| (start(block + 1) - start(block)) as f64)
        .map(|size| size * (size - 1.0) / 2.0)
        .sum();
    let mut edges = EdgeList::with_room_for(likely_count(within, p) + count as u128, monitor)?;
    let mut trials = Trials::new(p, Random::new(seed, Stream::CommunityWithin));
    monitor.expect(n as u64);
    let mut labels = Vec::with_capacity(n);
    for block in 0..communities {
        let (first, end) = (start(block), start(block + 1));
        labels.resize(end, block as i64);
        for u in first..end {
            trials.over(u as u64 + 1..end as u64, |v| edges.push(u as u32, v as u32))?;
        }
        monitor.check()?;
        monitor.advance((end - first) as u64);
    }
    let mut random = Random::new(seed, Stream::CommunityBetween);
    let (mut block, mut before) = (0, 0);
    for position in distinct_below(all, count as u64, &mut random, monitor)? {
        while position - before >= pairs(block) {
            before += pairs(block);
            block += 1;
        }
        let (later, end) = ((n - start(block + 1)) as u64, start(block + 1) as u64);
        let (u, v) = ((position - before) / later, (position - before) % later);
        edges.push((start(block) as u64 + u) as u32, (end + v) as u32)?;
    }
    Ok(Generated { labels: Some(labels), ..Generated::unlabelled(n, edges.into_sorted(n)?) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::tests::{assert_simple, fingerprint};
    use bonnet_graph::Unmonitored;

    const MODEL: CommunityGraph = CommunityGraph { n: 60, communities: 2, p: 0.3, between: 0.05 };

    fn split(generated: &Generated) -> (usize, usize) {
        let labels = generated.labels.as_ref().unwrap();
        let within = |&&(u, v): &&(u32, u32)| labels[u as usize] == labels[v as usize];
        let count = generated.edges.iter().filter(within).count();
        (count, generated.edges.len() - count)
    }

    #[test]
    fn edges_within_are_binomial_and_edges_between_are_counted() {
        let seeds = 1000u64;
        let mut total = 0.0;
        for seed in 0..seeds {
            let generated = community_graph(&MODEL, seed, &Unmonitored).unwrap();
            assert_simple(&generated);
            let (within, between) = split(&generated);
            assert_eq!(between, 3);
            total += within as f64;
        }
        // Two communities of 30: 870 pairs.
        let (mean, expected, variance) = (total / seeds as f64, 261.0, 870.0 * 0.3 * 0.7);
        assert!((mean - expected).abs() < 4.0 * f64::sqrt(variance / seeds as f64), "{mean}");
    }

    #[test]
    fn every_pair_between_communities_is_equally_likely() {
        let model = CommunityGraph { n: 7, communities: 3, p: 0.0, between: 2.0 / 7.0 };
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..8000 {
            for edge in community_graph(&model, seed, &Unmonitored).unwrap().edges {
                *counts.entry(edge).or_insert(0.0) += 1.0;
            }
        }
        // Sizes 3, 2, 2: 6 + 6 + 4 pairs, two of them in each graph.
        assert_eq!(counts.len(), 16);
        let (mean, variance) = (8000.0 * 2.0 / 16.0, 8000.0 * (2.0 / 16.0) * (14.0 / 16.0));
        let chi_square: f64 = counts.values().map(|count: &f64| (count - mean).powi(2) / variance).sum();
        assert!(chi_square < 37.7, "{chi_square}: the 99.9 % point of 15 degrees of freedom is 37.7");
    }

    #[test]
    fn communities_are_of_nearly_one_size() {
        let model = CommunityGraph { n: 11, communities: 4, p: 1.0, between: 0.0 };
        let generated = community_graph(&model, 0, &Unmonitored).unwrap();
        assert_eq!(generated.labels.unwrap(), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]);
        assert_eq!(generated.edges.len(), 3 + 3 + 3 + 1);
    }

    #[test]
    fn a_seed_pins_the_graph() {
        assert_eq!(fingerprint(&community_graph(&MODEL, 1, &Unmonitored).unwrap()), 0xc648_14d6_f03e_8d45);
    }

    #[test]
    fn errors_name_the_argument_and_its_range() {
        let error = |model| community_graph(&model, 0, &Unmonitored).unwrap_err().to_string();
        let communities = CommunityGraph { communities: 0, ..MODEL };
        assert_eq!(error(communities), "community_graph: communities is 0, but must be from 1 to n = 60");
        let p = CommunityGraph { p: 2.0, ..MODEL };
        assert_eq!(error(p), "community_graph: p is 2, but must be a probability, from 0 to 1");
        let between = CommunityGraph { between: 16.0, ..MODEL };
        assert!(error(between).contains("from 0 to 15"), "{}", error(between));
        let between = CommunityGraph { between: f64::NAN, ..MODEL };
        assert!(error(between).contains("between is NaN"), "{}", error(between));
    }
}
