//! Sorting by merging: in parallel, with an eye on who waits, and with a count of exchanges where that is the answer.

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

/// Values that one task sorts alone, or merges between two checks.
const RUN: usize = 1 << 14;

/// Values that are sorted by insertion before runs are merged.
const SHORT: usize = 8;

/// Sorts values by `less`, a strict order; those that it does not tell apart in any order. O(n log n) time, O(n) memory.
pub(crate) fn sort<T: Copy + Send + Sync>(
    values: &mut Vec<T>,
    less: impl Fn(&T, &T) -> bool + Sync,
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    values.par_chunks_mut(RUN).try_for_each(|run| {
        run.sort_unstable_by(|a, b| less(b, a).cmp(&less(a, b)));
        monitor.check()
    })?;
    merge_runs(values, &less, monitor).map(|_| ())
}

/// Sorts values and counts the pairs that stood in strictly falling order. O(n log n) time, O(n) memory.
pub(crate) fn sort_counting<T: Copy + Ord + Send + Sync>(
    values: &mut Vec<T>,
    monitor: &dyn Monitor,
) -> Result<u128, Stopped> {
    let less = |a: &T, b: &T| a < b;
    let within = values.par_chunks_mut(RUN).map(|run| {
        let mut count = run.chunks_mut(SHORT).map(insertion_sort).sum();
        let mut spare = run.to_vec();
        let mut width = SHORT;
        while width < run.len() {
            for (from, to) in run.chunks(2 * width).zip(spare.chunks_mut(2 * width)) {
                count += merge(from, to, width, &less, monitor)?;
            }
            run.copy_from_slice(&spare);
            width *= 2;
        }
        monitor.check().map(|()| count)
    });
    let within = within.try_reduce(|| 0, |a, b| Ok(a + b))?;
    Ok(within + merge_runs(values, &less, monitor)?)
}

/// Sorts few values, and counts the exchanges of neighbours that it takes.
fn insertion_sort<T: Copy + Ord>(values: &mut [T]) -> u128 {
    let mut count = 0;
    for i in 1..values.len() {
        let mut j = i;
        while j > 0 && values[j] < values[j - 1] {
            values.swap(j, j - 1);
            j -= 1;
        }
        count += i - j;
    }
    count as u128
}

/// Merges sorted runs of `RUN` values into one, and counts the exchanges.
fn merge_runs<T: Copy + Send + Sync>(
    values: &mut Vec<T>,
    less: &(impl Fn(&T, &T) -> bool + Sync),
    monitor: &dyn Monitor,
) -> Result<u128, Stopped> {
    if values.len() <= RUN {
        return Ok(0);
    }
    let mut spare = values.clone();
    let (mut width, mut count) = (RUN, 0);
    while width < values.len() {
        let pairs = values.par_chunks(2 * width).zip(spare.par_chunks_mut(2 * width));
        let counts = pairs.map(|(from, to)| merge(from, to, width, less, monitor));
        count += counts.try_reduce(|| 0, |a, b| Ok(a + b))?;
        std::mem::swap(values, &mut spare);
        width *= 2;
    }
    Ok(count)
}

/// Merges the first `width` values with the rest, and counts the pairs of the two that stood in falling order.
fn merge<T: Copy>(
    from: &[T],
    to: &mut [T],
    width: usize,
    less: &impl Fn(&T, &T) -> bool,
    monitor: &dyn Monitor,
) -> Result<u128, Stopped> {
    let (left, right) = from.split_at(width.min(from.len()));
    let (mut i, mut j, mut count) = (0, 0, 0u64);
    for places in to.chunks_mut(RUN) {
        let mut filled = 0;
        // Without a branch on the values: which of the two comes first cannot be predicted.
        while filled < places.len() && i < left.len() && j < right.len() {
            let from_right = less(&right[j], &left[i]);
            places[filled] = if from_right { right[j] } else { left[i] };
            count += if from_right { (left.len() - i) as u64 } else { 0 };
            i += usize::from(!from_right);
            j += usize::from(from_right);
            filled += 1;
        }
        // One of the two is used up, or there are no places left.
        let places = &mut places[filled..];
        if i == left.len() {
            places.copy_from_slice(&right[j..j + places.len()]);
            j += places.len();
        } else {
            places.copy_from_slice(&left[i..i + places.len()]);
            i += places.len();
        }
        if filled == RUN {
            monitor.check()?;
        }
    }
    Ok(count.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bonnet_graph::Unmonitored;

    /// A fixed shuffle with repeats.
    fn values(n: u64) -> Vec<u64> {
        (0..n).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40).collect()
    }

    #[test]
    fn values_of_any_number_are_sorted() {
        for n in [0, 1, 2, 3, RUN as u64 - 1, RUN as u64, RUN as u64 + 1, 100_003] {
            let (mut sorted, mut counted, mut expected) = (values(n), values(n), values(n));
            expected.sort_unstable();
            sort(&mut sorted, |a, b| a < b, &Unmonitored).unwrap();
            sort_counting(&mut counted, &Unmonitored).unwrap();
            assert!(sorted == expected && counted == expected, "{n}");
        }
    }

    #[test]
    fn exchanges_are_the_pairs_in_falling_order() {
        let list = values(3000);
        let falling =
            (0..list.len()).map(|j| list[..j].iter().filter(|value| **value > list[j]).count()).sum::<usize>();
        assert_eq!(sort_counting(&mut list.clone(), &Unmonitored), Ok(falling as u128));
        // A reversed list of n: n (n - 1) / 2, over several runs.
        let n = 3 * RUN + 5;
        let mut reversed: Vec<usize> = (0..n).rev().collect();
        assert_eq!(sort_counting(&mut reversed, &Unmonitored), Ok((n * (n - 1) / 2) as u128));
    }
}
