//! A word that stands for the empty text.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, LargeStringArray, RecordBatch, StringArray, StringViewArray};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

/// Letters of a mark: the first list that has no sign of the file's syntax is taken.
const LETTERS: [&[u8; 16]; 3] = [b"ghijklmnopqrstuv", b"GHIJKLMNOPQRSTUV", b"0123456789abcdef"];

/// A word of 32 letters drawn at random: that a file holds it by chance, or by intent, need not be feared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark(String);

impl Mark {
    /// A mark without these signs; `None` if there is none.
    pub(super) fn without(signs: &[u8]) -> Option<Self> {
        let letters = LETTERS.iter().find(|letters| !letters.iter().any(|letter| signs.contains(letter)))?;
        let random = || RandomState::new().hash_one(0);
        let bits = u128::from(random()) << 64 | u128::from(random());
        Some(Self((0..32).map(|i| char::from(letters[(bits >> (4 * i) & 15) as usize])).collect()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The texts of a column, each changed. Columns of other types stay.
    pub(super) fn texts<'a>(
        column: &'a ArrayRef,
        change: impl Fn(Option<&'a str>) -> Option<&'a str>,
    ) -> Option<ArrayRef> {
        Some(match column.data_type() {
            DataType::Utf8 => Arc::new(column.as_string::<i32>().iter().map(change).collect::<StringArray>()),
            DataType::LargeUtf8 => Arc::new(column.as_string::<i64>().iter().map(change).collect::<LargeStringArray>()),
            DataType::Utf8View => Arc::new(column.as_string_view().iter().map(change).collect::<StringViewArray>()),
            _ => return None,
        })
    }

    /// The batch with empty texts where the mark stood.
    pub(super) fn removed(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let empty = |text| if text == Some(self.as_str()) { Some("") } else { text };
        let columns = batch.columns().iter().map(|column| Self::texts(column, empty).unwrap_or_else(|| column.clone()));
        RecordBatch::try_new(batch.schema(), columns.collect())
    }
}

/// Whether a column has texts that a [`Mark`] may stand among.
pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_has_no_sign_of_the_syntax() {
        assert_ne!(Mark::without(b","), Mark::without(b","));
        let mark = Mark::without(b"g,\"T").unwrap();
        assert!(mark.as_str().len() == 32 && mark.as_str().bytes().all(|sign| LETTERS[2].contains(&sign)));
        assert_eq!(Mark::without(b"gG0"), None);
    }
}
