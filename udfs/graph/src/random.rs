//! Distributions from random bits of any generator. The draws are part of what a seed means.

/// Uniform on `0..bound`, which is positive, without bias (Lemire 2019: multiply, and redraw in the short last interval).
pub fn below(bound: u64, mut bits: impl FnMut() -> u64) -> u64 {
    loop {
        let product = u128::from(bits()) * u128::from(bound);
        let low = product as u64;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

/// Puts the values in a uniformly random order (Fisher and Yates).
pub fn shuffle<T>(values: &mut [T], mut bits: impl FnMut() -> u64) {
    for i in (1..values.len()).rev() {
        values.swap(i, below(i as u64 + 1, &mut bits) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_in_the_short_last_interval_are_repeated() {
        // Of 2^64 values 2^64 mod 3 = 1 is too many for three equal shares: the one with the least product.
        let mut bits = [0, u64::MAX, 1 << 63].into_iter();
        assert_eq!(below(3, || bits.next().unwrap()), 2);
        assert_eq!(below(3, || bits.next().unwrap()), 1);
        assert_eq!(below(1, || 0), 0);
    }

    #[test]
    fn a_shuffle_swaps_from_the_end() {
        let mut values = [0, 1, 2, 3];
        shuffle(&mut values, || 1 << 62);
        // Positions 1 of 4, 0 of 3, 0 of 2.
        assert_eq!(values, [3, 2, 0, 1]);
    }
}
