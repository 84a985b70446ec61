//! The counts of a batch of searches at each node.

use super::lanes::{LANES, Lanes, Start};

/// A way of counting. Everything it keeps of a node is in that node's row, so that nodes can be swept in any order.
pub(super) trait Tally: Sync {
    /// The sums of a node.
    type Row: Send;
    /// The counts of a node and its neighbours during one visit.
    type Peers;

    /// Called before the sweep of each level.
    fn prepare(&mut self, _level: u32) {}

    /// Begins a visit of a node with the searches that are at their present level there.
    fn begin(&self, here: &Lanes) -> Self::Peers;

    /// The searches that are at their present level both at this node and at one of its neighbours.
    fn peer(&self, row: &mut Self::Row, peers: &mut Self::Peers, both: &Lanes);

    /// The searches that are at `level` >= 1 at node `v`, after `peer` was called for all its neighbours.
    fn level(&self, row: &mut Self::Row, v: u32, level: u32, here: &Lanes, peers: &Self::Peers);
}

/// Sums over anchors, for one node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Of distances.
    pub(super) farness: u64,
    /// Of inverse distances, in fixed point.
    pub(super) harmonic: u128,
    /// Of inverse distances, once for each neighbour at the same distance, in fixed point.
    pub(super) peers: u128,
    /// The largest distance to an anchor, each with what hangs from it.
    pub(super) farthest: u32,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Self) {
        self.farness += other.farness;
        self.harmonic += other.harmonic;
        self.peers += other.peers;
        self.farthest = self.farthest.max(other.farthest);
    }
}

/// Searches that count alike.
pub(super) struct Single<'a> {
    pub(super) inverses: &'a [u64],
    /// The inverse of the present level.
    pub(super) inverse: u64,
    /// Each counts 2^digit times.
    pub(super) digit: u32,
    /// Where the searches start.
    pub(super) starts: &'a [Start],
    /// The height of each node's own tree.
    pub(super) heights: &'a [u32],
}

impl Tally for Single<'_> {
    type Row = Sums;
    /// By word of lanes: how many are here, and below that how many are here and at a neighbour, 64 a neighbour.
    type Peers = [u64; LANES / 64];

    fn prepare(&mut self, level: u32) {
        self.inverse = self.inverses[level as usize];
    }

    #[inline(always)]
    fn begin(&self, here: &Lanes) -> Self::Peers {
        here.0.map(|word| u64::from(word.count_ones()) << HERE)
    }

    #[inline(always)]
    fn peer(&self, _row: &mut Sums, peers: &mut Self::Peers, both: &Lanes) {
        for (count, word) in peers.iter_mut().zip(&both.0) {
            *count += u64::from(word.count_ones());
        }
    }

    #[inline(always)]
    fn level(&self, row: &mut Sums, v: u32, level: u32, here: &Lanes, peers: &Self::Peers) {
        // By halves: a row of additions in order keeps a processor with wide words waiting.
        let half: [u64; 4] = std::array::from_fn(|i| peers[i] + peers[i + 4]);
        let quarter: [u64; 2] = std::array::from_fn(|i| half[i] + half[i + 2]);
        let sum = quarter[0] + quarter[1];
        let (count, peers) = (sum >> HERE, sum & ((1 << HERE) - 1));
        let inverse = u128::from(self.inverse);
        let mut terms = (count * u64::from(level), u128::from(count) * inverse, u128::from(peers) * inverse);
        if self.digit > 0 {
            terms = self.weighed(terms);
        }
        row.farness += terms.0;
        row.harmonic += terms.1;
        row.peers += terms.2;
        let own = self.heights[v as usize];
        // What comes up the node's own tree does not go down again.
        if level > own || self.others(v, *here) {
            row.farthest = row.farthest.max(level + own);
        }
    }
}

/// Where in a word the number of lanes stands.
const HERE: u32 = 48;

impl Single<'_> {
    /// Rare, and long shifts cost as much as the rest.
    #[cold]
    fn weighed(&self, (farness, harmonic, peers): (u64, u128, u128)) -> (u64, u128, u128) {
        (farness << self.digit, harmonic << self.digit, peers << self.digit)
    }

    #[cold]
    fn others(&self, v: u32, here: Lanes) -> bool {
        let mut others = false;
        here.for_each(|lane| others |= self.starts[lane].node != v);
        others
    }
}

