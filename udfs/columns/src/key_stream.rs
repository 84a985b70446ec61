//! Keys that come batch by batch: what says where they were, and their numbers at the end.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::Result;

use crate::keys::{KeyColumn, KeyIndex, check_count};

/// Integers from 0 to below this may be told apart by a bit each.
const BITS: i64 = 1 << 31;
/// The bytes of a word of 64 bits, with the number of keys before it.
const WORD: usize = 12;
/// The bytes that words may take in any case, and for each key: no more than a table of the keys.
const WORDS: (usize, usize) = (1 << 20, 32);

/// The distinct keys of columns that are read one after the other, without what was read.
///
/// A key has a *mark*: 32 bits which stand for it until its number is known. Where keys are integers from 0 to not much more than there
/// are, or up to some millions, the mark is the key, and it takes a bit; all others take about 30 bytes each.
#[derive(Debug, Default)]
pub struct KeyStream {
    seen: Vec<u64>,
    bits: usize,
    integers: HashMap<i64, u32>,
    texts: HashMap<Arc<str>, u32>,
    text_bytes: usize,
}

/// The node of each mark of a [`KeyStream`].
#[derive(Debug)]
pub struct KeyMarks {
    seen: Vec<u64>,
    /// The number of keys in the words before.
    before: Vec<u32>,
    /// The numbers of other keys.
    others: Vec<u32>,
}

impl KeyStream {
    /// The mark of every key of a column, `None` where there is none.
    ///
    /// # Errors
    /// If there are more keys than 32 bits can number.
    pub fn marks(&mut self, column: &KeyColumn) -> Result<Vec<Option<u32>>> {
        match column {
            KeyColumn::Integer(keys) => keys.iter().map(|key| key.map(|key| self.integer(key)).transpose()).collect(),
            KeyColumn::Text(keys) => keys.iter().map(|key| key.map(|key| self.text(key)).transpose()).collect(),
        }
    }

    /// The bytes that are held.
    pub fn bytes(&self) -> usize {
        8 * self.seen.len() + 24 * self.integers.capacity() + 48 * self.texts.capacity() + self.text_bytes
    }

    /// The bytes that [`KeyStream::finish`] takes beside these.
    pub fn finish_bytes(&self) -> usize {
        8 * self.bits + 4 * self.seen.len() + 100 * (self.integers.len() + self.texts.len())
    }

    fn integer(&mut self, key: i64) -> Result<u32> {
        let (word, bit) = ((key / 64) as usize, 1 << (key as u64 % 64));
        let has_bit = (0..BITS).contains(&key);
        if has_bit && self.seen.get(word).is_some_and(|seen| seen & bit != 0) {
            return Ok(key as u32);
        }
        if let Some(&mark) = self.integers.get(&key) {
            return Ok(mark);
        }
        if has_bit && WORD * word <= WORDS.0 + WORDS.1 * (self.bits + self.integers.len()) {
            if word >= self.seen.len() {
                self.seen.resize(word + 1, 0);
            }
            self.seen[word] |= bit;
            self.bits += 1;
            return Ok(key as u32);
        }
        let next = self.next_other()?;
        self.integers.insert(key, next);
        Ok(next)
    }

    fn text(&mut self, key: &str) -> Result<u32> {
        if let Some(&mark) = self.texts.get(key) {
            return Ok(mark);
        }
        let next = self.next_other()?;
        self.text_bytes += key.len();
        self.texts.insert(Arc::from(key), next);
        Ok(next)
    }

    fn next_other(&self) -> Result<u32> {
        let others = self.integers.len() + self.texts.len();
        check_count(if others < BITS as usize { others } else { usize::MAX })?;
        Ok(BITS as u32 + others as u32)
    }

