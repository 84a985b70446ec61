//! A word that distinguishes a string in quotes from NULL.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, LargeStringArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

/// Letters of a mark: the first list that has no byte of the file's syntax is taken.
const LETTERS: [&[u8; 16]; 3] = [b"ghijklmnopqrstuv", b"GHIJKLMNOPQRSTUV", b"0123456789abcdef"];

/// A word of 32 letters drawn at random: that a file holds it by chance, or by intent, need not be feared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark(String);

impl Mark {
    /// A mark without these bytes; `None` if there is none.
    pub(super) fn without(bytes: &[u8]) -> Option<Self> {
        let letters = LETTERS.iter().find(|letters| !letters.iter().any(|letter| bytes.contains(letter)))?;
        let random = || RandomState::new().hash_one(0);
        let bits = u128::from(random()) << 64 | u128::from(random());
        Some(Self((0..32).map(|i| char::from(letters[(bits >> (4 * i) & 15) as usize])).collect()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The batch without the marks that its strings end with.
    pub(super) fn removed(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = batch.columns().iter().map(|column| {
            change_texts(column, |text| text.map(|text| text.strip_suffix(self.as_str()).unwrap_or(text)))
        });
        RecordBatch::try_new(batch.schema(), columns.collect::<Result<_, _>>()?)
    }
}

/// The column with its strings changed; one of another type stays, and one that has none to change.
pub(super) fn change_texts<'a>(
    column: &'a ArrayRef,
    change: impl Fn(Option<&'a str>) -> Option<&'a str>,
) -> Result<ArrayRef, ArrowError> {
    let stays = |text: Option<&'a str>| match (text, change(text)) {
        (Some(before), Some(after)) => std::ptr::eq(before, after),
        (before, after) => before == after,
    };
    match texts(column) {
        Some(after) if texts(column).is_some_and(|mut before| !before.all(stays)) => {
            cast(&after.map(change).collect::<LargeStringArray>(), column.data_type())
        }
        _ => Ok(Arc::clone(column)),
    }
}

/// The strings of a column; `None` for one of another type.
pub(super) fn texts(column: &ArrayRef) -> Option<Box<dyn Iterator<Item = Option<&str>> + '_>> {
    Some(match column.data_type() {
        DataType::Utf8 => Box::new(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => Box::new(column.as_string::<i64>().iter()),
        DataType::Utf8View => Box::new(column.as_string_view().iter()),
        _ => return None,
    })
}

/// Whether a column has strings that a [`Mark`] may stand among.
pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_has_no_byte_of_the_syntax() {
        assert_ne!(Mark::without(b","), Mark::without(b","));
        let mark = Mark::without(b"g,\"T").unwrap();
        assert!(mark.as_str().len() == 32 && mark.as_str().bytes().all(|byte| LETTERS[2].contains(&byte)));
        assert_eq!(Mark::without(b"gG0"), None);
    }
}
