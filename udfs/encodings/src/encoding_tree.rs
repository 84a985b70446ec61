//! The encoding tree of two levels that a greedy search finds.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use bonnet_graph::{Monitor, Network, Reservation, Steps, Stopped, by_size};

use crate::structural_entropy::CommunityEntropy;

/// A gain, over the volume of the graph, that is more than rounding.
const LEAST_GAIN: f64 = 1e-12;

/// The encoding tree of two levels of a graph: its communities, and what they are in its structural entropy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EncodingTree {
    /// The community of every node, numbered by falling size.
    pub community: Vec<u32>,
    /// The communities.
    pub figures: CommunityEntropy,
}

impl EncodingTree {
    /// The two-dimensional structural entropy of these communities, in bits; `None` without weight.
    pub fn entropy(&self) -> Option<f64> {
        let total: f64 = self.figures.volume.iter().sum();
        (total > 0.0).then(|| self.figures.entropy.iter().sum())
    }
}

/// Two communities that can be merged, and what the entropy falls by, as both were when this was written.
struct Merge {
    gain: f64,
    /// The smallest nodes of both.
    firsts: [u32; 2],
    ends: [u32; 2],
    versions: [u32; 2],
}

impl Ord for Merge {
    fn cmp(&self, other: &Self) -> Ordering {
        // Among equal gains the smallest nodes first.
        self.gain.total_cmp(&other.gain).then_with(|| other.firsts.cmp(&self.firsts))
    }
}

impl PartialOrd for Merge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Merge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Merge {}

/// The bytes of an entry of the heap, and of a neighbour in a community's list.
const ENTRY: usize = size_of::<Merge>();
const NEIGHBOR: usize = 24;

/// A community as it grows, named after one of its nodes.
#[derive(Default)]
struct Community {
    volume: f64,
    cut: f64,
    /// The logarithm of the volume.
    log: f64,
    /// The weight of the edges to each community beside it.
    neighbors: BTreeMap<u32, f64>,
    /// How often it has changed; the largest number once it is in another.
    version: u32,
    /// The smallest node.
    first: u32,
}

