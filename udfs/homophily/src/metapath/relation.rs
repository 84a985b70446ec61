//! The arcs of one kind, from the nodes of one type to those of another.

use bonnet_graph::{Monitor, Reservation, Stopped};
use rayon::prelude::*;

/// Asks for a value that will be read soon; where the processor knows no such thing, does nothing.
#[inline]
fn fetch<T>(values: &[T], position: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = values.get(position) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of a valid address has no effect that a program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, position);
}

/// Compressed sparse rows between two sets of nodes: the sorted, distinct targets of every source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relation {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    n_targets: usize,
}

impl Relation {
    /// The distinct pairs `(source, target)`. O(n + m log d) time for a longest row d, 12 bytes a pair while it works.
    ///
    /// # Panics
    /// If a source is not below `n_sources` or a target not below `n_targets`.
    pub fn from_pairs(
        n_sources: usize,
        n_targets: usize,
        pairs: impl Iterator<Item = (u32, u32)> + Clone,
        monitor: &dyn Monitor,
    ) -> Result<Self, Stopped> {
        let mut offsets = vec![0usize; n_sources + 1];
        for (source, target) in pairs.clone() {
            assert!((target as usize) < n_targets, "target {target} of {n_targets}");
            offsets[source as usize + 1] += 1;
        }
        for source in 0..n_sources {
            offsets[source + 1] += offsets[source];
        }
        monitor.check()?;
        let _reservation = Reservation::new(monitor, 4 * offsets[n_sources])?;
        let mut next = offsets.clone();
        let mut targets = vec![0u32; offsets[n_sources]];
        for (source, target) in pairs {
            targets[next[source as usize]] = target;
            next[source as usize] += 1;
        }
        let mut kept = 0;
        for source in 0..n_sources {
            if source % (1 << 16) == 0 {
                monitor.check()?;
            }
            let (start, end) = (offsets[source], offsets[source + 1]);
            targets[start..end].sort_unstable();
            offsets[source] = kept;
            for i in start..end {
                // `kept <= i`: what is compared still stands in its place, or is equal to what took it.
                if i == start || targets[i] != targets[kept - 1] {
                    targets[kept] = targets[i];
                    kept += 1;
                }
            }
        }
        offsets[n_sources] = kept;
        targets.truncate(kept);
        Ok(Self { offsets, targets, n_targets })
    }

    /// The number of sources.
    pub fn n_sources(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of nodes of the type that it leads to.
    pub fn n_targets(&self) -> usize {
        self.n_targets
    }

    /// The number of distinct pairs.
    pub fn n_pairs(&self) -> usize {
        self.targets.len()
    }

    /// The targets of a source, in ascending order.
    pub fn row(&self, source: u32) -> &[u32] {
        &self.targets[self.offsets[source as usize]..self.offsets[source as usize + 1]]
    }

    /// Prefetches a source's targets, which are read later.
    pub(super) fn fetch_offset(&self, source: u32) {
        fetch(&self.offsets, source as usize);
    }

    /// Asks for a source's first targets, to be read later.
    pub(super) fn fetch_row(&self, source: u32) {
        // Four lines of memory; the processor itself goes on from there.
        let (start, end) = (self.offsets[source as usize], self.offsets[source as usize + 1]);
        (start..end).step_by(16).take(4).for_each(|target| fetch(&self.targets, target));
    }

    /// All pairs, in ascending order.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        (0..self.n_sources() as u32).flat_map(|source| self.row(source).iter().map(move |&target| (source, target)))
    }

    /// The same pairs turned round. O(n + m) time: sources come in ascending order, so that its rows need no sorting.
    pub fn inverse(&self, monitor: &dyn Monitor) -> Result<Self, Stopped> {
        let mut offsets = vec![0usize; self.n_targets + 1];
        self.targets.iter().for_each(|&target| offsets[target as usize + 1] += 1);
        for target in 0..self.n_targets {
            offsets[target + 1] += offsets[target];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; self.targets.len()];
        for source in 0..self.n_sources() as u32 {
            if source % (1 << 16) == 0 {
                monitor.check()?;
            }
            for &target in self.row(source) {
                targets[next[target as usize]] = source;
                next[target as usize] += 1;
            }
        }
        Ok(Self { offsets, targets, n_targets: self.n_sources() })
    }

