//! Moves of many nodes at a time that raise modularity.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use bonnet_graph::{Monitor, Steps, Stopped};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::aggregate::Grouped;
use super::neighbor_weights::{NEGLIGIBLE, NeighborWeights};
use super::random_order;

/// The part of the nodes that choose at a time. On random graphs of 10^5 and 10^6 nodes a fourth and four times of it come to about the
/// same modularity, 0.200 and 0.197 on the average, within what seeds differ by (0.002).
const BATCHES: usize = 16;

/// The nodes of a batch that a thread takes at a time.
const TOGETHER: usize = 1 << 6;

/// The bit of a node that is to be looked at; below it, 1 and its position among those of the batch that are to move.
const WAITING: u32 = 1 << 31;

/// A node that is to move, the weights between it and the two communities, as its batch began.
#[derive(Clone, Copy, Default)]
struct Move {
    node: u32,
    from: u32,
    to: u32,
    weight_from: f64,
    weight_to: f64,
}

/// An edge between two nodes of a batch that are to move: their positions, the later one first.
struct Met {
    later: u32,
    earlier: u32,
    weight: f64,
}

/// Moves nodes as [`move_nodes`](super::local_moves::move_nodes) does, by batches: those of a batch choose at the same time, each thread for
/// some, then move one after the other, each if that still raises modularity after the moves before it. The answer is that of the
/// seed for any number of threads.
pub(super) fn move_in_batches(
    graph: &Grouped,
    community: &mut [u32],
    resolution: f64,
    random: &mut ChaCha8Rng,
    monitor: &dyn Monitor,
) -> Result<bool, Stopped> {
    let n = graph.n_nodes();
    if graph.total == 0.0 {
        return Ok(false);
    }
    let mut strength = vec![0.0; n];
    community.iter().zip(&graph.strength).for_each(|(&c, own)| strength[c as usize] += own);
    let order = random_order(n, random);
    let state: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(WAITING)).collect();
    let scratches: Vec<Mutex<Scratch>> = (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect();
    let size = (n / BATCHES).max(TOGETHER);
    let scale = resolution / graph.total;
    let mut chosen = vec![Move::default(); size];
    let mut moves: Vec<Move> = Vec::with_capacity(size);
    let mut active = order.clone();
    let mut any = false;
    while !active.is_empty() {
        let mut steps = Steps::new(monitor, active.len());
        for batch in active.chunks(size) {
            monitor.check()?;
            let chosen = &mut chosen[..batch.len()];
            let choice = |(nodes, chosen): (&[u32], &mut [Move])| {
                let thread = rayon::current_thread_index().unwrap_or(0);
                let mut scratch = scratches[thread].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                for (&v, chosen) in nodes.iter().zip(chosen) {
                    state[v as usize].store(0, Ordering::Relaxed);
                    *chosen = choose(graph, community, &strength, scale, v, &mut scratch);
                }
            };
            batch.par_chunks(TOGETHER).zip(chosen.par_chunks_mut(TOGETHER)).for_each(choice);
            moves.clear();
            moves.extend(chosen.iter().filter(|chosen| chosen.from != chosen.to));
            for (at, of) in moves.iter().enumerate() {
                state[of.node as usize].store(at as u32 + 1, Ordering::Relaxed);
            }
            let met: Vec<Vec<Met>> = moves
                .par_chunks(TOGETHER)
                .enumerate()
                .map(|(chunk, some)| meet(graph, community, &state, chunk * TOGETHER, some))
                .collect();
            any |= apply(&moves, met, &graph.strength, &mut strength, community, scale, &state);
            steps.advance(batch.len());
        }
        active.clear();
        active.extend(order.iter().filter(|&&v| state[v as usize].load(Ordering::Relaxed) == WAITING));
    }
    Ok(any)
}

/// What a thread needs while a node chooses. What is far apart in memory is read first, by loops without branches, so that the processor
/// waits for many reads at a time.
#[derive(Default)]
struct Scratch {
    table: NeighborWeights,
    /// The community of each neighbour.
    found: Vec<u32>,
    /// The communities of the neighbours, with the weight to each and what it takes to be there.
    choices: Vec<(u32, f64, f64)>,
}

/// Where a node had best move; to where it is, if nowhere.
#[inline(always)]
fn choose(
    graph: &Grouped,
    community: &[u32],
    strength: &[f64],
    scale: f64,
    v: u32,
    Scratch { table, found, choices }: &mut Scratch,
) -> Move {
    let (from, k) = (community[v as usize], graph.strength[v as usize]);
    found.clear();
    found.extend(graph.neighbors(v).iter().map(|&u| community[u as usize]));
    table.begin(community.len(), found.len());
    for (&c, (_, weight)) in found.iter().zip(graph.of(v)) {
        if weight > 0.0 {
            table.add(c, weight);
        }
    }
    let scale = scale * k;
    choices.clear();
    table.drain(|c, weight| choices.push((c, weight, scale * strength[c as usize])));
    let (mut to, mut most, mut weight_to, mut weight_from) = (from, f64::NEG_INFINITY, 0.0, 0.0);
    for &(c, weight, chance) in choices.iter() {
        if c == from {
            weight_from = weight;
        } else if weight - chance > most || (weight - chance == most && c < to) {
            (to, most, weight_to) = (c, weight - chance, weight);
        }
    }
    let stay = weight_from - scale * (strength[from as usize] - k);
    if most <= stay + NEGLIGIBLE * k {
        to = from;
    }
    Move { node: v, from, to, weight_from, weight_to }
}

