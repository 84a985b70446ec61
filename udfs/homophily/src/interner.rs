//! Numbers for keys.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use crate::hashing::BuildFoldedMultiply;

/// Numbers keys (`i64`, `String`) from 0 in the order in which they are first seen. O(1) a key; each distinct key is held
/// twice.
///
/// To merge counts that were made under two interners, number the keys of the second by the first:
///
/// ```
/// # use bonnet_homophily::{Interner, LabelPairs, TooManyKeys};
/// let (mut labels, mut pairs) = (Interner::<String>::default(), LabelPairs::default());
/// pairs.add(labels.intern("cat")?, labels.intern("dog")?, 1);
/// let (mut others, mut other_pairs) = (Interner::<String>::default(), LabelPairs::default());
/// other_pairs.add(others.intern("dog")?, others.intern("cat")?, 1);
///
/// let renumbered = others.keys().iter().map(|key| labels.intern(key)).collect::<Result<Vec<u32>, _>>()?;
/// for (a, b, count) in other_pairs.counts() {
///     pairs.add(renumbered[a as usize], renumbered[b as usize], count);
/// }
/// assert_eq!(pairs.counts(), [(0, 1, 1), (1, 0, 1)]);
/// # Ok::<(), TooManyKeys>(())
/// ```
#[derive(Debug, Clone)]
pub struct Interner<K> {
    numbers: HashMap<K, u32, BuildFoldedMultiply>,
    keys: Vec<K>,
}

/// There are more distinct keys than numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there are more than 4,294,967,295 distinct keys")]
pub struct TooManyKeys;

impl<K> Default for Interner<K> {
    fn default() -> Self {
        Self { numbers: HashMap::default(), keys: Vec::new() }
    }
}

impl<K: Hash + Eq + Clone> Interner<K> {
    /// The number of `key`, a new one if it was not seen before.
    ///
    /// # Errors
    /// At the 4,294,967,296th distinct key.
    pub fn intern<Q>(&mut self, key: &Q) -> Result<u32, TooManyKeys>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(&number) = self.numbers.get(key) {
            return Ok(number);
        }
        let number = u32::try_from(self.keys.len()).map_err(|_| TooManyKeys)?;
        let key = key.to_owned();
        self.keys.push(key.clone());
        self.numbers.insert(key, number);
        Ok(number)
    }

    /// The keys; the one at `i` has the number `i`.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// About the bytes that the table holds, without what the keys point to.
    pub fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<K>() + self.numbers.capacity() * (size_of::<(K, u32)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_as_first_seen() {
        let mut text = Interner::<String>::default();
        assert_eq!(["b", "a", "b", "", "a"].map(|key| text.intern(key).unwrap()), [0, 1, 0, 2, 1]);
        assert_eq!(text.keys(), ["b", "a", ""]);
        let mut integers = Interner::<i64>::default();
        assert_eq!([7, -1, i64::MIN, 7].map(|key| integers.intern(&key).unwrap()), [0, 1, 2, 0]);
        assert_eq!(integers.keys(), [7, -1, i64::MIN]);
    }

    #[test]
    fn a_million_keys_stay_apart() {
        let mut interner = Interner::<i64>::default();
        for key in 0..1_000_000 {
            assert_eq!(interner.intern(&(key << 20)), Ok(key as u32));
        }
        let mut interner = Interner::<String>::default();
        for key in 0..200_000u32 {
            assert_eq!(interner.intern(format!("node {key}").as_str()), Ok(key));
        }
    }
}
