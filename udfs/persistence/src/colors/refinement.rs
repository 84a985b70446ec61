//! Colour refinement, round by round.

use bonnet_graph::{Graph, Monitor, Stopped};
use rayon::prelude::*;

use super::hashing::mix;

/// Nodes whose neighbours' colours are gathered in one piece.
const PIECE: usize = 4096;

/// From so many nodes on they are shared out by their hashes, to so many shards that are grouped side by side.
const SHARDED: usize = 1 << 14;
const SHARDS: usize = 64;

/// No group.
const NONE: u32 = u32::MAX;

/// The colours of the nodes of a graph while they are refined. After round r two nodes have one colour if they had one before
/// and, for each colour, as many neighbours of it. (Weisfeiler and Leman 1968.)
///
/// A colour that splits keeps its name for one of its parts, so that only nodes with a renamed neighbour are looked at in the next
/// round. Colours are compared by their lists, not by hashes alone: the answer is exact.
pub(crate) struct Refinement<'a> {
    graph: &'a Graph,
    /// The colour of each node.
    colors: Vec<u32>,
    /// The nodes of each colour.
    sizes: Vec<u32>,
    /// The nodes whose colour got a new name in the last round; all before the first.
    renamed: Option<Vec<u32>>,
    /// By colour, what a round finds; cleared after it.
    tallies: Vec<Tally>,
    /// The round in which a node was last looked at.
    seen: Vec<u32>,
    round: u32,
}

/// The sorted colours of the neighbours of some nodes.
struct Signatures {
    ends: Vec<usize>,
    colors: Vec<u32>,
    hashes: Vec<u64>,
}

impl Signatures {
    fn new(graph: &Graph, colors: &[u32], nodes: &[u32]) -> Self {
        let total = nodes.iter().map(|&v| graph.degree(v)).sum();
        let mut it =
            Self { ends: Vec::with_capacity(nodes.len()), colors: Vec::with_capacity(total), hashes: Vec::new() };
        it.hashes.reserve(nodes.len());
        for &v in nodes {
            let start = it.colors.len();
            it.colors.extend(graph.neighbors(v).iter().map(|&u| colors[u as usize]));
            let own = &mut it.colors[start..];
            own.sort_unstable();
            let hash = own.iter().fold(u64::from(colors[v as usize]), |hash, &color| {
                (hash ^ u64::from(color)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
            });
            it.hashes.push(mix(hash));
            it.ends.push(it.colors.len());
        }
        it
    }

    fn of(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.colors[start..self.ends[i]]
    }
}

/// Nodes of one colour whose neighbours have the same colours.
struct Group {
    /// The place of its first node among those looked at.
    first: u32,
    color: u32,
    size: u32,
}

impl<'a> Refinement<'a> {
    /// The bytes that refining a graph takes beside it.
    pub(crate) fn bytes(n: usize, m: usize) -> usize {
        64 * n + 8 * m
    }

    /// Begins with a colour for each node: numbers from 0 without a gap.
    pub(crate) fn new(graph: &'a Graph, first: Vec<u32>) -> Self {
        let n_colors = first.iter().max().map_or(0, |&most| most as usize + 1);
        let mut sizes = vec![0; n_colors];
        first.iter().for_each(|&color| sizes[color as usize] += 1);
        Self { graph, seen: vec![0; first.len()], colors: first, sizes, renamed: None, tallies: Vec::new(), round: 0 }
    }

    /// The colour of each node.
    pub(crate) fn colors(&self) -> &[u32] {
        &self.colors
    }

    /// The number of colours.
    pub(crate) fn n_colors(&self) -> usize {
        self.sizes.len()
    }

