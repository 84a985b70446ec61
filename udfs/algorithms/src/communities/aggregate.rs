//! The weighted graph whose nodes are groups of another's.

use rayon::prelude::*;

use super::neighbor_weights::NeighborWeights;
use crate::Network;

/// Groups whose rows a thread makes together.
const GROUPS: usize = 1 << 10;

/// An undirected graph with weights and loops, as compressed sparse rows.
pub(super) struct Grouped {
    pub(super) offsets: Vec<usize>,
    pub(super) targets: Vec<u32>,
    /// Empty where each is 1.
    pub(super) weights: Vec<f64>,
    /// The weights at each node: of its edges, and twice of its loop.
    pub(super) strength: Vec<f64>,
    /// The sum of all strengths.
    pub(super) total: f64,
}

impl Grouped {
    pub(super) fn new(network: Network<'_>) -> Self {
        let links = network.out;
        let strength: Vec<f64> = (0..links.n_nodes() as u32).map(|v| links.strength(v)).collect();
        Self {
            offsets: links.offsets().to_vec(),
            targets: links.targets().to_vec(),
            weights: links.weights().map(<[f64]>::to_vec).unwrap_or_default(),
            total: strength.iter().sum(),
            strength,
        }
    }

    /// The bytes that a graph takes, and the moves of its nodes.
    pub(super) fn bytes(n: usize, arcs: usize) -> usize {
        64 * n + 24 * arcs
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.strength.len()
    }

    /// The neighbours of `v`.
    pub(super) fn neighbors(&self, v: u32) -> &[u32] {
        &self.targets[self.offsets[v as usize]..self.offsets[v as usize + 1]]
    }

    /// The number of neighbours of `v`.
    pub(super) fn degree(&self, v: u32) -> usize {
        self.offsets[v as usize + 1] - self.offsets[v as usize]
    }

    /// The neighbours of `v` with the weights of their edges; loops are not among them.
    pub(super) fn of(&self, v: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[v as usize]..self.offsets[v as usize + 1];
        let weights = self.weights.get(range.clone());
        self.targets[range].iter().enumerate().map(move |(i, &u)| (u, weights.map_or(1.0, |weights| weights[i])))
    }

    /// The graph of the groups `0..count`: an edge has the sum of the weights between two groups. What is within a group counts
    /// only in its strength. O(n + m), with sums in the order of the nodes.
    pub(super) fn aggregate(&self, group: &[u32], count: usize) -> Self {
        let mut starts = vec![0u32; count + 1];
        group.iter().for_each(|&c| starts[c as usize + 1] += 1);
        (0..count).for_each(|c| starts[c + 1] += starts[c]);
        let mut members = vec![0u32; group.len()];
        let mut next = starts.clone();
        for (v, &c) in group.iter().enumerate() {
            members[next[c as usize] as usize] = v as u32;
            next[c as usize] += 1;
        }
        let of_groups = |groups: std::ops::Range<usize>| {
            let mut all = Part::default();
            let mut table = NeighborWeights::default();
            let mut found: Vec<(u32, f64)> = Vec::new();
            for c in groups {
                let members = &members[starts[c] as usize..starts[c + 1] as usize];
                table.begin(count, members.iter().map(|&v| self.degree(v)).sum());
                let mut strength = 0.0;
                for &v in members {
                    strength += self.strength[v as usize];
                    for (u, weight) in self.of(v) {
                        let d = group[u as usize];
                        if d as usize != c && weight > 0.0 {
                            table.add(d, weight);
                        }
                    }
                }
                table.drain(|d, weight| found.push((d, weight)));
                found.sort_unstable_by_key(|to| to.0);
                all.degrees.push(found.len());
                all.strength.push(strength);
                for (d, weight) in found.drain(..) {
                    all.targets.push(d);
                    all.weights.push(weight);
                }
            }
            all
        };
        let blocks = count.div_ceil(GROUPS);
        let parts: Vec<Part> = (0..blocks)
            .into_par_iter()
            .map(|block| of_groups(block * GROUPS..count.min((block + 1) * GROUPS)))
            .collect();
        let arcs = parts.iter().map(|part| part.targets.len()).sum();
        let mut all = Self {
            offsets: Vec::with_capacity(count + 1),
            targets: Vec::with_capacity(arcs),
            weights: Vec::with_capacity(arcs),
            strength: Vec::with_capacity(count),
            total: self.total,
        };
        let mut end = 0;
        all.offsets.push(0);
        for part in parts {
            all.offsets.extend(part.degrees.iter().map(|degree| {
                end += degree;
                end
            }));
            all.targets.extend(part.targets);
            all.weights.extend(part.weights);
            all.strength.extend(part.strength);
        }
        all
    }
}

/// The rows of some groups.
#[derive(Default)]
struct Part {
    degrees: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
    strength: Vec<f64>,
}

/// Numbers the groups that there are `0..count` in the order of their first nodes; gives `count`.
pub(super) fn renumber(group: &mut [u32]) -> usize {
    let mut number = vec![u32::MAX; group.iter().map(|&c| c as usize + 1).max().unwrap_or(0)];
    let mut count = 0;
    for c in group {
        let number = &mut number[*c as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        *c = *number;
    }
    count as usize
}
