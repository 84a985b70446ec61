//! The columns of a graph's tables, and plain values as Arrow arrays.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, Int64Builder, StringArray, new_null_array};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};

use crate::matrix::{Matrix, Row};
use crate::types::Features;

/// `nodes(node, label, features)`.
pub(crate) fn nodes_schema(node: DataType, label: DataType, features: Features) -> SchemaRef {
    let fields = vec![Field::new("node", node, false), Field::new("label", label, true), features.field()];
    Arc::new(Schema::new(fields))
}

/// A schema with further columns.
pub(crate) fn extended(schema: &Schema, columns: impl IntoIterator<Item = Field>) -> SchemaRef {
    let columns = columns.into_iter().map(Arc::new);
    Arc::new(Schema::new(schema.fields().iter().cloned().chain(columns).collect::<Vec<FieldRef>>()))
}

/// `edges(src, dst)`.
pub(crate) fn edges_schema(node: DataType) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("src", node.clone(), false), Field::new("dst", node, false)]))
}

/// `splits(split, node, part)`.
pub(crate) fn splits_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("split", DataType::Int64, false),
        Field::new("node", DataType::Int64, false),
        Field::new("part", DataType::Utf8, false),
    ]))
}

/// The values of one column; each batch copies its own rows of them.
pub(crate) enum Values {
    /// The integers from 0 on.
    Numbers,
    Integers(Vec<i64>),
    /// A label: `None` is NULL.
    Labels(Vec<Option<i64>>),
    Reals(Vec<f64>),
    OptionalReals(Vec<Option<f64>>),
    Texts(Vec<String>),
    OptionalTexts(Vec<Option<String>>),
    Words(Vec<&'static str>),
    /// Feature vectors, and where each node's is.
    Features(Matrix, Box<dyn Fn(usize) -> Row>),
    /// NULL in every row.
    Nulls,
}

impl Values {
    /// The rows of a matrix, in its order.
    pub(crate) fn rows_of(matrix: Matrix) -> Self {
        Self::Features(matrix, Box::new(Row::At))
    }

    /// The rows of a sparse matrix, in its order.
    pub(crate) fn sparse(width: usize, offsets: Vec<usize>, entries: Vec<(i32, f32)>) -> Self {
        Self::rows_of(Matrix::Sparse { width, offsets, entries })
    }

    pub(crate) fn cut(&self, rows: Range<usize>, data_type: &DataType) -> ArrayRef {
        match self {
            Self::Numbers => Arc::new(Int64Array::from_iter_values(rows.map(|i| i as i64))),
            Self::Integers(values) => Arc::new(Int64Array::from_iter_values(values[rows].iter().copied())),
            Self::Labels(values) => {
                let mut builder = Int64Builder::with_capacity(rows.len());
                values[rows].iter().for_each(|label| builder.append_option(*label));
                Arc::new(builder.finish())
            }
            Self::Reals(values) => Arc::new(Float64Array::from_iter_values(values[rows].iter().copied())),
            Self::OptionalReals(values) => Arc::new(Float64Array::from_iter(values[rows].iter().copied())),
            Self::Texts(values) => Arc::new(StringArray::from_iter_values(&values[rows])),
            Self::OptionalTexts(values) => Arc::new(StringArray::from_iter(&values[rows])),
            Self::Words(values) => Arc::new(StringArray::from_iter_values(&values[rows])),
            Self::Features(matrix, row_of) => matrix.column(rows, row_of),
            Self::Nulls => new_null_array(data_type, rows.len()),
        }
    }
}

/// The rows of `splits`, column by column.
#[derive(Default)]
pub(crate) struct Splits {
    pub(crate) split: Vec<i64>,
    pub(crate) node: Vec<i64>,
    pub(crate) part: Vec<&'static str>,
}

impl Splits {
    pub(crate) fn push(&mut self, split: i64, node: i64, part: &'static str) {
        self.split.push(split);
        self.node.push(node);
        self.part.push(part);
    }

    /// The splits that masks mark: those of each part, one a split.
    pub(crate) fn from_masks(masks: &[(Vec<Vec<bool>>, &'static str)]) -> Self {
        let mut splits = Self::default();
        for split in 0..masks.iter().map(|(masks, _)| masks.len()).max().unwrap_or(0) {
            for (masks, part) in masks {
                if let Some(mask) = masks.get(split) {
                    splits.push_mask(split as i64, mask, part);
                }
            }
        }
        splits
    }

    /// The nodes that a mask marks.
    pub(crate) fn push_mask(&mut self, split: i64, mask: &[bool], part: &'static str) {
        mask.iter()
            .enumerate()
            .filter(|(_, marked)| **marked)
            .for_each(|(node, _)| self.push(split, node as i64, part));
    }
}
