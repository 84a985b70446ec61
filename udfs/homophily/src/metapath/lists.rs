//! The endpoints of a metapath's walks: lists of numbered targets, the long ones as bitmaps, and the unions that a node reaches.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

use super::numbering::Numbering;
use super::{HeteroGraph, Metapath, Relation};
use crate::hashing::BuildFoldedMultiply;

/// A list of at least so many targets may be a bitmap.
const LONG: usize = 1000;

/// The most memory for bitmaps.
const BITMAP_BYTES: usize = 256 << 20;

/// A way to walk a path: its steps but the last, and the last as lists of numbers.
pub(super) struct Walk<'a> {
    steps: Vec<Cow<'a, Relation>>,
    lists: Relation,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        graph: &'a HeteroGraph,
        path: &Metapath,
        numbering: &Numbering,
        monitor: &dyn Monitor,
    ) -> Result<Self, Stopped> {
        let relations = path.steps.iter().map(|steps| {
            // A path has a step at least, and a step a relation.
            let mut relations = steps.iter().map(|step| step.pairs(graph));
            let mut relation = relations.next().map_or_else(Cow::default, Cow::Borrowed);
            for other in relations {
                relation = Cow::Owned(relation.union(other, monitor)?);
            }
            Ok(relation)
        });
        let mut steps = relations.collect::<Result<Vec<_>, Stopped>>()?;
        let last = steps.pop().unwrap_or_default();
        let width = *numbering.starts.last().unwrap_or(&0) as usize;
        let lists = last.renumbered(width, |node| numbering.of_node[node as usize], monitor)?;
        Ok(Self { steps, lists })
    }

    /// The bytes that it holds itself.
    fn bytes(&self) -> usize {
        let own = self.steps.iter().map(|step| if let Cow::Owned(step) = step { step.bytes() } else { 0 });
        self.lists.bytes() + own.sum::<usize>()
    }
}

/// The lists of all walks, the long ones also as bitmaps. A list's number is that of its node plus the walk's first.
pub(super) struct Lists<'a> {
    walks: Vec<Walk<'a>>,
    firsts: Vec<u32>,
    words: usize,
    /// The position of each list among the bitmaps, or `u32::MAX`; empty where there are none.
    pub(super) bitmap_of: Vec<u32>,
    bitmaps: Vec<u64>,
    /// For each set of two or more bitmaps that occurs, the sizes of its union by class; for each single one, too.
    pub(super) unions: HashMap<Box<[u32]>, Box<[u32]>, BuildFoldedMultiply>,
    starts: Vec<u32>,
    _reservation: Reservation<'a>,
}

impl<'a> Lists<'a> {
    pub(super) fn new(
        walks: Vec<Walk<'a>>,
        numbering: &Numbering,
        visits: u64,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, Stopped> {
        let mut firsts = vec![0u32];
        for walk in &walks {
            firsts.push(firsts[firsts.len() - 1] + walk.lists.n_sources() as u32);
        }
        let held: usize = walks.iter().map(Walk::bytes).sum();
        let reservation = Reservation::new(monitor, held + rayon::current_num_threads() * numbering.words() * 8)?;
        let mut lists = Self {
            walks,
            firsts,
            words: numbering.words(),
            bitmap_of: Vec::new(),
            bitmaps: Vec::new(),
            unions: Default::default(),
            starts: numbering.starts.clone(),
            _reservation: reservation,
        };
        // How often targets would be visited: a list is walked by (about) each of its members.
        let squares = |walk: &Walk<'_>| -> u64 {
            (0..walk.lists.n_sources() as u32).map(|list| (walk.lists.row(list).len() as u64).pow(2)).sum()
        };
        if lists.walks.iter().map(squares).sum::<u64>() > visits {
            lists.make_bitmaps(numbering, monitor)?;
        }
        Ok(lists)
    }

