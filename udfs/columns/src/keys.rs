//! Node keys: any integer or text column, numbered `0..n` in key order.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanBufferBuilder, Int64Array, StringArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result};

use crate::columns::rows_of;

/// A key column in its normal form: integers as BIGINT, everything else as text.
#[derive(Debug, Clone)]
pub enum KeyColumn {
    /// Integer keys.
    Integer(Int64Array),
    /// Text keys.
    Text(StringArray),
}

/// A key of a column. Those of one column have one form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    /// An integer.
    Integer(i64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Key<'_> {
    /// The key without its column.
    pub fn into_owned(self) -> Key<'static> {
        match self {
            Self::Integer(key) => Key::Integer(key),
            Self::Text(key) => Key::Text(Cow::Owned(key.into_owned())),
        }
    }
}

impl KeyColumn {
    /// Brings a column to its normal form. `what` names the column in errors.
    pub fn new(column: &ArrayRef, what: &str) -> Result<Self> {
        let target = match Self::normal_type(column.data_type()) {
            Some(target) => target,
            None => {
                let given = column.data_type();
                return Err(DataFusionError::Plan(format!("{what} is {given}: node keys are integers or text")));
            }
        };
        let strict = CastOptions { safe: false, ..Default::default() };
        let cast = cast_with_options(column, &target, &strict)
            .map_err(|error| DataFusionError::Execution(format!("{what}: a key does not fit BIGINT ({error})")))?;
        Ok(match target {
            DataType::Int64 => Self::Integer(cast.as_primitive::<Int64Type>().clone()),
            _ => Self::Text(cast.as_string::<i32>().clone()),
        })
    }

