//! Sums over all anchors for the nodes that remain of one component after its pendant trees were stripped.

use std::sync::atomic::{AtomicUsize, Ordering};

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::Host;
use super::adjacency::Adjacency;
use super::batch::{Manner, Searches};
use super::fixed;
use super::lanes::{LANES, Start};
use super::order::{Shape, shape};
use super::pendant::Pruned;
use super::tally::{Single, Sums, Trees};

/// Below this many nodes a plain search an anchor is as fast as a batch.
pub(super) const SMALL: usize = 500;

/// The nodes of trees up to this high may be searched from, in searches that start late; higher ones would take many
/// levels.
const LOW: u32 = 16;

/// A batch that weighs whole trees takes about as long as this many that do not.
const WEIGHING: usize = 6;

/// Nodes that are sorted among themselves: few, so that neighbours stay near.
const TOGETHER: usize = 256;

/// From this many nodes on, threads without a batch of their own share the levels of the others' batches.
const WORTH_SHARING: usize = 1 << 16;

/// The sums of every node of `graph`, in its order: over all anchors of the component, those in stripped trees
/// included. `nodes` are the nodes' numbers in `pruned`. A search an anchor: O(n (n + m)), and for each anchor the height of its tree times the levels.
pub(super) fn one_by_one(graph: &Adjacency, nodes: &[u32], pruned: &Pruned, host: &Host) -> Result<Vec<Sums>, Stopped> {
    let n = nodes.len();
    let mut sums = vec![Sums::default(); n];
    let tallest = nodes.iter().map(|&v| pruned.height(v)).max().unwrap_or(0);
    let inverses = fixed::inverses(n + tallest as usize);
    nodes.iter().zip(&mut sums).for_each(|(&v, sum)| add_own_tree(sum, pruned, v, &inverses));
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

/// The terms of a node's own tree in its sums.
fn add_own_tree(sum: &mut Sums, pruned: &Pruned, v: u32, inverses: &[u64]) {
    for (depth, count) in pruned.depths(v) {
        sum.farness += u64::from(depth) * u64::from(count);
        sum.harmonic += u128::from(inverses[depth as usize]) * u128::from(count);
    }
}

/// Searches that run at once, at most [`LANES`].
#[derive(Debug)]
enum Batch {
    /// Each counts 2^digit times.
    Alike { starts: Vec<Start>, digit: u32 },
    /// Each stands for the tree that hangs from its anchor.
    Trees { starts: Vec<Start> },
}

impl Batch {
    fn starts(&self) -> &[Start] {
        match self {
            Self::Alike { starts, .. } | Self::Trees { starts } => starts,
        }
    }
}

/// Of each node, whether its tree is weighed as a whole. The others are those with the fewest nodes to search from, as
/// many as make the number of batches least.
fn weighed(heights: &[u32], tree_of: &impl Fn(u32) -> u32, pruned: &Pruned) -> Vec<bool> {
    let mut weighed: Vec<bool> = heights.iter().map(|&height| height > 0).collect();
    let late = |v: u32| pruned.depths(tree_of(v)).map(|(_, count)| count.count_ones() as usize).sum::<usize>();
    let low = heights.iter().zip(0..).filter(|(height, _)| (1..=LOW).contains(*height));
    let mut trees: Vec<(usize, u32)> = low.map(|(_, v)| (late(v), v)).collect();
    trees.sort_unstable();
    let mut whole = weighed.iter().filter(|weighed| **weighed).count();
    let mut searches = heights.len() - whole;
    let cost = |searches: usize, whole: usize| searches.div_ceil(LANES) + WEIGHING * whole.div_ceil(LANES);
    let (mut least, mut searched) = (cost(searches, whole), 0);
    for (i, &(late, _)) in trees.iter().enumerate() {
        searches += 1 + late;
        whole -= 1;
        if cost(searches, whole) <= least {
            (least, searched) = (cost(searches, whole), i + 1);
        }
    }
    trees[..searched].iter().for_each(|&(_, v)| weighed[v as usize] = false);
    weighed
}

/// Searches from every node and from what hangs from it. Of a tree that is not weighed, the nodes at the same depth come
/// as a search that starts as many levels late, one for each binary digit of their number.
fn batches(
    weighed: &[bool],
    heights: &[u32],
    long: bool,
    tree_of: &impl Fn(u32) -> u32,
    pruned: &Pruned,
) -> Vec<Batch> {
    let (mut high, low): (Vec<u32>, Vec<u32>) = (0..weighed.len() as u32).partition(|&v| weighed[v as usize]);
    if !long {
        // Like trees together: a batch then needs few planes.
        high.sort_by_cached_key(|&v| (heights[v as usize], pruned.size[tree_of(v) as usize]));
    }
    let mut by_digit: Vec<Vec<Start>> = vec![low.iter().map(|&node| Start { level: 0, node }).collect()];
    for &node in low.iter().filter(|&&node| heights[node as usize] > 0) {
        for (level, count) in pruned.depths(tree_of(node)) {
            for digit in (0..u32::BITS).filter(|digit| count >> digit & 1 == 1) {
                if by_digit.len() <= digit as usize {
                    by_digit.resize_with(digit as usize + 1, Vec::new);
                }
                by_digit[digit as usize].push(Start { level, node });
            }
        }
    }
    // A few searches are better run twice with the next smaller digit than in a batch of their own.
    for digit in (1..by_digit.len()).rev() {
        if by_digit[digit].len() <= LANES / 2 {
            let few = std::mem::take(&mut by_digit[digit]);
            by_digit[digit - 1].extend(few.into_iter().flat_map(|start| [start; 2]));
        }
    }
    let mut batches = Vec::new();
    for (mut starts, digit) in by_digit.into_iter().zip(0..) {
        starts.sort_by_key(|start| start.level);
        batches.extend(starts.chunks(LANES).map(|starts| Batch::Alike { starts: starts.to_vec(), digit }));
    }
    let high: Vec<Start> = high.iter().map(|&node| Start { level: 0, node }).collect();
    batches.extend(high.chunks(LANES).map(|starts| Batch::Trees { starts: starts.to_vec() }));
    batches
}

/// A large component in the order in which it is searched, 512 searches at once.
#[derive(Debug)]
pub(super) struct Core {
    /// The position among the component's nodes of each node of `graph`.
    order: Vec<u32>,
    graph: Adjacency<'static>,
    long: bool,
    bipartite: bool,
    /// The height of each node's own tree.
    heights: Vec<u32>,
    inverses: Vec<u64>,
    /// Whether the node's tree is weighed as a whole.
    weighed: Vec<bool>,
    batches: Vec<Batch>,
}

impl Core {
    /// Of a connected graph with at least one node; `nodes` are the nodes' numbers in `pruned`. O(n + m log d).
    pub(super) fn new(
        graph: &Adjacency,
        nodes: &[u32],
        pruned: &Pruned,
        monitor: &dyn Monitor,
    ) -> Result<Self, Stopped> {
        let Shape { mut order, bound, long, bipartite } = shape(graph, monitor)?;
        // Nodes of one degree in a row: the loop over neighbours then ends where the processor expects it.
        for near in order.chunks_mut(TOGETHER) {
            let mut by_degree: Vec<u64> = near.iter().map(|&v| (graph.degree(v) as u64) << 32 | u64::from(v)).collect();
            by_degree.sort_unstable();
            near.iter_mut().zip(by_degree).for_each(|(slot, key)| *slot = key as u32);
        }
        let graph = graph.reordered(&order);
        let heights: Vec<u32> = order.iter().map(|&v| pruned.height(nodes[v as usize])).collect();
        let tallest = heights.iter().copied().max().unwrap_or(0);
        let inverses = fixed::inverses(bound as usize + tallest as usize);
        let tree_of = |v: u32| nodes[order[v as usize] as usize];
        let weighed = weighed(&heights, &tree_of, pruned);
        let batches = batches(&weighed, &heights, long, &tree_of, pruned);
        Ok(Self { graph, long, bipartite, heights, inverses, weighed, batches, order })
    }

    /// The sums of every node, as [`one_by_one`]; threads take batches.
    pub(super) fn sums(&self, nodes: &[u32], pruned: &Pruned, host: &Host) -> Result<Vec<Sums>, Stopped> {
        let Self { order, graph, long, bipartite, heights, inverses, weighed, batches } = self;
        let n = nodes.len();
        let tree_of = |v: u32| nodes[order[v as usize] as usize];
        let threads = rayon::current_num_threads();
        let (workers, _searches) = room_for_workers(threads.min(batches.len()), n, host)?;
        let share = workers < threads && n >= WORTH_SHARING && !long;
        let manner = Manner { peers: !bipartite, parallel: share, host: *host };
        let taken = AtomicUsize::new(0);
        let work = || -> Result<Option<Vec<Sums>>, Stopped> {
            let mut state: Option<(Searches, Vec<Sums>)> = None;
            while let Some(batch) = batches.get(taken.fetch_add(1, Ordering::Relaxed)) {
                let (searches, rows) = state.get_or_insert_with(|| (Searches::new(graph), vec![Sums::default(); n]));
                match batch {
                    Batch::Alike { starts, digit } => {
                        let mut tally = Single { inverses, inverse: 0, digit: *digit, starts, heights };
                        searches.run(graph, starts, &mut tally, rows, &manner)?;
                    }
                    Batch::Trees { starts } => {
                        let depths = starts.iter().map(|start| pruned.depths(tree_of(start.node)).collect()).collect();
                        let mut tally = Trees::new(inverses, heights, depths);
                        searches.run(graph, starts, &mut tally, rows, &manner)?;
                    }
                }
                host.monitor.advance(batch.starts().iter().filter(|start| start.level == 0).count() as u64);
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
        // Late searches count the node that they start from, whole trees do not.
        for (&v, _) in order.iter().zip(weighed).filter(|(_, weighed)| **weighed) {
            add_own_tree(&mut sums[v as usize], pruned, nodes[v as usize], inverses);
        }
        Ok(sums)
    }
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
