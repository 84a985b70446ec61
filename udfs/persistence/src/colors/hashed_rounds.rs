//! Rounds of colour refinement on hashes, for many small graphs.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::graph_set::GraphSet;
use super::hashing::mix;

/// The nodes of a graph, on average, up to which its hashes stay near the processor for all rounds.
const SMALL: usize = 1024;

/// The nodes of the graphs that are done one after the other.
const PIECE: usize = 1 << 14;

/// The most rounds.
const ROUNDS: u32 = 64;

/// Whether a set has so many graphs, and so small ones, that rounds on hashes are quicker than those of [`super::Refinement`].
pub(super) fn is_worth_it(set: &GraphSet) -> bool {
    set.len() > 1 && set.union().n_nodes() <= SMALL * set.len()
}

/// Colours that are those of refinement, or coarser: nodes that refinement does not tell apart have one colour, and begun with
/// them it ends where it does from `first`. Where each graph is done by itself its hashes stay in the processor's cache, while a round
/// over all graphs reads all of memory. Hashes of 64 bits: that two nodes have one by chance is for the refinement to mend.
///
/// Each graph takes as many rounds as the one that takes most until no colour of it splits, up to 64. O((n + m) rounds);
/// 32 n bytes.
///
/// # Errors
/// The monitor stopped the work.
pub(super) fn hashed_rounds(set: &GraphSet, first: &[u32], monitor: &dyn Monitor) -> Result<Vec<u32>, Stopped> {
    let n = first.len();
    let _held = Reservation::new(monitor, 32 * n)?;
    let mut hashes: Vec<u64> = first.iter().map(|&color| mix(u64::from(color))).collect();
    let mut taken = vec![0; set.len()];
    let mut pieces = Vec::new();
    let (mut rest, mut rest_taken, mut begin) = (&mut hashes[..], &mut taken[..], 0);
    while begin < set.len() {
        let start = set.nodes(begin).start;
        let end = (begin + 1..set.len()).find(|&graph| set.nodes(graph).start - start >= PIECE).unwrap_or(set.len());
        let (own, others) = rest.split_at_mut(set.nodes(end - 1).end - start);
        let (own_taken, others_taken) = rest_taken.split_at_mut(end - begin);
        pieces.push((begin, own, own_taken));
        (rest, rest_taken, begin) = (others, others_taken, end);
    }
    let most = pieces.par_iter_mut().map(|(begin, hashes, taken)| {
        monitor.check()?;
        let start = set.nodes(*begin).start;
        let (mut scratch, mut most) = (Vec::new(), 0);
        for (graph, taken) in (*begin..).zip(taken.iter_mut()) {
            let nodes = set.nodes(graph);
            *taken = until_none_splits(set, graph, &mut hashes[nodes.start - start..nodes.end - start], &mut scratch);
            most = most.max(*taken);
        }
        Ok::<u32, Stopped>(most)
    });
    let most = most.try_reduce(|| 0, |a, b| Ok(a.max(b)))?;
    pieces.par_iter_mut().try_for_each(|(begin, hashes, taken)| {
        monitor.check()?;
        let start = set.nodes(*begin).start;
        let mut scratch = Vec::new();
        for (graph, taken) in (*begin..).zip(taken.iter()) {
            let nodes = set.nodes(graph);
            let own = &mut hashes[nodes.start - start..nodes.end - start];
            (*taken..most).for_each(|_| round(set, graph, own, &mut scratch));
        }
        Ok::<(), Stopped>(())
    })?;
    let mut order: Vec<(u64, u32)> = hashes.into_iter().zip(0..).collect();
    order.par_sort_unstable();
    monitor.check()?;
    let mut colors = vec![0; n];
    let mut last = 0;
    for (i, &(hash, v)) in order.iter().enumerate() {
        if i > 0 && order[i - 1].0 != hash {
            last += 1;
        }
        colors[v as usize] = last;
    }
    Ok(colors)
}

