//! The Arrow types of features.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields};

/// The metadata of a field `features` that holds the number of features, also where they are sparse.
pub const WIDTH_KEY: &str = "bonnet.width";

pub(crate) fn list_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::Float32, true))
}

pub(crate) fn map_fields() -> Fields {
    // The names that DataFusion's own maps have.
    vec![Field::new("key", DataType::Int32, false), Field::new("value", DataType::Float32, true)].into()
}

pub(crate) fn map_entries() -> FieldRef {
    Arc::new(Field::new("entries", DataType::Struct(map_fields()), false))
}

/// `FLOAT[]`: dense features.
pub fn dense_features_type() -> DataType {
    DataType::List(list_item())
}

/// `MAP(INT, FLOAT)` with keys in ascending order: sparse features, feature number -> value.
pub fn sparse_features_type() -> DataType {
    DataType::Map(map_entries(), true)
}

/// The number of features that a field declares, if it does.
pub fn features_width(field: &Field) -> Option<usize> {
    field.metadata().get(WIDTH_KEY)?.parse().ok()
}

/// The storage of a data set's features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Features {
    pub(crate) sparse: bool,
    pub(crate) width: Option<usize>,
}

impl Features {
    pub(crate) fn sparse(width: usize) -> Self {
        Self { sparse: true, width: Some(width) }
    }

    pub(crate) fn dense(width: usize) -> Self {
        Self { sparse: false, width: Some(width) }
    }

    /// No file has features: a column of NULLs.
    pub(crate) fn none() -> Self {
        Self { sparse: false, width: None }
    }

    pub(crate) fn field(self) -> Field {
        let data_type = if self.sparse { sparse_features_type() } else { dense_features_type() };
        let field = Field::new("features", data_type, true);
        match self.width {
            Some(width) => field.with_metadata(HashMap::from([(WIDTH_KEY.to_owned(), width.to_string())])),
            None => field,
        }
    }
}
