//! Inverse distances as integers: sums of them do not depend on the order of their terms.

/// Fixed-point numbers count units of 2^-60, in 128 bits: no sum over nodes and edges that fit in memory overflows, and
/// a sum of n inverses is off by at most n 2^-61.
pub(super) const BITS: u32 = 60;

/// The inverses 1/t of the distances `1..=largest`; the entry at 0 is 0.
pub(super) fn inverses(largest: usize) -> Vec<u64> {
    let one = 1u64 << BITS;
    std::iter::once(0).chain((1..=largest as u64).map(|t| (one + t / 2) / t)).collect()
}

/// A fixed-point number as a float, rounded once.
pub(super) fn to_f64(sum: u128) -> f64 {
    sum as f64 / (1u64 << BITS) as f64
}
