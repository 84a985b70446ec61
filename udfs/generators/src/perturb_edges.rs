//! Graphs with some edges taken away and some put in.

use bonnet_graph::{Graph, Monitor, Reservation};

use crate::Error;
use crate::error::require;
use crate::random::{Random, Stream};
use crate::sample::distinct_below;

/// The graph's edges after round(`remove` m) of its m edges have gone and round(`add` m) of its non-edges have come, every
/// choice equally likely; `(u, v)` with u < v, in ascending order. What is added was no edge before, so nothing that went
/// comes back. `number` tells apart the graphs of one seed.
///
/// O(n + m + a log a) time for a added edges; 40 bytes an edge that changes.
///
/// # Errors
/// `remove` outside of [0, 1], `add` negative or for more edges than there are non-edges, or the monitor stopped the work.
pub fn perturb_edges(
    graph: &Graph,
    add: f64,
    remove: f64,
    seed: u64,
    number: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<(u32, u32)>, Error> {
    const NAME: &str = "perturb_edges";
    require((0.0..=1.0).contains(&remove), NAME, "remove", remove, "a share of the edges, from 0 to 1")?;
    require(add >= 0.0 && add.is_finite(), NAME, "add", add, "a share of the number of edges, from 0")?;
    let (n, m) = (graph.n_nodes() as u64, graph.n_edges() as u64);
    let count = |share: f64| (share * m as f64).round();
    let free = n * n.saturating_sub(1) / 2 - m;
    require(
        count(add) <= free as f64,
        NAME,
        "add",
        add,
        format_args!("at most {}: {n} nodes with {m} edges have {free} pairs that are none", free as f64 / m as f64),
    )?;
    let removed = {
        let mut random = Random::numbered(seed, Stream::PerturbRemove, number);
        distinct_below(m, count(remove) as u64, &mut random, monitor)?
    };
    let added = {
        let mut random = Random::numbered(seed, Stream::PerturbAdd, number);
        distinct_below(free, count(add) as u64, &mut random, monitor)?
    };
    let kept = m as usize - removed.len() + added.len();
    let _held = Reservation::new(monitor, 8 * (kept + removed.len() + added.len()))?;

    let mut edges = Vec::with_capacity(kept);
    let mut removed = removed.into_iter().peekable();
    edges.extend((0..m).zip(graph.edges()).filter(|(i, _)| removed.next_if_eq(i).is_none()).map(|(_, edge)| edge));
    // Row u has the pairs (u, v) with v > u; those that are no edges are numbered row by row.
    let (mut u, mut before) = (0u32, 0u64);
    let later = |u: u32| {
        let row = graph.neighbors(u);
        &row[row.partition_point(|&v| v <= u)..]
    };
    let free_in = |u: u32| n - 1 - u64::from(u) - later(u).len() as u64;
    for position in added {
        while position - before >= free_in(u) {
            before += free_in(u);
            u += 1;
        }
        // The neighbours below the wanted node move it up by one each.
        let mut v = u64::from(u) + 1 + position - before;
        for &neighbour in later(u) {
            if u64::from(neighbour) > v {
                break;
            }
            v += 1;
        }
        edges.push((u, v as u32));
    }
    monitor.check()?;
    edges.sort_unstable();
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use std::collections::{BTreeMap, BTreeSet};

    fn perturbed(graph: &Graph, add: f64, remove: f64, seed: u64) -> BTreeSet<(u32, u32)> {
        let edges = perturb_edges(graph, add, remove, seed, 0, &Unmonitored).unwrap();
        assert!(edges.is_sorted_by(|a, b| a < b) && edges.iter().all(|(u, v)| u < v));
        edges.into_iter().collect()
    }

    fn petersen() -> Graph {
        Graph::from_edges(10, &crate::petersen_graph(&Unmonitored).unwrap().edges)
    }

    #[test]
    fn as_many_edges_come_and_go_as_asked_for() {
        let (graph, seed) = (petersen(), 5);
        let before: BTreeSet<_> = graph.edges().collect();
        for (add, remove, plus, minus) in
            [(0.0, 0.0, 0, 0), (0.2, 0.0, 3, 0), (0.0, 0.4, 0, 6), (0.1, 0.1, 2, 2), (2.0, 1.0, 30, 15)]
        {
            let after = perturbed(&graph, add, remove, seed);
            assert_eq!((after.difference(&before).count(), before.difference(&after).count()), (plus, minus));
        }
    }

    #[test]
    fn every_edge_goes_and_every_other_pair_comes_equally_often() {
        let graph = petersen();
        let mut counts: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let rounds = 6000;
        for seed in 0..rounds {
            // 3 of 15 edges go, 6 of 30 other pairs come.
            let after = perturbed(&graph, 0.4, 0.2, seed);
            for u in 0..10 {
                for v in u + 1..10 {
                    let changed = graph.has_edge(u, v) != after.contains(&(u, v));
                    *counts.entry((u, v)).or_default() += f64::from(u8::from(changed));
                }
            }
        }
        let (mean, variance) = (f64::from(rounds as u32) * 0.2, f64::from(rounds as u32) * 0.2 * 0.8);
        let chi_square: f64 = counts.values().map(|count| (count - mean).powi(2) / variance).sum();
        assert!(chi_square < 80.1, "{chi_square}: the 99.9 % point of 45 degrees of freedom is 80.1");
    }

    #[test]
    fn graphs_of_one_seed_change_apart() {
        let graph = petersen();
        let change = |number| perturb_edges(&graph, 0.4, 0.4, 1, number, &Unmonitored).unwrap();
        assert_eq!(change(0), change(0));
        assert_ne!(change(0), change(1));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |add, remove| perturb_edges(&petersen(), add, remove, 0, 0, &Unmonitored).unwrap_err().to_string();
        assert_eq!(error(0.0, 1.5), "perturb_edges: remove is 1.5, but must be a share of the edges, from 0 to 1");
        assert!(error(2.1, 0.0).contains("at most 2: 10 nodes with 15 edges have 30 pairs that are none"));
        assert!(error(f64::NAN, 0.0).contains("add is NaN"));
        let empty = Graph::from_edges(3, &[]);
        assert!(perturb_edges(&empty, 1.0, 1.0, 0, 0, &Unmonitored).unwrap().is_empty());
    }
}
