//! How much of a class of items has one label.

use std::collections::HashMap;

use crate::adjusted_rand_index::Contingency;

/// The purity of the classes `a` of a table with respect to the labels `b`: the share of items whose label is the most frequent one of
/// their class (Manning, Raghavan and Schuetze, Introduction to Information Retrieval, 2008, Eq. 16.1). It is the best accuracy of
/// anything that gives all items of a class one answer. At least one over the number of labels, at most 1; `None` without items.
pub fn purity(table: &Contingency) -> Option<f64> {
    let mut most: HashMap<u32, u64> = HashMap::new();
    let mut items = 0;
    for (class, _, count) in table.counts() {
        let most = most.entry(class).or_default();
        *most = (*most).max(count);
        items += count;
    }
    (items > 0).then(|| most.values().sum::<u64>() as f64 / items as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(u32, u32)]) -> Option<f64> {
        let mut table = Contingency::default();
        pairs.iter().for_each(|&(a, b)| table.add(a, b, 1));
        purity(&table)
    }

    #[test]
    fn the_textbook_example_gives_its_figure() {
        // Figure 16.4: clusters of 5 x and 1 o; 1 x, 4 o and 1 diamond; 2 x and 3 diamonds. (5 + 4 + 3) / 17.
        let clusters = [(0, 0, 5), (0, 1, 1), (1, 0, 1), (1, 1, 4), (1, 2, 1), (2, 0, 2), (2, 2, 3)];
        let mut table = Contingency::default();
        clusters.iter().for_each(|&(a, b, items)| table.add(a, b, items));
        assert_eq!(purity(&table), Some(12.0 / 17.0));
    }

    #[test]
    fn it_is_the_best_accuracy_of_one_answer_a_class() {
        let pairs = [(0, 0), (0, 1), (0, 1), (1, 2), (1, 0), (2, 0)];
        let mut best = 0;
        for answers in 0..27u32 {
            let answer = |class: u32| answers / 3u32.pow(class) % 3;
            best = best.max(pairs.iter().filter(|&&(class, label)| answer(class) == label).count());
        }
        assert_eq!(of(&pairs), Some(best as f64 / 6.0));
        assert_eq!(of(&[(4, 4)]), Some(1.0));
        assert_eq!(of(&[]), None);
    }
}