    /// The normal form of a key type: BIGINT or text; `None` for a type that is no key.
    pub fn normal_type(data_type: &DataType) -> Option<DataType> {
        match data_type {
            DataType::Dictionary(_, values) => Self::normal_type(values),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(DataType::Utf8),
            // A column of NULLs has no keys: any form will do.
            DataType::Null => Some(DataType::Int64),
            // The type of integers of several types combined, such as row_number() OVER () - 1.
            DataType::Decimal128(_, 0) | DataType::Decimal256(_, 0) => Some(DataType::Int64),
            other if other.is_integer() => Some(DataType::Int64),
            _ => None,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Integer(keys) => keys.len(),
            Self::Text(keys) => keys.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some rows of the column, without copying.
    pub fn slice(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Integer(keys) => Self::Integer(keys.slice(rows.start, rows.len())),
            Self::Text(keys) => Self::Text(keys.slice(rows.start, rows.len())),
        }
    }

    /// The type of the normal form.
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Integer(_) => DataType::Int64,
            Self::Text(_) => DataType::Utf8,
        }
    }

    /// Some rows of the column, in ascending order of the rows; not copied where they follow one another.
    ///
    /// # Errors
    /// Those of Arrow.
    pub fn rows(&self, rows: &[u32]) -> Result<Self> {
        Ok(match self {
            Self::Integer(keys) => Self::Integer(rows_of(keys, rows)?.as_primitive().clone()),
            Self::Text(keys) => Self::Text(rows_of(keys, rows)?.as_string().clone()),
        })
    }

    /// The key of a row, which has one, as a user would type it.
    pub fn describe(&self, row: usize) -> String {
        match self {
            Self::Integer(keys) => keys.value(row).to_string(),
            Self::Text(keys) => format!("'{}'", keys.value(row)),
        }
    }

    /// The key of a row, if it has one.
    pub fn get(&self, row: usize) -> Option<Key<'_>> {
        self.is_valid(row).then(|| match self {
            Self::Integer(keys) => Key::Integer(keys.value(row)),
            Self::Text(keys) => Key::Text(Cow::Borrowed(keys.value(row))),
        })
    }

    /// The number of rows at the start of a sorted column, NULLs first, that are NULL or fulfil a condition that none behind
    /// them does.
    pub fn partition_point(&self, condition: impl Fn(Key<'_>) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).is_none_or(&condition) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Whether a row has a key.
    pub fn is_valid(&self, row: usize) -> bool {
        match self {
            Self::Integer(keys) => keys.is_valid(row),
            Self::Text(keys) => keys.is_valid(row),
        }
    }

    fn only_nulls(&self) -> bool {
        match self {
            Self::Integer(keys) => keys.null_count() == keys.len(),
            Self::Text(keys) => keys.null_count() == keys.len(),
        }
    }
}

/// The distinct keys of some columns in ascending order, and the way back from a key to its number.
#[derive(Debug)]
pub enum KeyIndex {
    /// Integer keys; `dense` maps `key - first` to a number where the range is small.
    Integer {
        /// The keys in ascending order.
        keys: Vec<i64>,
        /// Number + 1 of each value of the range, 0 for none; empty where the range is large.
        dense: Vec<u32>,
    },
    /// Text keys in the order of their bytes.
    Text {
        /// The keys in ascending order.
        keys: Vec<Arc<str>>,
        /// The number of each key.
        numbers: HashMap<Arc<str>, u32>,
    },
}

impl KeyIndex {
    /// Numbers the keys of several columns; NULLs are no keys. Each column comes with its name for errors.
    ///
    /// # Errors
    /// If integers meet text, or if there are more keys than 32 bits can number.
    pub fn new(columns: &[(&str, &KeyColumn)]) -> Result<Self> {
        let mut integers: Vec<(&str, &Int64Array)> = Vec::new();
        let mut texts: Vec<(&str, &StringArray)> = Vec::new();
        for (name, column) in columns {
            match column {
                // NULLs agree with either form.
                column if column.only_nulls() => {}
                KeyColumn::Integer(keys) => integers.push((name, keys)),
                KeyColumn::Text(keys) => texts.push((name, keys)),
            }
        }
        if let (Some((integer, _)), Some((text, _))) = (integers.first(), texts.first()) {
            return Err(DataFusionError::Plan(format!(
                "{integer} holds integers and {text} holds text: cast one of them, e.g. CAST({integer} AS TEXT)"
            )));
        }
        let index = if texts.is_empty() && columns.iter().all(|(_, column)| matches!(column, KeyColumn::Integer(_))) {
            Self::of_integers(&integers.iter().map(|(_, keys)| *keys).collect::<Vec<_>>())
        } else {
            Self::of_texts(texts.iter().flat_map(|(_, keys)| keys.iter().flatten()))
        };
        check_count(index.len())?;
        Ok(index)
    }

    /// The index of distinct integers in ascending order.
    pub(crate) fn of_sorted_integers(keys: Vec<i64>) -> Result<Self> {
        check_count(keys.len())?;
        Ok(Self::Integer { keys, dense: Vec::new() })
    }

    /// The index of distinct texts in ascending order.
    pub(crate) fn of_sorted_texts(keys: Vec<Arc<str>>) -> Result<Self> {
        check_count(keys.len())?;
        let numbers = keys.iter().cloned().zip(0..).collect();
        Ok(Self::Text { keys, numbers })
    }

    fn of_integers(columns: &[&Int64Array]) -> Self {
        let (mut least, mut greatest, mut count) = (i64::MAX, i64::MIN, 0usize);
        for_each(columns, |value| {
            least = least.min(value);
            greatest = greatest.max(value);
            count += 1;
        });
        if count == 0 {
            return Self::Integer { keys: Vec::new(), dense: Vec::new() };
        }
        // A direct table pays while it is not much larger than the columns themselves.
        let range = greatest.abs_diff(least);
        if range < (4 * count as u64 + 1024).min(u64::from(u32::MAX) - 1) {
            let mut dense = vec![0u32; range as usize + 1];
            for_each(columns, |value| dense[value.abs_diff(least) as usize] = 1);
            let mut keys = Vec::with_capacity(count.min(dense.len()));
            for (offset, number) in dense.iter_mut().enumerate().filter(|(_, seen)| **seen == 1) {
                keys.push(least + offset as i64);
                *number = keys.len() as u32;
            }
            return Self::Integer { keys, dense };
        }
        let mut keys: Vec<i64> = Vec::with_capacity(count);
        for_each(columns, |value| keys.push(value));
        keys.sort_unstable();
        keys.dedup();
        Self::Integer { keys, dense: Vec::new() }
    }

    fn of_texts<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let mut distinct: Vec<&str> = values.collect::<std::collections::HashSet<_>>().into_iter().collect();
        distinct.sort_unstable();
        let keys: Vec<Arc<str>> = distinct.into_iter().map(Arc::from).collect();
        let numbers = keys.iter().cloned().zip(0..).collect();
        Self::Text { keys, numbers }
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        match self {
            Self::Integer { keys, .. } => keys.len(),
            Self::Text { keys, .. } => keys.len(),
        }
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of each row's key; `None` for NULL and for a key that is not in the index.
    pub fn numbers(&self, column: &KeyColumn) -> Vec<Option<u32>> {
        match (self, column) {
            (Self::Integer { keys, dense }, KeyColumn::Integer(column)) => match column.null_count() {
                0 => column.values().iter().map(|&key| integer_number(keys, dense, key)).collect(),
                _ => column.iter().map(|key| integer_number(keys, dense, key?)).collect(),
            },
            (Self::Text { numbers, .. }, KeyColumn::Text(column)) => {
                column.iter().map(|key| numbers.get(key?).copied()).collect()
            }
            // Only a column of NULLs can have the other form.
            _ => vec![None; column.len()],
        }
    }

    /// The numbers of both keys of each row that has them, in the order of the rows, and which rows have them; `None`
    /// where all have.
    pub fn arcs(&self, src: &KeyColumn, dst: &KeyColumn) -> (Vec<(u32, u32)>, Option<BooleanBuffer>) {
        match (self, src, dst) {
            (Self::Integer { keys, dense }, KeyColumn::Integer(src), KeyColumn::Integer(dst))
                if src.null_count() + dst.null_count() == 0 =>
            {
                let number = |key| integer_number(keys, dense, key);
                let rows = src.values().iter().zip(dst.values());
                complete(rows.map(|(&src, &dst)| Some((number(src)?, number(dst)?))))
            }
            _ => {
                let rows = self.numbers(src).into_iter().zip(self.numbers(dst));
                complete(rows.map(|(src, dst)| Some((src?, dst?))))
            }
        }
    }

    /// The first row with a key that is not in the index.
    pub fn first_unknown(&self, column: &KeyColumn) -> Option<usize> {
        let mut numbers = self.numbers(column).into_iter().enumerate();
        numbers.find(|(row, number)| number.is_none() && column.is_valid(*row)).map(|(row, _)| row)
    }

    /// The keys as a column in key order: BIGINT or text.
    pub fn array(&self) -> ArrayRef {
        match self {
            Self::Integer { keys, .. } => Arc::new(Int64Array::from(keys.clone())),
            Self::Text { keys, .. } => Arc::new(keys.iter().map(|key| Some(key.as_ref())).collect::<StringArray>()),
        }
    }

    /// A key as a user would type it.
    pub fn describe(&self, number: u32) -> String {
        match self {
            Self::Integer { keys, .. } => keys[number as usize].to_string(),
            Self::Text { keys, .. } => format!("'{}'", keys[number as usize]),
        }
    }

    /// The first key that a row has which a row before it has, too, as a user would type it; of rows with these numbers.
    pub fn repeated(&self, numbers: &[Option<u32>]) -> Option<String> {
        let mut seen = vec![false; self.len()];
        let again = numbers.iter().flatten().find(|&&number| std::mem::replace(&mut seen[number as usize], true));
        again.map(|&number| self.describe(number))
    }

    /// The bytes that the index holds.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Integer { keys, dense } => 8 * keys.len() + 4 * dense.len(),
            Self::Text { keys, .. } => keys.iter().map(|key| key.len() + 64).sum(),
        }
    }
}

