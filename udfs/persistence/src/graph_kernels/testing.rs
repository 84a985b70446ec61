//! Sets of small graphs, and colours by definition.

use std::collections::HashMap;

use crate::colors::GraphSet;
use crate::colors::testing::{Edges, set};
use crate::descriptors::testing::random_graph;

/// Random graphs of 1 to 9 nodes, some with isolated nodes.
pub(super) fn graphs(count: u64, labelled: bool) -> GraphSet {
    let graph = |seed: u64| -> Edges {
        let graph = random_graph(1 + seed as usize * 5 % 9, 0.25 + 0.15 * (seed % 4) as f64, seed);
        (graph.n_nodes(), graph.edges().collect())
    };
    let graphs: Vec<Edges> = (0..count).map(graph).collect();
    let n: usize = graphs.iter().map(|(n, _)| n).sum();
    set(&graphs, labelled.then(|| (0..n as u32).map(|v| v * 7 % 11 % 3).collect()))
}

/// The colours of all nodes before and after each round, by definition.
pub(super) fn round_colors(set: &GraphSet, rounds: usize) -> Vec<Vec<u32>> {
    let mut all = vec![set.labels().to_vec()];
    for _ in 0..rounds {
        let colors = &all[all.len() - 1];
        let mut numbers: HashMap<(u32, Vec<u32>), u32> = HashMap::new();
        let mut next = Vec::new();
        for v in 0..colors.len() {
            let mut around: Vec<u32> = set.union().neighbors(v as u32).iter().map(|&u| colors[u as usize]).collect();
            around.sort_unstable();
            let number = numbers.len() as u32;
            next.push(*numbers.entry((colors[v], around)).or_insert(number));
        }
        all.push(next);
    }
    all
}

/// The least sum of a matching of the rows of a square matrix to its columns, over all of them.
pub(super) fn least_matching(costs: &[Vec<f64>]) -> f64 {
    fn from(costs: &[Vec<f64>], row: usize, taken: u32, known: &mut HashMap<u32, f64>) -> f64 {
        if row == costs.len() {
            return 0.0;
        }
        if let Some(&known) = known.get(&taken) {
            return known;
        }
        let free = (0..costs.len()).filter(|column| taken >> column & 1 == 0);
        let least = free
            .map(|column| costs[row][column] + from(costs, row + 1, taken | 1 << column, known))
            .fold(f64::INFINITY, f64::min);
        known.insert(taken, least);
        least
    }
    from(costs, 0, 0, &mut HashMap::new())
}
