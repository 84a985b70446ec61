//! The counts of edges by the labels of their endpoints, from which the edge metrics come.

use std::collections::HashMap;

use bonnet_graph::{Digraph, Graph, Monitor, Stopped};

use crate::hashing::BuildFoldedMultiply;

/// Up to this number of classes the table is always dense: 32 KiB.
const SMALL_SIDE: usize = 64;

/// No table is dense above this number of classes: 32 MiB.
const LARGEST_SIDE: usize = 2048;

/// The copies of a small table that consecutive rows take turns in, so that equal rows do not wait for one counter.
const COPIES: usize = 4;

/// Rows that one block counts in 32 bits.
const BLOCK: usize = 1 << 16;

/// The number of rows for each pair (label of the source, label of the target).
///
/// Labels are numbers given by the caller, best without gaps. Small numbers are counted in a square table, as long as
/// there are rows enough to fill it; the others in a hash table. Room: 8 bytes a cell, about 32 an entry of the hash table.
#[derive(Debug, Clone, Default)]
pub struct LabelPairs {
    /// The square table, row by row, for two labels below `side`.
    dense: Vec<u64>,
    /// 0 or a power of two.
    side: usize,
    /// The other pairs: source << 32 | target.
    sparse: HashMap<u64, u64, BuildFoldedMultiply>,
    n_rows: u64,
}

impl LabelPairs {
    /// Counts the edges of an undirected graph, each once, with the label of the smaller node first; edges at a node
    /// without a label are left out. O(n + m).
    ///
    /// # Panics
    /// If `labels` has not one entry a node.
    pub fn of_graph(graph: &Graph, labels: &[Option<u32>], monitor: &dyn Monitor) -> Result<Self, Stopped> {
        assert_eq!(labels.len(), graph.n_nodes(), "one label a node");
        Self::of_pairs(graph.edges(), labels, monitor)
    }

    /// Counts the arcs of a directed graph with the label of the source first; arcs at a node without a label are left
    /// out. O(n + m).
    ///
    /// # Panics
    /// If `labels` has not one entry a node.
    pub fn of_arcs(graph: &Digraph, labels: &[Option<u32>], monitor: &dyn Monitor) -> Result<Self, Stopped> {
        assert_eq!(labels.len(), graph.n_nodes(), "one label a node");
        Self::of_pairs(graph.arcs(), labels, monitor)
    }

    /// Counts pairs of nodes by their labels, where both have one.
    fn of_pairs(
        nodes: impl Iterator<Item = (u32, u32)>,
        labels: &[Option<u32>],
        monitor: &dyn Monitor,
    ) -> Result<Self, Stopped> {
        let mut pairs = Self::default();
        let (mut sources, mut targets) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        for (u, v) in nodes {
            if let (Some(a), Some(b)) = (labels[u as usize], labels[v as usize]) {
                sources.push(a);
                targets.push(b);
                if sources.len() == BLOCK {
                    monitor.check()?;
                    pairs.add_batch(&sources, &targets);
                    sources.clear();
                    targets.clear();
                }
            }
        }
        pairs.add_batch(&sources, &targets);
        Ok(pairs)
    }

    /// Counts the rows `(source[i], target[i])`.
    ///
    /// # Panics
    /// If the slices differ in length, or a label is not in `0 .. 2^32`.
    pub fn add_batch<L: Copy + Into<i64>>(&mut self, source: &[L], target: &[L]) {
        assert!(self.add_below(1 << 32, source, target), "a label is not in 0 .. 2^32");
    }

    /// Counts the rows as [`LabelPairs::add_batch`] does if all labels are below `bound`, a power of two; else none of
    /// them. Whether they were counted.
    pub(crate) fn add_below<L: Copy + Into<i64>>(&mut self, bound: u64, source: &[L], target: &[L]) -> bool {
        assert_eq!(source.len(), target.len(), "as many sources as targets");
        let widest = all_bits(source) | all_bits(target);
        if widest >= bound {
            return false;
        }
        for (source, target) in source.chunks(BLOCK).zip(target.chunks(BLOCK)) {
            self.n_rows += source.len() as u64;
            self.widen(widest as usize);
            let rows = source.iter().zip(target).map(|(&a, &b)| (a.into() as usize, b.into() as usize));
            if widest >= self.side as u64 {
                rows.for_each(|(a, b)| *self.count_mut(a as u32, b as u32) += 1);
            } else if self.side <= SMALL_SIDE && source.len() >= self.dense.len() {
                self.add_to_copies(source, target);
            } else {
                let side = self.side;
                rows.for_each(|(a, b)| self.dense[a * side + b] += 1);
            }
        }
        true
    }