    fn make_bitmaps(&mut self, numbering: &Numbering, monitor: &'a dyn Monitor) -> Result<(), Stopped> {
        let mut long: Vec<(usize, u32, u32)> = Vec::new();
        for (walk, &first) in self.walks.iter().zip(&self.firsts) {
            for list in 0..walk.lists.n_sources() as u32 {
                let length = walk.lists.row(list).len();
                if length >= LONG.min(self.words.max(64)) {
                    long.push((length, first + list, list));
                }
            }
        }
        long.sort_unstable_by(|a, b| b.cmp(a));
        long.truncate(BITMAP_BYTES / (self.words * 8).max(1));
        self._reservation.grow(long.len() * self.words * 8 + 4 * *self.firsts.last().unwrap_or(&0) as usize)?;
        self.bitmap_of = vec![u32::MAX; *self.firsts.last().unwrap_or(&0) as usize];
        self.bitmaps = vec![0; long.len() * self.words];
        for (position, &(_, number, list)) in long.iter().enumerate() {
            monitor.check()?;
            self.bitmap_of[number as usize] = position as u32;
            let walk = self.firsts.partition_point(|&first| first <= number) - 1;
            let bitmap = &mut self.bitmaps[position * self.words..][..self.words];
            self.walks[walk].lists.row(list).iter().for_each(|&target| set(bitmap, target));
        }
        // The sets of bitmaps that nodes touch, each once.
        let sets = numbering.nodes.par_chunks(1 << 14).map_init(
            || Scratch::new(self, numbering),
            |scratch, block| {
                monitor.check()?;
                let mut sets: Vec<Box<[u32]>> = Vec::new();
                for &(node, ..) in block {
                    scratch.touch(self, node);
                    if !scratch.long.is_empty() {
                        sets.push(scratch.long.as_slice().into());
                    }
                }
                sets.sort_unstable();
                sets.dedup();
                Ok(sets)
            },
        );
        let mut sets: Vec<Box<[u32]>> = sets.collect::<Result<Vec<_>, Stopped>>()?.concat();
        sets.par_sort_unstable();
        sets.dedup();
        let n_classes = self.starts.len() - 1;
        self._reservation.grow(sets.iter().map(|set| 4 * (set.len() + n_classes) + 48).sum())?;
        let sizes = sets.par_iter().with_min_len(16).map(|set| {
            monitor.check()?;
            let mut sizes = Vec::with_capacity(n_classes);
            for class in self.starts.windows(2) {
                let words = class[0] as usize / 64..class[1] as usize / 64;
                let (first, others) = (self.bitmap(set[0]), &set[1..]);
                let size: u32 = match others {
                    [] => first[words].iter().map(|word| word.count_ones()).sum(),
                    [other] => {
                        let other = &self.bitmap(*other)[words.clone()];
                        first[words].iter().zip(other).map(|(a, b)| (a | b).count_ones()).sum()
                    }
                    others => words
                        .map(|word| others.iter().fold(first[word], |bits, &other| bits | self.bitmap(other)[word]))
                        .map(u64::count_ones)
                        .sum(),
                };
                sizes.push(size);
            }
            Ok(sizes.into_boxed_slice())
        });
        let sizes = sizes.collect::<Result<Vec<_>, Stopped>>()?;
        self.unions = sets.into_iter().zip(sizes).collect();
        Ok(())
    }

    fn bitmap(&self, position: u32) -> &[u64] {
        &self.bitmaps[position as usize * self.words..][..self.words]
    }

    /// Fetches what the nodes behind a position of a block will read: lists lie all over the memory, and waiting for them
    /// one after the other would take most of the time. First where they are, later what they hold.
    pub(super) fn fetch_ahead(&self, block: &[(u32, u32, u32)], position: usize) {
        const OFFSETS: usize = 16;
        const ROWS: usize = 8;
        for (walk, lists) in self.walks.iter().filter_map(|walk| match walk.steps.as_slice() {
            [step] => Some((step, &walk.lists)),
            _ => None,
        }) {
            if let Some(&(node, ..)) = block.get(position + OFFSETS) {
                walk.row(node).iter().for_each(|&list| lists.fetch_offset(list));
            }
            if let Some(&(node, ..)) = block.get(position + ROWS) {
                walk.row(node).iter().for_each(|&list| lists.fetch_row(list));
            }
        }
    }

    /// The targets of a list by its number.
    fn row(&self, number: u32) -> &[u32] {
        let walk = usize::from(self.walks.len() > 1 && number >= self.firsts[1]);
        self.walks[walk].lists.row(number - self.firsts[walk])
    }
}

fn set(bits: &mut [u64], position: u32) {
    bits[position as usize / 64] |= 1 << (position % 64);
}

fn has(bits: &[u64], position: u32) -> bool {
    bits[position as usize / 64] >> (position % 64) & 1 == 1
}