/// Fails if there are more keys than 32 bits can number.
pub(crate) fn check_count(keys: usize) -> Result<()> {
    match keys >= u32::MAX as usize {
        true => Err(DataFusionError::Execution(format!("{keys} nodes: a graph has at most {} nodes", u32::MAX - 1))),
        false => Ok(()),
    }
}

/// The rows that are there, and which these are; `None` for all.
fn complete(rows: impl ExactSizeIterator<Item = Option<(u32, u32)>>) -> (Vec<(u32, u32)>, Option<BooleanBuffer>) {
    let n = rows.len();
    let mut arcs = Vec::with_capacity(n);
    let mut absent = Vec::new();
    for (i, row) in rows.enumerate() {
        match row {
            Some(arc) => arcs.push(arc),
            None => absent.push(i),
        }
    }
    if absent.is_empty() {
        return (arcs, None);
    }
    let mut present = BooleanBufferBuilder::new(n);
    present.append_n(n, true);
    absent.into_iter().for_each(|row| present.set_bit(row, false));
    (arcs, Some(present.finish()))
}

/// Every value that is not NULL.
fn for_each(columns: &[&Int64Array], mut visit: impl FnMut(i64)) {
    for column in columns {
        match column.null_count() {
            0 => column.values().iter().for_each(|&value| visit(value)),
            _ => column.iter().flatten().for_each(&mut visit),
        }
    }
}

