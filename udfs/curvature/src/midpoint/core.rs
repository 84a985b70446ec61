//! Sums over all anchors for the nodes that remain of one component after its pendant trees were stripped.

use std::sync::atomic::{AtomicUsize, Ordering};

use bonnet_graph::{Reservation, Stopped};
use rayon::prelude::*;

use super::Host;
use super::adjacency::Adjacency;
use super::batch::{Manner, Searches};
use super::fixed;
use super::lanes::LANES;
use super::order::{Shape, shape};
use super::pendant::Pruned;
use super::tally::{Single, Sums, Trees};

/// Below this many nodes a plain search an anchor is as fast as a batch.
pub(super) const SMALL: usize = 500;

/// From this many nodes on, threads without a batch of their own share the levels of the others' batches.
const WORTH_SHARING: usize = 1 << 16;

/// The sums of every node of `graph`, in its order: over all anchors of the component, those in stripped trees
/// included. `nodes` are the nodes' numbers in `pruned`.
pub(super) fn sums(graph: &Adjacency, nodes: &[u32], pruned: &Pruned, host: &Host) -> Result<Vec<Sums>, Stopped> {
    let mut sums = if nodes.len() < SMALL {
        one_by_one(graph, nodes, pruned, host)?
    } else {
        in_batches(graph, nodes, pruned, host)?
    };
    // What a node's own tree adds.
    let tallest = nodes.iter().map(|&v| pruned.height(v)).max().unwrap_or(0);
    let inverses = fixed::inverses(tallest as usize);
    for (sum, &v) in sums.iter_mut().zip(nodes) {
        for (depth, count) in pruned.depths(v) {
            sum.farness += u64::from(depth) * u64::from(count);
            sum.harmonic += u128::from(inverses[depth as usize]) * u128::from(count);
        }
    }
    Ok(sums)
}

/// A search an anchor: O(n (n + m)), and for each anchor the height of its tree times the levels.
pub(super) fn one_by_one(graph: &Adjacency, nodes: &[u32], pruned: &Pruned, host: &Host) -> Result<Vec<Sums>, Stopped> {
    let n = nodes.len();
    let mut sums = vec![Sums::default(); n];
    if n == 1 {
        host.monitor.advance(1);
        return Ok(sums);
    }
    let tallest = nodes.iter().map(|&v| pruned.height(v)).max().unwrap_or(0);
    let inverses = fixed::inverses(n + tallest as usize);
    let mut distance = vec![u32::MAX; n];
    let mut queue: Vec<u32> = Vec::with_capacity(n);
    for anchor in 0..n as u32 {
        host.monitor.check()?;
        let tree = nodes[anchor as usize];
        let size = u64::from(pruned.size[tree as usize]);
        let depths = pruned.sum_of_depths(tree);
        queue.clear();
        queue.push(anchor);
        distance.fill(u32::MAX);
        distance[anchor as usize] = 0;
        let (mut head, mut level, mut near) = (0, 0, 0);
        while head < queue.len() {
            let v = queue[head] as usize;
            head += 1;
            let d = distance[v];
            if d > level {
                level = d;
                near = u128::from(inverses[d as usize]);
                for (depth, count) in pruned.depths(tree) {
                    near += u128::from(inverses[(d + depth) as usize]) * u128::from(count);
                }
            }
            let mut peers = 0;
            for &y in graph.neighbors(v as u32) {
                let there = &mut distance[y as usize];
                if *there == u32::MAX {
                    *there = d + 1;
                    queue.push(y);
                } else if *there == d {
                    peers += 1;
                }
            }
            if d > 0 {
                let sum = &mut sums[v];
                sum.farness += u64::from(d) * size + depths;
                sum.harmonic += near;
                sum.peers += near * peers;
                sum.farthest = sum.farthest.max(d + pruned.height(tree) + pruned.height(nodes[v]));
            }
        }
    }
    host.monitor.advance(n as u64);
    Ok(sums)
}

/// The anchors of a batch, and whether trees hang from them.
struct Batch<'a> {
    anchors: &'a [u32],
    trees: bool,
}

/// 512 searches at once; threads take batches.
pub(super) fn in_batches(graph: &Adjacency, nodes: &[u32], pruned: &Pruned, host: &Host) -> Result<Vec<Sums>, Stopped> {
    let n = nodes.len();
    let _order = Reservation::new(host.monitor, 40 * n + 4 * graph.n_arcs())?;
    let Shape { order, bound, long, bipartite } = shape(graph, host.monitor)?;
    let graph = &graph.reordered(&order);
    let heights: Vec<u32> = order.iter().map(|&v| pruned.height(nodes[v as usize])).collect();
    let tallest = heights.iter().copied().max().unwrap_or(0);
    let inverses = &fixed::inverses(bound as usize + tallest as usize);
    let tree_of = |v: u32| nodes[order[v as usize] as usize];

    let (singles, mut trees): (Vec<u32>, Vec<u32>) = (0..n as u32).partition(|&v| heights[v as usize] == 0);
    if !long {
        // Like trees together: a batch then needs few planes.
        trees.sort_by_cached_key(|&v| (heights[v as usize], pruned.size[tree_of(v) as usize]));
    }
    let batches: Vec<Batch> = (singles.chunks(LANES).map(|anchors| Batch { anchors, trees: false }))
        .chain(trees.chunks(LANES).map(|anchors| Batch { anchors, trees: true }))
        .collect();

    let threads = rayon::current_num_threads();
    let (workers, _searches) = room_for_workers(threads.min(batches.len()), n, host)?;
    let share = workers < threads && n >= WORTH_SHARING && !long;
    let manner = Manner { peers: !bipartite, parallel: share, host: *host };
    let taken = AtomicUsize::new(0);
    let work = || -> Result<Option<Vec<Sums>>, Stopped> {
        let mut state: Option<(Searches, Vec<Sums>)> = None;
        while let Some(batch) = batches.get(taken.fetch_add(1, Ordering::Relaxed)) {
            let (searches, rows) = state.get_or_insert_with(|| (Searches::new(graph), vec![Sums::default(); n]));
            if batch.trees {
                let depths = batch.anchors.iter().map(|&v| pruned.depths(tree_of(v)).collect()).collect();
                let mut tally = Trees::new(inverses, &heights, depths);
                searches.run(graph, batch.anchors, &mut tally, rows, &manner)?;
            } else {
                let mut tally = Single { inverses };
                searches.run(graph, batch.anchors, &mut tally, rows, &manner)?;
            }
            host.monitor.advance(batch.anchors.len() as u64);
        }
        Ok(state.map(|(_, rows)| rows))
    };
    let parts: Result<Vec<_>, Stopped> = (0..workers).into_par_iter().with_max_len(1).map(|_| work()).collect();

    // Integers: the order in which workers are added up does not matter.
    let mut sums = vec![Sums::default(); n];
    for part in parts?.into_iter().flatten() {
        for (&old, row) in order.iter().zip(&part) {
            sums[old as usize].add(row);
        }
    }
    Ok(sums)
}

/// Memory for as many workers as the host grants, one at least.
fn room_for_workers<'a>(most: usize, n: usize, host: &Host<'a>) -> Result<(usize, Reservation<'a>), Stopped> {
    let each = Searches::bytes(n) + n * size_of::<Sums>();
    let mut workers = most.max(1);
    loop {
        match Reservation::new(host.monitor, workers * each) {
            Err(Stopped::OutOfMemory(_)) if workers > 1 => workers /= 2,
            other => return Ok((workers, other?)),
        }
    }
}
