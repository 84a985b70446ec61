//! Breadth-first search from up to 512 anchors at once. Each node holds one bit for each search: in `seen` if the
//! search has met the node, in `cur` if it met it at the present level. A level is one sweep: a node's next bits are
//! what its neighbours have in `cur` and itself has not seen, and at the same time it learns which searches are at its
//! own level at each neighbour.

use std::ops::Range;

use bonnet_graph::{Stopped, compiled_for_each_isa};
use rayon::prelude::*;

use super::Host;
use super::adjacency::Adjacency;
use super::lanes::{Lanes, Start};
use super::tally::Tally;

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
    /// Whether `active` holds and `next` is empty. A sweep over all nodes needs neither and leaves neither.
    sparse: bool,
    /// The nodes with a bit in `cur`.
    active: Vec<u32>,
    /// Nodes already listed for a sweep over a list bear its number.
    stamp: Vec<u32>,
    stamps: u32,
    listed: Vec<u32>,
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
#[derive(Default, Clone, Copy)]
struct Found {
    /// The nodes with a bit in `next`.
    nodes: usize,
    /// The sum of their degrees.
    arcs: usize,
    /// The sum of the degrees of nodes that all searches have now met.
    done_arcs: usize,
}

impl Found {
    fn add(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.arcs += other.arcs;
        self.done_arcs += other.done_arcs;
    }
}

/// The inputs of a sweep that all nodes share.
struct Level<'a, T> {
    graph: &'a Adjacency<'a>,
    tally: &'a T,
    cur: &'a [Lanes],
    level: u32,
    all: &'a Lanes,
    /// Whether searches at the same level on both endpoints of an edge are to be counted.
    peers: bool,
}

/// The nodes of a sweep, and what it writes of them.
struct Block<'a, R> {
    nodes: Range<usize>,
    next: &'a mut [Lanes],
    seen: &'a mut [Lanes],
    live: &'a mut [bool],
    done: &'a mut [bool],
    rows: &'a mut [R],
}

/// What a sweep writes of one node.
struct Slot<'a, R> {
    next: &'a mut Lanes,
    seen: &'a mut Lanes,
    live: &'a mut bool,
    done: &'a mut bool,
    row: &'a mut R,
}

impl Searches {
    /// The bytes held for a graph of `n` nodes.
    pub(super) fn bytes(n: usize) -> usize {
        n * (3 * size_of::<Lanes>() + 2 * size_of::<bool>() + 3 * size_of::<u32>())
    }

    pub(super) fn new(graph: &Adjacency) -> Self {
        let n = graph.n_nodes();
        Self {
            cur: vec![Lanes::EMPTY; n],
            next: vec![Lanes::EMPTY; n],
            seen: vec![Lanes::EMPTY; n],
            live: vec![false; n],
            done: vec![false; n],
            sparse: true,
            active: Vec::new(),
            stamp: vec![0; n],
            stamps: 0,
            listed: Vec::new(),
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
            let peers = manner.peers && level > 0;
            let sweep = Level { graph, tally, cur: &self.cur, level, all: &all, peers };
            let everything = Block {
                nodes: 0..graph.n_nodes(),
                next: &mut self.next,
                seen: &mut self.seen,
                live: &mut self.live,
                done: &mut self.done,
                rows: &mut *rows,
            };
            let found = if dense {
                sweep_all(&sweep, &self.blocks, everything, manner)?
            } else {
                sweep_listed(&sweep, &self.listed, everything, manner)?
            };
            self.sparse = !dense;
            if self.sparse {
                for &v in &self.active {
                    self.cur[v as usize] = Lanes::EMPTY;
                }
                self.active.clear();
                self.active.extend(self.listed.iter().filter(|&&v| self.live[v as usize]));
            }
            std::mem::swap(&mut self.cur, &mut self.next);
            active_arcs = found.arcs;
            undone_arcs -= found.done_arcs;
            level = match (found.nodes == 0, starts.get(begun)) {
                (true, None) => return Ok(level),
                (true, Some(start)) => start.level,
                (false, _) => level + 1,
            };
        }
    }