/// A count for each lane, in bits: lane l has bit i of its count in word i.
#[derive(Clone, Copy)]
pub(super) struct LaneCounts {
    bits: [Lanes; COUNT_BITS],
    added: u32,
}

/// Bits of a lane's count; before they overflow, counts are taken over.
const COUNT_BITS: usize = 6;

impl Default for LaneCounts {
    #[inline(always)]
    fn default() -> Self {
        Self { bits: [Lanes::EMPTY; COUNT_BITS], added: 0 }
    }
}

impl LaneCounts {
    /// Adds 1 to some lanes; says whether one more might overflow.
    #[inline(always)]
    fn add(&mut self, lanes: &Lanes) -> bool {
        let mut carry = *lanes;
        for bit in &mut self.bits {
            let over = bit.and(&carry);
            *bit = bit.xor(&carry);
            carry = over;
            if carry.is_empty() {
                break;
            }
        }
        self.added += 1;
        self.added == (1 << COUNT_BITS) - 1
    }
}

/// Anchors that stand for the tree that hangs from them: the nodes at depth h of the tree are h farther away.
pub(super) struct Trees<'a> {
    inverses: &'a [u64],
    weights: Weights,
    /// The height of each node's own tree.
    heights: &'a [u32],
    /// The height of each anchor's tree.
    lane_heights: Vec<u32>,
    tallest: u32,
    level: u32,
}

/// The trees of a batch's anchors.
enum Weights {
    /// For each depth and binary digit, which lanes have that digit in their number of nodes at that depth.
    Planes(Vec<Plane>),
    /// Trees of many sizes: lane by lane, the whole tree.
    Listed {
        /// `(depth, nodes)` of each lane, from `(0, 1)` on.
        depths: Vec<Vec<(u32, u32)>>,
        /// For the present level: sum of distances and of inverse distances of the lane's tree.
        sums: Vec<(u64, u128)>,
    },
}

struct Plane {
    depth: u32,
    digit: u32,
    lanes: Lanes,
}

/// With more planes than this, trees are listed lane by lane.
const MOST_PLANES: usize = 40;

impl<'a> Trees<'a> {
    /// Of anchors whose trees have `depths[lane]` = `(depth, nodes)` from depth 1 on.
    pub(super) fn new(inverses: &'a [u64], heights: &'a [u32], mut depths: Vec<Vec<(u32, u32)>>) -> Self {
        let lane_heights: Vec<u32> = depths.iter().map(|tree| tree.last().map_or(0, |&(depth, _)| depth)).collect();
        let tallest = lane_heights.iter().copied().max().unwrap_or(0);
        depths.iter_mut().for_each(|tree| tree.insert(0, (0, 1)));

        // The largest number of nodes at each depth.
        let mut widest = vec![0u32; tallest as usize + 1];
        for &(depth, count) in depths.iter().flatten() {
            widest[depth as usize] = widest[depth as usize].max(count);
        }
        let digits = |count: u32| u32::BITS - count.leading_zeros();
        let planes: usize = widest.iter().map(|&count| digits(count) as usize).sum();
        let weights = if planes > MOST_PLANES {
            Weights::Listed { sums: vec![(0, 0); depths.len()], depths }
        } else {
            let mut planes: Vec<Plane> = widest
                .iter()
                .zip(0u32..)
                .flat_map(|(&count, depth)| (0..digits(count)).map(move |digit| (depth, digit)))
                .map(|(depth, digit)| Plane { depth, digit, lanes: Lanes::EMPTY })
                .collect();
            for plane in &mut planes {
                for (lane, tree) in depths.iter().enumerate() {
                    if tree.get(plane.depth as usize).is_some_and(|&(_, count)| count >> plane.digit & 1 == 1) {
                        plane.lanes.insert(lane);
                    }
                }
            }
            Weights::Planes(planes)
        };
        Self { inverses, weights, heights, lane_heights, tallest, level: 0 }
    }