/// The state of one thread's walk from a node.
pub(super) struct Scratch {
    /// The lists that the node touches: short ones by number, long ones by bitmap, ascending.
    short: Vec<u32>,
    long: Vec<u32>,
    /// Nodes of the types in between, when a path has more than two steps.
    seen: Vec<u32>,
    stamp: u32,
    frontier: Vec<u32>,
    next: Vec<u32>,
    marks: Vec<u64>,
    marked: Vec<u32>,
}

impl Scratch {
    pub(super) fn new(lists: &Lists<'_>, numbering: &Numbering) -> Self {
        let deep = lists.walks.iter().flat_map(|walk| walk.steps.iter().skip(1).map(|step| step.n_targets())).max();
        Self {
            short: Vec::new(),
            long: Vec::new(),
            seen: vec![0; deep.unwrap_or(0)],
            stamp: 0,
            frontier: Vec::new(),
            next: Vec::new(),
            marks: vec![0; numbering.words()],
            marked: Vec::new(),
        }
    }

    /// Finds the lists that the walks from a node end with.
    fn touch(&mut self, lists: &Lists<'_>, node: u32) {
        self.short.clear();
        self.long.clear();
        for (walk, &first) in lists.walks.iter().zip(&lists.firsts) {
            let mut sort = |list: u32| match lists.bitmap_of.get((first + list) as usize) {
                Some(&bitmap) if bitmap != u32::MAX => self.long.push(bitmap),
                _ => self.short.push(first + list),
            };
            match walk.steps.as_slice() {
                [] => sort(node),
                [step] => step.row(node).iter().for_each(|&list| sort(list)),
                [step, others @ ..] => {
                    self.frontier.clear();
                    self.frontier.extend_from_slice(step.row(node));
                    for step in others {
                        self.stamp = self.stamp.wrapping_add(1);
                        if self.stamp == 0 {
                            self.seen.fill(0);
                            self.stamp = 1;
                        }
                        self.next.clear();
                        for &at in &self.frontier {
                            for &to in step.row(at) {
                                if std::mem::replace(&mut self.seen[to as usize], self.stamp) != self.stamp {
                                    self.next.push(to);
                                }
                            }
                        }
                        std::mem::swap(&mut self.frontier, &mut self.next);
                    }
                    self.frontier.iter().for_each(|&list| sort(list));
                }
            }
        }
        self.long.sort_unstable();
    }

    /// The size of the union of a node's lists, of its part in a range of numbers, and whether the node is in it.
    pub(super) fn neighbors(
        &mut self,
        lists: &Lists<'_>,
        node: u32,
        number: u32,
        class: Range<u32>,
    ) -> (u64, u64, bool) {
        self.touch(lists, node);
        let mut itself = false;
        let (mut all, mut equal) = (0u64, 0u64);
        if let ([], [list]) = (self.long.as_slice(), self.short.as_slice()) {
            // One list is its own union.
            let row = lists.row(*list);
            let within =
                row.partition_point(|&other| other < class.end) - row.partition_point(|&other| other < class.start);
            return (row.len() as u64, within as u64, row.binary_search(&number).is_ok());
        }
        if let Some(sizes) = lists.unions.get(self.long.as_slice()) {
            all = sizes.iter().map(|&size| u64::from(size)).sum();
            let own = lists.starts.partition_point(|&start| start <= number) - 1;
            equal = u64::from(sizes[own]);
            itself = self.long.iter().any(|&long| has(lists.bitmap(long), number));
        }
        for &list in &self.short {
            let row = lists.row(list);
            if self.long.is_empty() {
                for &other in row {
                    let (word, bit) = (&mut self.marks[other as usize / 64], 1u64 << (other % 64));
                    if *word & bit == 0 {
                        *word |= bit;
                        self.marked.push(other);
                    }
                }
                continue;
            }
            for &other in row {
                let (word, bit) = (&mut self.marks[other as usize / 64], 1u64 << (other % 64));
                if *word & bit == 0 && !self.long.iter().any(|&long| has(lists.bitmap(long), other)) {
                    *word |= bit;
                    self.marked.push(other);
                }
            }
        }
        equal += self.marked.iter().filter(|other| class.contains(other)).count() as u64;
        all += self.marked.len() as u64;
        itself |= has(&self.marks, number);
        for other in self.marked.drain(..) {
            self.marks[other as usize / 64] = 0;
        }
        (all, equal, itself)
    }
}