    /// The same pairs with other numbers for the targets, those that have one; no two may have the same. O(n + m log d) time
    /// for a longest row d.
    ///
    /// # Panics
    /// If a number is not below `n_targets`.
    pub(super) fn renumbered(
        &self,
        n_targets: usize,
        number: impl Fn(u32) -> Option<u32> + Sync,
        monitor: &dyn Monitor,
    ) -> Result<Self, Stopped> {
        const BLOCK: usize = 1 << 14;
        let starts: Vec<usize> = (0..self.n_sources()).step_by(BLOCK).collect();
        let blocks = starts.into_par_iter().map(|start| {
            monitor.check()?;
            let end = self.n_sources().min(start + BLOCK);
            let mut lengths = Vec::with_capacity(end - start);
            let mut targets: Vec<u32> = Vec::with_capacity(self.offsets[end] - self.offsets[start]);
            for source in start..end {
                let before = targets.len();
                targets.extend(self.row(source as u32).iter().filter_map(|&target| number(target)));
                targets[before..].sort_unstable();
                assert!(targets[before..].last().is_none_or(|&last| (last as usize) < n_targets), "a target too large");
                lengths.push(targets.len() - before);
            }
            Ok((lengths, targets))
        });
        let blocks = blocks.collect::<Result<Vec<_>, Stopped>>()?;
        let mut offsets = Vec::with_capacity(self.offsets.len());
        offsets.push(0);
        let mut targets = Vec::with_capacity(blocks.iter().map(|(_, targets)| targets.len()).sum());
        for (lengths, block) in blocks {
            for length in lengths {
                offsets.push(offsets[offsets.len() - 1] + length);
            }
            targets.extend(block);
        }
        Ok(Self { offsets, targets, n_targets })
    }

    /// The pairs of both.
    ///
    /// # Panics
    /// If they are between sets of other sizes.
    pub fn union(&self, other: &Self, monitor: &dyn Monitor) -> Result<Self, Stopped> {
        assert_eq!((self.n_sources(), self.n_targets), (other.n_sources(), other.n_targets), "the same types");
        Self::from_pairs(self.n_sources(), self.n_targets, self.pairs().chain(other.pairs()), monitor)
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        8 * self.offsets.capacity() + 4 * self.targets.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    #[test]
    fn pairs_are_sorted_distinct_and_turn_round() {
        let pairs = [(1, 0), (0, 2), (1, 0), (1, 3), (0, 1), (0, 2), (0, 2)];
        let relation = Relation::from_pairs(3, 4, pairs.iter().copied(), &Unmonitored).unwrap();
        assert_eq!(relation.pairs().collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 0), (1, 3)]);
        assert_eq!((relation.row(1), relation.row(2)), (&[0, 3][..], &[][..]));
        let inverse = relation.inverse(&Unmonitored).unwrap();
        assert_eq!((inverse.n_sources(), inverse.n_targets(), inverse.n_pairs()), (4, 3, 4));
        assert_eq!(inverse.inverse(&Unmonitored).unwrap(), relation);
        let renumbered =
            relation.renumbered(9, |target| [Some(8), None, Some(3), Some(1)][target as usize], &Unmonitored);
        assert_eq!(renumbered.unwrap().pairs().collect::<Vec<_>>(), [(0, 3), (1, 1), (1, 8)]);
        let more = Relation::from_pairs(3, 4, [(2, 2), (0, 1)].into_iter(), &Unmonitored).unwrap();
        assert_eq!(relation.union(&more, &Unmonitored).unwrap().n_pairs(), 5);
    }
}
