//! Sorting by merging: in parallel, with an eye on who waits, and with a count of exchanges where that is the answer.

use std::cmp::Ordering;

use bonnet_graph::{Monitor, Stopped};
use rayon::prelude::*;

/// Values that one task sorts alone, or merges between two checks.
const RUN: usize = 1 << 14;

/// Sorts values, equal ones in any order. O(n log n) time, O(n) memory.
pub(crate) fn sort<T: Copy + Send + Sync>(
    values: &mut Vec<T>,
    compare: impl Fn(&T, &T) -> Ordering + Sync,
    monitor: &dyn Monitor,
) -> Result<(), Stopped> {
    values.par_chunks_mut(RUN).try_for_each(|run| {
        run.sort_unstable_by(&compare);
        monitor.check()
    })?;
    merge_runs(values, &compare, monitor).map(|_| ())
}

/// Sorts values and counts the pairs that stood in strictly falling order. O(n log n) time, O(n) memory.
pub(crate) fn sort_counting<T: Copy + Send + Sync>(
    values: &mut Vec<T>,
    compare: impl Fn(&T, &T) -> Ordering + Sync,
    monitor: &dyn Monitor,
) -> Result<u128, Stopped> {
    let within = values.par_chunks_mut(RUN).map(|run| {
        let mut spare = run.to_vec();
        let (mut width, mut count) = (1, 0);
        while width < run.len() {
            for (from, to) in run.chunks(2 * width).zip(spare.chunks_mut(2 * width)) {
                count += merge(from, to, width, &compare, monitor)?;
            }
            run.copy_from_slice(&spare);
            width *= 2;
        }
        monitor.check().map(|()| count)
    });
    let within = within.try_reduce(|| 0, |a, b| Ok(a + b))?;
    Ok(within + merge_runs(values, &compare, monitor)?)
}

/// Merges sorted runs of `RUN` values into one, and counts the exchanges.
fn merge_runs<T: Copy + Send + Sync>(
    values: &mut Vec<T>,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
    monitor: &dyn Monitor,
) -> Result<u128, Stopped> {
    if values.len() <= RUN {
        return Ok(0);
    }
    let mut spare = values.clone();
    let (mut width, mut count) = (RUN, 0);
    while width < values.len() {
        let pairs = values.par_chunks(2 * width).zip(spare.par_chunks_mut(2 * width));
        let counts = pairs.map(|(from, to)| merge(from, to, width, compare, monitor));
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
    compare: &impl Fn(&T, &T) -> Ordering,
    monitor: &dyn Monitor,
) -> Result<u128, Stopped> {
    let (left, right) = from.split_at(width.min(from.len()));
    let (mut i, mut j, mut count) = (0, 0, 0);
    for places in to.chunks_mut(RUN) {
        for place in places.iter_mut() {
            if j == right.len() || (i < left.len() && compare(&left[i], &right[j]).is_le()) {
                *place = left[i];
                i += 1;
            } else {
                *place = right[j];
                count += (left.len() - i) as u128;
                j += 1;
            }
        }
        if places.len() == RUN {
            monitor.check()?;
        }
    }
    Ok(count)
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
            sort(&mut sorted, u64::cmp, &Unmonitored).unwrap();
            sort_counting(&mut counted, u64::cmp, &Unmonitored).unwrap();
            assert!(sorted == expected && counted == expected, "{n}");
        }
    }

    #[test]
    fn exchanges_are_the_pairs_in_falling_order() {
        let list = values(3000);
        let falling =
            (0..list.len()).map(|j| list[..j].iter().filter(|value| **value > list[j]).count()).sum::<usize>();
        assert_eq!(sort_counting(&mut list.clone(), u64::cmp, &Unmonitored), Ok(falling as u128));
        // A reversed list of n: n (n - 1) / 2, over several runs.
        let n = 3 * RUN + 5;
        let mut reversed: Vec<usize> = (0..n).rev().collect();
        assert_eq!(sort_counting(&mut reversed, usize::cmp, &Unmonitored), Ok((n * (n - 1) / 2) as u128));
    }
}
