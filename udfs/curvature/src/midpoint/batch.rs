//! Breadth-first search from up to 512 anchors at once. Each node holds one bit for each search: in `seen` if the
//! search has met the node, in `cur` if it met it at the present level. A level is one sweep: a node's next bits are
//! what its neighbours have in `cur` and itself has not seen, and at the same time it learns which searches are at its
//! own level at each neighbour.

use std::ops::Range;

use bonnet_graph::Stopped;
use rayon::prelude::*;

use super::Host;
use super::adjacency::Adjacency;
use super::lanes::{Lanes, Start};
use super::tally::Tally;
use bonnet_graph::compiled_for_each_isa;

/// A sweep over all nodes costs about this much less for each arc than one over a list of nodes.
const SPARSE_COST: usize = 10;

/// Arcs in a block: the work between two looks at the host, and between which threads choose.
const BLOCK_ARCS: usize = 1 << 16;

/// The searches of one batch.
pub(super) struct Searches {
    cur: Vec<Lanes>,
    next: Vec<Lanes>,
    seen: Vec<Lanes>,
    /// Whether `cur` has a bit, by node.
    live: Vec<bool>,
    /// Whether all searches have met the node.
    done: Vec<bool>,
    /// The nodes with a bit in `cur`.
    active: Vec<u32>,
    /// Nodes already listed for a sweep over a list bear its number.
    stamp: Vec<u32>,
    stamps: u32,
    listed: Vec<u32>,
    found: Sweep,
    /// Boundaries of the blocks of nodes.
    blocks: Vec<usize>,
}

/// Options of a batch.
pub(super) struct Manner<'a> {
    /// False where no edge ever joins two nodes at the same level: then nothing of the kind is looked for.
    pub(super) peers: bool,
    /// Whether the threads share each level.
    pub(super) parallel: bool,
    pub(super) host: Host<'a>,
}

/// The result of a sweep.
#[derive(Default)]
struct Sweep {
    /// The nodes with a bit in `next`.
    active: Vec<u32>,
    /// The sum of their degrees.
    active_arcs: usize,
    /// The sum of the degrees of nodes that all searches have now met.
    done_arcs: usize,
}

impl Sweep {
    fn clear(&mut self) {
        self.active.clear();
        (self.active_arcs, self.done_arcs) = (0, 0);
    }

    #[inline(always)]
    fn note(&mut self, v: u32, degree: usize, done: bool) {
        self.active.push(v);
        self.active_arcs += degree;
        if done {
            self.done_arcs += degree;
        }
    }
}

/// The inputs of a sweep that all nodes share.
struct Level<'a, T> {
    graph: &'a Adjacency<'a>,
    tally: &'a T,
    cur: &'a [Lanes],
    live: &'a [bool],
    level: u32,
    all: &'a Lanes,
    /// Whether searches at the same level on both ends of an edge are to be counted.
    peers: bool,
}

/// The nodes of a sweep, and what it writes of them.
struct Block<'a, R> {
    nodes: Range<usize>,
    next: &'a mut [Lanes],
    seen: &'a mut [Lanes],
    done: &'a mut [bool],
    rows: &'a mut [R],
}

impl Searches {
    /// The bytes held for a graph of `n` nodes.
    pub(super) fn bytes(n: usize) -> usize {
        n * (3 * size_of::<Lanes>() + 2 * size_of::<bool>() + 4 * size_of::<u32>())
    }

    pub(super) fn new(graph: &Adjacency) -> Self {
        let n = graph.n_nodes();
        Self {
            cur: vec![Lanes::EMPTY; n],
            next: vec![Lanes::EMPTY; n],
            seen: vec![Lanes::EMPTY; n],
            live: vec![false; n],
            done: vec![false; n],
            active: Vec::new(),
            stamp: vec![0; n],
            stamps: 0,
            listed: Vec::new(),
            found: Sweep::default(),
            blocks: graph.blocks(BLOCK_ARCS),
        }
    }