    /// Counts a block of rows whose labels are all below `side`.
    fn add_to_copies<L: Copy + Into<i64>>(&mut self, source: &[L], target: &[L]) {
        let cells = self.dense.len();
        let shift = self.side.trailing_zeros();
        let mask = cells - 1;
        let mut copies = vec![0u32; COPIES * cells];
        let (first, rest) = copies.split_at_mut(cells);
        let (second, rest) = rest.split_at_mut(cells);
        let (third, fourth) = rest.split_at_mut(cells);
        // The mask changes nothing; it lets the compiler drop the bounds checks.
        let cell = |a: L, b: L| (((a.into() as usize) << shift) | b.into() as usize) & mask;
        let (source_quads, target_quads) = (source.chunks_exact(COPIES), target.chunks_exact(COPIES));
        for (&a, &b) in source_quads.remainder().iter().zip(target_quads.remainder()) {
            first[cell(a, b)] += 1;
        }
        for (a, b) in source_quads.zip(target_quads) {
            first[cell(a[0], b[0])] += 1;
            second[cell(a[1], b[1])] += 1;
            third[cell(a[2], b[2])] += 1;
            fourth[cell(a[3], b[3])] += 1;
        }
        for copy in copies.chunks(cells) {
            self.dense.iter_mut().zip(copy).for_each(|(total, &count)| *total += u64::from(count));
        }
    }

    /// Counts `count` rows with the same two labels.
    pub fn add(&mut self, source: u32, target: u32, count: u64) {
        self.n_rows += count;
        self.widen(source.max(target) as usize);
        *self.count_mut(source, target) += count;
    }

    /// Adds the counts of another part of the rows, made under the same numbers.
    pub fn merge(&mut self, other: &Self) {
        for (source, target, count) in other.iter() {
            self.add(source, target, count);
        }
    }

    /// The pairs that occur, with their counts, in ascending order: all there is to keep or to send.
    pub fn counts(&self) -> Vec<(u32, u32, u64)> {
        let mut counts: Vec<_> = self.iter().collect();
        counts.sort_unstable();
        counts
    }

    /// The number of rows counted.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// About the bytes that the tables hold.
    pub fn bytes(&self) -> usize {
        self.dense.capacity() * size_of::<u64>() + self.sparse.capacity() * (size_of::<(u64, u64)>() + 1)
    }

    /// The pairs that occur, in no order that means anything.
    fn iter(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let side = self.side.max(1);
        let dense = self.dense.iter().enumerate().filter(|&(_, &count)| count > 0);
        let dense = dense.map(move |(cell, &count)| ((cell / side) as u32, (cell % side) as u32, count));
        dense.chain(self.sparse.iter().map(|(&pair, &count)| ((pair >> 32) as u32, pair as u32, count)))
    }

    fn count_mut(&mut self, source: u32, target: u32) -> &mut u64 {
        if (source.max(target) as usize) < self.side {
            return &mut self.dense[source as usize * self.side + target as usize];
        }
        self.sparse.entry(u64::from(source) << 32 | u64::from(target)).or_default()
    }

    /// Makes the square table wide enough for a label, if it is small or the rows so far are worth it.
    fn widen(&mut self, label: usize) {
        let side = (label + 1).next_power_of_two();
        let affordable = side <= SMALL_SIDE || side <= LARGEST_SIDE && (side * side) as u64 <= 2 * self.n_rows;
        if side <= self.side || !affordable {
            return;
        }
        let mut dense = vec![0u64; side * side];
        for (row, old) in self.dense.chunks(self.side.max(1)).enumerate() {
            dense[row * side..][..old.len()].copy_from_slice(old);
        }
        self.dense = dense;
        self.side = side;
        let fits = |&pair: &u64| ((pair >> 32) as usize).max(pair as u32 as usize) < side;
        let moved: Vec<(u64, u64)> = self.sparse.extract_if(|pair, _| fits(pair)).collect();
        for (pair, count) in moved {
            self.dense[(pair >> 32) as usize * side + pair as u32 as usize] += count;
        }
    }
}

/// The bits that occur in any of the labels: as wide as the largest, and quicker to find; all where one is negative.
fn all_bits<L: Copy + Into<i64>>(labels: &[L]) -> u64 {
    labels.iter().fold(0i64, |bits, &label| bits | label.into()) as u64
}

