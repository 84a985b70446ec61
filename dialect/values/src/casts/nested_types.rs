//! Types with parts.

use arrow::datatypes::DataType;

/// Whether values of a type have parts.
pub(crate) fn is_nested(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(..)
            | DataType::Map(..)
            | DataType::Struct(_)
    )
}