    /// Lists the active nodes and those of their neighbours that some search has not met.
    fn list(&mut self, graph: &Adjacency) {
        if !self.sparse {
            self.next.fill(Lanes::EMPTY);
            self.active.clear();
            self.active.extend((0..).zip(&self.live).filter(|(_, live)| **live).map(|(v, _)| v));
        }
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
    manner: &Manner,
) -> Result<Found, Stopped> {
    let Host { monitor, isa } = manner.host;
    let sweep = |block: Block<T::Row>| {
        monitor.check()?;
        let mut found = Found::default();
        sweep_block(isa, level, block, &mut found);
        Ok(found)
    };
    let blocks = blocks(bounds, everything);
    let parts: Result<Vec<Found>, Stopped> = match manner.parallel {
        true => blocks.collect::<Vec<_>>().into_par_iter().map(sweep).collect(),
        false => blocks.map(sweep).collect(),
    };
    let mut found = Found::default();
    parts?.into_iter().for_each(|part| found.add(part));
    Ok(found)
}

/// One level, through some nodes.
fn sweep_listed<T: Tally>(
    level: &Level<T>,
    listed: &[u32],
    mut everything: Block<T::Row>,
    manner: &Manner,
) -> Result<Found, Stopped> {
    let mut found = Found::default();
    for listed in listed.chunks(BLOCK_ARCS / 4) {
        manner.host.monitor.check()?;
        sweep_list(manner.host.isa, level, listed, &mut everything, &mut found);
    }
    Ok(found)
}

/// Cuts a block of all nodes at the boundaries.
fn blocks<'a, R>(bounds: &'a [usize], everything: Block<'a, R>) -> impl Iterator<Item = Block<'a, R>> {
    let Block { mut next, mut seen, mut live, mut done, mut rows, .. } = everything;
    bounds.windows(2).map(move |bound| Block {
        nodes: bound[0]..bound[1],
        next: cut(&mut next, bound),
        seen: cut(&mut seen, bound),
        live: cut(&mut live, bound),
        done: cut(&mut done, bound),
        rows: cut(&mut rows, bound),
    })
}

/// The first items of a slice, as many as lie between two boundaries; the rest stays.
fn cut<'a, T>(rest: &mut &'a mut [T], bound: &[usize]) -> &'a mut [T] {
    let (here, behind) = std::mem::take(rest).split_at_mut(bound[1] - bound[0]);
    *rest = behind;
    here
}

compiled_for_each_isa! {
    fn sweep_block[T: Tally](level: &Level<T>, block: Block<T::Row>, found: &mut Found) = every_node
}

compiled_for_each_isa! {
    fn sweep_list[T: Tally](level: &Level<T>, listed: &[u32], block: &mut Block<T::Row>, found: &mut Found) = every_listed
}

#[inline(always)]
fn every_node<T: Tally>(level: &Level<T>, block: Block<T::Row>, found: &mut Found) {
    let Block { nodes, next, seen, live, done, rows } = block;
    // Slices of one length and sums of its own: the loop then has neither bounds checks nor counters in memory.
    let count = nodes.len();
    let (next, seen, live) = (&mut next[..count], &mut seen[..count], &mut live[..count]);
    let (done, rows) = (&mut done[..count], &mut rows[..count]);
    let here = &level.cur[nodes.clone()][..count];
    let offsets = &level.graph.offsets()[nodes.start..=nodes.end][..count + 1];
    let targets = level.graph.targets();
    let mut here_found = Found::default();
    for i in 0..count {
        if done[i] && !live[i] {
            next[i] = Lanes::EMPTY;
        } else {
            let neighbors = &targets[offsets[i]..offsets[i + 1]];
            let slot = Slot {
                next: &mut next[i],
                seen: &mut seen[i],
                live: &mut live[i],
                done: &mut done[i],
                row: &mut rows[i],
            };
            visit(level, (nodes.start + i) as u32, neighbors, &here[i], slot, &mut here_found);
        }
    }
    found.add(here_found);
}

#[inline(always)]
fn every_listed<T: Tally>(level: &Level<T>, listed: &[u32], block: &mut Block<T::Row>, found: &mut Found) {
    let Block { next, seen, live, done, rows, .. } = block;
    for &v in listed {
        let i = v as usize;
        let slot =
            Slot { next: &mut next[i], seen: &mut seen[i], live: &mut live[i], done: &mut done[i], row: &mut rows[i] };
        visit(level, v, level.graph.neighbors(v), &level.cur[i], slot, found);
    }
}

#[inline(always)]
fn visit<T: Tally>(sweep: &Level<T>, v: u32, neighbors: &[u32], here: &Lanes, slot: Slot<T::Row>, found: &mut Found) {
    let Slot { next, seen, live, done, row } = slot;
    let &Level { tally, cur, level, all, .. } = sweep;
    let mut reached = Lanes::EMPTY;
    if *live {
        let here = *here;
        let mut peers = tally.begin(&here);
        if sweep.peers {
            for &y in neighbors {
                let there = &cur[y as usize];
                reached.add(there);
                tally.peer(row, &mut peers, &here.and(there));
            }
        } else if !*done {
            for &y in neighbors {
                reached.add(&cur[y as usize]);
            }
        }
        if level > 0 {
            tally.level(row, v, level, &here, &peers);
        }
    } else {
        for &y in neighbors {
            reached.add(&cur[y as usize]);
        }
    }
    if *done {
        *next = Lanes::EMPTY;
        *live = false;
        return;
    }
    let new = reached.without(seen);
    let met = seen.or(&new);
    (*next, *seen) = (new, met);
    // Not by `==`, which sends them through memory.
    let (is_live, is_done) = (!new.is_empty(), met.xor(all).is_empty());
    (*live, *done) = (is_live, is_done);
    found.nodes += usize::from(is_live);
    found.arcs += if is_live { neighbors.len() } else { 0 };
    found.done_arcs += if is_done { neighbors.len() } else { 0 };
}