    /// Runs the searches `starts` (at most 512, distinct, by rising level), telling `tally` every level >= 1 of every
    /// node. Gives the last level. Once stopped, no other run may follow.
    pub(super) fn run<T: Tally>(
        &mut self,
        graph: &Adjacency,
        starts: &[Start],
        tally: &mut T,
        rows: &mut [T::Row],
        manner: &Manner,
    ) -> Result<u32, Stopped> {
        let all = Lanes::first(starts.len());
        // The rest is empty again where a run came to its end.
        self.seen.fill(Lanes::EMPTY);
        self.done.fill(false);
        let mut active_arcs = 0;
        let mut undone_arcs = graph.n_arcs();
        let mut level = starts.first().map_or(0, |start| start.level);
        let mut begun = 0;
        loop {
            while let Some(&Start { node, .. }) = starts.get(begun).filter(|start| start.level == level) {
                let v = node as usize;
                self.cur[v].insert(begun);
                self.seen[v].insert(begun);
                if !self.live[v] {
                    self.live[v] = true;
                    self.active.push(node);
                    active_arcs += graph.degree(node);
                }
                if self.seen[v] == all {
                    self.done[v] = true;
                    undone_arcs -= graph.degree(node);
                }
                begun += 1;
            }
            manner.host.monitor.check()?;
            tally.prepare(level);
            let dense = SPARSE_COST * active_arcs > undone_arcs + graph.n_nodes() / 4;
            if !dense {
                self.list(graph);
            }
            let sweep = Level {
                graph,
                tally,
                cur: &self.cur,
                live: &self.live,
                level,
                all: &all,
                peers: manner.peers && level > 0,
            };
            let everything = Block {
                nodes: 0..graph.n_nodes(),
                next: &mut self.next,
                seen: &mut self.seen,
                done: &mut self.done,
                rows: &mut *rows,
            };
            self.found.clear();
            if dense {
                sweep_all(&sweep, &self.blocks, everything, &mut self.found, manner)?;
            } else {
                sweep_listed(&sweep, &self.listed, everything, &mut self.found, manner)?;
            }
            for &v in &self.active {
                self.cur[v as usize] = Lanes::EMPTY;
                self.live[v as usize] = false;
            }
            std::mem::swap(&mut self.cur, &mut self.next);
            std::mem::swap(&mut self.active, &mut self.found.active);
            active_arcs = self.found.active_arcs;
            undone_arcs -= self.found.done_arcs;
            for &v in &self.active {
                self.live[v as usize] = true;
            }
            level = match (self.active.is_empty(), starts.get(begun)) {
                (true, None) => return Ok(level),
                (true, Some(start)) => start.level,
                (false, _) => level + 1,
            };
        }
    }

    /// Lists the active nodes and those of their neighbours that some search has not met.
    fn list(&mut self, graph: &Adjacency) {
        self.stamps = self.stamps.wrapping_add(1);
        if self.stamps == 0 {
            self.stamp.fill(0);
            self.stamps = 1;
        }
        self.listed.clear();
        for &v in &self.active {
            if self.stamp[v as usize] != self.stamps {
                self.stamp[v as usize] = self.stamps;
                self.listed.push(v);
            }
            for &y in graph.neighbors(v) {
                if !self.done[y as usize] && self.stamp[y as usize] != self.stamps {
                    self.stamp[y as usize] = self.stamps;
                    self.listed.push(y);
                }
            }
        }
    }
}

/// One level, through all nodes in order.
fn sweep_all<T: Tally>(
    level: &Level<T>,
    bounds: &[usize],
    everything: Block<T::Row>,
    found: &mut Sweep,
    manner: &Manner,
) -> Result<(), Stopped> {
    let Host { monitor, isa } = manner.host;
    let blocks = blocks(bounds, everything);
    if !manner.parallel {
        for block in blocks {
            monitor.check()?;
            sweep_block(isa, level, block, found);
        }
        return Ok(());
    }
    let parts: Result<Vec<Sweep>, Stopped> = blocks
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|block| {
            monitor.check()?;
            let mut found = Sweep::default();
            sweep_block(isa, level, block, &mut found);
            Ok(found)
        })
        .collect();
    for part in parts? {
        found.active.extend_from_slice(&part.active);
        found.active_arcs += part.active_arcs;
        found.done_arcs += part.done_arcs;
    }
    Ok(())
}