    /// The sums of distances and of inverse distances of all nodes that some lanes stand for, at the present level.
    #[inline(always)]
    fn weigh(&self, lanes: &Lanes) -> (u64, u128) {
        let (mut far, mut near) = (0u64, 0u128);
        match &self.weights {
            Weights::Planes(planes) => {
                for plane in planes {
                    let count = u64::from(lanes.and(&plane.lanes).count()) << plane.digit;
                    let distance = self.level + plane.depth;
                    far += count * u64::from(distance);
                    near += u128::from(count) * u128::from(self.inverses[distance as usize]);
                }
            }
            Weights::Listed { sums, .. } => lanes.for_each(|lane| {
                far += sums[lane].0;
                near += sums[lane].1;
            }),
        }
        (far, near)
    }

    #[inline(always)]
    fn take_over(&self, row: &mut Sums, counts: &LaneCounts) {
        for (digit, lanes) in counts.bits.iter().enumerate() {
            if !lanes.is_empty() {
                row.peers += self.weigh(lanes).1 << digit;
            }
        }
    }
}

impl Tally for Trees<'_> {
    type Row = Sums;
    type Peers = LaneCounts;

    fn prepare(&mut self, level: u32) {
        self.level = level;
        if let Weights::Listed { depths, sums } = &mut self.weights {
            for (tree, sum) in depths.iter().zip(sums) {
                *sum = (0, 0);
                for &(depth, count) in tree {
                    sum.0 += u64::from(count) * u64::from(level + depth);
                    sum.1 += u128::from(count) * u128::from(self.inverses[(level + depth) as usize]);
                }
            }
        }
    }

    #[inline(always)]
    fn begin(&self, _here: &Lanes) -> LaneCounts {
        LaneCounts::default()
    }

    #[inline(always)]
    fn peer(&self, row: &mut Sums, peers: &mut LaneCounts, both: &Lanes) {
        if peers.add(both) {
            self.take_over(row, peers);
            *peers = LaneCounts::default();
        }
    }

    #[inline(always)]
    fn level(&self, row: &mut Sums, v: u32, level: u32, here: &Lanes, peers: &LaneCounts) {
        let (far, near) = self.weigh(here);
        row.farness += far;
        row.harmonic += near;
        self.take_over(row, peers);
        let own = self.heights[v as usize];
        if level + own + self.tallest > row.farthest {
            here.for_each(|lane| row.farthest = row.farthest.max(level + own + self.lane_heights[lane]));
        }
    }
}

/// Anchors by groups of 16 for standard errors: lane l belongs to group l / 16 of the batch.
pub(super) struct Grouped {
    /// One over the present level.
    inverse: f64,
}

impl Grouped {
    pub(super) fn new() -> Self {
        Self { inverse: 0.0 }
    }
}

/// Groups in a batch.
pub(super) const GROUPS: usize = LANES / super::spread::GROUP;

/// Sums over the anchors of each group, for one node.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct GroupSums {
    /// Sums of distances, modulo 256: those of neighbours differ by at most 16.
    farness: [u8; GROUPS],
    /// Times the sum of inverse distances, see `Centre::harmonic_weight`.
    pub(super) harmonic_weight: f64,
    /// Half the sum of inverse distances over neighbours at the same distance, plus the weighted sum of all.
    residual: [f64; GROUPS],
}

impl GroupSums {
    pub(super) fn new(harmonic_weight: f64) -> Self {
        Self { harmonic_weight, farness: [0; GROUPS], residual: [0.0; GROUPS] }
    }

    /// The sum of residuals over the anchors of a group, times the number of neighbours; `closer` counts the closer
    /// neighbours less the farther ones.
    pub(super) fn residual(&self, group: usize, closer: i32) -> f64 {
        f64::from(closer) + self.residual[group]
    }

    /// For each group, the sum over its anchors of how much closer they are to `other`, a neighbour.
    #[inline(always)]
    pub(super) fn add_closer(&self, other: &Self, closer: &mut [i32; GROUPS]) {
        for (closer, (here, there)) in closer.iter_mut().zip(self.farness.iter().zip(&other.farness)) {
            *closer += i32::from(here.wrapping_sub(*there) as i8);
        }
    }
}

