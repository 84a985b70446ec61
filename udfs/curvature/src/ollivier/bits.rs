//! Sets of small numbers as words of bits.

/// The number of words that hold `bits` bits.
pub(super) fn words(bits: usize) -> usize {
    bits.div_ceil(64)
}

pub(super) fn insert(set: &mut [u64], bit: usize) {
    set[bit / 64] |= 1 << (bit % 64);
}

pub(super) fn remove(set: &mut [u64], bit: usize) {
    set[bit / 64] &= !(1 << (bit % 64));
}

pub(super) fn contains(set: &[u64], bit: usize) -> bool {
    set[bit / 64] >> (bit % 64) & 1 == 1
}

pub(super) fn union(into: &mut [u64], other: &[u64]) {
    for (a, b) in into.iter_mut().zip(other) {
        *a |= b;
    }
}

pub(super) fn len(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// The smallest number in both sets.
pub(super) fn first_common(a: &[u64], b: &[u64]) -> Option<usize> {
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let both = a & b;
        if both != 0 {
            return Some(64 * i + both.trailing_zeros() as usize);
        }
    }
    None
}

/// The numbers in a set, ascending.
pub(super) fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(i, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(64 * i + bit)
        })
    })
}

/// The set of the numbers below `bits`.
pub(super) fn fill(set: &mut [u64], bits: usize) {
    for (i, word) in set.iter_mut().enumerate() {
        *word = match bits.saturating_sub(64 * i) {
            0 => 0,
            left if left < 64 => (1 << left) - 1,
            _ => u64::MAX,
        };
    }
}