/// The neighbours of nodes that are to move: those elsewhere are to be looked at, those that are to move before are answered.
fn meet(graph: &Grouped, community: &[u32], state: &[AtomicU32], first: usize, moves: &[Move]) -> Vec<Met> {
    let mut met = Vec::new();
    for (later, of) in (first..).zip(moves) {
        for (u, weight) in graph.of(of.node) {
            let before = state[u as usize].load(Ordering::Relaxed);
            let place = (before & !WAITING) as usize;
            if place > 0 && place <= later {
                met.push(Met { later: later as u32, earlier: place as u32 - 1, weight });
            }
            if before & WAITING == 0 && community[u as usize] != of.to {
                state[u as usize].fetch_or(WAITING, Ordering::Relaxed);
            }
        }
    }
    met
}

/// Moves the nodes one after the other, where that raises modularity. Gives whether any moved.
fn apply(
    moves: &[Move],
    met: Vec<Vec<Met>>,
    of_node: &[f64],
    strength: &mut [f64],
    community: &mut [u32],
    scale: f64,
    state: &[AtomicU32],
) -> bool {
    let wait = |v: u32| state[v as usize].fetch_or(WAITING, Ordering::Relaxed);
    let mut met = met.into_iter().flatten().peekable();
    let mut any = false;
    for (place, of) in moves.iter().enumerate() {
        let Move { node, from, to, mut weight_from, mut weight_to } = *of;
        while let Some(Met { earlier, weight, .. }) = met.next_if(|met| met.later as usize == place) {
            let other = moves[earlier as usize];
            if community[other.node as usize] != other.to {
                continue;
            }
            for (c, weight) in [(other.from, -weight), (other.to, weight)] {
                if c == from {
                    weight_from += weight;
                } else if c == to {
                    weight_to += weight;
                }
            }
            // Neither knew of the other's move.
            wait(node);
            wait(other.node);
        }
        let k = of_node[node as usize];
        let gain = weight_to - scale * k * strength[to as usize];
        if gain > weight_from - scale * k * (strength[from as usize] - k) + NEGLIGIBLE * k {
            community[node as usize] = to;
            strength[from as usize] -= k;
            strength[to as usize] += k;
            any = true;
        } else {
            wait(node);
        }
    }
    for of in moves {
        state[of.node as usize].fetch_and(WAITING, Ordering::Relaxed);
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communities::modularity;
    use crate::testing;
    use crate::{Network, WeightedArcs};
    use bonnet_graph::{Graph, Unmonitored};
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn nodes_that_choose_at_the_same_time_end_where_no_move_raises_modularity() {
        let mut moved = 0;
        for seed in 0..300 {
            let (n, rows) = testing::rows(seed);
            let edges: Vec<_> =
                rows.iter().filter(|(u, v)| u < v).map(|&(u, v)| (u, v, f64::from((u * 7 + v) % 4))).collect();
            let both = edges.iter().flat_map(|&(u, v, weight)| [(u, v, weight), (v, u, weight)]);
            let weighted = WeightedArcs::new(n, both.collect::<Vec<_>>().into_iter()).unwrap();
            let graph = Graph::from_edges(n, &rows);
            for network in [Network::undirected(&graph), Network::weighted(&weighted, None)] {
                let value = |community: &[u32]| modularity(network, community, 1.0).unwrap_or(0.0);
                let grouped = Grouped::new(network);
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let mut community: Vec<u32> = (0..n as u32).collect();
                let mut last = value(&community);
                // A node is not looked at again where only the strength of a community has changed: until nothing moves.
                while move_in_batches(&grouped, &mut community, 1.0, &mut random, &Unmonitored).unwrap() {
                    let now = value(&community);
                    assert!(now > last, "graph {seed}: {last}, then {now}");
                    (last, moved) = (now, moved + 1);
                }
                for v in 0..n {
                    for (u, _) in network.out.weighted(v as u32).filter(|arc| arc.1 > 0.0) {
                        let mut elsewhere = community.clone();
                        elsewhere[v] = community[u as usize];
                        assert!(value(&elsewhere) <= last + 1e-9, "graph {seed}, node {v}");
                    }
                }
            }
        }
        assert!(moved > 300);
    }
}