/// One level, through some nodes.
fn sweep_listed<T: Tally>(
    level: &Level<T>,
    listed: &[u32],
    mut everything: Block<T::Row>,
    found: &mut Sweep,
    manner: &Manner,
) -> Result<(), Stopped> {
    for listed in listed.chunks(BLOCK_ARCS / 4) {
        manner.host.monitor.check()?;
        sweep_list(manner.host.isa, level, listed, &mut everything, found);
    }
    Ok(())
}

/// Cuts a block of all nodes at the boundaries.
fn blocks<'a, R>(bounds: &'a [usize], everything: Block<'a, R>) -> impl Iterator<Item = Block<'a, R>> {
    let Block { mut next, mut seen, mut done, mut rows, .. } = everything;
    bounds.windows(2).map(move |bound| {
        let len = bound[1] - bound[0];
        let (next_here, next_rest) = std::mem::take(&mut next).split_at_mut(len);
        let (seen_here, seen_rest) = std::mem::take(&mut seen).split_at_mut(len);
        let (done_here, done_rest) = std::mem::take(&mut done).split_at_mut(len);
        let (rows_here, rows_rest) = std::mem::take(&mut rows).split_at_mut(len);
        (next, seen, done, rows) = (next_rest, seen_rest, done_rest, rows_rest);
        Block { nodes: bound[0]..bound[1], next: next_here, seen: seen_here, done: done_here, rows: rows_here }
    })
}

compiled_for_each_isa! {
    fn sweep_block[T: Tally](level: &Level<T>, block: Block<T::Row>, found: &mut Sweep) = every_node
}

compiled_for_each_isa! {
    fn sweep_list[T: Tally](level: &Level<T>, listed: &[u32], block: &mut Block<T::Row>, found: &mut Sweep) = every_listed
}

#[inline(always)]
fn every_node<T: Tally>(level: &Level<T>, block: Block<T::Row>, found: &mut Sweep) {
    let Block { nodes, next, seen, done, rows } = block;
    let slots = next.iter_mut().zip(seen).zip(done).zip(rows);
    for (v, (((next, seen), done), row)) in nodes.zip(slots) {
        if !*done || level.live[v] {
            visit(level, v as u32, next, seen, done, row, found);
        }
    }
}

#[inline(always)]
fn every_listed<T: Tally>(level: &Level<T>, listed: &[u32], block: &mut Block<T::Row>, found: &mut Sweep) {
    let Block { next, seen, done, rows, .. } = block;
    for &v in listed {
        let i = v as usize;
        visit(level, v, &mut next[i], &mut seen[i], &mut done[i], &mut rows[i], found);
    }
}

#[inline(always)]
fn visit<T: Tally>(
    sweep: &Level<T>,
    v: u32,
    next: &mut Lanes,
    seen: &mut Lanes,
    done: &mut bool,
    row: &mut T::Row,
    found: &mut Sweep,
) {
    let neighbors = sweep.graph.neighbors(v);
    let mut reached = Lanes::EMPTY;
    if sweep.live[v as usize] {
        let here = sweep.cur[v as usize];
        let mut peers = sweep.tally.begin(&here);
        if sweep.peers {
            for &y in neighbors {
                let there = &sweep.cur[y as usize];
                reached.add(there);
                sweep.tally.peer(row, &mut peers, &here.and(there));
            }
        } else if !*done {
            for &y in neighbors {
                reached.add(&sweep.cur[y as usize]);
            }
        }
        if sweep.level > 0 {
            sweep.tally.level(row, v, sweep.level, &here, &peers);
        }
    } else {
        for &y in neighbors {
            reached.add(&sweep.cur[y as usize]);
        }
    }
    if *done {
        return;
    }
    let new = reached.without(seen);
    if !new.is_empty() {
        *next = new;
        seen.add(&new);
        *done = seen == sweep.all;
        found.note(v, neighbors.len(), *done);
    }
}