/// The encoding tree of an undirected graph whose two-dimensional structural entropy a greedy search finds smallest: from nodes by
/// themselves on, the two communities are merged whose merging lowers it most (among equals those of the smallest nodes), until
/// none does.
///
/// Li and Pan, Structural information and dynamical complexity of networks (2016), Definition 2 and the merging operator. With
/// I = V - g of a community of volume V and cut g, and e the weight between two, merging lowers `2m` times the entropy by
/// `I_i log(V_i / V_ij) + I_j log(V_j / V_ij) + 2 e log(2m / V_ij)`: without an edge between them that is never positive, so that
/// neighbours alone are looked at. A heap holds the gains; those of a merged community and its neighbours are written anew:
/// O(log n) for each neighbour of each merged community, in all O(m log^2 n) where merges are balanced and O(n^2 log n) on a star.
/// About `128 m` bytes, up to four times as much for the heap. One thread.
///
/// # Errors
/// If the monitor stops it.
pub fn encoding_tree(network: Network<'_>, monitor: &dyn Monitor) -> Result<EncodingTree, Stopped> {
    let n = network.n_nodes();
    let mut memory = Reservation::new(monitor, n * size_of::<Community>() + network.out.n_arcs() * (NEIGHBOR + ENTRY))?;
    let community = |v: u32| {
        let volume = network.out.strength(v);
        let neighbors = network.out.weighted(v).filter(|(_, weight)| *weight > 0.0).collect();
        Community { volume, cut: volume, log: volume.ln(), neighbors, version: 0, first: v }
    };
    let mut communities: Vec<Community> = (0..n as u32).map(community).collect();
    let total: f64 = communities.iter().map(|community| community.volume).sum();
    let mut inside: Vec<u32> = (0..n as u32).collect();
    let gain = |a: &Community, b: &Community, weight: f64| {
        let log = (a.volume + b.volume).ln();
        let of = |c: &Community| (c.volume - c.cut) * (c.log - log);
        (of(a) + of(b) + 2.0 * weight * (total.ln() - log)) / total
    };
    let merge = |communities: &[Community], a: u32, b: u32, weight: f64| {
        let (left, right) = (&communities[a as usize], &communities[b as usize]);
        let (a, b) = if left.first < right.first { (a, b) } else { (b, a) };
        let (left, right) = (&communities[a as usize], &communities[b as usize]);
        let gain = gain(left, right, weight);
        let (firsts, versions) = ([left.first, right.first], [left.version, right.version]);
        (gain > LEAST_GAIN).then_some(Merge { gain, firsts, ends: [a, b], versions })
    };
    let mut heap = BinaryHeap::new();
    for v in 0..n as u32 {
        for (&u, &weight) in communities[v as usize].neighbors.range(v + 1..) {
            heap.extend(merge(&communities, v, u, weight));
        }
    }
    let mut steps = Steps::new(monitor, n);
    let (mut merged, mut work, mut edges) = (0usize, 0usize, heap.len());
    while let Some(Merge { ends: [a, b], versions, .. }) = heap.pop() {
        if work > 1 << 14 {
            monitor.check()?;
            steps.reach(merged);
            work = 0;
        }
        work += 1;
        if [a, b].map(|c| communities[c as usize].version) != versions {
            continue;
        }
        // The one with more neighbours takes up the other.
        let larger = communities[a as usize].neighbors.len() >= communities[b as usize].neighbors.len();
        let (into, from) = if larger { (a, b) } else { (b, a) };
        let taken = std::mem::take(&mut communities[from as usize]);
        communities[from as usize].version = u32::MAX;
        inside[from as usize] = into;
        let mut neighbors = std::mem::take(&mut communities[into as usize].neighbors);
        let between = neighbors.remove(&from).unwrap_or(0.0);
        for (&other, &weight) in taken.neighbors.iter().filter(|(other, _)| **other != into) {
            *neighbors.entry(other).or_insert(0.0) += weight;
            let others = &mut communities[other as usize].neighbors;
            others.remove(&from);
            *others.entry(into).or_insert(0.0) += weight;
        }
        let own = &mut communities[into as usize];
        own.volume += taken.volume;
        own.cut += taken.cut - 2.0 * between;
        own.log = own.volume.ln();
        own.version += 1;
        own.first = own.first.min(taken.first);
        own.neighbors = neighbors;
        for (&other, &weight) in &communities[into as usize].neighbors {
            heap.extend(merge(&communities, into, other, weight));
            work += 1;
        }
        merged += 1;
        // Entries of what has changed since are thrown out once they are most of the heap.
        if heap.len() > 4 * edges + 1024 {
            let current = |merge: &Merge| merge.ends.map(|c| communities[c as usize].version) == merge.versions;
            heap.retain(current);
            edges = heap.len();
            work += 4 * edges;
        }
        let held = heap.capacity() * ENTRY + n * size_of::<Community>() + network.out.n_arcs() * NEIGHBOR;
        if held > memory.bytes() {
            memory.grow(held - memory.bytes())?;
        }
    }
    for v in 0..n {
        let mut of = v as u32;
        while inside[of as usize] != of {
            // Half of the way is cut off for those who come after.
            inside[of as usize] = inside[inside[of as usize] as usize];
            of = inside[of as usize];
        }
        inside[v] = of;
    }
    let community = by_size(&inside);
    let count = community.iter().map(|&c| c as usize + 1).max().unwrap_or(0);
    Ok(EncodingTree { figures: CommunityEntropy::of(network, &community, count), community })
}

#[cfg(test)]
mod tests {
    use bonnet_graph::{Graph, Unmonitored};

    use super::*;
    use crate::structural_entropy::one_dimensional_entropy;
    use crate::testing::{self, assert_close};

    fn tree(graph: &Graph) -> EncodingTree {
        encoding_tree(Network::undirected(graph), &Unmonitored).unwrap()
    }

    /// The two-dimensional entropy by its definition.
    fn entropy(graph: &Graph, community: &[u32]) -> f64 {
        let count = community.iter().max().map_or(0, |&c| c as usize + 1);
        CommunityEntropy::of(Network::undirected(graph), community, count).entropy.iter().sum()
    }

