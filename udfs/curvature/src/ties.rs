//! Values that differ by rounding alone are made equal.

/// Makes numbers equal that a chain of differences of at most `tolerance`, relative to their size, joins: each becomes the
/// median of its chain.
///
/// Values that are equal in exact arithmetic, as those of edges that a symmetry maps to each other, then are so to the last
/// bit if each is within half of `tolerance` of the truth; and no value moves farther than the chain is long. NaN stays.
/// O(m log m) time, O(m) where values are spread; 36 bytes a value.
pub(crate) fn merge(values: &mut [f64], tolerance: f64) {
    merge_near(values, tolerance, 0.0);
}

/// The same where the error of a value below `size` is that of one of this size.
pub(crate) fn merge_near(values: &mut [f64], tolerance: f64, size: f64) {
    let numbered = values.iter().copied().zip(0u32..);
    let sorted = sorted(numbered.filter(|(value, _)| value.is_finite()).collect());
    let mut start = 0;
    for end in 1..=sorted.len() {
        let last = sorted[end - 1].0;
        let goes_on = sorted.get(end).is_some_and(|&(next, _)| {
            let near = tolerance * last.abs().max(next.abs()).max(size);
            next - last <= near
        });
        if goes_on {
            continue;
        }
        let chain = &sorted[start..end];
        if chain[0].0.total_cmp(&last).is_ne() {
            let median = chain[chain.len() / 2].0;
            chain.iter().for_each(|&(_, i)| values[i as usize] = median);
        }
        start = end;
    }
}

/// Finite numbers in order, each with its position: as many places as numbers from the smallest to the largest, and those of one place
/// sorted.
fn sorted(mut values: Vec<(f64, u32)>) -> Vec<(f64, u32)> {
    const FEW: usize = 256;
    let (least, greatest) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), &(value, _)| {
        (least.min(value), greatest.max(value))
    });
    let scale = values.len() as f64 / (greatest - least);
    if values.len() < FEW || !scale.is_normal() {
        values.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        return values;
    }
    // Rounding keeps the order: a larger number is in no earlier place.
    let place = |value: f64| (((value - least) * scale) as usize).min(values.len() - 1);
    let mut ends = vec![0u32; values.len() + 1];
    values.iter().for_each(|&(value, _)| ends[place(value) + 1] += 1);
    for i in 1..ends.len() {
        ends[i] += ends[i - 1];
    }
    let mut placed = vec![(0.0, 0); values.len()];
    for &entry in &values {
        let next = &mut ends[place(entry.0)];
        placed[*next as usize] = entry;
        *next += 1;
    }
    let mut start = 0;
    for &end in &ends[..values.len()] {
        let of_place = &mut placed[start..end as usize];
        if of_place.len() > 1 {
            of_place.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        }
        start = end as usize;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_become_their_median_and_other_values_stay() {
        let e = f64::EPSILON;
        let mut values = [2.0, 1.0 + 2.0 * e, 1.0, f64::NAN, 1.0 + e, -1.0, 1.0 + 1e-9, f64::INFINITY, 0.0];
        merge(&mut values, 4.0 * e);
        assert_eq!(values[..3], [2.0, 1.0 + e, 1.0 + e]);
        assert!(values[3].is_nan());
        assert_eq!(values[4..], [1.0 + e, -1.0, 1.0 + 1e-9, f64::INFINITY, 0.0]);
    }

    #[test]
    fn numbers_are_sorted_however_they_are_spread() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for n in [0, 1, 255, 256, 5000] {
            let even: Vec<f64> = (0..n).map(|_| next() - 0.5).collect();
            let uneven: Vec<f64> = even.iter().map(|x| (40.0 * x).exp()).collect();
            let few: Vec<f64> = even.iter().map(|x| (4.0 * x).round()).collect();
            let signed: Vec<f64> = even.iter().map(|x| 0.0 * x).collect();
            let wide: Vec<f64> = even.iter().map(|x| x * f64::MAX * 2.0).collect();
            let close: Vec<f64> = even.iter().map(|x| 1.0 + x.signum() * f64::EPSILON).collect();
            for values in [even, uneven, few, signed, wide, close] {
                let mut expected = values.clone();
                expected.sort_unstable_by(f64::total_cmp);
                let found = sorted(values.iter().copied().zip(0..).collect());
                assert!(found.iter().all(|&(value, i)| value.to_bits() == values[i as usize].to_bits()));
                let bits = |value: &f64| value.to_bits();
                assert!(found.iter().map(|entry| bits(&entry.0)).eq(expected.iter().map(bits)), "{n} numbers");
            }
        }
    }

    #[test]
    fn numbers_of_either_sign_of_zero_and_empty_lists_are_no_trouble() {
        let mut values = [0.0, -0.0, 1.0, -3.0, -3.0 * (1.0 + f64::EPSILON)];
        merge(&mut values, 1e-14);
        assert_eq!(values[0].to_bits(), values[1].to_bits());
        assert_eq!(values[3].to_bits(), values[4].to_bits());
        merge(&mut [], 1e-14);
    }
}
