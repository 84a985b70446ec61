//! Values that differ by rounding alone are made equal.

/// Makes numbers equal that a chain of differences of at most `tolerance`, relative to their size, joins: each becomes the
/// median of its chain.
///
/// Values that are equal in exact arithmetic, as those of edges that a symmetry maps to each other, then are so to the last
/// bit if each is within half of `tolerance` of the truth; and no value moves farther than the chain is long. NaN stays.
/// O(m log m) time, 8 bytes a value.
pub(crate) fn merge(values: &mut [f64], tolerance: f64) {
    merge_near(values, tolerance, 0.0);
}

/// The same where the error of a value below `size` is that of one of this size.
pub(crate) fn merge_near(values: &mut [f64], tolerance: f64, size: f64) {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    // The chains of more than one number: their smallest, their largest, their median.
    let mut chains: Vec<(f64, f64, f64)> = Vec::new();
    let mut start = 0;
    for end in 1..=sorted.len() {
        let goes_on = sorted.get(end).is_some_and(|next| {
            let last = sorted[end - 1];
            next - last <= tolerance * last.abs().max(next.abs()).max(size)
        });
        if goes_on {
            continue;
        }
        let (first, last) = (sorted[start], sorted[end - 1]);
        if first.total_cmp(&last).is_ne() {
            chains.push((first, last, sorted[start + (end - start) / 2]));
        }
        start = end;
    }
    if chains.is_empty() {
        return;
    }
    for value in values.iter_mut().filter(|value| value.is_finite()) {
        let at = chains.partition_point(|chain| chain.1.total_cmp(value).is_lt());
        if let Some(&(first, _, median)) = chains.get(at)
            && first.total_cmp(value).is_le()
        {
            *value = median;
        }
    }
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
    fn numbers_of_either_sign_of_zero_and_empty_lists_are_no_trouble() {
        let mut values = [0.0, -0.0, 1.0, -3.0, -3.0 * (1.0 + f64::EPSILON)];
        merge(&mut values, 1e-14);
        assert_eq!(values[0].to_bits(), values[1].to_bits());
        assert_eq!(values[3].to_bits(), values[4].to_bits());
        merge(&mut [], 1e-14);
    }
}