    /// The greedy search with the entropy of every pair of communities worked out anew; the least fall that it takes, and the least
    /// difference to the second best.
    fn literal(graph: &Graph) -> (Vec<u32>, f64) {
        let n = graph.n_nodes();
        let mut community: Vec<u32> = (0..n as u32).collect();
        let mut margin = f64::INFINITY;
        loop {
            let before = entropy(graph, &community);
            let mut found: Vec<(f64, Vec<u32>)> = Vec::new();
            for (a, b) in (0..n as u32).flat_map(|a| (0..a).map(move |b| (a, b))) {
                if community.contains(&a) && community.contains(&b) {
                    let merged: Vec<u32> = community.iter().map(|&c| if c == a { b } else { c }).collect();
                    found.push((before - entropy(graph, &merged), merged));
                }
            }
            found.sort_by(|x, y| y.0.total_cmp(&x.0));
            match found.first() {
                Some((gain, merged)) if *gain > 1e-10 => {
                    let second = found.get(1).map_or(0.0, |second| second.0);
                    margin = margin.min(gain - second);
                    community.clone_from(merged);
                }
                _ => return (by_size(&community), margin),
            }
        }
    }

    #[test]
    fn it_is_the_literal_greedy_search() {
        let mut decided = 0;
        for seed in 0..300 {
            let (n, rows) = testing::rows(seed);
            let graph = Graph::from_edges(n, &rows);
            let (expected, margin) = literal(&graph);
            let found = tree(&graph);
            // Where two merges lower the entropy alike, either is right.
            if margin > 1e-9 {
                decided += 1;
                assert_eq!(found.community, expected, "graph {seed}");
            }
            let value = entropy(&graph, &found.community);
            assert!(value <= entropy(&graph, &(0..n as u32).collect::<Vec<_>>()) + 1e-9, "graph {seed}");
            // No merge of two communities is left that lowers it.
            let count = found.community.iter().max().map_or(0, |&c| c + 1);
            for (a, b) in (0..count).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let merged: Vec<u32> = found.community.iter().map(|&c| if c == a { b } else { c }).collect();
                assert!(entropy(&graph, &merged) >= value - 1e-9, "graph {seed}: {a} and {b}");
            }
            match found.entropy() {
                None => assert_eq!(graph.n_edges(), 0),
                Some(two) => {
                    assert_close(&[two], &[value], &format!("graph {seed}"));
                    assert!(two <= one_dimensional_entropy(Network::undirected(&graph)).unwrap() + 1e-9);
                }
            }
        }
        assert!(decided > 20, "{decided} graphs without ties");
    }

    #[test]
    fn cliques_in_a_ring_are_its_communities() {
        let (cliques, size) = (6u32, 5u32);
        let clique = |c: u32| (0..size).flat_map(move |u| (0..u).map(move |v| (c * size + u, c * size + v)));
        let ring = (0..cliques).map(|c| (c * size, (c + 1) % cliques * size + 1));
        let edges: Vec<(u32, u32)> = (0..cliques).flat_map(clique).chain(ring).collect();
        let graph = Graph::from_edges((cliques * size) as usize, &edges);
        let found = tree(&graph);
        assert_eq!(found.community, (0..cliques * size).map(|v| v / size).collect::<Vec<_>>());
        // Of each: three nodes of degree 4 and two of degree 5, volume 22, cut 2; 2m = 132.
        assert_eq!((&found.figures.volume, &found.figures.cut), (&vec![22.0; 6], &vec![2.0; 6]));
        let log = |x: f64| x.log2();
        let each = -(12.0 * log(4.0 / 22.0) + 10.0 * log(5.0 / 22.0) + 2.0 * log(22.0 / 132.0)) / 132.0;
        assert_close(&found.figures.entropy, &[each; 6], "cliques");
        assert_close(&[found.entropy().unwrap()], &[6.0 * each], "all");
    }

    #[test]
    fn nodes_without_edges_stay_alone() {
        let found = tree(&Graph::from_edges(5, &[(1, 2), (2, 4)]));
        // One leaf joins the centre, 2 log(4 / 3); the other would raise it, 2 log(3 / 4) + 2 log(1).
        assert_eq!(found.community, [1, 0, 0, 2, 3]);
        assert_eq!(found.figures.volume, [3.0, 0.0, 0.0, 1.0]);
        let log = |x: f64| x.log2();
        let two = -(log(3.0 / 4.0) + log(1.0 / 3.0) + 2.0 * log(2.0 / 3.0) + log(1.0 / 4.0)) / 4.0;
        assert_close(&[found.entropy().unwrap()], &[two], "a path of three");
        assert_eq!(
            (tree(&Graph::from_edges(0, &[])).entropy(), tree(&Graph::from_edges(3, &[])).entropy()),
            (None, None)
        );
    }
}
