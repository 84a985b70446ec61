//! The weighted graph whose nodes are groups of another's.

use crate::Network;

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
        let mut weight_to = vec![0.0; count];
        let mut found: Vec<u32> = Vec::new();
        let mut all = Self {
            offsets: Vec::with_capacity(count + 1),
            targets: Vec::new(),
            weights: Vec::new(),
            strength: Vec::with_capacity(count),
            total: self.total,
        };
        all.offsets.push(0);
        for c in 0..count {
            let mut strength = 0.0;
            for &v in &members[starts[c] as usize..starts[c + 1] as usize] {
                strength += self.strength[v as usize];
                for (u, weight) in self.of(v) {
                    let d = group[u as usize];
                    if d as usize == c || weight == 0.0 {
                        continue;
                    }
                    if weight_to[d as usize] == 0.0 {
                        found.push(d);
                    }
                    weight_to[d as usize] += weight;
                }
            }
            found.sort_unstable();
            for d in found.drain(..) {
                all.targets.push(d);
                all.weights.push(std::mem::take(&mut weight_to[d as usize]));
            }
            all.offsets.push(all.targets.len());
            all.strength.push(strength);
        }
        all
    }
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
