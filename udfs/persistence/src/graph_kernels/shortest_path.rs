//! The shortest-path kernel.

use std::collections::HashMap;

use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::features::Features;
use super::gram::PairValues;
use crate::colors::GraphSet;

/// The label of a node, that of another, and their distance.
type PathKind = (u32, u32, u32);

/// The shortest-path kernel of all pairs of graphs (Borgwardt and Kriegel, Shortest-path kernels on graphs, ICDM 2005) with equal
/// labels and equal lengths: the inner product of how many ordered pairs of two nodes of each graph have which label, which other label and
/// which distance. Pairs without a path do not count.
///
/// O(n (n + m)) a graph for the distances, then a step for each kind of path that two graphs have in common. Exact below 2^53.
///
/// # Errors
/// The monitor stopped the work.
pub fn shortest_path_kernel(set: &GraphSet, monitor: &dyn Monitor) -> Result<PairValues, Stopped> {
    let kinds = (0..set.len()).into_par_iter().map(|i| {
        monitor.check()?;
        kinds(&set.graph(i), &set.labels()[set.nodes(i)], monitor)
    });
    let kinds = kinds.collect::<Result<Vec<_>, Stopped>>()?;
    let _held = Reservation::new(monitor, 40 * kinds.iter().map(Vec::len).sum::<usize>())?;
    let mut numbers: HashMap<PathKind, u32> = HashMap::new();
    let mut number = |kind| {
        let next = numbers.len() as u32;
        *numbers.entry(kind).or_insert(next)
    };
    let mut of_graph: Vec<Vec<(u32, u32)>> =
        kinds.into_iter().map(|kinds| kinds.into_iter().map(|(kind, count)| (number(kind), count)).collect()).collect();
    of_graph.iter_mut().for_each(|features| features.sort_unstable());
    Features { of_graph, n_features: numbers.len() }.inner_products(monitor)
}

/// How often each kind of path comes in a graph.
fn kinds(graph: &Graph, labels: &[u32], monitor: &dyn Monitor) -> Result<Vec<(PathKind, u32)>, Stopped> {
    const FAR: u32 = u32::MAX;
    let n = graph.n_nodes();
    let mut counts: HashMap<PathKind, u32> = HashMap::new();
    let mut distance = vec![FAR; n];
    let mut queue: Vec<u32> = Vec::with_capacity(n);
    for source in 0..n as u32 {
        monitor.check()?;
        distance[source as usize] = 0;
        queue.push(source);
        let mut at = 0;
        while at < queue.len() {
            let v = queue[at];
            at += 1;
            let steps = distance[v as usize];
            if v != source {
                *counts.entry((labels[source as usize], labels[v as usize], steps)).or_default() += 1;
            }
            for &u in graph.neighbors(v) {
                if distance[u as usize] == FAR {
                    distance[u as usize] = steps + 1;
                    queue.push(u);
                }
            }
        }
        queue.drain(..).for_each(|v| distance[v as usize] = FAR);
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::super::testing::graphs;
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn values_are_those_of_the_definition() {
        for labelled in [false, true] {
            let set = graphs(200, labelled);
            let found = shortest_path_kernel(&set, &Unmonitored).unwrap();
            // All distances by Floyd and Warshall, then all pairs of pairs.
            let paths: Vec<Vec<PathKind>> = (0..set.len())
                .map(|i| {
                    let (graph, labels) = (set.graph(i), &set.labels()[set.nodes(i)]);
                    let n = graph.n_nodes();
                    let mut d = vec![vec![1000u32; n]; n];
                    graph.edges().for_each(|(u, v)| {
                        d[u as usize][v as usize] = 1;
                        d[v as usize][u as usize] = 1;
                    });
                    for w in 0..n {
                        for u in 0..n {
                            for v in 0..n {
                                d[u][v] = d[u][v].min(d[u][w] + d[w][v]);
                            }
                        }
                    }
                    let pairs = (0..n).flat_map(|u| (0..n).filter(move |&v| v != u).map(move |v| (u, v)));
                    pairs.filter(|&(u, v)| d[u][v] < 1000).map(|(u, v)| (labels[u], labels[v], d[u][v])).collect()
                })
                .collect();
            for i in 0..set.len() {
                for j in 0..=i {
                    let equal = paths[i].iter().map(|a| paths[j].iter().filter(|b| a == *b).count()).sum::<usize>();
                    assert_eq!(found.get(i, j), equal as f64, "{i} {j}");
                }
            }
        }
    }
}