fn integer_number(keys: &[i64], dense: &[u32], key: i64) -> Option<u32> {
    let first = *keys.first()?;
    if dense.is_empty() {
        return keys.binary_search(&key).ok().map(|number| number as u32);
    }
    let offset = usize::try_from(key.checked_sub(first)?).ok()?;
    dense.get(offset).copied().filter(|&number| number != 0).map(|number| number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, DictionaryArray, LargeStringArray, UInt16Array, UInt64Array};
    use arrow::datatypes::Int32Type;

    fn column(array: impl Array + 'static) -> KeyColumn {
        KeyColumn::new(&(Arc::new(array) as ArrayRef), "src").unwrap()
    }

    #[test]
    fn integers_of_any_width_are_numbered_in_key_order() {
        let a = column(UInt16Array::from(vec![Some(7), None, Some(3)]));
        let b = column(Int64Array::from(vec![-2, 7]));
        let index = KeyIndex::new(&[("src", &a), ("dst", &b)]).unwrap();
        assert_eq!(index.array().as_primitive::<Int64Type>().values(), &[-2, 3, 7]);
        assert_eq!(index.numbers(&a), [Some(2), None, Some(1)]);
        assert_eq!(index.numbers(&column(Int64Array::from(vec![4, 100, i64::MIN]))), [None; 3]);
    }

    #[test]
    fn whole_decimals_are_integers_while_they_fit() {
        let decimals = |values: Vec<i128>, scale| {
            Arc::new(Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap()) as ArrayRef
        };
        let keys = KeyColumn::new(&decimals(vec![-2, 7], 0), "node").unwrap();
        assert_eq!((keys.describe(0), keys.describe(1)), ("-2".to_owned(), "7".to_owned()));
        let large = KeyColumn::new(&decimals(vec![1 << 63], 0), "node").unwrap_err();
        assert!(large.to_string().contains("node: a key does not fit BIGINT"), "{large}");
        assert!(KeyColumn::new(&decimals(vec![5], 1), "node").is_err());
    }

    #[test]
    fn keys_far_apart_need_no_table() {
        let a = column(Int64Array::from(vec![i64::MIN, 0, i64::MAX]));
        let index = KeyIndex::new(&[("src", &a)]).unwrap();
        assert_eq!(index.numbers(&a), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn arcs_are_the_numbers_of_both_columns() {
        let (a, b) = (column(Int64Array::from(vec![3, 9, 3])), column(Int64Array::from(vec![9, 9, 5])));
        let index = KeyIndex::new(&[("src", &a), ("dst", &b)]).unwrap();
        assert_eq!(index.arcs(&a, &b), (vec![(0, 2), (2, 2), (0, 1)], None));
        let nulls = column(Int64Array::from(vec![Some(9), None, Some(4)]));
        let first = BooleanBuffer::from(vec![true, false, false]);
        assert_eq!(index.arcs(&a, &nulls), (vec![(0, 2)], Some(first)));
        assert_eq!(index.first_unknown(&nulls), Some(2));
        assert_eq!(index.arcs(&a.slice(1..2), &b.slice(1..2)), (vec![(2, 2)], None));
    }

    #[test]
    fn text_of_any_kind_is_numbered_in_byte_order() {
        let a = column(LargeStringArray::from(vec!["b", "a"]));
        let b = column(vec![Some("c"), None, Some("a")].into_iter().collect::<DictionaryArray<Int32Type>>());
        let index = KeyIndex::new(&[("src", &a), ("dst", &b)]).unwrap();
        assert_eq!(index.numbers(&b), [Some(2), None, Some(0)]);
        assert_eq!(index.describe(1), "'b'");
    }

    #[test]
    fn integers_against_text_name_both_columns() {
        let (a, b) = (column(Int64Array::from(vec![1])), column(StringArray::from(vec!["x"])));
        let error = KeyIndex::new(&[("src", &a), ("dst", &b)]).unwrap_err();
        assert!(error.to_string().contains("src holds integers and dst holds text"), "{error}");
    }

    #[test]
    fn a_column_of_nulls_agrees_with_text() {
        let nulls = column(arrow::array::NullArray::new(2));
        let text = column(StringArray::from(vec!["x", "y"]));
        let index = KeyIndex::new(&[("src", &nulls), ("dst", &text)]).unwrap();
        assert_eq!(index.numbers(&nulls), [None, None]);
        assert_eq!(index.len(), 2);
    }

    #[test]
    fn a_key_that_does_not_fit_is_an_error_and_so_is_a_float() {
        let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert!(KeyColumn::new(&large, "src").unwrap_err().to_string().contains("does not fit BIGINT"));
        let float: ArrayRef = Arc::new(arrow::array::Float64Array::from(vec![1.0]));
        assert!(KeyColumn::new(&float, "src").unwrap_err().to_string().contains("integers or text"));
    }
}
