//! The searches of a batch: where each starts, and sets of them, one bit for each of the 512 that run at once.

/// Where and when a search starts: it meets `node` at `level`, as if it came from a node that far behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Start {
    pub(super) level: u32,
    pub(super) node: u32,
}

/// The number of searches in a batch.
pub(super) const LANES: usize = 512;

const WORDS: usize = LANES / 64;

/// A set of lanes, one cache line wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Lanes(pub(super) [u64; WORDS]);

impl Lanes {
    pub(super) const EMPTY: Self = Self([0; WORDS]);

    /// The lanes `0..count`.
    pub(super) fn first(count: usize) -> Self {
        let mut lanes = Self::EMPTY;
        (0..count).for_each(|lane| lanes.insert(lane));
        lanes
    }

    pub(super) fn insert(&mut self, lane: usize) {
        self.0[lane / 64] |= 1 << (lane % 64);
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    pub(super) fn add(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    #[inline(always)]
    pub(super) fn or(&self, other: &Self) -> Self {
        let mut either = *self;
        either.add(other);
        either
    }

    #[inline(always)]
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut both = *self;
        for (word, other) in both.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
        both
    }

    #[inline(always)]
    pub(super) fn without(&self, other: &Self) -> Self {
        let mut rest = *self;
        for (word, other) in rest.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
        rest
    }

    #[inline(always)]
    pub(super) fn xor(&self, other: &Self) -> Self {
        let mut odd = *self;
        for (word, other) in odd.0.iter_mut().zip(&other.0) {
            *word ^= other;
        }
        odd
    }

    /// The number of lanes.
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Calls `f` with each lane, in ascending order.
    #[inline(always)]
    pub(super) fn for_each(&self, mut f: impl FnMut(usize)) {
        for (i, &word) in self.0.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                f(64 * i + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}
