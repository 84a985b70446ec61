//! Numbers mixed into 64 bits.

/// The finaliser of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014): a permutation of
/// the 64-bit numbers in which each bit depends on all.
pub(crate) fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A list of numbers as one.
pub(crate) fn mix_all(numbers: &[u64]) -> u64 {
    numbers.iter().fold(mix(numbers.len() as u64), |hash, &number| mix(hash.rotate_left(7) ^ mix(number)))
}