    /// All keys in ascending order, and the number of each mark. O(n log n) for keys that have no bit.
    ///
    /// # Errors
    /// If there are more keys than 32 bits can number.
    pub fn finish(self) -> Result<(KeyIndex, KeyMarks)> {
        let mut others = vec![0; self.integers.len() + self.texts.len()];
        if !self.texts.is_empty() {
            let mut texts: Vec<(Arc<str>, u32)> = self.texts.into_iter().collect();
            texts.sort_unstable();
            texts.iter().zip(0..).for_each(|((_, mark), number)| others[(mark - BITS as u32) as usize] = number);
            let index = KeyIndex::of_sorted_texts(texts.into_iter().map(|(key, _)| key).collect())?;
            return Ok((index, KeyMarks { seen: Vec::new(), before: Vec::new(), others }));
        }
        let mut seen = self.seen;
        let mut integers: Vec<(i64, u32)> = self.integers.into_iter().collect();
        integers.sort_unstable();
        let count = integers.len() + self.bits;
        check_count(count)?;
        // Keys among those that have a bit get one, too.
        let all = 64 * seen.len() as i64;
        let (first, last) = (integers.partition_point(|it| it.0 < 0), integers.partition_point(|it| it.0 < all));
        let among = &integers[first..last];
        among.iter().for_each(|&(key, _)| seen[key as usize / 64] |= 1 << (key % 64));
        let mut keys: Vec<i64> = Vec::with_capacity(count);
        keys.extend(integers[..first].iter().map(|it| it.0));
        let mut before = Vec::with_capacity(seen.len());
        for (word, &bits) in (0i64..).zip(&seen) {
            before.push(keys.len() as u32);
            let mut left = bits;
            while left != 0 {
                keys.push(64 * word + i64::from(left.trailing_zeros()));
                left &= left - 1;
            }
        }
        let behind = keys.len();
        keys.extend(integers[last..].iter().map(|it| it.0));
        let mut marks = KeyMarks { seen, before, others };
        for (at, &(key, mark)) in integers.iter().enumerate() {
            let number = match () {
                () if at < first => at as u32,
                () if at < last => marks.number(key as u32),
                () => (behind + at - last) as u32,
            };
            marks.others[(mark - BITS as u32) as usize] = number;
        }
        Ok((KeyIndex::of_sorted_integers(keys)?, marks))
    }
}

impl KeyMarks {
    /// The number of the key of a mark.
    #[inline]
    pub fn number(&self, mark: u32) -> u32 {
        let word = mark as usize / 64;
        match mark.checked_sub(BITS as u32) {
            Some(other) => self.others[other as usize],
            None => self.before[word] + (self.seen[word] & ((1 << (mark % 64)) - 1)).count_ones(),
        }
    }

    /// The bytes that are held.
    pub fn bytes(&self) -> usize {
        8 * self.seen.len() + 4 * (self.before.len() + self.others.len())
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringArray};

    use super::*;

    /// The keys of columns with their numbers, as they come and as they are numbered at once.
    fn assert_numbers(columns: &[KeyColumn]) {
        let mut stream = KeyStream::default();
        let marks: Vec<_> = columns.iter().map(|column| stream.marks(column).unwrap()).collect();
        let (index, numbers) = stream.finish().unwrap();
        let all = KeyIndex::new(&columns.iter().map(|column| ("key", column)).collect::<Vec<_>>()).unwrap();
        assert_eq!(&index.array(), &all.array());
        for (column, marks) in columns.iter().zip(marks) {
            let found: Vec<Option<u32>> = marks.into_iter().map(|mark| mark.map(|mark| numbers.number(mark))).collect();
            assert_eq!(found, all.numbers(column));
            assert_eq!(found, index.numbers(column));
        }
    }

    #[test]
    fn integers_of_any_size_have_the_numbers_of_their_order() {
        let far = i64::from(u32::MAX) + 5;
        let a = Int64Array::from(vec![Some(3), None, Some(64), Some(-7), Some(far), Some(63), Some(3), Some(i64::MIN)]);
        let b = Int64Array::from(vec![Some(1000), Some(BITS), Some(BITS - 1), Some(i64::MAX), Some(-7), Some(0)]);
        assert_numbers(&[KeyColumn::Integer(a.clone()), KeyColumn::Integer(b)]);
        assert_numbers(&[KeyColumn::Integer(a)]);
    }

    /// Of a few keys far apart most have no bit, and get one when there are many keys.
    #[test]
    fn keys_far_apart_take_no_more_than_a_table_of_them() {
        let far: Vec<i64> = (0..2000).map(|i| (i * 7919 + 13) % 2000 * 1_000_003).collect();
        let near: Vec<i64> = (0..500_000).map(|i| i * 3).collect();
        let columns = [far.clone(), near, far].map(|keys| KeyColumn::Integer(Int64Array::from(keys)));
        let mut stream = KeyStream::default();
        stream.marks(&columns[0]).unwrap();
        assert!(stream.bytes() < WORDS.0 + 100 * 2000, "{}", stream.bytes());
        assert_numbers(&columns);
    }

    #[test]
    fn texts_have_the_numbers_of_their_order() {
        let texts = |texts: &[Option<&str>]| KeyColumn::Text(StringArray::from(texts.to_vec()));
        assert_numbers(&[texts(&[Some("b"), Some("a"), None, Some("")]), texts(&[Some("ä"), Some("b"), Some("B")])]);
    }

    #[test]
    fn no_keys_are_no_numbers() {
        assert_numbers(&[
            KeyColumn::Integer(Int64Array::from(vec![None, None])),
            KeyColumn::Integer(Int64Array::from(Vec::<i64>::new())),
        ]);
        assert_eq!(KeyStream::default().bytes(), 0);
    }
}