/// Two counts are equal if they count the same rows, however they are stored.
impl PartialEq for LabelPairs {
    fn eq(&self, other: &Self) -> bool {
        self.n_rows == other.n_rows && self.counts() == other.counts()
    }
}

impl Eq for LabelPairs {}

/// The endpoints of the rows by class: each row counts both of its labels once. What the symmetric metrics need.
pub(crate) struct Ends {
    /// The classes that occur, ascending, with the number of their endpoints: D_k in the papers.
    pub of_class: Vec<(u32, u64)>,
    /// The number of all endpoints: 2 |E|.
    pub total: u64,
}

impl Ends {
    pub fn of_counts(counts: &[(u32, u32, u64)]) -> Self {
        let mut ends: Vec<(u32, u64)> = counts.iter().flat_map(|&(a, b, count)| [(a, count), (b, count)]).collect();
        ends.sort_unstable();
        let of_class: Vec<(u32, u64)> =
            ends.chunk_by(|a, b| a.0 == b.0).map(|class| (class[0].0, class.iter().map(|end| end.1).sum())).collect();
        Self { total: of_class.iter().map(|class| class.1).sum(), of_class }
    }

    /// The number of ends of a class.
    pub fn of(&self, class: u32) -> u64 {
        self.of_class.binary_search_by_key(&class, |entry| entry.0).map_or(0, |position| self.of_class[position].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn literally(rows: &[(u32, u32)]) -> Vec<(u32, u32, u64)> {
        let mut counts = BTreeMap::new();
        rows.iter().for_each(|&pair| *counts.entry(pair).or_insert(0u64) += 1);
        counts.into_iter().map(|((a, b), count)| (a, b, count)).collect()
    }

    fn counted(rows: &[(u32, u32)]) -> LabelPairs {
        let mut pairs = LabelPairs::default();
        let (source, target): (Vec<u32>, Vec<u32>) = rows.iter().copied().unzip();
        pairs.add_batch(&source, &target);
        pairs
    }

    proptest! {
        #[test]
        fn any_partition_in_any_order_counts_the_same(
            classes in prop_oneof![Just(1u32), 2..10u32, 60..70u32, 1000..3000u32, Just(u32::MAX)],
            raw in proptest::collection::vec((any::<u32>(), any::<u32>(), 0..5usize), 0..6000),
        ) {
            let rows: Vec<(u32, u32)> = raw.iter().map(|&(a, b, _)| (a % classes, b % classes)).collect();
            let whole = counted(&rows);
            prop_assert_eq!(whole.counts(), literally(&rows));
            prop_assert_eq!(whole.n_rows(), rows.len() as u64);

            let part = |k: usize| rows.iter().zip(&raw).filter(|(_, r)| r.2 == k).map(|(&row, _)| row).collect::<Vec<_>>();
            let mut merged = LabelPairs::default();
            [3, 0, 4, 1, 2].into_iter().for_each(|k| merged.merge(&counted(&part(k))));
            prop_assert_eq!(&merged, &whole);

            let mut row_by_row = LabelPairs::default();
            rows.iter().for_each(|&(a, b)| row_by_row.add(a, b, 1));
            prop_assert_eq!(&row_by_row, &whole);
        }
    }

    #[test]
    fn the_table_widens_once_the_rows_are_worth_it_and_keeps_its_counts() {
        let mut pairs = LabelPairs::default();
        pairs.add_batch(&[0, 999, 3], &[1, 500, 3]);
        assert!(pairs.bytes() < 100_000, "{}", pairs.bytes());
        let labels: Vec<u32> = (0..1_000_000).map(|i| (i * 7) % 1000).collect();
        let others: Vec<u32> = (0..1_000_000).map(|i| (i * 11 + i / 1000) % 1000).collect();
        pairs.add_batch(&labels, &others);
        assert_eq!(pairs.side, 1024);
        assert!(pairs.sparse.is_empty());
        let mut rows: Vec<(u32, u32)> = labels.into_iter().zip(others).collect();
        rows.extend([(0, 1), (999, 500), (3, 3)]);
        assert_eq!(pairs.counts(), literally(&rows));
    }

    #[test]
    fn the_edges_of_a_graph_count_once_and_only_between_labelled_nodes() {
        let graph = Graph::from_edges(5, &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 4)]);
        let labels = [Some(1), Some(0), Some(1), None, Some(2)];
        let pairs = LabelPairs::of_graph(&graph, &labels, &Unmonitored).unwrap();
        assert_eq!(pairs.counts(), [(0, 1, 1), (1, 0, 1)]);
    }
}
