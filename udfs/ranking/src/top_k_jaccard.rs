//! The overlap of two sets of leaders.

/// The numbers of items among the first k by both of two rankings, and by either.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TopSets {
    /// Items that both rankings put among the first k.
    pub both: u64,
    /// Items that at least one ranking puts among the first k.
    pub either: u64,
}

impl TopSets {
    /// Counts an item by its ranks from 1. An item is among the first k where its rank is at most k: with average
    /// ranks, items that tie across the border are outside.
    pub fn add(&mut self, rank_a: f64, rank_b: f64, k: f64) {
        self.both += u64::from(rank_a <= k && rank_b <= k);
        self.either += u64::from(rank_a <= k || rank_b <= k);
    }

    /// Adds the counts of other items.
    pub fn merge(&mut self, other: Self) {
        self.both += other.both;
        self.either += other.either;
    }

    /// The Jaccard index of the two sets, in [0, 1]; `None` where both are empty. (Jaccard 1901; CurvBench, Eq. 18.)
    pub fn jaccard(self) -> Option<f64> {
        (self.either > 0).then(|| self.both as f64 / self.either as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(f64, f64)], k: f64) -> Option<f64> {
        let mut sets = TopSets::default();
        rows.iter().for_each(|&(a, b)| sets.add(a, b, k));
        sets.jaccard()
    }

    #[test]
    fn it_is_the_share_of_common_leaders() {
        // {a, b, c} against {a, b, d}: 2 of 4.
        assert_eq!(of(&[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0)], 3.0), Some(0.5));
        assert_eq!(of(&[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0)], 1.0), Some(0.0));
    }

    #[test]
    fn a_tie_across_the_border_is_outside() {
        assert_eq!(of(&[(1.0, 1.0), (2.5, 2.0), (2.5, 3.0)], 2.0), Some(0.5));
        assert_eq!(of(&[(2.0, 2.0), (2.0, 2.0), (2.0, 2.0)], 1.0), None);
    }

    #[test]
    fn parts_add_up() {
        let (mut a, mut b) = (TopSets::default(), TopSets::default());
        a.add(1.0, 1.0, 1.0);
        b.add(2.0, 1.0, 1.0);
        a.merge(b);
        assert_eq!(a, TopSets { both: 1, either: 2 });
    }
}
