//! Values numbered in the order in which they come.

use std::collections::HashMap;
use std::hash::Hash;

/// Values below `most`, numbered from 0 as they come.
pub(super) fn numbered_below(most: usize, values: &[u32]) -> Vec<u32> {
    let mut numbers = vec![u32::MAX; most];
    let mut next = 0;
    let mut number = |value: &u32| {
        let number = &mut numbers[*value as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
        *number
    };
    values.iter().map(&mut number).collect()
}

/// Values numbered from 0 as they come.
pub(super) fn numbered<T: Hash + Eq>(values: impl Iterator<Item = T>) -> Vec<u32> {
    let mut numbers = HashMap::new();
    let number = |value| {
        let next = numbers.len() as u32;
        *numbers.entry(value).or_insert(next)
    };
    values.map(number).collect()
}