/// Counts by group: four of 16 bits in each word, so that whole words are added.
#[derive(Default)]
pub(super) struct GroupCounts {
    counts: [u64; LANES / 64],
    added: u32,
}

impl GroupCounts {
    /// Adds the number of lanes in each group, 16 at most.
    #[inline(always)]
    fn add(&mut self, lanes: &Lanes) {
        // The population count by adding neighbouring fields, stopped at fields of 16 bits.
        for (count, &word) in self.counts.iter_mut().zip(&lanes.0) {
            let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
            let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
            let bytes = (nibbles + (nibbles >> 4)) & 0x0F0F_0F0F_0F0F_0F0F;
            *count += (bytes + (bytes >> 8)) & 0x00FF_00FF_00FF_00FF;
        }
        self.added += 1;
    }

    #[inline(always)]
    fn of(&self, group: usize) -> u16 {
        (self.counts[group / 4] >> (16 * (group % 4))) as u16
    }
}

impl Tally for Grouped {
    type Row = GroupSums;
    type Peers = GroupCounts;

    fn prepare(&mut self, level: u32) {
        self.inverse = 1.0 / f64::from(level);
    }

    #[inline(always)]
    fn begin(&self, _here: &Lanes) -> GroupCounts {
        GroupCounts::default()
    }

    #[inline(always)]
    fn peer(&self, row: &mut GroupSums, peers: &mut GroupCounts, both: &Lanes) {
        peers.add(both);
        // 16 a neighbour: the next could overflow.
        if peers.added == u32::from(u16::MAX) / 16 {
            for group in 0..GROUPS {
                row.residual[group] += 0.5 * f64::from(peers.of(group)) * self.inverse;
            }
            *peers = GroupCounts::default();
        }
    }

    #[inline(always)]
    fn level(&self, row: &mut GroupSums, _v: u32, level: u32, here: &Lanes, peers: &GroupCounts) {
        let mut counts = GroupCounts::default();
        counts.add(here);
        for group in 0..GROUPS {
            let count = counts.of(group);
            row.farness[group] = row.farness[group].wrapping_add((count as u8).wrapping_mul(level as u8));
            row.residual[group] +=
                (0.5 * f64::from(peers.of(group)) + row.harmonic_weight * f64::from(count)) * self.inverse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_large_neighbourhood_do_not_overflow() {
        let all = Lanes::first(LANES);
        let mut tally = Grouped::new();
        tally.prepare(4);
        let (mut row, mut peers) = (GroupSums::new(-1.0), GroupCounts::default());
        (0..10_000).for_each(|_| tally.peer(&mut row, &mut peers, &all));
        tally.level(&mut row, 0, 4, &all, &peers);
        assert_eq!(row.residual, [(0.5 * 160_000.0 - 16.0) / 4.0; GROUPS]);
        assert_eq!(row.farness, [64; GROUPS]);
        // 40 steps of 16 are 640, and 128 modulo 256.
        tally.prepare(36);
        tally.level(&mut row, 0, 36, &all, &GroupCounts::default());
        let mut other = GroupSums::new(0.0);
        tally.level(&mut other, 0, 39, &all, &GroupCounts::default());
        let mut closer = [7; GROUPS];
        row.add_closer(&other, &mut closer);
        assert_eq!(closer, [7 + 16; GROUPS]);

        let inverses = crate::midpoint::fixed::inverses(10);
        let trees = (0..LANES as u32).map(|lane| vec![(1, lane % 4 + 1)]).collect();
        let mut tally = Trees::new(&inverses, &[0], trees);
        tally.prepare(4);
        let (mut row, mut peers) = (Sums::default(), LaneCounts::default());
        (0..1000).for_each(|_| tally.peer(&mut row, &mut peers, &all));
        tally.level(&mut row, 0, 4, &all, &peers);
        // A lane stands for itself at distance 4 and for 2.5 nodes, on average, at distance 5.
        assert_eq!(row.farness, 512 * 4 + 1280 * 5);
        let near = 512 * u128::from(inverses[4]) + 1280 * u128::from(inverses[5]);
        assert_eq!((row.harmonic, row.peers, row.farthest), (near, 1000 * near, 5));
    }
}