/// Rounds on one graph until it has no more colours than before; how many.
fn until_none_splits(set: &GraphSet, graph: usize, hashes: &mut [u64], scratch: &mut Vec<u64>) -> u32 {
    let mut before = distinct(hashes, scratch);
    for taken in 0..ROUNDS {
        if before == hashes.len() {
            return taken;
        }
        round(set, graph, hashes, scratch);
        let now = distinct(hashes, scratch);
        if now == before {
            return taken + 1;
        }
        before = now;
    }
    ROUNDS
}

/// One round: of each node the hash of its own one and of those of its neighbours, in whatever order.
fn round(set: &GraphSet, graph: usize, hashes: &mut [u64], scratch: &mut Vec<u64>) {
    let start = set.nodes(graph).start as u32;
    scratch.clear();
    scratch.extend(hashes.iter().map(|&hash| mix(hash)));
    for (v, hash) in (start..).zip(hashes.iter_mut()) {
        let around = set.union().neighbors(v).iter().map(|&u| scratch[(u - start) as usize]);
        *hash = mix(hash.rotate_left(17) ^ around.fold(0, u64::wrapping_add));
    }
}

/// The number of different hashes.
fn distinct(hashes: &[u64], scratch: &mut Vec<u64>) -> usize {
    scratch.clear();
    scratch.extend_from_slice(hashes);
    scratch.sort_unstable();
    scratch.dedup();
    scratch.len()
}

#[cfg(test)]
mod tests {
    use bonnet_graph::Unmonitored;

    use super::super::Refinement;
    use super::super::first_colors::first_labels;
    use super::super::numbers::numbered_below;
    use super::super::testing::{Edges, set};
    use super::*;
    use crate::descriptors::testing::random_graph;

    /// The colours that refinement ends with.
    fn refined(set: &GraphSet, first: Vec<u32>) -> Vec<u32> {
        let mut refinement = Refinement::new(set.union(), first);
        while refinement.step(&Unmonitored).unwrap() {}
        numbered_below(refinement.n_colors(), refinement.colors())
    }

    #[test]
    fn refinement_ends_where_it_does_without_them() {
        for seed in 0..60u64 {
            let graphs: Vec<Edges> = (0..2 + seed % 30)
                .map(|i| {
                    let graph =
                        random_graph(1 + (3 * i + seed) as usize % 17, 0.1 + 0.1 * (seed % 4) as f64, seed + i % 9);
                    (graph.n_nodes(), graph.edges().collect())
                })
                .collect();
            let n = graphs.iter().map(|(n, _)| n).sum::<usize>();
            let labels = (0..n).map(|v| (v as u32 * 5 + seed as u32) % (1 + seed as u32 % 3)).collect();
            let set = set(&graphs, (seed % 2 == 1).then_some(labels));
            let first = first_labels(&set);
            let hashed = hashed_rounds(&set, &first, &Unmonitored).unwrap();
            let exact = refined(&set, first);
            assert_eq!(refined(&set, hashed.clone()), exact, "seed {seed}");
            // Nodes of one colour have one hash.
            for (v, color) in exact.iter().enumerate() {
                let same = exact.iter().position(|other| other == color).unwrap();
                assert_eq!(hashed[v], hashed[same], "seed {seed}, node {v}");
            }
        }
    }

    #[test]
    fn graphs_that_differ_in_later_rounds_than_each_by_itself_are_told_apart() {
        // Cycles are of one colour from the first round on; a path takes one round for two nodes.
        let cycle = |n: u32| (n as usize, (0..n).map(|v| (v, (v + 1) % n)).collect());
        let graphs: Vec<Edges> = vec![cycle(5), (70, (1..70).map(|v| (v - 1, v)).collect()), cycle(6)];
        let set = set(&graphs, None);
        let hashed = hashed_rounds(&set, &first_labels(&set), &Unmonitored).unwrap();
        assert_eq!(refined(&set, hashed), refined(&set, first_labels(&set)));
        // 400 nodes of a path take more rounds than are taken.
        let long: Vec<Edges> = vec![(400, (1..400).map(|v| (v - 1, v)).collect()), cycle(7)];
        let long = super::super::testing::set(&long, None);
        let hashed = hashed_rounds(&long, &first_labels(&long), &Unmonitored).unwrap();
        assert!(hashed.iter().max().unwrap() < &200);
        assert_eq!(refined(&long, hashed), refined(&long, first_labels(&long)));
    }
}