    /// One round; whether a colour split. Once none does, none ever will. O(m log d) at most.
    ///
    /// # Errors
    /// The monitor stopped the work.
    pub(crate) fn step(&mut self, monitor: &dyn Monitor) -> Result<bool, Stopped> {
        self.round += 1;
        let nodes = self.affected();
        let pieces = nodes.par_chunks(PIECE).map(|nodes| {
            monitor.check()?;
            Ok(Signatures::new(self.graph, &self.colors, nodes))
        });
        let pieces = pieces.collect::<Result<Vec<_>, Stopped>>()?;
        // Nodes of one group are in one shard.
        let hash = |i: usize| pieces[i / PIECE].hashes[i % PIECE];
        let shards = if nodes.len() < SHARDED { 1 } else { SHARDS };
        let shard = |i: usize| (hash(i) >> 32) as usize % shards;
        let mut ends = vec![0usize; shards + 1];
        (0..nodes.len()).for_each(|i| ends[shard(i) + 1] += 1);
        (0..shards).for_each(|shard| ends[shard + 1] += ends[shard]);
        let mut next = ends.clone();
        let mut order = vec![0u32; nodes.len()];
        for i in 0..nodes.len() {
            let next = &mut next[shard(i)];
            order[*next] = i as u32;
            *next += 1;
        }
        let signature = |i: u32| pieces[i as usize / PIECE].of(i as usize % PIECE);
        let found = ends.par_windows(2).with_max_len(1).map(|range| {
            monitor.check()?;
            let own = &order[range[0]..range[1]];
            // The groups, by an open table of their numbers.
            let slots = (2 * own.len()).next_power_of_two().max(2);
            let mut table = vec![NONE; slots];
            let mut groups: Vec<Group> = Vec::new();
            let mut group_of = Vec::with_capacity(own.len());
            for &i in own {
                let color = self.colors[nodes[i as usize] as usize];
                let mut slot = hash(i as usize) as usize & (slots - 1);
                let number = loop {
                    let number = table[slot];
                    if number == NONE {
                        table[slot] = groups.len() as u32;
                        groups.push(Group { first: i, color, size: 0 });
                        break groups.len() - 1;
                    }
                    let group = &groups[number as usize];
                    if group.color == color && signature(group.first) == signature(i) {
                        break number as usize;
                    }
                    slot = (slot + 1) & (slots - 1);
                };
                groups[number].size += 1;
                group_of.push(number as u32);
            }
            Ok((groups, group_of))
        });
        let found = found.collect::<Result<Vec<_>, Stopped>>()?;

        let mut groups = Vec::with_capacity(found.iter().map(|(groups, _)| groups.len()).sum());
        let mut starts = Vec::with_capacity(shards);
        let mut group_of = Vec::with_capacity(shards);
        for (own, numbers) in found {
            starts.push(groups.len());
            groups.extend(own);
            group_of.push(numbers);
        }
        monitor.check()?;
        let names = self.names(&groups);
        let mut renamed = Vec::new();
        for (shard, numbers) in group_of.iter().enumerate() {
            for (&i, &number) in order[ends[shard]..].iter().zip(numbers) {
                let (v, name) = (nodes[i as usize], names[starts[shard] + number as usize]);
                if self.colors[v as usize] != name {
                    self.colors[v as usize] = name;
                    renamed.push(v);
                }
            }
        }
        // In the order of the graph, which the next round goes through.
        renamed.par_sort_unstable();
        let split = !renamed.is_empty();
        self.renamed = Some(renamed);
        Ok(split)
    }

    /// The nodes whose neighbours' colours may tell them from others of their colour: none that is alone with it.
    fn affected(&mut self) -> Vec<u32> {
        let Some(renamed) = &self.renamed else {
            let is_alone = |v: &u32| self.sizes[self.colors[*v as usize] as usize] == 1;
            return (0..self.colors.len() as u32).filter(|v| !is_alone(v)).collect();
        };
        let mut nodes = Vec::new();
        for &v in renamed {
            for &u in self.graph.neighbors(v) {
                if self.seen[u as usize] != self.round {
                    self.seen[u as usize] = self.round;
                    if self.sizes[self.colors[u as usize] as usize] > 1 {
                        nodes.push(u);
                    }
                }
            }
        }
        nodes
    }

    /// The name of each group. Those of a colour's nodes that were not looked at keep its name, since none of their neighbours got a
    /// new one; without any, the largest group does.
    fn names(&mut self, groups: &[Group]) -> Vec<u32> {
        self.tallies.resize(self.sizes.len(), Tally::NOTHING);
        for (group, number) in groups.iter().zip(0u32..) {
            let tally = &mut self.tallies[group.color as usize];
            tally.looked_at += group.size;
            if tally.largest == NONE || groups[tally.largest as usize].size < group.size {
                tally.largest = number;
            }
        }
        for group in groups {
            let tally = &mut self.tallies[group.color as usize];
            if tally.looked_at < self.sizes[group.color as usize] {
                tally.largest = NONE;
            }
        }
        let mut names = Vec::with_capacity(groups.len());
        for (group, number) in groups.iter().zip(0u32..) {
            if self.tallies[group.color as usize].largest == number {
                names.push(group.color);
                continue;
            }
            names.push(self.sizes.len() as u32);
            self.sizes.push(group.size);
            self.sizes[group.color as usize] -= group.size;
        }
        groups.iter().for_each(|group| self.tallies[group.color as usize] = Tally::NOTHING);
        names
    }
}

/// What a round found of the nodes of a colour.
#[derive(Debug, Clone, Copy)]
struct Tally {
    looked_at: u32,
    /// The largest group; `NONE` where no group keeps the name.
    largest: u32,
}

impl Tally {
    const NOTHING: Self = Self { looked_at: 0, largest: NONE };
}
