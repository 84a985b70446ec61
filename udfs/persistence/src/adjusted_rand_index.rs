//! The agreement of two clusterings of the same items.

use std::collections::HashMap;

/// The contingency table of two clusterings: how many items have which pair of clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contingency {
    counts: HashMap<(u32, u32), u64>,
}

impl Contingency {
    /// Counts items of cluster `a` in the first clustering and `b` in the second.
    pub fn add(&mut self, a: u32, b: u32, items: u64) {
        *self.counts.entry((a, b)).or_default() += items;
    }

    /// The cells that are not zero, in ascending order.
    pub fn counts(&self) -> Vec<(u32, u32, u64)> {
        let mut counts: Vec<_> = self.counts.iter().map(|(&(a, b), &count)| (a, b, count)).collect();
        counts.sort_unstable();
        counts
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        self.counts.capacity() * 24
    }
}

/// The adjusted Rand index of two clusterings (Hubert and Arabie, Comparing partitions, 1985, Eq. 5): 1 where they are the
/// same up to names, 0 in the mean over random clusterings of the same sizes, and less for worse. Where both have one
/// cluster only, or each item its own, they are the same: 1. `None` without items. Integers up to one division: the order
/// of the items does not matter.
pub fn adjusted_rand_index(table: &Contingency) -> Option<f64> {
    let pairs = |n: u64| i128::from(n) * (i128::from(n) - 1) / 2;
    let mut rows: HashMap<u32, u64> = HashMap::new();
    let mut columns: HashMap<u32, u64> = HashMap::new();
    let (mut items, mut both) = (0u64, 0i128);
    for (&(a, b), &count) in &table.counts {
        *rows.entry(a).or_default() += count;
        *columns.entry(b).or_default() += count;
        items += count;
        both += pairs(count);
    }
    if items == 0 {
        return None;
    }
    let all = pairs(items);
    let in_rows: i128 = rows.values().map(|&count| pairs(count)).sum();
    let in_columns: i128 = columns.values().map(|&count| pairs(count)).sum();
    // (both - expected) / ((in_rows + in_columns) / 2 - expected) with expected = in_rows * in_columns / all.
    if in_rows == in_columns && both == in_rows {
        return Some(1.0);
    }
    let expected = in_rows as f64 * in_columns as f64 / all as f64;
    Some((both as f64 - expected) / ((in_rows as f64 + in_columns as f64) / 2.0 - expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(a: &[u32], b: &[u32]) -> Option<f64> {
        let mut table = Contingency::default();
        a.iter().zip(b).for_each(|(&a, &b)| table.add(a, b, 1));
        adjusted_rand_index(&table)
    }

    #[test]
    fn values_are_those_of_scikit_learn() {
        // sklearn.metrics.adjusted_rand_score 1.9.1.
        let close = |a: &[u32], b: &[u32], expected: f64| {
            let found = index(a, b).unwrap();
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
            assert_eq!(index(b, a), Some(found));
        };
        close(&[0, 0, 1, 1], &[0, 0, 1, 2], 0.571_428_571_428_571_4);
        close(&[0, 0, 1, 1], &[0, 1, 0, 1], -0.5);
        close(&[0, 0, 0, 1, 1, 1, 2, 2, 2, 2], &[0, 0, 1, 1, 1, 2, 2, 2, 2, 0], SKLEARN_TEN);
        close(&[0, 0, 0, 0], &[0, 1, 2, 3], 0.0);
        close(&[0, 0, 0], &[0, 0, 1], 0.0);
    }

    const SKLEARN_TEN: f64 = 0.20454545454545456;

    #[test]
    fn the_same_clustering_under_other_names_gives_1() {
        assert_eq!(index(&[0, 0, 1, 2], &[7, 7, 3, 1]), Some(1.0));
        assert_eq!(index(&[5, 5], &[1, 1]), Some(1.0));
        assert_eq!(index(&[1, 2, 3], &[4, 5, 6]), Some(1.0));
        assert_eq!(index(&[1], &[9]), Some(1.0));
        assert_eq!(index(&[], &[]), None);
    }

    #[test]
    fn it_is_the_share_of_pairs_corrected_for_chance() {
        // The definition over pairs: the mean of the index over all assignments of one clustering's names is 0.
        let (a, mut mean, mut count) = ([0u32, 0, 0, 1, 1], 0.0, 0);
        let mut permute = vec![vec![]];
        for item in [0u32, 0, 1, 1, 2] {
            permute = permute
                .into_iter()
                .flat_map(|done: Vec<u32>| {
                    (0..=done.len()).map(move |at| {
                        let mut next = done.clone();
                        next.insert(at, item);
                        next
                    })
                })
                .collect();
        }
        for b in permute {
            mean += index(&a, &b).unwrap();
            count += 1;
        }
        assert!((mean / f64::from(count)).abs() < 1e-14 && count == 120, "{mean}");
    }
}
